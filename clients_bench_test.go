package tmuxmcp_test

import (
	"bytes"
	"context"
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
	"tmuxmcp/swap/ask"
	swapcli "tmuxmcp/swap/cli"
)

const (
	// tries is how often a client is asked before what it says counts.
	tries = 3
	// patience is for any run of a client but the asking, which has its own.
	patience = 2 * time.Minute
)

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
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "GROK_HOME", "GEMINI_CLI_TRUST_WORKSPACE", "OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", "OPENCODE_CONFIG_CONTENT"} {
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

// ask asks the client itself, in this home, what it makes of a server. It is to
// be in that state.
func (b *bench) ask(server, dir, state string) ask.Answer {
	b.Helper()
	var a ask.Answer
	for try := 1; ; try++ {
		var err error
		a, err = swap.Ask(b.Context(), b.name, server, dir, b.home)
		if err == nil && a.State == state {
			return a
		}
		said := fmt.Sprintf("in %s %s says of %q: %+v, %v; it should say %q", dir, b.name, server, a, err, state)
		if try == tries {
			b.Fatalf("%s\n%s", said, b.read())
		}
		b.again(said)
	}
}

// again is called before a client is given another chance.
func (b *bench) again(said string) {
	b.Helper()
	report(b.T, "%-9s asked once more: %s", b.name, strings.ReplaceAll(said, "\n", " "))
}

func (b *bench) connected(dir, command string) ask.Answer {
	b.Helper()
	a := b.ask("tmux", dir, ask.Connected)
	if a.Command != "" && a.Command != command {
		b.Fatalf("%s says %+v, not that it runs %s\n%s", b.name, a, command, b.read())
	}
	return a
}

// try runs the client itself, and ends it with all that it has started when its
// time is over.
func (b *bench) try(args ...string) (string, error) {
	limit, cancel := context.WithTimeout(b.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(limit, b.name, args...)
	cmd.Dir = b.repo
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (b *bench) version() string {
	b.Helper()
	out, err := b.try("--version")
	number := versionNumber.FindString(out)
	if err != nil || number == "" {
		b.Fatalf("%s --version: %v\n%s", b.name, err, out)
	}
	return number
}

// adds makes the client itself write a server into its config.
func (b *bench) adds(server string) {
	b.Helper()
	args := slices.Clone(b.add)
	args[slices.Index(args, "NAME")] = server
	for try := 1; ; try++ {
		out, err := b.try(args...)
		if strings.Contains(b.read(), server) {
			return
		}
		said := fmt.Sprintf("%s %s has not written into %s: %v\n%s", b.name, strings.Join(args, " "), b.config, err, out)
		if try == tries {
			b.Fatalf("%s\n%s", said, b.read())
		}
		b.again(said)
	}
}

// verify runs mcp-swap verify, which is to exit with that code.
func (b *bench) verify(want int) swap.Verified {
	b.Helper()
	args := []string{"verify", "--cli", b.name, "--repo", b.repo, "--server", "tmux", "--json"}
	text := b.read()
	for try := 1; ; try++ {
		var out, diag bytes.Buffer
		code := swapcli.Main(args, strings.NewReader(""), &out, &diag)
		var v swap.Verification
		if err := json.Unmarshal(out.Bytes(), &v); err != nil || len(v.Clients) != 1 {
			b.Fatalf("verify --json: %v\n%s%s", err, &out, &diag)
		}
		if b.read() != text {
			b.Errorf("verify has changed the config:\n%s\nit was:\n%s", b.read(), text)
		}
		if left, _ := filepath.Glob(filepath.Join(b.home, "tmp", "mcp-swap-*")); len(left) > 0 {
			b.Errorf("verify has left %s", left)
		}
		if code == want {
			return v.Clients[0]
		}
		said := fmt.Sprintf("verify: exit code %d: %q", code, v.Clients[0].Problems)
		if try == tries || v.Clients[0].Handshake == nil {
			b.Fatalf("%s, not %d\n%s%s\n%s", said, want, &out, &diag, text)
		}
		b.again(said)
	}
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

// report writes a result to the log and, for .ci/clients, to its report.
func report(t *testing.T, format string, args ...any) {
	t.Helper()
	line := fmt.Sprintf(format, args...)
	t.Log(line)
	name := os.Getenv("MCP_CLIENTS_REPORT")
	if name == "" {
		return
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(line + "\n"); err != nil {
		t.Error(err)
	}
}

var versionNumber = regexp.MustCompile(`\d+\.\d+\.\d+\S*`)
