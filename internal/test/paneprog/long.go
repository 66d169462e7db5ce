package paneprog

import (
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
)

// Long makes a session of 50 columns, and returns a pane in it whose history has more than is
// captured at once: the lines L0 to L8999, most of them wrapped, and "all".
func Long(t testing.TB, srv *tmux.Server) tmux.PaneID {
	t.Helper()
	testserver.Run(t, srv, "new-session", "-d", "-x", "50", "-y", "20", "cat")
	testserver.Run(t, srv, "set-option", "-g", "history-limit", "50000")
	pane := testserver.Run(t, srv, "new-window", "-P", "-F", "#{pane_id}",
		`awk 'BEGIN { for (i = 0; i < 9000; i++) { s = "L" i; for (j = 0; j < i % 40; j++) s = s " word" j; print s } }'; echo all; exec cat`)
	testserver.WaitScreen(t, srv, pane, "all")
	return tmux.PaneID(pane)
}
