package tmux_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
)

func ptr[T any](v T) *T { return &v }

// must is for calls whose failure leaves nothing to test.
func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// only is [must] for a list of one.
func only[T any](t testing.TB) func(list []T, err error) T {
	return func(list []T, err error) T {
		t.Helper()
		if err != nil || len(list) != 1 {
			t.Fatalf("%+v, %v; want one", list, err)
		}
		return list[0]
	}
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func isKind(t testing.TB, what string, err, kind error) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("%s: got error %v, want one of kind %q", what, err, kind)
	}
}

func equal[T any](t testing.TB, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got)\n%s", what, diff)
	}
}

// second returns the error of a call with another result.
func second[T any](_ T, err error) error { return err }

func do(ctx context.Context, srv *tmux.Server, cmds ...tmux.Command) error {
	return second(srv.Do(ctx, cmds...))
}

// started returns a server with one session "main" of one window with one pane.
func started(t testing.TB) *tmux.Server {
	t.Helper()
	srv := testserver.New(t)
	testserver.Run(t, srv, "new-session", "-d", "-s", "main", "-x", "80", "-y", "24")
	return srv
}

// by returns another handle on a server, with a transport.
func by(t testing.TB, base *tmux.Server, way tmux.Transport) *tmux.Server {
	t.Helper()
	return handle(t, tmux.Config{Binary: base.Binary(), SocketPath: base.SocketPath(), Transport: way})
}

// handle returns a handle on a server; the program is the one that tests run unless cfg has
// another.
func handle(t testing.TB, cfg tmux.Config) *tmux.Server {
	t.Helper()
	if cfg.Binary == "" {
		cfg.Binary = testserver.Binary(t)
	}
	return must[*tmux.Server](t)(tmux.New(cfg))
}

// debugLog logs everything.
func debugLog(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// expect fails the test, and lets it go on, if what it expects does not hold.
func expect(t testing.TB, holds bool, format string, args ...any) {
	t.Helper()
	if !holds {
		t.Errorf(format, args...)
	}
}

// contains expects a text to contain a part.
func contains[T string | []byte](t testing.TB, what string, text T, part string) {
	t.Helper()
	if !strings.Contains(string(text), part) {
		t.Errorf("%s: %q is not in %q", what, part, text)
	}
}

// absent expects that there is no such file: nothing has created it.
func absent(t testing.TB, path string) {
	t.Helper()
	if _, err := os.Lstat(path); err == nil {
		t.Errorf("%s was made", path)
	}
}

// job returns a shell command that runs until the test ends: tmux 3.3a does not exit while
// one does.
func job(t testing.TB) string {
	path := filepath.Join(t.TempDir(), "run")
	ok(t, os.WriteFile(path, nil, 0o600))
	return "while [ -e " + path + " ]; do sleep 0.02; done"
}

// drawn returns a pane that a shell script draws on.
func drawn(t testing.TB, srv *tmux.Server, script string) tmux.PaneRef {
	t.Helper()
	return srv.Pane(tmux.PaneID(testserver.Run(t, srv, "new-window", "-d", "-P", "-F", "#{pane_id}", script+`; exec sleep 1000`)))
}

// waitDisplay waits until a format of a pane expands to want.
func waitDisplay(t testing.TB, pane tmux.PaneRef, format tmux.Format, want string) {
	t.Helper()
	testserver.Wait(t, pane.Server(), string(pane.ID), string(format)+" "+want, func() bool {
		got, err := pane.Display(testserver.Context(t), format)
		return err == nil && got == want
	})
}
