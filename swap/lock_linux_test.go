package swap

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/swap/internal/machine"
)

// While copilot holds its lock, its config is not written. A lock file that it has not
// created yet is not created for it.
func TestCopilotsLock(t *testing.T) {
	const text = `{"mcpServers": {}}`
	home := tempDir(t, map[string]string{
		".copilot/mcp-config.json": text, "package.json": `{"name": "srv", "bin": "x.js"}`, "x.js": "",
	})
	config, lock := filepath.Join(home, ".copilot", "mcp-config.json"), filepath.Join(home, ".copilot", ".mcp-writer.lock")
	s := swapperAt(home, nil)
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
	if !machine.Missing(lock) {
		t.Error("it made a lock file")
	}
	done(t)(s.Revert(t.Context(), RevertOptions{}))

	f, err := os.Create(lock)
	if err = errors.Join(err, syscall.Flock(int(f.Fd()), syscall.LOCK_EX)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := use(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("under copilot's lock: %v", err)
	}
	if now := readFile(t, config); now != text {
		t.Errorf("under the lock: %s", now)
	}
	f.Close()
	if err := use(t.Context()); err != nil {
		t.Errorf("after the lock: %v", err)
	}
	if now := readFile(t, config); !strings.Contains(now, "x.js") {
		t.Errorf("after the lock: %s", now)
	}
}
