package tmux_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
)

// An older client program cannot talk to a server of 3.6 or later; tmux only says that the
// server exited. Without the program, the versions may differ.
func TestVersionMismatchIsNamed(t *testing.T) {
	t.Parallel()
	other := os.Getenv("TMUX_TEST_OTHER_BINARY")
	if other == "" {
		t.Skip("TMUX_TEST_OTHER_BINARY does not name a second tmux; this needs one of 3.6 or later beside an older one")
	}
	srv := testserver.Started(t)
	old := testserver.Handle(t, tmux.Config{Binary: other, SocketPath: srv.SocketPath(), Transport: tmux.TransportExec})
	ctx := testserver.Context(t)
	theirs, _ := srv.Version(ctx)
	ours, _ := old.ProgramVersion(ctx)
	native := testserver.Handle(t, tmux.Config{Binary: other, SocketPath: srv.SocketPath(), Transport: tmux.TransportNative})
	if panes, err := tmux.List[tmux.Pane](ctx, native, tmux.ListPanes{All: true}); err != nil || len(panes) == 0 {
		t.Errorf("client %s, server %s, without the program: %d panes, %v", ours, theirs, len(panes), err)
	}
	_, err := old.Do(ctx, tmux.ListSessions{})
	if err == nil {
		t.Skipf("a client of %s gets on with a server of %s", ours, theirs)
	}
	if !errors.Is(err, tmux.ErrVersionMismatch) || !strings.Contains(err.Error(), ours.String()) || !strings.Contains(err.Error(), theirs.String()) {
		t.Errorf("client %s, server %s: got %v", ours, theirs, err)
	}
}

// A server that replaces another on the socket is asked for its version, even if no call
// has failed meanwhile.
func TestVersionOfAServerThatTookAnothersPlace(t *testing.T) {
	t.Parallel()
	other := os.Getenv("TMUX_TEST_OTHER_BINARY")
	if other == "" {
		t.Skip("TMUX_TEST_OTHER_BINARY does not name a second tmux")
	}
	srv, ctx := testserver.Started(t), testserver.Context(t)
	before := check.Must[tmux.Version](t)(srv.Version(ctx))
	for i, binary := range []string{other, srv.Binary()} {
		next := testserver.Handle(t, tmux.Config{Binary: binary, SocketPath: srv.SocketPath(), ConfigFile: "/dev/null"})
		if _, err := next.Do(ctx, tmux.Raw{Name: "kill-server"}); err != nil && !errors.Is(err, tmux.ErrServerGone) {
			t.Fatal(err)
		}
		for ctx.Err() == nil && !errors.Is(check.Second(next.Do(ctx, tmux.ListSessions{})), tmux.ErrNoServer) {
			time.Sleep(5 * time.Millisecond)
		}
		check.OK(t, do(ctx, next, tmux.Raw{Name: "new-session", Args: []string{"-d", "cat"}}))
		want := check.Must[tmux.Version](t)(next.ProgramVersion(ctx))
		if got := check.Must[tmux.Version](t)(srv.Version(ctx)); got != want {
			t.Errorf("server %d: %v, want %v; the first was %v", i, got, want, before)
		}
		check.Must[[]tmux.Pane](t)(tmux.List[tmux.Pane](ctx, srv, tmux.ListPanes{All: true}))
	}
}
