package main

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/shell"
	"tmuxmcp/tmux/tmuxtest"
)

// hosts starts a session with three panes.
func hosts(t *testing.T) (*tmux.Server, []string) {
	t.Helper()
	srv := tmuxtest.Server(t)
	session, err := srv.NewSession(t.Context(), tmux.NewSession{Name: "hosts"})
	if err != nil {
		t.Fatal(err)
	}
	panes, err := session.Panes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err = panes[0].Split(t.Context(), tmux.SplitWindow{}); err == nil {
		_, err = session.NewWindow(t.Context(), tmux.NewWindow{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return srv, []string{"hosts:0.0", "hosts:0.1", "%2"}
}

func TestInOrder(t *testing.T) {
	srv, names := hosts(t)
	var out bytes.Buffer
	err := deploy(t.Context(), srv, &out, false, names, []string{"echo built", "echo migrated", "echo restarted", "echo failed; sh -c 'exit 3'", "echo never"})
	var exit *shell.ExitError
	if !errors.As(err, &exit) || exit.Status != 3 || exit.Pane != "%0" || !strings.HasPrefix(err.Error(), "step 4: ") {
		t.Error(err)
	}
	if got := strings.ReplaceAll(out.String(), "\r\n", "\n"); got != "built\nmigrated\nrestarted\nfailed\n" {
		t.Errorf("printed %q", got)
	}
}

func TestParallel(t *testing.T) {
	srv, names := hosts(t)
	err := deploy(t.Context(), srv, io.Discard, true, names, []string{"sleep 1000", "sh -c 'exit 9'", "sleep 1000"})
	var exit *shell.ExitError
	if !errors.As(err, &exit) || exit.Status != 9 || exit.Pane != "%1" {
		t.Error(err)
	}
	// The others were interrupted, and the panes take commands again.
	if err := deploy(t.Context(), srv, io.Discard, true, names, []string{"true", "true", "true"}); err != nil {
		t.Error(err)
	}
}

func TestNoSuchPane(t *testing.T) {
	srv, names := hosts(t)
	var out bytes.Buffer
	err := deploy(t.Context(), srv, &out, false, append(names, "hosts:7.0"), []string{"echo never"})
	if !errors.Is(err, tmux.ErrNotFound) || !strings.Contains(err.Error(), "hosts:7.0") || out.Len() > 0 {
		t.Errorf("%v, printed %q", err, out.String())
	}
}
