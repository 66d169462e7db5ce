package jobs

import (
	"errors"
	"testing"

	"tmuxmcp/server/internal/reply"
	"tmuxmcp/tmux/shell"
)

// TestNoteOf: of several things that could be said, the first one is that which explains the others.
func TestNoteOf(t *testing.T) {
	t.Parallel()
	const lost, ended, running = shell.Lost, shell.Ended, shell.Running
	slow := errors.New("too slow")
	for _, c := range []struct {
		result    shell.Result
		unmatched error
		changer   string
		want      reply.Words
	}{
		{result: shell.Result{State: ended}},
		{result: shell.Result{State: running, Remote: "sh"}},
		{result: shell.Result{State: lost}},
		{result: shell.Result{State: lost, FullDir: "/d", Dropped: true, Remote: "sh", Unproven: true}, want: "it was killed, or its exit status could not be recorded: no space left in /d"},
		{result: shell.Result{State: lost, FullDir: "/d", PaneEnded: true}, want: "its output could not be recorded: no space left in /d"},
		{result: shell.Result{State: ended, FullDir: "/d"}, unmatched: slow, want: "its output could not be recorded: no space left in /d"},
		{result: shell.Result{State: lost, Remote: "sh", Unproven: true}, want: "the connection was lost as it was started: it may have run"},
		{result: shell.Result{State: lost, Remote: "sh", Unproven: true, PaneEnded: true}, want: "the connection was lost as it was started: it may have run"},
		{result: shell.Result{State: running, Remote: "sh", Unproven: true}, want: "it was started, but does not show yet that it has begun: it may have"},
		{result: shell.Result{State: lost, Remote: "sh", Dropped: true}, want: "the connection was lost while it ran: its exit status is not known"},
		{result: shell.Result{State: lost, Remote: "sh", PaneEnded: true}},
		{result: shell.Result{State: lost, Dropped: true}, unmatched: slow, want: "its shell has dropped it, as after C-c or an error: the exit status is not known"},
		{result: shell.Result{State: shell.Stopped}, unmatched: slow, want: "it was stopped, as C-z does: fg, typed at the prompt, goes on with it; cancel_job ends it"},
		{result: shell.Result{State: ended, ShellEnded: true, Shell: "bash"}, unmatched: slow, want: "not all lines were matched: too slow"},
		{result: shell.Result{State: ended, ShellEnded: true, Shell: "ssh", Remote: "sh"}, changer: "cd", want: "what led to its shell has ended: ssh"},
		{result: shell.Result{State: ended, ShellEnded: true, Shell: "bash"}, changer: "cd", want: "the shell it ran in has ended: bash"},
		{result: shell.Result{State: ended, ShellEnded: true, PaneEnded: true, Shell: "bash"}},
		{result: shell.Result{State: ended, Remote: "sh"}, changer: "cd", want: "cd changed a shell of its own, which has ended"},
		{result: shell.Result{State: ended, Remote: "fish"}, changer: "cd", want: "cd changed a shell of its own, which has ended"},
		{result: shell.Result{State: ended, Remote: "bash"}, changer: "cd", want: "cd changed a subshell, which has ended: with keep it lasts"},
		{result: shell.Result{State: ended}, changer: "cd", want: "cd changed a subshell, which has ended: with keep it lasts"},
	} {
		if got := noteOf(&c.result, c.unmatched, c.changer); got != c.want {
			t.Errorf("%+v, %v, %s: %q, want %q", c.result, c.unmatched, c.changer, got, c.want)
		}
	}
}
