package clients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/swap"
	"tmuxmcp/swap/ask"
	swapcli "tmuxmcp/swap/cli"
	"tmuxmcp/swap/clients"
)

// A bench is a home with one client in it, whose config mcp-swap changes.
type bench struct {
	*home
	realClient
	repo string
	env  []string // --env flags of use-local: Codex passes on none of them
}

func newBench(t *testing.T, c realClient) *bench {
	h := newHome(t, c.name)
	checkout, err := filepath.Abs(repo)
	if err != nil {
		t.Fatal(err)
	}
	if checkout, err = filepath.EvalSymlinks(checkout); err != nil {
		t.Fatal(err)
	}
	b := &bench{home: h, realClient: c, repo: checkout}
	for _, kv := range goEnv(t) {
		b.env = append(b.env, "--env", kv)
	}
	b.write(c.config, c.texts["config"])
	for name, text := range c.more("needs") {
		b.write(name, strings.ReplaceAll(text, "REPO", checkout))
	}
	t.Cleanup(b.nothingLeft)
	return b
}

// text is the client's config.
func (b *bench) text() string {
	b.Helper()
	text := b.read(b.config)
	if text == "" {
		b.Fatalf("no %s", b.config)
	}
	return text
}

// swap runs mcp-swap.
func (b *bench) swap(want int, args ...string) (stdout string) {
	b.Helper()
	var out, diag bytes.Buffer
	if code := swapcli.Main(args, strings.NewReader(""), &out, &diag); code != want {
		b.Fatalf("mcp-swap %s: exit code %d\n%s%s\n%s:\n%s", strings.Join(args, " "), code, &out, &diag, b.config, b.text())
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

// until gives a client more than one chance to do what its output does not report.
func (b *bench) until(try func() (said string)) {
	b.Helper()
	for n := 1; ; n++ {
		said := try()
		if said == "" {
			return
		}
		if n == tries {
			b.Fatalf("%s\n%s", said, b.text())
		}
		report(b.T, "%-9s asked once more: %s", b.name, strings.ReplaceAll(said, "\n", " "))
	}
}

// ask asks the client itself, in this home, what it makes of a server, which must be in the
// given state.
func (b *bench) ask(server, dir, state string) (a ask.Answer) {
	b.Helper()
	b.until(func() string {
		c := clients.Lookup(b.name)
		var err error
		a, err = ask.Client(b.Context(), *c.Ask, ask.Question{Program: c.Binary(), Server: server, Dir: dir, Home: b.dir, Unset: c.HomeVars()})
		if err == nil && a.State == state {
			return ""
		}
		return fmt.Sprintf("in %s %s says of %q: %+v, %v; it should say %q", dir, b.name, server, a, err, state)
	})
	return a
}

// unstarted returns what the client says about a server that cannot start.
func (b *bench) unstarted() string {
	if b.lists {
		return ask.Configured
	}
	return ask.NotStarted
}

func (b *bench) connected(dir, command string) ask.Answer {
	b.Helper()
	state := ask.Connected
	if b.lists {
		state = ask.Configured
	}
	a := b.ask("tmux", dir, state)
	if a.Command != "" && a.Command != command {
		b.Fatalf("%s says %+v, not that it runs %s\n%s", b.name, a, command, b.text())
	}
	return a
}

// adds makes the client itself write a server into its config.
func (b *bench) adds(server string) {
	b.Helper()
	args := slices.Clone(b.add)
	args[slices.Index(args, "NAME")] = server
	b.until(func() string {
		out, err := b.try(b.repo, args...)
		if strings.Contains(b.text(), server) {
			return ""
		}
		return fmt.Sprintf("%s %s has not written into %s: %v\n%s", b.name, strings.Join(args, " "), b.config, err, out)
	})
}

// verify runs mcp-swap verify, which must exit with the code want.
func (b *bench) verify(want int) swap.Verified {
	b.Helper()
	args := []string{"verify", "--cli", b.name, "--repo", b.repo, "--server", "tmux", "--json"}
	text := b.text()
	var v struct{ Clients []swap.Verified }
	b.until(func() string {
		b.Helper()
		var out, diag bytes.Buffer
		code := swapcli.Main(args, strings.NewReader(""), &out, &diag)
		v.Clients = nil
		if err := json.Unmarshal(out.Bytes(), &v); err != nil || len(v.Clients) != 1 {
			b.Fatalf("verify --json: %v\n%s%s", err, &out, &diag)
		}
		if b.text() != text {
			b.Errorf("verify has changed the config:\n%s\nit was:\n%s", b.text(), text)
		}
		if left, _ := filepath.Glob(filepath.Join(b.dir, "tmp", "mcp-swap-*")); len(left) > 0 {
			b.Errorf("verify has left %s", left)
		}
		if code == want {
			return ""
		}
		said := fmt.Sprintf("verify: exit code %d, not %d: %q\n%s", code, want, v.Clients[0].Problems, &diag)
		if v.Clients[0].Handshake == nil {
			b.Fatal(said)
		}
		return said
	})
	return v.Clients[0]
}

// nothingLeft fails if a process with this home, or a file of mcp-swap, is left.
func (b *bench) nothingLeft() {
	_ = filepath.WalkDir(b.dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.Contains(path, ".bak.mcp-swap-") {
			b.Errorf("left over: %s", path)
		}
		return nil
	})
	var left map[int]string
	defer func() {
		if b.Failed() {
			b.Logf("left over: %v", left)
		}
	}()
	testtool.Eventually(b, "no process of the client", func() bool {
		left = b.processes()
		return len(left) == 0
	})
}
