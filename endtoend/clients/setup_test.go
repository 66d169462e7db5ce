package clients

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
)

// TestSetup: after tmux-mcp setup each client connects to it, whether it has a
// config or has never been started; and --uninstall leaves what the client itself has written.
func TestSetup(t *testing.T) {
	for _, c := range realClients(t) {
		t.Run(c.name, func(t *testing.T) {
			t.Run("with a config", func(t *testing.T) {
				b := newBench(t, c)
				testSetup(t, b)
			})
			t.Run("never started", func(t *testing.T) {
				b := newBench(t, c)
				if err := os.Remove(filepath.Join(b.dir, c.config)); err != nil {
					t.Fatal(err)
				}
				if clients.Lookup(c.name).Makes {
					t.Skip("it makes its config itself")
				}
				testSetup(t, b)
			})
		})
	}
}

func testSetup(t *testing.T, b *bench) {
	program := b.tmuxMCP()
	setup := func(args ...string) string {
		t.Helper()
		out, err := exec.Command(program, append([]string{"setup", "--client", b.name}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("setup %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	// Until the client is started, nothing is left.
	before := tree(t, b.dir)
	setup()
	if tree(t, b.dir) == before {
		t.Error("setup has written nothing")
	}
	setup("--uninstall")
	if after := tree(t, b.dir); after != before {
		t.Errorf("left are\n%s\nnot\n%s", after, before)
	}

	out := setup("--safety", "readonly")
	a := b.connected(b.repo, program+" --safety readonly")
	report(t, "%-9s setup: says %s%s", b.name, a.State, strings.TrimPrefix(" by "+ask.CommandLine([]string{a.Command}), " by ''"))
	if !strings.Contains(out, "added") {
		t.Errorf("it says\n%s", out)
	}
	meanwhile := b.read(b.config)
	setup("--uninstall")
	back := b.read(b.config)
	for _, text := range []string{mark, "/bin/false"} { // of its own
		if strings.Contains(back, text) != strings.Contains(meanwhile, text) {
			t.Errorf("%q is lost:\n%s", text, back)
		}
	}
	if strings.Contains(back, program) {
		t.Errorf("the entry is still there:\n%s", back)
	}
}

// tree returns the files below a directory, with their modes and the digests of their texts,
// except what the go command writes about itself.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == "go" && d.IsDir() {
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprint(&b, info.Mode(), " ", path)
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %x", sha256.Sum256(text))
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestFirstAnswer: in each client whose model is a stand-in, that lists the panes by the entry
// which setup has written.
func TestFirstAnswer(t *testing.T) {
	entry := regexp.MustCompile(`(?m)^\[mcp_servers\.tmux\]\ncommand = "\{SERVER\}"\n|,?\s*"mcp(Servers)?": \{"tmux": \{.*"\{SERVER\}".*\}\}(,$)?`)
	for _, c := range scriptedClients(t) {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{}
			for name, text := range c.files {
				if name == "mcp.json" {
					continue // which only a flag names
				}
				if files[name] = entry.ReplaceAllString(text, ""); strings.Contains(files[name], "{SERVER}") {
					t.Fatalf("%s has an entry:\n%s", name, files[name])
				}
			}
			c.files = files
			c.args = slices.DeleteFunc(slices.Clone(c.args), func(arg string) bool {
				return slices.Contains([]string{"--mcp-config", "mcp.json", "--strict-mcp-config"}, arg)
			})
			c.install = "./tmux-mcp setup --client " + strings.TrimSuffix(c.name, "-newest")
			_, v := perform(t, c, Script{Calls: []Call{{Tool: "list_panes", Args: `{}`}}}, false)
			if text := v.Results[0]; !found(text, panes(40)) {
				t.Errorf("its model reads %q", text)
			}
			report(t, "%-9s setup: its model lists the panes", c.name)
		})
	}
}
