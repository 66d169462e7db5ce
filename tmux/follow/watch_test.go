package follow_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/follow"
)

// TestFollower follows many panes: output of one makes it due. BenchmarkWait measures what
// they cost while nothing happens, and how soon a line is noticed.
func TestFollower(t *testing.T) {
	srv := testserver.New(t)
	testserver.Run(t, srv, "new-session", "-d", "-s", "keep", "cat")
	ctx := testserver.Context(t)
	panes := testtool.Size(30, 100)
	var b tmux.Batch
	for range panes - 1 {
		tmux.Add(&b, tmux.NewWindow{Target: tmux.TargetSpec("=keep:"), Detached: true, Command: []string{"exec cat"}})
	}
	check.OK(t, b.Do(ctx, srv))
	w := follow.New(ctx, srv, 50*time.Millisecond)
	defer w.Close()
	ttys := map[tmux.PaneID]string{}
	look := func(id tmux.PaneID) *follow.Look {
		t.Helper()
		l := check.Must[*follow.Look](t)(w.Look(ctx, id, nil))
		ttys[id] = l.TTY
		return l
	}
	for i := range panes {
		look(tmux.PaneID(fmt.Sprint("%", i)))
	}
	idle := func(d time.Duration) {
		t.Helper()
		for end := time.Now().Add(d); time.Now().Before(end); {
			for _, id := range check.Must[[]tmux.PaneID](t)(w.Next(ctx, end)) {
				look(id)
			}
		}
	}
	for i := range 20 {
		id := tmux.PaneID(fmt.Sprint("%", 7*i%panes))
		check.OK(t, os.WriteFile(ttys[id], fmt.Appendf(nil, "line %d\n", i), 0))
		for found := false; !found; {
			deadline, cancel := context.WithTimeout(ctx, time.Minute)
			due, err := w.Next(deadline, time.Now().Add(time.Minute))
			cancel()
			if err != nil || len(due) == 0 {
				t.Fatalf("pane %s printed, and is not due: %v", id, err)
			}
			for _, d := range due {
				l := look(d)
				found = found || d == id && slices.Equal(l.New, []string{fmt.Sprintf("line %d", i)})
			}
		}
		idle(50 * time.Millisecond)
	}
}

// TestFollowerLooksAgain: a pane that was written to is looked at again if the first looks
// come before tmux has read it, whatever the interval is. Following a pane whose program is
// just being started begins with a later look.
func TestFollowerLooksAgain(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("nothing announces what is written to a terminal here")
	}
	ctx := testserver.Context(t)
	srv := testserver.New(t)
	testserver.Run(t, srv, "new-session", "-d", "exec cat")
	w := follow.New(ctx, srv, 5*time.Minute)
	defer w.Close()
	l := check.Must[*follow.Look](t)(follow.LookAt(ctx, srv, srv.Pane("%0"), nil))
	if l.Generation != nil {
		t.Skip("this tmux announces what it has read")
	}
	young := l.PaneState
	young.TTY = "/dev/null"
	w.Looked(young)
	check.That(t, !w.Announced(l.ID), "it is announced what is written to another file")
	testserver.Wait(t, srv, "%0", "its program is on its terminal", func() bool {
		w.Looked(l.PaneState)
		return w.Announced(l.ID)
	})
	check.OK(t, os.WriteFile(l.TTY, []byte("a line\n"), 0))
	for i := range testtool.Size(4, 5) { // the fifth is the one that comes without being announced
		deadline, cancel := context.WithTimeout(ctx, time.Minute)
		due, err := w.Next(deadline, time.Now().Add(50*time.Second))
		cancel()
		if err != nil || len(due) != 1 {
			t.Fatalf("after %d looks that found nothing: due %v, %v", i, due, err)
		}
		w.Looked(l.PaneState)
	}
}

// TestBelow: a screen whose position is unknown shows what follows the earlier lines.
func TestBelow(t *testing.T) {
	t.Parallel()
	earlier := []string{"above", "one", "$ ma"}
	for _, c := range []struct{ screen, want []string }{
		{[]string{"one", "$ ma", "built"}, []string{"built"}},
		{[]string{"one", "$ make", "built"}, []string{"$ make", "built"}},
		{[]string{"other"}, []string{"other"}},
	} {
		if got := follow.Below(earlier, c.screen); !slices.Equal(got, c.want) {
			t.Errorf("%q below %q: %q, want %q", c.screen, earlier, got, c.want)
		}
	}
}
