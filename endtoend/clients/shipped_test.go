package clients

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"tmuxmcp/internal/test/cases"
)

// The tests in this file install what tools/release makes into clients, with the
// clients' own commands, and make their models call the server.

const shippedVersion = "1.2.3"

// released is a release of this platform; the directory is removed by TestShipped.
var released = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "shipped")
	if err != nil {
		return "", err
	}
	args := []string{"run", "../../tools/release", "--out", filepath.Join(dir, "files"), "--platform", runtime.GOOS + "/" + runtime.GOARCH, shippedVersion}
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return dir, fmt.Errorf("%w\n%s", err, out)
	}
	return dir, nil
})

// TestShipped makes each client install what is published for it, start it, and call it.
// The cases, CLIENT/WHAT, are commands run in the client's home, which has the release's
// files in {HOME}/files, and the plugin's marketplace in {HOME}/plugin. Claude gets
// additional arguments, and allows some tools. The models are offered the skill, except with
// the bundle.
func TestShipped(t *testing.T) {
	clientsDir(t)
	dir, err := released()
	defer os.RemoveAll(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, shipped := range cases.Load(t, "testdata/shipped.txtar", "args", "allowed") {
		t.Run(shipped.Name, func(t *testing.T) {
			client, what, _ := strings.Cut(shipped.Name, "/")
			all := modelClients(t)
			c := all[slices.IndexFunc(all, func(c modelClient) bool { return c.name == client })]
			inPlugin := c.name == "codex" && what != "skill" // where it starts the server
			if what != "skill" {
				c.files = withoutServer(c.files)
			}
			if allowed := shipped.One("allowed"); allowed != "" {
				c.args = append([]string{"-p", "go", "--allowedTools", allowed}, strings.Fields(shipped.One("args"))...)
			}
			c.loads = false // list_panes is one of the tools that are always loaded
			c.install = untar + strings.ReplaceAll(shipped.Texts["install"], "{CLIENT}", c.name)
			c.install = strings.ReplaceAll(c.install, "{RELEASE}", dir)
			script := Script{Calls: []Call{{Tool: "list_panes", Args: `{}`}}}
			if inPlugin {
				script.Calls = append(script.Calls, Call{Tool: "create_session", Args: `{"session_name": "new"}`})
			}
			s, v := perform(t, c, script, false)
			if !found(v.Results[0], panes(40)) {
				t.Errorf("the model reads %q\n%s", v.Results[0], s.read("installed"))
			}
			seesSkill := slices.ContainsFunc(v.Requests, func(r Request) bool { return bytes.Contains(r.Body, []byte(skillWords)) })
			if seesSkill != (what != "bundle") {
				t.Errorf("the model is offered the skill: %t\n%s", seesSkill, s.read("installed"))
			}
			if dir := s.tmux("display-message", "-p", "-t", "new:", "#{session_path}"); inPlugin && dir != s.dir {
				t.Errorf("a new session starts in %q", dir)
			}
			report(t, "%-9s %-9s %s: installed, and its server called", c.name, s.version(), what)
		})
	}
	t.Run("mcpb", func(t *testing.T) {
		h := newHome(t, "mcpb")
		bundles, err := filepath.Glob(filepath.Join(dir, "files", "*.mcpb"))
		if err != nil || len(bundles) != 1 {
			t.Fatal(bundles, err)
		}
		to := t.TempDir()
		for _, args := range [][]string{{"unpack", bundles[0], to}, {"validate", filepath.Join(to, "manifest.json")}} {
			if out, err := exec.Command(h.program, args...).CombinedOutput(); err != nil {
				t.Fatalf("mcpb %q: %v\n%s", args, err, out)
			}
		}
		out, err := exec.Command(filepath.Join(to, "bin/tmux-mcp"), "--version").CombinedOutput()
		if err != nil || !strings.HasPrefix(string(out), "tmux-mcp "+shippedVersion) {
			t.Errorf("the unpacked server: %v: %s", err, out)
		}
		report(t, "%-9s bundle: unpacked, and its manifest valid", "mcpb")
	})
}

// skillWords are the first of the skill's description, which clients show a model.
const skillWords = "Runs and follows commands, drives interactive programs"

const untar = `
cp -r {RELEASE}/files .
mkdir plugin
tar -xzf files/tmux-mcp-plugin_* -C plugin --strip-components 1
`

// withoutServer returns the files of a client that has no MCP servers except those that it
// installs.
func withoutServer(files map[string]string) map[string]string {
	left := map[string]string{}
	for name, text := range files {
		if name != "mcp.json" {
			left[name] = strings.ReplaceAll(text, "[mcp_servers.tmux]\ncommand = \"{SERVER}\"\n", "")
		}
	}
	return left
}
