package tmuxmcp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"tmuxmcp/swap"
	swapcli "tmuxmcp/swap/cli"
)

// The tests in this file run the agent CLIs themselves, each in a home
// directory that is thrown away. MCP_CLIENTS_BIN names the directory that has
// them; .ci/clients installs the versions of .ci/clients.json and sets it.

// A realClient is an agent CLI as it is before the swap.
type realClient struct {
	name   string
	config string // below home
	text   string // what is in it: a comment where there can be one, and another server
	// add makes the client itself write a server, NAME, into its config.
	add []string
	// more are files it needs besides; REPO in them stands for the checkout.
	more map[string]string
	// shadow is a file of a project with a server "tmux" that wins over the
	// config's; PROJECT in trusts is the project, for a line of the config that
	// makes the client read that file.
	shadow     string
	shadowText string
	trusts     map[string]string
}

const (
	// mark is in the comment that a config has.
	mark = "mine, and to be kept"

	geminiText = `{
  // ` + mark + `
  "ui": {"theme": "GitHub"},
  "mcpServers": {"other": {"command": "/bin/false", "args": []}}
}
`
	jsonShadow = `{"mcpServers": {"tmux": {"type": "stdio", "command": "/bin/false", "args": []}}}`
	tomlText   = `# ` + mark + `
[mcp_servers.other] # and this one
command = "/bin/false"
args = [
  "one", # with a reason
]
`
	tomlShadow = "[mcp_servers.tmux]\ncommand = \"/bin/false\"\n"
)

var realClients = []realClient{
	{
		name: "claude", config: ".claude.json",
		text: `{"numStartups": 3, "mcpServers": {"other": {"type":"stdio","command":"/bin/false","args":[],"env":{}}}}`,
		add:  []string{"mcp", "add", "-s", "local", "NAME", "--", "/bin/true"},
	},
	{
		name: "codex", config: ".codex/config.toml", text: tomlText,
		add:    []string{"mcp", "add", "NAME", "--", "/bin/true"},
		shadow: ".codex/config.toml", shadowText: tomlShadow,
		trusts: map[string]string{".codex/config.toml": "\n[projects.\"PROJECT\"]\ntrust_level = \"trusted\"\n"},
	},
	{
		name: "gemini", config: ".gemini/settings.json", text: geminiText,
		add:    []string{"mcp", "add", "-s", "user", "NAME", "/bin/true"},
		more:   map[string]string{".gemini/trustedFolders.json": `{"REPO": "TRUST_FOLDER"}`},
		shadow: ".gemini/settings.json", shadowText: jsonShadow,
		trusts: map[string]string{".gemini/trustedFolders.json": `{"PROJECT": "TRUST_FOLDER"}`},
	},
	{
		name: "grok", config: ".grok/config.toml", text: tomlText,
		add:    []string{"mcp", "add", "NAME", "--", "/bin/true"},
		shadow: ".grok/config.toml", shadowText: tomlShadow,
	},
	{
		name: "opencode", config: ".config/opencode/opencode.jsonc",
		text: `{
  // ` + mark + `
  "$schema": "https://opencode.ai/config.json",
  "mcp": {
    "other": {"type": "local", "command": ["/bin/false"],}, // with a comma too many
  },
}
`,
		add:    []string{"mcp", "add", "NAME", "--", "/bin/true"},
		shadow: "opencode.json", shadowText: `{"mcp": {"tmux": {"type": "local", "command": ["/bin/false"]}}}`,
	},
	{
		name: "qwen", config: ".qwen/settings.json", text: geminiText,
		add:    []string{"mcp", "add", "-s", "user", "NAME", "/bin/true"},
		shadow: ".qwen/settings.json", shadowText: jsonShadow,
	},
	{
		name: "droid", config: ".factory/mcp.json",
		text:   "{\n\t\"mcpServers\": {\n\t\t\"other\": {\"type\": \"stdio\", \"command\": \"/bin/false\", \"args\": [], \"disabled\": false}\n\t}\n}\n",
		add:    []string{"mcp", "add", "NAME", "/bin/true"},
		shadow: ".factory/mcp.json", shadowText: jsonShadow,
	},
}

// The Inspector is MCP's official client for tests. Its --strict looks at every
// tool's schemas for what some client does not accept.
func TestInspector(t *testing.T) {
	bin := os.Getenv("MCP_CLIENTS_BIN")
	if bin == "" {
		t.Skip("MCP_CLIENTS_BIN names no directory with the MCP Inspector; .ci/clients installs it and runs this test")
	}
	inspector := filepath.Join(bin, "mcp-inspector")
	if _, err := exec.LookPath(inspector); err != nil {
		t.Skipf("the MCP Inspector is not installed: %v", err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	program := filepath.Join(t.TempDir(), "tmux-mcp")
	if out, err := exec.Command("go", "build", "-o", program, "./cmd/tmux-mcp").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	t.Setenv("HOME", t.TempDir())
	inspect := func(method string, server ...string) (stdout, stderr string, err error) {
		var out, diag bytes.Buffer
		args := []string{"--cli", "--method", method}
		if method == "tools/list" {
			args = append(args, "--strict")
		}
		cmd := exec.CommandContext(t.Context(), inspector, append(append(args, "--"), server...)...)
		cmd.Stdout, cmd.Stderr = &out, &diag
		err = cmd.Run()
		return out.String(), diag.String(), err
	}

	for _, tier := range []string{"readonly", "mutating", "destructive"} {
		out, diag, err := inspect("tools/list", program, "-L", "inspected", "--safety", tier)
		var list struct{ Tools []struct{ Name string } }
		if jerr := json.Unmarshal([]byte(out), &list); err != nil || jerr != nil || len(list.Tools) == 0 {
			t.Errorf("tools/list, %s: %v, %v, %d tools\n%s", tier, err, jerr, len(list.Tools), diag)
		}
		verdict := "no complaint"
		if lines := strings.Split(strings.TrimSpace(diag), "\n"); diag != "" {
			// A client may not make use of a schema that it warns of.
			verdict = fmt.Sprintf("%s, %d of them in what a model is given", strings.Trim(lines[len(lines)-1], " ."), strings.Count(diag, "Path: inputSchema"))
		}
		t.Logf("tools/list --strict, %s: %d tools; %s", tier, len(list.Tools), verdict)
	}
	for _, method := range []string{"resources/list", "resources/templates/list", "prompts/list"} {
		if out, diag, err := inspect(method, program, "-L", "inspected"); err != nil || diag != "" || !json.Valid([]byte(out)) {
			t.Errorf("%s: %v\n%s%s", method, err, out, diag)
		}
	}
	// It does complain.
	if _, diag, err := inspect("tools/list", "odd-mcp"); err == nil || !strings.Contains(diag, "1 error") {
		t.Errorf("of a tool with a bad schema the Inspector says: %v\n%s", err, diag)
	}
}

// A bench is a home directory with one client in it.
type bench struct {
	*testing.T
	realClient
	home, repo string
	env        []string // --env flags of use-local
}

// newBench makes a home for a client, or skips the test if it is not installed.
func newBench(t *testing.T, c realClient) *bench {
	bin := os.Getenv("MCP_CLIENTS_BIN")
	if bin == "" {
		t.Skip("MCP_CLIENTS_BIN names no directory with agent CLIs; .ci/clients installs them and runs this test")
	}
	if _, err := exec.LookPath(filepath.Join(bin, c.name)); err != nil {
		t.Skipf("%s is not installed: %v", c.name, err)
	}
	repo, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	if repo, err = filepath.EvalSymlinks(repo); err != nil {
		t.Fatal(err)
	}
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, realClient: c, home: home, repo: repo}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	// What go knows from the real home, and Codex passes on to no server.
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOFLAGS", "GOTOOLCHAIN"} {
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatalf("go env %s: %v", name, err)
		}
		b.env = append(b.env, "--env", name+"="+strings.TrimSpace(string(out)))
		t.Setenv(name, strings.TrimSpace(string(out)))
	}
	t.Setenv("HOME", home)
	t.Setenv("TMPDIR", filepath.Join(home, "tmp"))
	b.write("tmp/.keep", "")
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "GROK_HOME", "GEMINI_CLI_TRUST_WORKSPACE"} {
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	b.write(c.config, c.text)
	for name, text := range c.more {
		b.write(name, strings.ReplaceAll(text, "REPO", repo))
	}
	t.Cleanup(b.nothingLeft)
	return b
}

func (b *bench) write(name, text string) {
	b.Helper()
	path := filepath.Join(b.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) read() string {
	b.Helper()
	text, err := os.ReadFile(filepath.Join(b.home, b.config))
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
}

// swap runs mcp-swap.
func (b *bench) swap(want int, args ...string) (stdout string) {
	b.Helper()
	var out, diag bytes.Buffer
	if code := swapcli.Main(args, strings.NewReader(""), &out, &diag); code != want {
		b.Fatalf("mcp-swap %s: exit code %d\n%s%s\n%s:\n%s", strings.Join(args, " "), code, &out, &diag, b.config, b.read())
	}
	return out.String()
}

func (b *bench) useLocal(want string) {
	b.Helper()
	out := b.swap(0, append([]string{"use-local", "--cli", b.name, "--repo", b.repo}, b.env...)...)
	if !strings.Contains(out, want) {
		b.Fatalf("use-local has not %s the entry:\n%s", want, out)
	}
}

// ask asks the client itself, in this home.
func (b *bench) ask(server, dir string) swap.Answer {
	b.Helper()
	a, err := swap.Ask(b.Context(), b.name, server, dir, b.home)
	if err != nil {
		b.Fatalf("ask %s for %q: %v\n%s", b.name, server, err, b.read())
	}
	return a
}

func (b *bench) connected(dir, command string) swap.Answer {
	b.Helper()
	a := b.ask("tmux", dir)
	for i := 0; i < 5 && a.Says == "connecting"; i++ {
		a = b.ask("tmux", dir) // droid's patience is short where there is much to do
	}
	if a.State != swap.Connected || a.Command != "" && a.Command != command {
		b.Fatalf("%s says %+v, not that it runs %s\n%s", b.name, a, command, b.read())
	}
	return a
}

// run runs the client itself.
func (b *bench) run(args ...string) string {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), b.name, args...)
	cmd.Dir = b.repo
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("%s %s: %v\n%s", b.name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (b *bench) adds(server string) {
	b.Helper()
	args := slices.Clone(b.add)
	args[slices.Index(args, "NAME")] = server
	b.run(args...)
	if !strings.Contains(b.read(), server) {
		b.Fatalf("%s has not written %q into %s:\n%s", b.name, server, b.config, b.read())
	}
}

func (b *bench) verify(want int) swap.Verified {
	b.Helper()
	text := b.read()
	out := b.swap(want, "verify", "--cli", b.name, "--repo", b.repo, "--server", "tmux", "--json")
	var v swap.Verification
	if err := json.Unmarshal([]byte(out), &v); err != nil || len(v.Clients) != 1 {
		b.Fatalf("verify --json: %v\n%s", err, out)
	}
	if b.read() != text {
		b.Errorf("verify has changed the config:\n%s\nit was:\n%s", b.read(), text)
	}
	if left, _ := filepath.Glob(filepath.Join(b.home, "tmp", "mcp-swap-*")); len(left) > 0 {
		b.Errorf("verify has left %s", left)
	}
	return v.Clients[0]
}

// nothingLeft fails if a process with this home, or a file of mcp-swap, is there.
func (b *bench) nothingLeft() {
	_ = filepath.WalkDir(b.home, func(path string, _ fs.DirEntry, err error) error {
		if strings.Contains(path, ".bak.mcp-swap-") || strings.HasSuffix(path, "mcp-swap/state.json") {
			b.Errorf("left over: %s", path)
		}
		return nil
	})
	if runtime.GOOS != "linux" {
		return
	}
	var left []string
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		left = nil
		envs, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, name := range envs {
			if env, err := os.ReadFile(name); err == nil && bytes.Contains(env, []byte(b.home)) && filepath.Dir(name) != fmt.Sprintf("/proc/%d", os.Getpid()) {
				line, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "cmdline"))
				left = append(left, strings.ReplaceAll(string(line), "\x00", " "))
			}
		}
		if len(left) == 0 {
			return
		}
	}
	b.Errorf("processes left over: %q", left)
}

var versionNumber = regexp.MustCompile(`\d+\.\d+\.\d+\S*`)

// command is what use-local makes of a checkout of this repository.
func command(repo string) string { return "go run -C " + repo + " ./cmd/tmux-mcp" }

// Each client runs the swapped server, says so, and has its own config back after
// the revert, with what it wrote in the meantime.
func TestClients(t *testing.T) {
	var report []string
	for _, c := range realClients {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, c)
			version := versionNumber.FindString(b.run("--version"))
			did := []string{fmt.Sprintf("%-9s %-9s swapped", c.name, version)}
			defer func() { report = append(report, strings.Join(did, ", ")) }()

			b.useLocal("added")
			swapped := b.read()
			v := b.verify(0) // before the client itself has written to its config
			a := b.connected(b.repo, command(b.repo))
			did = append(did, "connected")
			if a.Tools != nil && !slices.Equal(a.Tools, slices.Sorted(slices.Values(v.Handshake.Tools))) ||
				a.ToolCount != nil && *a.ToolCount != len(v.Handshake.Tools) || !slices.Contains(v.Handshake.Tools, "list_panes") {
				t.Errorf("the client says %+v, the server has the tools %q", a, v.Handshake.Tools)
			}
			by := "by verify"
			if a.ToolCount != nil {
				by = "by the client"
			}
			did = append(did, fmt.Sprintf("%d tools seen %s", len(v.Handshake.Tools), by))

			meanwhile := b.read()
			b.swap(0, "revert", "--cli", c.name)
			if a := b.ask("tmux", b.repo); a.State != swap.NotThere {
				t.Errorf("after the revert, %s says %+v", c.name, a)
			}
			if a := b.ask("other", b.repo); a.State != swap.NotStarted {
				t.Errorf("of another server %s says %+v", c.name, a)
			}
			switch back := b.read(); {
			case meanwhile == swapped && back == c.text:
				did = append(did, "reverted byte-identical")
			case meanwhile == swapped:
				t.Errorf("nothing was written in the meantime, and revert gives\n%s\nnot\n%s", back, c.text)
			default:
				sameElse(t, meanwhile, back)
				did = append(did, "reverted merged with what it had written")
			}

			// Once more, over an entry of the client's own, while it writes another.
			b.adds("tmux")
			before := b.ask("tmux", b.repo)
			b.useLocal("replaced")
			b.connected(b.repo, command(b.repo))
			b.adds("later")
			meanwhile = b.read()
			b.swap(0, "revert", "--cli", c.name)
			back := b.read()
			if strings.Contains(back, "cmd/tmux-mcp") {
				t.Errorf("the entry is still there:\n%s", back)
			}
			if after := b.ask("tmux", b.repo); after.Command != before.Command || after.State != before.State {
				t.Errorf("the entry was %+v, and came back as %+v:\n%s", before, after, back)
			}
			if a := b.ask("later", b.repo); a.State != swap.NotStarted {
				t.Errorf("of what it wrote in the meantime %s says %+v:\n%s", c.name, a, back)
			}
			if strings.Contains(meanwhile, mark) != strings.Contains(back, mark) {
				t.Errorf("the comment is lost:\n%s", back)
			}
			did = append(did, "again with an entry of its own: merged")
		})
	}
	if len(report) > 0 {
		t.Logf("\n%s", strings.Join(report, "\n"))
	}
}

var commentLine = regexp.MustCompile(`(?m)^\s*//.*$`)

// sameElse fails if two JSON texts differ in more than entries named tmux.
func sameElse(t *testing.T, before, after string) {
	t.Helper()
	var parts [2]map[string]any
	for i, text := range []string{before, after} {
		plain := commentLine.ReplaceAllString(text, "")
		if err := json.Unmarshal([]byte(plain), &parts[i]); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		// Nodes that the swap has made go with the entry.
		delete(parts[i], "projects")
		if servers, ok := parts[i]["mcpServers"].(map[string]any); ok {
			delete(servers, "tmux")
		}
	}
	want, _ := json.Marshal(parts[0])
	got, _ := json.Marshal(parts[1])
	if !bytes.Equal(want, got) {
		t.Errorf("before the revert:\n%s\nafter it:\n%s", before, after)
	}
}

// A file of the project with the same server wins, and verify says so.
func TestClientsShadowed(t *testing.T) {
	for _, c := range realClients {
		if c.shadow == "" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, c)
			project := filepath.Join(b.home, "project")
			b.write("project/.git/HEAD", "ref: refs/heads/main\n")
			b.write("project/.git/objects/.keep", "")
			b.write("project/.git/refs/.keep", "")
			b.useLocal("added")
			defer b.swap(0, "revert")
			for name, text := range c.trusts {
				text = strings.ReplaceAll(text, "PROJECT", project)
				if name == c.config {
					text = b.read() + text
				}
				b.write(name, text)
			}
			b.repo = project
			if v := b.verify(0); !v.OK {
				t.Fatalf("before there is such a file: %q", v.Problems)
			}
			b.write(filepath.Join("project", c.shadow), c.shadowText)
			v := b.verify(1)
			if v.Handshake == nil || v.Asked == nil {
				t.Errorf("verify says %+v", v)
			}
			if all := strings.Join(v.Problems, "\n"); !strings.Contains(all, c.name+" runs another command: /bin/false") && !strings.Contains(all, c.name+" takes a file of the project") {
				t.Errorf("verify does not say why: %q", v.Problems)
			}
		})
	}
}

// Gemini starts nothing in a folder that it was not told to trust.
func TestGeminiUntrusted(t *testing.T) {
	c := realClients[slices.IndexFunc(realClients, func(c realClient) bool { return c.name == "gemini" })]
	c.more = nil
	b := newBench(t, c)
	b.useLocal("added")
	defer b.swap(0, "revert")
	v := b.verify(1)
	if v.Asked == nil || v.Asked.State != swap.Disabled || !slices.ContainsFunc(v.Problems, func(p string) bool { return strings.Contains(p, "untrusted folder") }) {
		t.Errorf("verify says %+v", v)
	}
}

// Claude reads what was swapped from a linked work tree and from a
// sub-directory of a repository, anywhere in it.
func TestClaudeProject(t *testing.T) {
	b := newBench(t, realClients[0])
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "safe.directory=*", "-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "init.defaultBranch=main"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	// The checkouts differ in nothing but their place: -trimpath lets them
	// share what was compiled.
	flags := strings.TrimSpace(os.Getenv("GOFLAGS") + " -trimpath")
	t.Setenv("GOFLAGS", flags)
	b.env = append(b.env, "--env", "GOFLAGS="+flags)

	source := b.repo
	if _, err := os.Stat(filepath.Join(source, ".git")); err != nil {
		t.Skipf("this is no git checkout: %v", err)
	}
	main, linked := filepath.Join(b.home, "main"), filepath.Join(b.home, "linked")
	outer := filepath.Join(b.home, "outer")
	inner := filepath.Join(outer, "services", "tmux")
	git("clone", "-q", source, main)
	git("-C", main, "worktree", "add", "-q", "--detach", linked)
	git("clone", "-q", source, inner)
	if err := os.RemoveAll(filepath.Join(inner, ".git")); err != nil {
		t.Fatal(err)
	}
	git("init", "-q", outer)

	for _, from := range []struct {
		repo  string
		there []string // where Claude is started
	}{
		{main, []string{main, filepath.Join(main, "docs"), linked}},
		{linked, []string{linked, filepath.Join(linked, "docs"), main}},
		{inner, []string{inner, outer}},
	} {
		b.repo = from.repo
		b.useLocal("added")
		for _, dir := range from.there {
			if a := b.connected(dir, command(from.repo)); a.Place != "local" {
				t.Errorf("in %s Claude says %+v", dir, a)
			}
		}
		if v := b.verify(0); v.Scope != swap.ScopeProject {
			t.Errorf("verify says %+v", v)
		}
		b.swap(0, "revert")
		if a := b.ask("tmux", from.repo); a.State != swap.NotThere {
			t.Errorf("after the revert Claude says %+v", a)
		}
	}
}
