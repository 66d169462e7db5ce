package deliver

import (
	"strconv"
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/server/internal/agents"
)

// Something is typed only while the cursor is where it was. If the program draws its own
// cursor, the terminal's may be anywhere, and the first row of the box must be on the screen.
func TestUnmoved(t *testing.T) {
	const first = `│ > ~#{x} *     │`
	srv := testserver.New(t)
	testserver.Run(t, srv, "new-session", "-d", "-x", "80", "-y", "24", "echo '"+first+"'; exec cat")
	testserver.WaitScreen(t, srv, "%0", "│")
	pid, err := strconv.Atoi(testserver.Run(t, srv, "display-message", "-p", "-t", "%0", "#{pane_pid}"))
	if err != nil {
		t.Fatal(err)
	}
	check := func(ownCursor bool, shown, want string) {
		t.Helper()
		p := &prompter{rules: new(agents.Rules)}
		p.rules.Box.OwnCursor = ownCursor
		p.now.PID, p.now.Y, p.now.Box = pid, 1, &agents.Box{First: shown}
		if got := testserver.Run(t, srv, "display-message", "-p", "-t", "%0", string(p.unmoved())); got != want {
			t.Errorf("own cursor %t, first row %s: the condition is %s", ownCursor, shown, got)
		}
	}
	check(false, first, "1")
	check(true, first, "1")
	testserver.Run(t, srv, "send-keys", "-t", "%0", "elsewhere")
	testserver.WaitScreen(t, srv, "%0", "elsewhere")
	check(false, first, "0")
	check(true, first, "1")
	check(true, "│ > another  │", "0")
}
