package agents

import (
	"fmt"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"tmuxmcp/internal/test/testagent"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

// Agents are found where they are, dead or ended too; one whose pane is closed while they are
// read takes no other with it.
func TestIn(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.New(t), testserver.Context(t)
	command, dir := testagent.Claude(t)
	testserver.Run(t, srv, "new-session", "-d", "-s", "a", "-x", "80", "-y", "24", "exec sleep 1000")
	testserver.Run(t, srv, "set-option", "-g", "remain-on-exit", "on")
	for i := range 4 {
		testserver.Run(t, srv, "new-window", "-d", "-n", "agent", command)
		testserver.WaitScreen(t, srv, fmt.Sprint("%", 1+i), "shortcuts")
	}
	testserver.Run(t, srv, "new-window", "-d", "exec sleep 0")
	f := NewFinder(BuiltIn())
	f.NoTranscripts = true
	check := func(seen []Agent, err error, want ...string) {
		t.Helper()
		var got []string
		for _, s := range seen {
			got = append(got, fmt.Sprintf("%s %s:%d %s %s", s.ID, s.Session, s.Window, s.Name, s.State))
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("found %q, %v; want %q", got, err, want)
		}
	}
	all := []string{"%1 a:1 claude idle", "%2 a:2 claude idle", "%3 a:3 claude idle", "%4 a:4 claude idle"}
	seen, err := f.In(ctx, srv, nil)
	check(seen, err, all...)

	// One dies, one is closed.
	testserver.Signal(t, srv, "%2", syscall.SIGKILL)
	testtool.Eventually(t, "a dead pane", func() bool { return testserver.Run(t, srv, "display-message", "-p", "-t", "%2", "#{pane_dead}") == "1" })
	testserver.Run(t, srv, "kill-pane", "-t", "%3")
	for i := range seen {
		seen[i].Status, seen[i].Rows = Status{State: Unknown}, nil
	}
	again, err := f.read(ctx, srv, slices.Clone(seen))
	if len(again) == 3 {
		again[1].State = Ended // of a dead pane, the screen is still there
	}
	all[1] = "%2 a:2 claude ended"
	left := slices.Delete(slices.Clone(all), 2, 3)
	check(again, err, left...)
	seen, err = f.In(ctx, srv, nil)
	check(seen, err, left...)
	seen, err = f.In(ctx, srv, []tmux.PaneID{"%2"})
	check(seen, err, left[1])
	// One that was never seen alive is known by what was started.
	testserver.Run(t, srv, "new-window", "-d", filepath.Join(dir, "claude")+" -c :")
	testtool.Eventually(t, "a dead pane", func() bool { return testserver.Run(t, srv, "display-message", "-p", "-t", "%6", "#{pane_dead}") == "1" })
	seen, err = f.In(ctx, srv, []tmux.PaneID{"%6", "%4", "%5"})
	check(seen, err, "%6 a:3 claude ended", left[2])
}
