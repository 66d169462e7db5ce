package typing

import (
	"testing"

	"tmuxmcp/internal/runner"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/server/internal/caller"
	"tmuxmcp/tmux/follow"
)

// TestLastWordsAreWaitedFor: once the shell below an interrupted program is at its prompt, the
// pane must have printed, as tmux may not have passed on what they said.
func TestLastWordsAreWaitedFor(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.New(t), testserver.Context(t)
	testserver.Run(t, srv, "new-session", "-d", "-x", "80", "-y", "24", "exec env PS1='$ ' bash --norc --noprofile -i")
	testserver.WaitScreen(t, srv, "%0", "$")
	testserver.Run(t, srv, "send-keys", "-t", "%0", "cat", "Enter")
	l := &follow.Look{}
	reader := func(what, name string) runner.Reader {
		t.Helper()
		var r runner.Reader
		testserver.Wait(t, srv, "%0", what, func() (is bool) {
			var err error
			if l, err = follow.LookAt(ctx, srv, srv.Pane("%0"), nil); err != nil {
				t.Fatal(err)
			}
			r = runner.ReaderOf(caller.PID(ctx, srv, l.PaneState), l.TTY)
			return r.Known() && r.Name == name && (name == "cat" || r.Prompt && r.Waiting)
		})
		return r
	}
	i := &interrupted{program: reader("cat", "cat")}
	i.terminal = terminal{pid: caller.PID(ctx, srv, l.PaneState), tty: l.TTY}
	testserver.Run(t, srv, "send-keys", "-t", "%0", "C-c")
	testserver.WaitScreen(t, srv, "%0", "^C\n$")
	reader("the prompt", "bash")
	taken := func(what string, want bool) {
		t.Helper()
		if got, err := i.taken(ctx, srv, 0); got != want || err != nil {
			t.Errorf("%s: taken %t, %v", what, got, err)
		}
	}
	i.mark = l.Mark()
	taken("nothing is new since the mark", false)
	testserver.Run(t, srv, "send-keys", "-t", "%0", "echo last; echo words", "Enter")
	testserver.WaitScreen(t, srv, "%0", "\nlast\nwords\n$")
	reader("the prompt again", "bash")
	taken("the last words show", true)
}
