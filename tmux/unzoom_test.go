package tmux_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// TestEndingZoomedWindows: tmux 3.4 and the development version before 3.8 end
// themselves, with every session, when a session or unlink-window takes a zoomed
// window along.
func TestEndingZoomedWindows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		cmd   tmux.Command
		setup string
		left  string // sessions
	}{
		{"session", tmux.KillSession{Target: tmux.Named("a")}, "", "keep"},
		{"session by its id", tmux.KillSession{Target: tmux.SessionID("$1")}, "", "keep"},
		{"session that has the window twice", tmux.KillSession{Target: tmux.Named("a")}, "link-window -d -s =a:0 -t =a:7", "keep"},
		{"session of a group", tmux.KillSession{Target: tmux.Named("a")}, "new-session -d -s peer -t =a", "keep"},
		{"all other sessions", tmux.KillSession{Target: tmux.Named("keep"), Others: true}, "new-session -d -s peer -t =a", "keep"},
		{"window by unlinking", tmux.UnlinkWindow{Target: tmux.TargetSpec("=a:0"), Kill: true}, "", "a keep"},
		{"window", tmux.KillWindow{Target: tmux.WindowID("@1")}, "", "a keep"},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv, ctx := tmuxtest.New(t), tmuxtest.Context(t)
			for line := range strings.Lines(strings.Join([]string{
				"new-session -d -s keep -x 80 -y 24 cat",
				"new-session -d -s a -x 80 -y 24 cat",
				"split-window -t =a: cat",
				"new-window -d -t =a: cat",
				"resize-pane -Z -t =a:0",
				c.setup,
			}, "\n")) {
				if words := strings.Fields(line); len(words) > 0 {
					tmuxtest.Run(t, srv, words[0], words[1:]...)
				}
			}
			ok(t, do(ctx, srv, c.cmd))
			if c.name == "session of a group" { // now the windows are the other one's alone
				ok(t, do(ctx, srv, tmux.KillSession{Target: tmux.Named("peer")}))
			}
			left := strings.Fields(tmuxtest.Run(t, srv, "list-sessions", "-F", "#{session_name}"))
			if slices.Sort(left); strings.Join(left, " ") != c.left {
				t.Errorf("sessions left: %q, want %q", left, c.left)
			}
		})
	}
}

// TestEndingWhatIsNotThere: what goes before kill-session touches nothing else.
func TestEndingWhatIsNotThere(t *testing.T) {
	t.Parallel()
	srv, ctx := tmuxtest.New(t), tmuxtest.Context(t)
	tmuxtest.Run(t, srv, "new-session", "-d", "-s", "keep", "-x", "80", "-y", "24", "cat")
	tmuxtest.Run(t, srv, "split-window", "-t", "=keep:", "cat")
	tmuxtest.Run(t, srv, "resize-pane", "-Z", "-t", "=keep:")
	for _, cmd := range []tmux.Command{
		tmux.KillSession{Target: tmux.Named("none")}, tmux.KillSession{Target: tmux.SessionID("$9")},
		tmux.UnlinkWindow{Target: tmux.WindowID("@9"), Kill: true},
	} {
		err := do(ctx, srv, cmd)
		isKind(t, cmd.CommandName(), err, tmux.ErrNotFound)
		var e *tmux.Error
		if errors.As(err, &e) && e.Command != cmd.CommandName() {
			t.Errorf("%s: the error is of %s", cmd.CommandName(), e.Command)
		}
	}
	equal(t, "the other session's window_zoomed_flag", "1", tmuxtest.Run(t, srv, "display-message", "-p", "-t", "=keep:", "#{window_zoomed_flag}"))
}
