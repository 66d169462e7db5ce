package tmux_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// An older client program cannot talk to a server of 3.6 or later; tmux only
// says that the server exited.
func TestVersionMismatchIsNamed(t *testing.T) {
	other := os.Getenv("TMUX_TEST_OTHER_BINARY")
	if other == "" {
		t.Skip("TMUX_TEST_OTHER_BINARY does not name a second tmux; this needs one of 3.6 or later beside an older one")
	}
	srv := started(t)
	old, err := tmux.New(tmux.Config{Binary: other, SocketPath: srv.SocketPath()})
	if err != nil {
		t.Fatal(err)
	}
	ctx := tmuxtest.Context(t)
	theirs, _ := srv.Version(ctx)
	ours, _ := old.ProgramVersion(ctx)
	_, err = old.Do(ctx, tmux.ListSessions{})
	if err == nil {
		t.Skipf("a client of %s gets on with a server of %s", ours, theirs)
	}
	if !errors.Is(err, tmux.ErrVersionMismatch) || !strings.Contains(err.Error(), ours.String()) || !strings.Contains(err.Error(), theirs.String()) {
		t.Errorf("client %s, server %s: got %v", ours, theirs, err)
	}
}
