package swap

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/swap/machine"
)

// While copilot holds its lock its config is not written; a lock file that it has not
// made yet is not made for it.
func TestCopilotsLock(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	const text = `{"mcpServers": {}}`
	config, lock := filepath.Join(home, ".copilot", "mcp-config.json"), filepath.Join(home, ".copilot", ".mcp-writer.lock")
	if err := os.Mkdir(filepath.Dir(config), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{config: text, filepath.Join(home, "package.json"): `{"name": "srv", "bin": "x.js"}`, filepath.Join(home, "x.js"): ""} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := New(machine.System{GOOS: "linux", Home: home, Getenv: func(string) string { return "" }}, nil)
	use := func(ctx context.Context) error {
		r, err := s.UseLocal(ctx, UseOptions{Repo: home, Clients: []string{"copilot"}, NoPreflight: true})
		if err == nil {
			err = r[0].Err
		}
		return err
	}
	if err := use(t.Context()); err != nil {
		t.Fatalf("without a lock file: %v", err)
	}
	if !missing(lock) {
		t.Error("it made a lock file")
	}
	if r, err := s.Revert(t.Context(), RevertOptions{}); err != nil || AnyFailed(r) {
		t.Fatalf("revert: %+v, %v", r, err)
	}

	f, err := os.Create(lock)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := use(ctx); err == nil {
		t.Error("it wrote under copilot's lock")
	}
	if now, err := os.ReadFile(config); string(now) != text {
		t.Errorf("under the lock: %s, %v", now, err)
	}
	f.Close()
	if err := use(t.Context()); err != nil {
		t.Errorf("after the lock: %v", err)
	}
	if now, err := os.ReadFile(config); !strings.Contains(string(now), "x.js") {
		t.Errorf("after the lock: %s, %v", now, err)
	}
}
