package cmd

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testtmux"
)

// blocks are the indented blocks of a page that a line begins with a prefix in, without
// their indentation.
func blocks(t *testing.T, page, prefix string) [][]string {
	t.Helper()
	var found [][]string
	for _, block := range regexp.MustCompile(`(?m)(?:^    .*\n)+`).FindAllString(pages(t)["../"+page], -1) {
		lines := strings.Split(strings.TrimSuffix(strings.TrimPrefix(strings.ReplaceAll("\n"+block, "\n    ", "\n"), "\n"), "\n"), "\n")
		if slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, prefix) }) {
			found = append(found, lines)
		}
	}
	if found == nil {
		t.Fatalf("%s has no block with %q", page, prefix)
	}
	return found
}

// A reader's machine: a home of its own, with no tmux server. What is printed about it
// is as the README has it.
type reader struct{ home, here string }

func newReader(t *testing.T) reader {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"GOCACHE", "GOMODCACHE"} { // they are below the home that it has
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv(name, strings.TrimSpace(string(out)))
	}
	for _, name := range []string{"TMUX", "TMUX_PANE", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "GEMINI_CLI_HOME"} {
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	t.Setenv("HOME", home)
	t.Setenv("LC_ALL", "C.UTF-8")
	tmux := testtmux.Binary(t)
	// Short: it has the path of a socket.
	sockets, err := os.MkdirTemp("", "tt")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMUX_TMPDIR", sockets)
	t.Setenv("TMUX_MCP_TMUX_BIN", tmux)
	t.Setenv("XDG_RUNTIME_DIR", sockets)
	t.Cleanup(func() {
		for _, name := range []string{"default", "work"} {
			_ = exec.Command(tmux, "-L", name, "kill-server").Run()
		}
		os.RemoveAll(sockets)
	})
	return reader{home, here}
}

// run runs a line of the README in a shell, in the root of the checkout.
func (r reader) run(t *testing.T, line string) (output string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Dir = r.here
	out, err := cmd.CombinedOutput()
	return strings.NewReplacer(r.here, "/home/me/tmuxmcp", r.home, "/home/me").Replace(string(out)), err
}

func (r reader) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(r.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// install puts programs on PATH that could be clients.
func (r reader) install(t *testing.T, clients ...string) {
	t.Helper()
	for _, client := range clients {
		r.write(t, "bin/"+client, "#!/bin/sh\nexit 1\n")
		if err := os.Chmod(filepath.Join(r.home, "bin", client), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", filepath.Join(r.home, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// progressLine is what a busy machine prints besides.
const progressLine = "mcp-swap: preflight: waiting for the server to answer; its first start may have to build it\n"

// seconds are what is never the same twice.
var seconds = regexp.MustCompile(`\d+\.\d+s\b`)

// transcript runs the commands of a block, the lines after "$ ", and compares what they
// print with the lines that follow. A line "…" stands for any lines.
func (r reader) transcript(t *testing.T, block []string) {
	t.Helper()
	for i := 0; i < len(block); {
		command, ok := strings.CutPrefix(block[i], "$ ")
		if !ok {
			t.Fatalf("no command: %q", block[i])
		}
		end := i + 1
		for end < len(block) && !strings.HasPrefix(block[end], "$ ") {
			end++
		}
		var want strings.Builder
		for _, line := range block[i+1 : end] {
			if line == "…" {
				want.WriteString(`(?:.*\n)*`)
			} else {
				want.WriteString(regexp.QuoteMeta(seconds.ReplaceAllString(line, "0s")) + `\n`)
			}
		}
		// Programs that fail say so in what they print: run_command's exit status.
		out, err := r.run(t, command)
		out = strings.ReplaceAll(out, progressLine, "")
		if got := seconds.ReplaceAllString(out, "0s"); err != nil || !regexp.MustCompile(`^`+want.String()+`$`).MatchString(got) {
			t.Errorf("%s: %v, and prints\n%s\nThe page has\n%s", command, err, out, strings.Join(block[i+1:end], "\n"))
		}
		i = end
	}
}

// What docs/mcp-swap.md shows of mcp-swap is what it prints, in this checkout, to somebody who
// has these clients. It only looks whether they are there.
func TestReadmeSwaps(t *testing.T) {
	r := newReader(t)
	r.install(t, "claude", "codex", "gemini", "opencode")
	r.write(t, ".claude.json", `{"numStartups": 3}`)
	r.write(t, ".codex/config.toml", "[mcp_servers.tmux]\ncommand = \"tmux-mcp\"\n")
	r.write(t, ".cursor/mcp.json", `{"mcpServers": {"tmux": {"command": "tmux-mcp"}}}`)
	r.write(t, ".gemini/settings.json", `{"mcpServers": {"tmux": {"command": "tmux-mcp"}}}`)
	r.write(t, ".gemini/trustedFolders.json", fmt.Sprintf(`{%q: "TRUST_FOLDER"}`, r.here))
	r.write(t, ".config/opencode/opencode.jsonc", `{"mcp": {"tmux": {"type": "local", "command": ["tmux-mcp"]}}}`)
	for _, block := range blocks(t, "docs/mcp-swap.md", "$ mcp-swap use-local") {
		r.transcript(t, block)
	}
}

// What it shows of tmux-mcp is what that prints, and every other line with tmux-mcp
// does something.
func TestReadmeCallsTools(t *testing.T) {
	r := newReader(t)
	r.install(t, "claude")
	for _, block := range blocks(t, "README.md", "$ tmux-mcp") {
		r.transcript(t, block)
	}
	for _, block := range blocks(t, "README.md", "tmux-mcp ") {
		for _, line := range block {
			if out, err := r.run(t, line+" </dev/null"); err != nil {
				t.Errorf("%s: %v: %s", line, err, out)
			}
		}
	}
}

// The entries for clients are such as mcp-swap reads. What the clients make of the lines for
// them is tested in endtoend/clients.
func TestReadmeAddsToClients(t *testing.T) {
	r := newReader(t)
	using := pages(t)["../docs/using.md"]
	for file, prefix := range map[string]string{".cursor/mcp.json": `{"mcpServers"`, ".config/Code/User/mcp.json": `{"servers"`} {
		if !strings.Contains(using, "~/"+file) {
			t.Errorf("using.md does not mention ~/%s", file)
		}
		r.write(t, file, strings.Join(blocks(t, "docs/using.md", prefix)[0], "\n"))
	}
	r.has(t, "cursor", "tmux", "tmux-mcp")
	r.has(t, "vscode", "tmux", "tmux-mcp")
	r.write(t, ".cursor/mcp.json", blocks(t, "docs/questions.md", `{"mcpServers": {"tmux-devbox"`)[0][0])
	r.has(t, "cursor", "tmux-devbox", "ssh -o BatchMode=yes devbox .local/bin/tmux-mcp")
	r.write(t, ".cursor/mcp.json", blocks(t, "docs/questions.md", `{"mcpServers": {"tmux": {"command": "wsl.exe"`)[0][0])
	r.has(t, "cursor", "tmux", "wsl.exe -e ***") // masked, as -e of other programs sets a variable
}

// has reports an error unless mcp-swap finds the entry in a client's config.
func (r reader) has(t *testing.T, client, server, command string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "mcp-swap", "status", "--json", "--server", server, "--cli", client).Output()
	var status struct {
		Clients []struct{ Command []string }
	}
	if err == nil {
		err = json.Unmarshal(out, &status)
	}
	for _, c := range status.Clients {
		if strings.Join(c.Command, " ") == command {
			return
		}
	}
	t.Errorf("%s does not run %q as %s: %v: %s", client, command, server, err, out)
}
