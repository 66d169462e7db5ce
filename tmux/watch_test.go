package tmux_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// processorTime is what this process has taken, and the tmux server.
func processorTime(t testing.TB, srv *tmux.Server) time.Duration {
	t.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	own := time.Duration(r.Utime.Nano() + r.Stime.Nano())
	stat, err := os.ReadFile("/proc/" + tmuxtest.Run(t, srv, "display-message", "-p", "#{pid}") + "/stat")
	if err != nil {
		return own
	}
	f := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')'):]))
	ticks := 0
	for _, i := range []int{12, 13} {
		n, _ := strconv.Atoi(f[i])
		ticks += n
	}
	return own + time.Duration(ticks)*10*time.Millisecond
}

// TestWatch watches 100 panes: what one prints makes it due soon, and none of them costs much while
// nothing happens.
func TestWatch(t *testing.T) {
	srv := tmuxtest.New(t)
	tmuxtest.Run(t, srv, "new-session", "-d", "-s", "keep", "cat")
	ctx := tmuxtest.Context(t)
	for i := range 99 {
		tmuxtest.Run(t, srv, "new-window", "-d", "-t", fmt.Sprintf("keep:%d", i+1), "cat")
	}
	w := srv.Watch(ctx, 50*time.Millisecond)
	defer w.Close()
	marks := map[tmux.PaneID]*tmux.Mark{}
	ttys := map[tmux.PaneID]string{}
	look := func(id tmux.PaneID) *tmux.Look {
		t.Helper()
		began := time.Now()
		l := must[*tmux.Look](t)(srv.Pane(id).Look(ctx, marks[id]))
		w.Looked(l.PaneState, began, l.Printed)
		marks[id], ttys[id] = l.Mark(), l.TTY
		return l
	}
	for i := range 100 {
		look(tmux.PaneID(fmt.Sprint("%", i)))
	}
	announced := runtime.GOOS == "linux" || look("%0").Generation != nil
	idle := func(d time.Duration) {
		t.Helper()
		for end := time.Now().Add(d); time.Now().Before(end); {
			for _, id := range must[[]tmux.PaneID](t)(w.Next(ctx, end)) {
				look(id)
			}
		}
	}
	idle(2 * time.Second)
	before, start := processorTime(t, srv), time.Now()
	idle(10 * time.Second) // each of them has its turn
	share := float64(processorTime(t, srv)-before) / float64(time.Since(start))
	var took []time.Duration
	for i := range 20 {
		id := tmux.PaneID(fmt.Sprint("%", 7*i%100))
		start := time.Now()
		if err := os.WriteFile(ttys[id], fmt.Appendf(nil, "line %d\n", i), 0); err != nil {
			t.Fatal(err)
		}
		for found := false; !found; {
			deadline, cancel := context.WithTimeout(ctx, 20*time.Second)
			due, err := w.Next(deadline, time.Now().Add(20*time.Second))
			cancel()
			if err != nil || len(due) == 0 {
				t.Fatalf("pane %s printed, and is not due: %v", id, err)
			}
			for _, d := range due {
				l := look(d)
				found = found || d == id && slices.Equal(l.New, []string{fmt.Sprintf("line %d", i)})
			}
		}
		took = append(took, time.Since(start))
		idle(50 * time.Millisecond)
	}
	slices.Sort(took)
	t.Logf("100 panes: %.2f%% of a processor while silent; a line is seen after %v, at most %v", 100*share, took[len(took)/2], took[len(took)-1])
	if share > 0.05 {
		t.Errorf("100 silent panes take %.1f%% of a processor", 100*share)
	}
	if announced && took[len(took)/2] > time.Second {
		t.Errorf("a line is seen after %v", took)
	}
}
