package agents

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/internal/test/testagent"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

// watched is a tmux server with agents that look like claude in panes %0 and up, and a Lookout
// at them whose clock goes on by a second with each look.
type watched struct {
	*testing.T
	*Lookout
	dir string // of the agents
	now time.Time
}

func newWatched(t *testing.T, n int) *watched {
	srv, ctx := testserver.New(t), testserver.Context(t)
	command, dir := testagent.Claude(t)
	testserver.Run(t, srv, "new-session", "-d", "-s", "a", "-x", "80", "-y", "24", command)
	testserver.Run(t, srv, "set-option", "-g", "message-limit", "100000")
	testserver.Attach(t, srv, "a", 80, 24) // without a client, tmux does not show the log
	testtool.Eventually(t, "a client", func() bool { return testserver.Run(t, srv, "list-clients") != "" })
	for range n - 1 {
		testserver.Run(t, srv, "new-window", "-d", command)
	}
	for i := range n {
		testserver.WaitScreen(t, srv, fmt.Sprint("%", i), "shortcuts")
	}
	f := NewFinder(BuiltIn())
	f.NoTranscripts = true
	pace := Pace{Search: time.Second, Silence: 1500 * time.Millisecond, Busy: 5 * time.Second, Rest: 30 * time.Second, Blind: 3 * time.Second}
	return &watched{T: t, Lookout: f.NewLookout(ctx, srv, nil, pace), dir: dir, now: time.Now()}
}

// states looks and returns the states of the agents.
func (w *watched) states() string {
	w.Helper()
	w.now = w.now.Add(time.Second)
	seen, err := w.Look(w.ctx, w.now)
	if err != nil {
		w.Fatal(err)
	}
	var all []string
	for _, s := range seen {
		all = append(all, string(s.State))
	}
	return strings.Join(all, " ")
}

// logs returns how many lines do writes into tmux's message log.
func (w *watched) logs(do func()) int {
	w.Helper()
	lines := func() int { return strings.Count(testserver.Run(w.T, w.srv, "show-messages"), "\n") }
	before := lines()
	do()
	return lines() - before - 2 // the question itself, and its delimiter
}

// settle looks until that sends nothing.
func (w *watched) settle() {
	w.Helper()
	testtool.Eventually(w.T, "a look that sends nothing", func() bool { return w.logs(func() { w.states() }) == 0 })
}

// write writes to an agent's terminal what does not show, and waits until that is known.
func (w *watched) write(pane tmux.PaneID) {
	w.Helper()
	s := w.sights[pane]
	before := s.writes.Load()
	if err := os.WriteFile(s.TTY, []byte("\033[m"), 0); err != nil {
		w.Fatal(err)
	}
	testtool.Eventually(w.T, "the write is counted", func() bool { return s.writes.Load() > before })
}

// TestLooksAreQuiet: a look sends no more commands than it has to, since tmux logs each.
func TestLooksAreQuiet(t *testing.T) {
	t.Parallel()
	w := newWatched(t, 7)
	idle := strings.TrimSuffix(strings.Repeat("idle ", 7), " ")
	look := func(times int) func() {
		return func() {
			t.Helper()
			for range times {
				if got := w.states(); got != idle {
					t.Fatalf("the states are %s", got)
				}
			}
		}
	}
	most := func(what string, most int, do func()) {
		t.Helper()
		if n := w.logs(do); n > most {
			t.Errorf("%s: %d lines, want at most %d\n%s", what, n, most, testserver.Run(t, w.srv, "show-messages"))
		}
	}
	const list, read = 2, 2 // each command, and the delimiter behind it; so is the question for the version
	most("the first look", 2+list+read+7*read, look(1))
	w.settle()
	w.listed = w.now
	most("20 looks while nothing happens", 0, look(20))
	w.now = w.now.Add(w.pace.Rest)
	most("a list of the panes", list, look(1))

	w.settle()
	most("20 looks while an agent writes", 5*(read+2), func() {
		for range 20 {
			w.write("%3")
			look(1)()
		}
	})

	// Where the kernel shows nothing, there are lists.
	w.settle()
	for _, s := range w.sights {
		s.here.Store(false)
	}
	look(10)()
	w.listed = w.now
	most("30 looks from afar", 10*list, look(30))
}

// TestLooksSeeChanges: what happens is seen in few looks.
func TestLooksSeeChanges(t *testing.T) {
	t.Parallel()
	for _, blind := range []bool{false, true} {
		t.Run(fmt.Sprintf("blind %t", blind), func(t *testing.T) {
			t.Parallel()
			w := newWatched(t, 2)
			busy := false // %1 writes before each look
			within := func(looks int, want string) {
				t.Helper()
				var got []string
				for range looks {
					if busy {
						w.write("%1")
					}
					got = append(got, w.states())
					if got[len(got)-1] == want {
						return
					}
				}
				t.Fatalf("the states are %q, want %s in the end", got, want)
			}
			within(1, "idle idle")
			w.settle()
			if blind {
				for _, s := range w.sights {
					s.remove()
					s.remove = nil
					s.here.Store(false)
				}
			}
			shows := func(file, text, seen string) {
				t.Helper()
				if err := os.WriteFile(filepath.Join(w.dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				signal := func() { testserver.Signal(t, w.srv, "%1", syscall.SIGUSR1) }
				counted := &w.sights["%1"].writes
				writes := counted.Load()
				signal()
				if blind { // tmux counts seconds
					activity := func() string {
						return testserver.Run(t, w.srv, "display-message", "-p", "-t", "%1", "#{window_activity}")
					}
					before := activity()
					testtool.Eventually(t, "another second", func() bool { signal(); return activity() != before })
				} else {
					testtool.Eventually(t, "the writes are counted", func() bool { return counted.Load() > writes })
				}
				testserver.WaitScreen(t, w.srv, "%1", seen)
			}
			shows("footer", "esc to interrupt", "esc to interrupt")
			within(7, "idle working")
			w.settle()
			shows("screen", "────────────────────────\n Bash command\n\n   rm -rf x\n\n Do you want to proceed?\n ❯ 1. Yes\n   2. No\n\n Esc to cancel\n", "Esc to cancel")
			busy = !blind
			within(7, "idle asks")
			busy = false
			testserver.Run(t, w.srv, "kill-pane", "-t", "%1")
			pid := w.sights["%1"].PID
			testtool.Eventually(t, "the agent is gone", func() bool { return syscall.Kill(pid, 0) != nil })
			within(4, "idle")
			testserver.Run(t, w.srv, "set-option", "-g", "remain-on-exit", "on")
			testserver.Signal(t, w.srv, "%0", syscall.SIGKILL)
			testtool.Eventually(t, "a dead pane", func() bool {
				return testserver.Run(t, w.srv, "display-message", "-p", "-t", "%0", "#{pane_dead}") == "1"
			})
			within(4, "ended")
		})
	}
}
