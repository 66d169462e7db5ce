package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/rogpeppe/go-internal/txtar"

	"tmuxmcp/internal/test/cases"
	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/format"
)

// A realClient is an agent CLI as it is before the swap, a case of testdata/configs.txtar.
// In becomes, there is a setting for each of its lines.
type realClient struct {
	name   string
	texts  map[string]string
	config string // below home
	// add makes the client itself write a server, NAME, into its config.
	add []string
	// shadow is where in a project a file of that name is.
	shadow string
	// off is a text in the swapped config, and becomes its replacement that makes the
	// client see the server as switched off, as by the texts "off FILE"; says is what the
	// client then says.
	off, becomes, says string
	// lists is set if it reports what is in its config without starting a server.
	lists bool
	// waits is what verify says of a file of a project until the user approves the server,
	// which approve does, if it works without a login.
	waits   string
	approve []string
}

// mark is in the comment that a config has.
const mark = "mine, and to be kept"

func realClients(t *testing.T) (all []realClient) {
	t.Helper()
	for _, c := range cases.Load(t, "testdata/configs.txtar", "config", "add", "shadow", "off", "becomes", "says", "lists", "waits", "approve") {
		becomes := strings.Join(c.Settings["becomes"], "\n")
		all = append(all, realClient{
			c.Name, c.Texts, c.One("config"), strings.Fields(c.One("add")),
			c.One("shadow"), c.One("off"), becomes, c.One("says"), c.One("lists") != "",
			c.One("waits"), strings.Fields(c.One("approve")),
		})
	}
	return all
}

// more returns the client's texts of a kind, by file.
func (c realClient) more(kind string) map[string]string {
	files := map[string]string{}
	for name, text := range c.texts {
		if file, ok := strings.CutPrefix(name, kind+" "); ok {
			files[file] = text
		}
	}
	return files
}

func clientNamed(t *testing.T, name string) realClient {
	t.Helper()
	all := realClients(t)
	return all[slices.IndexFunc(all, func(c realClient) bool { return c.name == name })]
}

// The Inspector is MCP's official client for tests. Its --strict checks every tool's
// schemas for what some client does not accept.
func TestInspector(t *testing.T) {
	h := newHome(t, "mcp-inspector")
	program := h.tmuxMCP()
	inspect := func(method string, server ...string) (stdout, stderr string, err error) {
		var out, diag bytes.Buffer
		args := []string{"--cli", "--method", method}
		if method == "tools/list" {
			args = append(args, "--strict")
		}
		limit, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		cmd := exec.CommandContext(limit, h.program, append(append(args, "--"), server...)...)
		cmd.WaitDelay = time.Second
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
			// A client may not use a schema that it warns about.
			verdict = fmt.Sprintf("%s, %d of them in what a model is given", strings.Trim(lines[len(lines)-1], " ."), strings.Count(diag, "Path: inputSchema"))
		}
		report(t, "%-9s tools/list --strict of tmux-mcp --safety %s: %d tools; %s", "inspector", tier, len(list.Tools), verdict)
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

// The lines in docs/using.md for these clients add the server, and remove it again.
func TestByHand(t *testing.T) {
	text, err := os.ReadFile(repo + "/docs/using.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`(?m)^    (claude|codex|gemini|opencode) mcp add .*$`).FindAllString(string(text), -1)
	if slices.Sort(lines); len(lines) < 2 {
		t.Fatalf("lines: %q", lines)
	}
	for _, line := range slices.Compact(lines) {
		words := strings.Fields(line)
		t.Run(words[0], func(t *testing.T) {
			b := newBench(t, clientNamed(t, words[0]))
			if out, err := b.try(b.repo, words[1:]...); err != nil {
				t.Fatalf("%s: %v: %s", line, err, out)
			}
			at := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "tmux") })
			command, _ := json.Marshal(strings.Split(strings.TrimPrefix(strings.Join(words[at+1:], " "), "-- "), " "))
			var out bytes.Buffer
			if err := json.Compact(&out, []byte(b.swap(0, "status", "--json", "--server", words[at], "--cli", words[0]))); err != nil || !strings.Contains(out.String(), `"command":`+string(command)) {
				t.Errorf("%s: %v, %s", line, err, &out)
			}
			remove := regexp.MustCompile("`" + words[0] + " (mcp remove (?:[^`]* )?tmux)`").FindSubmatch(text)
			if remove == nil || words[at] != "tmux" {
				return
			}
			if out, err := b.try(b.repo, strings.Fields(string(remove[1]))...); err != nil {
				t.Errorf("%s: %v: %s", remove[0], err, out)
			}
			if left := b.swap(0, "status", "--server", "tmux", "--cli", words[0]); !strings.Contains(left, "no entry") {
				t.Errorf("after %s: %s", remove[0], left)
			}
		})
	}
}

// docs/clients.md names the tested versions.
func TestClientVersions(t *testing.T) {
	var pins struct{ Always, All map[string]string }
	text, err := os.ReadFile(repo + "/.ci/clients.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &pins); err != nil || len(pins.Always) == 0 {
		t.Fatalf("clients.json: %v", err)
	}
	table, err := os.ReadFile(repo + "/docs/clients.md")
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(pins.Always, pins.All)
	for name, spec := range pins.Always {
		version := spec[strings.LastIndex(spec, "@")+1:]
		if row := "| " + name + " | " + version + " |"; !strings.Contains(string(table), row) {
			t.Errorf("docs/clients.md has no %q", row)
		}
	}
}

// command is what use-local makes of a checkout of this repository.
func command(repo string) string { return "go run -C " + repo + " ./cmd/tmux-mcp" }

// Each client runs the swapped server, says so, and has its own config back after the
// revert, including what it wrote in the meantime.
func TestClients(t *testing.T) {
	for _, c := range realClients(t) {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, c)
			var did []string
			version := b.version()
			defer func() {
				if t.Failed() {
					did = append(did, "FAILED")
				}
				report(t, "%-9s %-9s %s", c.name, version, strings.Join(did, ", "))
			}()

			b.useLocal("added")
			did = append(did, "swapped")
			swapped := b.text()
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

			meanwhile := b.text()
			b.swap(0, "revert", "--cli", c.name)
			b.ask("tmux", b.repo, ask.NotThere)
			b.ask("other", b.repo, b.unstarted())
			switch back := b.text(); {
			case meanwhile == swapped && back == c.texts["config"]:
				did = append(did, "reverted byte-identical")
			case meanwhile == swapped:
				t.Errorf("nothing was written in the meantime, and revert gives\n%s\nnot\n%s", back, c.texts["config"])
			default:
				sameElse(t, meanwhile, back)
				did = append(did, "reverted merged with what it had written")
			}

			// Once more, over an entry made by the client, while it writes another.
			b.adds("tmux")
			before := b.ask("tmux", b.repo, b.unstarted())
			b.useLocal("replaced")
			b.connected(b.repo, command(b.repo))
			b.adds("later")
			meanwhile = b.text()
			b.swap(0, "revert", "--cli", c.name)
			back := b.text()
			if strings.Contains(back, "cmd/tmux-mcp") {
				t.Errorf("the entry is still there:\n%s", back)
			}
			if after := b.ask("tmux", b.repo, b.unstarted()); after.Command != before.Command {
				t.Errorf("the entry was %+v, and came back as %+v:\n%s", before, after, back)
			}
			b.ask("later", b.repo, b.unstarted())
			if strings.Contains(meanwhile, mark) != strings.Contains(back, mark) {
				t.Errorf("the comment is lost:\n%s", back)
			}
			did = append(did, "over an entry of its own: connected, reverted merged")
		})
	}
}

// sameElse fails if two JSON texts differ in anything but entries named tmux.
func sameElse(t *testing.T, before, after string) {
	t.Helper()
	var parts [2]map[string]any
	for i, text := range []string{before, after} {
		doc, err := format.Parse(format.JSONC, []byte(text))
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		root, _ := doc.Get()
		parts[i], _ = root.(map[string]any)
		// Nodes created by the swap are removed with the entry.
		delete(parts[i], "projects")
		for _, container := range []string{"mcpServers", "mcp"} {
			if servers, ok := parts[i][container].(map[string]any); ok {
				delete(servers, "tmux")
			}
		}
	}
	want, _ := json.Marshal(parts[0])
	got, _ := json.Marshal(parts[1])
	if !bytes.Equal(want, got) {
		t.Errorf("before the revert:\n%s\nafter it:\n%s", before, after)
	}
}

// A project file with the same server takes precedence, and verify says so.
func TestClientsShadowed(t *testing.T) {
	for _, c := range realClients(t) {
		if c.shadow == "" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, c)
			b.useLocal("added")
			defer b.swap(0, "revert")
			b.repo = b.project()
			if v := b.verify(0); !v.OK {
				t.Fatalf("before there is such a file: %q", v.Problems)
			}
			b.write(filepath.Join("project", c.shadow), c.texts["shadow"])
			v := b.verify(1)
			merges := v.Effective != nil
			if (v.Handshake == nil) != merges || v.Asked == nil || v.Asked.State == ask.Connected {
				t.Errorf("verify says %+v", v)
			}
			wins := filepath.Join(b.repo, c.shadow) + " has an entry of that name, which wins in command (/bin/false)"
			all := strings.Join(v.Problems, "\n")
			other := strings.Contains(all, c.name+" runs another command: /bin/false") || strings.Contains(all, c.name+" reads a file of the project")
			if !other && !(merges && slices.Contains(v.Problems, wins)) {
				t.Errorf("verify does not say why: %q", v.Problems)
			}
		})
	}
}

// project creates a directory, in a home, that is the top of a work tree and that the
// client trusts.
func (b *bench) project() string {
	b.Helper()
	project := filepath.Join(b.dir, "project")
	b.write("project/.git/HEAD", "ref: refs/heads/main\n")
	b.write("project/.git/objects/.keep", "")
	b.write("project/.git/refs/.keep", "")
	for name, text := range b.more("trusts") {
		text = strings.ReplaceAll(text, "PROJECT", project)
		if name == b.config {
			text = b.text() + text
		}
		b.write(name, text)
	}
	return project
}

var justVersion = regexp.MustCompile(`^\{\s*"\$version": \d+\s*\}\s*$`)

// A client that reads project files runs what --scope project has put into one, and no
// longer after the revert. Then nothing is left in the project, except the version that
// qwen puts into all of its files.
func TestClientsInProject(t *testing.T) {
	for _, c := range realClients(t) {
		if c.shadow == "" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, c)
			from := b.repo
			b.repo = b.project()
			args := slices.Concat([]string{"use-local", "--cli", c.name, "--repo", b.repo, "--scope", "project", "--server", "tmux"}, b.env)
			b.swap(0, append(append(args, "--"), strings.Fields(command(from))...)...)
			if c.waits != "" {
				if v := b.verify(1); !slices.Equal(v.Problems, []string{c.waits}) {
					t.Errorf("before it is approved, verify says %q", v.Problems)
				}
			}
			if len(c.approve) > 0 {
				b.ask("tmux", b.repo, ask.Pending)
				if out, err := b.try(b.repo, c.approve...); err != nil {
					t.Fatalf("%q: %v: %s", c.approve, err, out)
				}
			}
			b.connected(b.repo, command(from))
			if c.waits == "" || len(c.approve) > 0 {
				if v := b.verify(0); !v.OK || v.Scope != clients.ScopeProject || (v.Asked != nil) != b.lists {
					t.Errorf("verify says %+v", v)
				}
			}
			b.swap(0, "revert", "--scope", "project")
			b.ask("tmux", b.repo, ask.NotThere)
			_ = filepath.WalkDir(b.repo, func(path string, e fs.DirEntry, err error) error {
				if err != nil || e.IsDir() || strings.Contains(path, "/.git/") {
					return err
				}
				if text, err := os.ReadFile(path); err != nil || !justVersion.Match(text) {
					t.Errorf("%s is left: %v\n%s", path, err, text)
				}
				return nil
			})
		})
	}
}

// A server switched off in the config is not started by the client, and verify says so.
func TestClientsDisabled(t *testing.T) {
	for _, c := range realClients(t) {
		if c.says == "" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, c)
			b.useLocal("added")
			defer b.swap(0, "revert", "--force") // in some, the switch is in the entry itself
			for name, text := range c.more("off") {
				b.write(name, text)
			}
			text := b.text()
			if !strings.Contains(text, c.off) {
				t.Fatalf("no %q in\n%s", c.off, text)
			}
			b.write(c.config, strings.Replace(text, c.off, c.becomes, 1))
			v := b.verify(1)
			if v.Handshake == nil || v.Asked == nil || v.Asked.State != c.says {
				t.Errorf("verify says %+v, of %s %+v", v, c.name, v.Asked)
			}
			if !slices.ContainsFunc(v.Problems, func(p string) bool { return strings.Contains(p, "switched off") }) {
				t.Errorf("verify does not say why: %q", v.Problems)
			}
		})
	}
}

// Each client connects to a server given by URL, and verify understands its output, also
// once the server is gone.
func TestClientsRemote(t *testing.T) {
	for _, c := range realClients(t) {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, c)
			s := server.NewMCPServer("web", "1.0")
			s.AddTool(mcp.NewTool("one"), nil) // codex rejects a server without tools
			web := httptest.NewServer(server.NewStreamableHTTPServer(s))
			defer web.Close()
			b.swap(0, "use-local", "--cli", b.name, "--repo", b.repo, "--server", "tmux", "--url", web.URL+"/mcp")
			defer b.swap(0, "revert")
			up := ask.Connected
			if c.lists {
				up = ask.Configured
			}
			if v := b.verify(0); v.Handshake == nil || v.Asked == nil || v.Asked.State != up {
				t.Errorf("verify says %+v, of %s %+v", v, c.name, v.Asked)
			}
			web.CloseClientConnections()
			web.Close()
			if v := b.verify(1); v.Handshake != nil || v.Asked == nil || v.Asked.State != b.unstarted() {
				t.Errorf("of a server that is gone, verify says %+v, of %s %+v", v, c.name, v.Asked)
			}
		})
	}
}

// Gemini starts no servers in a folder that the user has not trusted.
func TestGeminiUntrusted(t *testing.T) {
	c := clientNamed(t, "gemini")
	delete(c.texts, "needs .gemini/trustedFolders.json")
	b := newBench(t, c)
	b.useLocal("added")
	defer b.swap(0, "revert")
	v := b.verify(1)
	if v.Asked == nil || v.Asked.State != ask.Disabled || !slices.ContainsFunc(v.Problems, func(p string) bool { return strings.Contains(p, "untrusted folder") }) {
		t.Errorf("verify says %+v", v)
	}
}

// If a client reads a stronger file than its usual config, the swap uses that, and what
// verify says is true of it.
func TestClientsOtherFiles(t *testing.T) {
	claude := `{"mcpServers": {"tmux": {"type": "stdio", "command": "/bin/false", "args": []}, "other": {"type": "stdio", "command": "/bin/false", "args": []}}}`
	opencode := `{"mcp": {"tmux": {"type": "local", "command": ["/bin/false"]}, "other": {"type": "local", "command": ["/bin/false"]}}}`
	for _, o := range []struct{ client, file, text, env, outcome string }{
		{"claude", ".claude/.config.json", claude, "", "added"}, // for the project
		{"opencode", ".opencode/opencode.json", opencode, "", "replaced"},
		{"opencode", "named.json", opencode, "OPENCODE_CONFIG", "replaced"},
		{"opencode", "named/opencode.jsonc", opencode, "OPENCODE_CONFIG_DIR", "replaced"},
	} {
		t.Run(o.client+"/"+o.file, func(t *testing.T) {
			b := newBench(t, clientNamed(t, o.client))
			b.write(o.file, o.text)
			if o.env != "" {
				at := filepath.Join(b.dir, o.file)
				if strings.HasSuffix(o.env, "_DIR") {
					at = filepath.Dir(at)
				}
				t.Setenv(o.env, at)
			}
			usual := b.text()
			b.useLocal(o.outcome)
			if text := b.text(); text != usual {
				t.Errorf("%s became\n%s", b.config, text)
			}
			if v := b.verify(0); v.Config != filepath.Join(b.dir, o.file) || v.Asked == nil || v.Asked.State != ask.Connected {
				t.Errorf("verify says %+v, of the client %+v", v, v.Asked)
			}
			if o.client == "opencode" {
				t.Setenv("OPENCODE_CONFIG_CONTENT", `{"mcp": {"tmux": {"enabled": false}}}`)
				if v := b.verify(1); v.Asked == nil || v.Asked.State != ask.Disabled {
					t.Errorf("switched off by a variable, verify says %+v, of the client %+v", v, v.Asked)
				}
			}
			b.swap(0, "revert")
			if text, err := os.ReadFile(filepath.Join(b.dir, o.file)); string(text) != o.text {
				t.Errorf("reverted: %s, %v", text, err)
			}
		})
	}
}

// Gemini keeps what "gemini mcp disable" switches off in a separate file.
func TestGeminiDisabled(t *testing.T) {
	b := newBench(t, clientNamed(t, "gemini"))
	b.useLocal("added")
	defer b.swap(0, "revert")
	b.write(".gemini/mcp-server-enablement.json", `{"tmux": {"enabled": false}}`)
	v := b.verify(1)
	if v.Asked == nil || v.Asked.State != ask.Disabled || !slices.ContainsFunc(v.Problems, func(p string) bool { return strings.Contains(p, "switched off") }) {
		t.Errorf("verify says %+v, of the client %+v", v, v.Asked)
	}
}

// Claude reads what was swapped from a linked work tree and from a sub-directory of a
// repository, anywhere in it.
func TestClaudeProject(t *testing.T) {
	b := newBench(t, clientNamed(t, "claude"))
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "safe.directory=*", "-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "init.defaultBranch=main"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	small, err := txtar.ParseFile("testdata/small.txtar") // a checkout, compiled in no time
	if err != nil {
		t.Fatal(err)
	}
	main, linked := filepath.Join(b.dir, "main"), filepath.Join(b.dir, "linked")
	outer := filepath.Join(b.dir, "outer")
	inner := filepath.Join(outer, "services", "tmux")
	for _, dir := range []string{main, inner} {
		if err := txtar.Write(small, dir); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q", main)
	git("-C", main, "add", ".")
	git("-C", main, "commit", "-q", "-m", "all")
	git("-C", main, "worktree", "add", "-q", "--detach", linked)
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
		if v := b.verify(0); v.Scope != clients.ScopeProject {
			t.Errorf("verify says %+v", v)
		}
		b.swap(0, "revert")
		b.ask("tmux", from.repo, ask.NotThere)
	}
}
