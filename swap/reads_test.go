package swap

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/swap/clients"
)

// A readCount counts how often each file is read.
type readCount struct {
	sync.Mutex
	files map[string]int
}

func (r *readCount) hook(s atomicfile.Step) error {
	if s.Op == atomicfile.OpRead {
		r.Lock()
		r.files[s.Path]++
		r.Unlock()
	}
	return nil
}

// most fails if a verb has read a file more often than it may; some files it must have read.
func (r *readCount) most(t *testing.T, verb string, may func(path string) int) {
	t.Helper()
	if len(r.files) < 5 {
		t.Errorf("%s has read only %v", verb, r.files)
	}
	for path, n := range r.files {
		if n > may(path) {
			t.Errorf("%s reads %s %d times, not at most %d", verb, path, n, may(path))
		}
	}
	clear(r.files)
}

// A command reads each file once, however much it says of it. A swap reads a config again under
// the lock, twice around its write, and afterwards as its client will; and other files again under
// the lock and afterwards.
func TestEachFileIsReadOnce(t *testing.T) {
	t.Parallel()
	home := tempDir(t, nil)
	count := &readCount{files: map[string]int{}}
	s := swapperAt(home, count.hook)
	files := map[string]string{"repo/pyproject.toml": pyproject}
	for _, c := range clients.All() {
		files[strings.TrimPrefix(c.ConfigPath(s.Sys), home)] = ""
	}
	for name, text := range map[string]string{
		".claude.json":            `{"mcpServers": {"srv": {"command": "x"}}, "projects": {"/p": {}}}`,
		".codex/config.toml":      "[mcp_servers.srv]\ncommand = \"x\"\n[projects.\"/p\"]\ntrust_level = \"trusted\"\n",
		".gemini/settings.json":   `{"mcp": {"excluded": ["srv"]}, "mcpServers": {"srv": {"command": "x"}}}`,
		".qwen/settings.json":     `{"mcpServers": {"srv": {"command": "x"}}}`,
		"repo/.mcp.json":          `{"mcpServers": {"srv": {"command": "y"}, "other": {"command": "z"}}}`,
		"repo/.codex/config.toml": "[mcp_servers.srv]\nenabled = true\n",
		"repo/opencode.json":      `{"mcp": {"srv": {"type": "local", "command": ["y"]}}}`,
	} {
		files[name] = text
	}
	writeFiles(t, home, files)
	repo := filepath.Join(home, "repo")
	once := func(string) int { return 1 }
	look := func() {
		t.Helper()
		if _, err := s.Status(StatusOptions{Repo: repo, Clients: clients.Names()}); err != nil {
			t.Fatal(err)
		}
		count.most(t, "status", once)
		if _, err := s.Doctor(DoctorOptions{Repo: repo}); err != nil {
			t.Fatal(err)
		}
		count.most(t, "doctor", once)
		s.Servers(repo, true)
		count.most(t, "completion", once)
		if _, err := s.Verify(t.Context(), VerifyOptions{Repo: repo, Server: "nosuch", Clients: clients.Names()}); err != nil {
			t.Fatal(err)
		}
		count.most(t, "verify", once)
	}
	look()
	use := UseOptions{Repo: repo, Clients: clients.Names(), NoPreflight: true}
	use.DryRun = true
	done(t)(s.UseLocal(t.Context(), use))
	count.most(t, "use-local --dry-run", once)
	use.DryRun = false
	configs := map[string]bool{}
	for _, r := range done(t)(s.UseLocal(t.Context(), use)) {
		configs[r.Config] = true
	}
	count.most(t, "use-local", func(path string) int {
		if configs[path] {
			return 5
		}
		return 3
	})
	look()
}

// What a large config costs is to read and to check it once: a command takes little more memory
// than the text has.
func TestLargeConfigIsReadOnce(t *testing.T) { // alone: memory is counted for the whole process
	home := tempDir(t, nil)
	var text strings.Builder
	text.WriteString(`{"mcpServers": {"srv": {"command": "x"}}, "projects": {`)
	for i := range 100 {
		fmt.Fprintf(&text, `"/p/%d": {"mcpServers": {}, "hasTrustDialogAccepted": true, "history": [%s""]}, `, i, strings.Repeat(`{"display": "what is this?"}, `, 3000))
	}
	text.WriteString(`"/last": {}}}`)
	writeFiles(t, home, map[string]string{"repo/pyproject.toml": pyproject, ".claude.json": text.String()})
	repo := filepath.Join(home, "repo")
	s := swapperAt(home, nil)
	limit := func(verb string, texts float64, run func() error) {
		t.Helper()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := run(); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if took := float64(after.TotalAlloc-before.TotalAlloc) / float64(text.Len()); took > texts {
			t.Errorf("%s takes memory for %.1f times the config, not at most %.1f", verb, took, texts)
		}
	}
	status := func() error {
		_, err := s.Status(StatusOptions{Repo: repo, Clients: []string{"claude"}})
		return err
	}
	doctor := func() error { _, err := s.Doctor(DoctorOptions{Repo: repo}); return err }
	limit("status", 1.5, status)
	limit("doctor", 1.5, doctor)
	// It is read four times more, of which two are compared and forgotten, and written twice: the
	// new text, and what it is compared with.
	limit("use-local", 9, func() error {
		_, err := s.UseLocal(t.Context(), UseOptions{Repo: repo, Clients: []string{"claude"}, NoPreflight: true})
		return err
	})
	limit("status of a swap", 1.5, status)
	limit("doctor of a swap", 1.5, doctor)
}
