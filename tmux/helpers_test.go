package tmux_test

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/tmux"
)

func ptr[T any](v T) *T { return &v }

func do(ctx context.Context, srv *tmux.Server, cmds ...tmux.Command) error {
	return check.Second(srv.Do(ctx, cmds...))
}

// debugLog logs everything.
func debugLog(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// job returns a shell command that runs until the test ends: tmux 3.3a does not exit while
// one does.
func job(t testing.TB) string {
	path := filepath.Join(t.TempDir(), "run")
	check.OK(t, os.WriteFile(path, nil, 0o600))
	return "while [ -e " + path + " ]; do sleep 0.02; done"
}
