package follow_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/follow"
)

// scripted returns panes that each run a shell script, remain when it has ended, and have a
// long history.
func scripted(t testing.TB, srv *tmux.Server, scripts ...string) (panes []tmux.PaneID) {
	t.Helper()
	if _, err := srv.Sessions(testserver.Context(t)); errors.Is(err, tmux.ErrNoServer) {
		testserver.Run(t, srv, "new-session", "-d", "-s", "keep", "-x", "80", "-y", "24", "exec cat")
		testserver.Run(t, srv, "set-option", "-g", "remain-on-exit", "on")
		testserver.Run(t, srv, "set-option", "-g", "history-limit", "100000")
	}
	for _, script := range scripts {
		panes = append(panes, tmux.PaneID(testserver.Run(t, srv, "new-window", "-d", "-P", "-F", "#{pane_id}", script)))
	}
	return panes
}

// printOn prints on the terminal of a pane.
func printOn(t testing.TB, srv *tmux.Server, pane tmux.PaneID, text string) {
	t.Helper()
	check.OK(t, os.WriteFile(testserver.Run(t, srv, "display-message", "-p", "-t", string(pane), "#{pane_tty}"), []byte(text), 0))
}

// joined appends the lines of an event to earlier ones. A line that was printed in parts
// replaces its beginning.
func joined(earlier, lines []string) []string {
	if n := len(earlier); n > 0 && len(lines) > 0 && strings.HasPrefix(lines[0], earlier[n-1]) {
		earlier = earlier[:n-1]
	}
	return append(earlier, lines...)
}

// TestFollow: of ten panes that print 5,000 lines each at once, the lines of all events
// together are what was printed.
func TestFollow(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	const count = 5000
	var scripts []string
	for i := range 10 {
		scripts = append(scripts, fmt.Sprintf("read x; seq %d | sed s/^/%c-/; read x", count, 'a'+i))
	}
	panes := scripted(t, srv, scripts...)
	got, missed := map[tmux.PaneID][]string{}, 0
	began, ended, turns := 0, 0, 0
	var before tmux.PaneID
	for e, err := range follow.Panes(testserver.Context(t), srv, append(panes, panes...)...) {
		check.OK(t, err)
		switch e.Kind {
		case follow.EventBegan:
			if began++; began == len(panes) {
				for _, id := range panes {
					testserver.Run(t, srv, "send-keys", "-t", string(id), "Enter")
				}
			}
		case follow.EventLines:
			got[e.Pane] = append(got[e.Pane], e.Lines...)
			if e.Missed {
				missed++
			}
			if e.Pane != before {
				turns++
			}
			before = e.Pane
			// tmux may drop what is printed right before the end.
			if strings.HasSuffix(e.Lines[len(e.Lines)-1], fmt.Sprint("-", count)) {
				testserver.Run(t, srv, "send-keys", "-t", string(e.Pane), "Enter")
			}
		case follow.EventEnded:
			ended++
			check.Equal(t, "how it ended", follow.ProgramExited, e.Ended.How)
		default:
			t.Errorf("an event %s", e.Kind)
		}
	}
	check.That(t, began == len(panes) && ended == len(panes), "%d began and %d ended", began, ended)
	check.That(t, turns >= len(panes) && missed == 0, "%d turns, %d with missed lines", turns, missed)
	for i, id := range panes {
		var want []string
		for n := range count {
			want = append(want, fmt.Sprintf("%c-%d", 'a'+i, n+1))
		}
		check.Equal(t, "lines of "+string(id), want, slices.DeleteFunc(got[id], func(line string) bool { return line == "" }))
	}
}

// TestFollowMissed: lines that tmux has dropped are said to be missed.
func TestFollowMissed(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	scripted(t, srv)
	testserver.Run(t, srv, "set-option", "-g", "history-limit", "100")
	id := scripted(t, srv, "read x; seq 5000; echo END; exec cat")[0]
	missed := false
	for e, err := range follow.Panes(testserver.Context(t), srv, id) {
		check.OK(t, err)
		if missed = missed || e.Missed; slices.Contains(e.Lines, "END") {
			break
		}
		if e.Kind == follow.EventBegan {
			testserver.Run(t, srv, "send-keys", "-t", string(id), "Enter")
			testserver.WaitScreen(t, srv, string(id), "END")
		}
	}
	check.That(t, missed, "4900 lines were dropped, and nothing was missed")
}

// TestFollowEnds: each way to end is distinguished, and the loop is over when all panes
// have ended.
func TestFollowEnds(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	ctx := testserver.Context(t)
	panes := scripted(t, srv, "read x; echo last words; exit 3", "exec cat", "exec cat", "exec cat", "exec cat", "exit 4")
	testserver.Wait(t, srv, string(panes[5]), "end of the program", func() bool {
		return testserver.Run(t, srv, "display-message", "-p", "-t", string(panes[5]), "#{pane_dead}") == "1"
	})
	hasSignal := check.Must[tmux.Version](t)(srv.Version(ctx)).Compare(tmux.Version{Major: 3, Minor: 4}) >= 0 // see testserver.Reap
	want := []follow.Ending{follow.ProgramExited, follow.ProgramExited, follow.PaneClosed, follow.PaneRespawned, follow.ServerExited, follow.ProgramExited}
	got := map[tmux.PaneID]*follow.EndedError{}
	end := func(i int) {
		id := string(panes[i])
		switch i {
		case 0:
			testserver.Run(t, srv, "send-keys", "-t", id, "Enter")
		case 1:
			testserver.Signal(t, srv, id, syscall.SIGKILL)
		case 2:
			testserver.Run(t, srv, "kill-pane", "-t", id)
		case 3:
			testserver.Run(t, srv, "respawn-pane", "-k", "-t", id, "echo other; exec cat")
		case 4:
			testserver.End(t, srv)
		}
	}
	began, lines := 0, []string(nil)
	for e, err := range follow.Panes(ctx, srv, panes...) {
		check.OK(t, err)
		switch e.Kind {
		case follow.EventBegan:
			if began++; began == len(panes) {
				end(0)
			}
		case follow.EventLines:
			lines = joined(lines, e.Lines)
			check.That(t, !e.Missed, "lines of %s are missing", e.Pane)
		case follow.EventEnded:
			i := slices.Index(panes, e.Pane)
			check.That(t, got[e.Pane] == nil && e.Ended.Pane == e.Pane && e.Look != nil, "%+v", e)
			got[e.Pane] = e.Ended
			check.Kind(t, "the end", e.Ended, follow.ErrEnded)
			check.Equal(t, fmt.Sprintf("pane %d", i), want[i], e.Ended.How)
			check.Equal(t, fmt.Sprintf("missed in pane %d", i), want[i] != follow.ProgramExited, e.Missed)
			if i < 4 {
				end(i + 1)
			}
		}
	}
	check.Equal(t, "lines", "last words", strings.TrimSpace(strings.Join(lines, "\n")))
	if len(got) != len(panes) {
		t.Fatalf("ended: %v", got)
	}
	if hasSignal {
		three := 3
		check.Equal(t, "exit status", &three, got[panes[0]].Status)
		signal := follow.EndedError{Signal: got[panes[1]].Signal}
		check.That(t, signal.Signal != nil && (*signal.Signal == "KILL" || *signal.Signal == "9"), "signal in %v", got[panes[1]])
	}
	check.Kind(t, "the closed pane", got[panes[2]], tmux.ErrNotFound)
	check.That(t, !slices.Contains(got[panes[3]].Last, "other"), "the other program's line is among %q", got[panes[3]].Last)
	check.Kind(t, "no server", check.Second(next(follow.Panes(ctx, srv, panes[0]))), tmux.ErrNoServer)
}

// next returns the first event of a loop.
func next(loop func(func(follow.Event, error) bool)) (first follow.Event, failed error) {
	for e, err := range loop {
		return e, err
	}
	return first, errors.New("no event")
}

// TestFollowArguments: what makes no sense is refused.
func TestFollowArguments(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	ctx := testserver.Context(t)
	panes := scripted(t, srv, "exec cat", "exec cat")
	mark := check.Must[*follow.Look](t)(follow.LookAt(ctx, srv, srv.Pane(panes[0]), nil)).Mark()
	at := func(id tmux.PaneID) follow.Options {
		return follow.Options{Since: map[tmux.PaneID]*follow.Mark{id: mark}}
	}
	var none *tmux.Server
	for _, handle := range []*tmux.Server{none, {}} {
		check.Kind(t, "no server", check.Second(next(follow.Panes(ctx, handle, "%0"))), tmux.ErrArgument)
		check.Kind(t, "no server to look at", check.Second(follow.LookAt(ctx, handle, tmux.PaneID("%0"), nil)), tmux.ErrArgument)
		f := follow.New(ctx, handle, time.Second)
		check.Kind(t, "no server to follow", check.Second(f.Look(ctx, "%0", nil)), tmux.ErrArgument)
		f.Close()
		for _, wait := range []func() (string, string, error){
			func() (string, string, error) { return follow.WaitFor(ctx, handle.Pane("%0"), "x") },
			func() (string, string, error) { return follow.WaitForNew(ctx, handle.Pane("%0"), nil, "x") },
		} {
			_, _, err := wait()
			check.Kind(t, "no server to wait on", err, tmux.ErrArgument)
			check.That(t, !strings.Contains(err.Error(), "follow pane"), "%v is found out too late", err)
		}
	}
	check.Kind(t, "no pane", check.Second(next(follow.Panes(ctx, srv))), tmux.ErrArgument)
	check.Kind(t, "no id", check.Second(next(follow.Panes(ctx, srv, panes[0], "0"))), tmux.ErrArgument)
	check.Kind(t, "another pane's mark", check.Second(next(follow.PanesWith(ctx, srv, at(panes[1]), panes[1]))), tmux.ErrArgument)
	check.Kind(t, "a negative time", check.Second(next(follow.PanesWith(ctx, srv, follow.Options{Quiet: -1}, panes[0]))), tmux.ErrArgument)
	check.OK(t, check.Second(next(follow.PanesWith(ctx, srv, at(panes[0]), panes...))))
	check.Kind(t, "a pane that never was", check.Second(next(follow.Panes(ctx, srv, "%999"))), tmux.ErrNotFound)
	// With a mark it was there.
	testserver.Run(t, srv, "kill-pane", "-t", string(panes[0]))
	e := check.Must[follow.Event](t)(next(follow.PanesWith(ctx, srv, at(panes[0]), panes[0])))
	if e.Kind != follow.EventEnded || e.Ended.How != follow.PaneClosed {
		t.Errorf("%+v", e)
	}
	for _, texts := range [][]string{nil, {""}, {"x", " "}, {"a\nb"}} {
		_, _, err := follow.WaitFor(ctx, srv.Pane(panes[1]), texts...)
		check.Kind(t, fmt.Sprintf("%q", texts), err, tmux.ErrArgument)
	}
	_, _, err := follow.WaitFor(ctx, tmux.PaneRef{ID: "%0"}, "x")
	check.Kind(t, "a reference without a server", err, tmux.ErrArgument)
	_, _, err = follow.WaitForNew(ctx, srv.Pane(panes[1]), mark, "x")
	check.Kind(t, "another pane's mark", err, tmux.ErrArgument)
}

// TestFollowKinds: what was there, what is new since a mark, what is drawn on the alternate
// screen and silence are events of their own.
func TestFollowKinds(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	ctx := testserver.Context(t)
	id := scripted(t, srv, "stty -echo; exec cat")[0]
	printOn(t, srv, id, "before\r\n")
	testserver.WaitScreen(t, srv, string(id), "before")
	look := check.Must[*follow.Look](t)(follow.LookAt(ctx, srv, srv.Pane(id), nil))
	printOn(t, srv, id, "since\r\n")
	testserver.WaitScreen(t, srv, string(id), "since")
	var got []string
	options := follow.Options{Quiet: 300 * time.Millisecond, Since: map[tmux.PaneID]*follow.Mark{id: look.Mark()}}
	prints := []string{"\x1b[?1049h\x1b[Hdrawn", "\x1b[?1049lleft\r\n\x1b[?1049h\x1b[Hagain"}
	enough := errors.New("silent for long enough")
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for e, err := range follow.PanesWith(ctx, srv, options, id) {
		if err == enough {
			break
		}
		check.OK(t, err)
		check.That(t, !e.Missed && e.Look != nil, "%+v", e)
		seen := e.Lines
		if e.Kind == follow.EventBegan {
			seen = e.Look.Lines()
		}
		got = append(got, fmt.Sprint(e.Kind, seen))
		if e.Kind != follow.EventQuiet {
			continue
		}
		if len(prints) == 0 {
			time.AfterFunc(3*options.Quiet, func() { cancel(enough) }) // silence is one event
			continue
		}
		printOn(t, srv, id, prints[0])
		prints = prints[1:]
	}
	check.Equal(t, "events", []string{"began[before since]", "lines[since]", "quiet[]", "screen[drawn]", "quiet[]", "lines[left]", "screen[again]", "quiet[]"}, got)
}

// TestFollowLeavesNothing: a loop that is left, by the body or by its context, leaves no
// goroutine, socket, file or process.
func TestFollowLeavesNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("no /proc")
	}
	base := testserver.New(t)
	panes := scripted(t, base, "exec cat", "exec cat")
	watches := func() (files int) {
		all, _ := filepath.Glob("/proc/self/fd/*")
		for _, fd := range all {
			if to, _ := os.Readlink(fd); strings.Contains(to, "inotify") {
				files++
			}
		}
		return files
	}
	for _, way := range []tmux.Transport{tmux.TransportNative, tmux.TransportExec} {
		srv := testserver.By(t, base, way)
		check.Must[tmux.Version](t)(srv.Version(testserver.Context(t)))
		before, files := testserver.InFlight(t), watches()
		reason := errors.New("the user went home")
		for _, cancelled := range []bool{false, true} {
			ctx, cancel := context.WithCancelCause(testserver.Context(t))
			defer cancel(nil)
			got, running := "", false
			for e, err := range follow.Panes(ctx, srv, panes...) {
				if err != nil {
					check.That(t, err == reason, "%s: the loop ends with %v", way, err)
					got += "error"
					continue
				}
				switch {
				case e.Kind == follow.EventBegan && e.Pane == panes[1]:
					printOn(t, base, panes[0], "x\r\n")
				case e.Kind == follow.EventLines:
					running = len(testserver.InFlight(t)) > len(before) || watches() > files
					if got += "lines"; cancelled {
						cancel(reason)
					}
				}
				if e.Kind == follow.EventLines && !cancelled {
					break
				}
			}
			if cancelled {
				early, cancel := context.WithCancelCause(testserver.Context(t))
				defer cancel(nil)
				for e, err := range follow.Panes(early, srv, panes...) {
					cancel(reason)
					check.That(t, e.Kind == follow.EventBegan || err == reason, "%s: %v, %v", way, e.Kind, err)
				}
			}
			check.Equal(t, "what happened", map[bool]string{false: "lines", true: "lineserror"}[cancelled], got)
			check.That(t, running, "%s: nothing announces output", way)
			testtool.Eventually(t, string(way)+" leaves nothing", func() bool {
				stacks := make([]byte, 1<<20)
				stacks = stacks[:runtime.Stack(stacks, true)]
				left := watches() > files || strings.Contains(string(stacks), "AwaitOutput") || strings.Contains(string(stacks), "ttywatch")
				for name := range testserver.InFlight(t) {
					left = left || before[name] == ""
				}
				return !left
			})
		}
	}
}

// TestWaitFor finds texts wherever they show.
func TestWaitFor(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	long := strings.Repeat("x", 75)
	for _, c := range []struct {
		name, now, later string
		texts            []string
		text, line       string
	}{
		{"on the screen", "it is ready\\n", "", []string{"never", "ready"}, "ready", "it is ready"},
		{"printed later", "", "it is ready\\n", []string{"never", "ready"}, "ready", "it is ready"},
		{"the first line counts", "", "b\\na\\n", []string{"a", "b"}, "b", "b"},
		{"the first text of a line counts", "", "ab\\n", []string{"b", "a"}, "b", "ab"},
		{"scrolled off at once", "", "ready\\n$(seq 1500)\\n", []string{"ready"}, "ready", "ready"},
		{"wrapped", "", long + " is ready\\n", []string{"x is ready"}, "x is ready", long + " is ready"},
		{"wrapped and there", long + " is ready\\n", "", []string{"x is ready"}, "x is ready", long + " is ready"},
		{"a prompt", "", "$ ", []string{"$ "}, "$ ", "$"},
		{"alternate screen", "", "\\033[?1049h\\033[3;3Hdrawn", []string{"drawn"}, "drawn", "  drawn"},
		{"alternate screen that is there", "\\033[?1049h\\033[3;3Hdrawn", "", []string{"drawn"}, "drawn", "  drawn"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := testserver.Context(t)
			id := scripted(t, srv, `stty -echo; printf "`+c.now+`"; printf "\033]2;begun\033\\"; read x; printf "`+c.later+`"; exec cat`)[0]
			pane := srv.Pane(id)
			testserver.WaitDisplay(t, pane, "#{pane_title}", "begun")
			wait := func(ctx context.Context, texts ...string) (string, string, error) {
				return follow.WaitFor(ctx, pane, texts...)
			}
			if strings.Contains(c.later, "seq") { // it may have scrolled off before the wait begins
				mark := check.Must[*follow.Look](t)(follow.LookAt(ctx, pane.Server(), pane, nil)).Mark()
				wait = func(ctx context.Context, texts ...string) (string, string, error) {
					return follow.WaitForNew(ctx, pane, mark, texts...)
				}
			}
			if c.later != "" {
				go pane.SendKeys(ctx, "Enter")
			}
			text, line, err := wait(ctx, c.texts...)
			check.OK(t, err)
			check.Equal(t, "text", c.text, text)
			check.Equal(t, "line", c.line, line)
		})
	}
}

// TestWaitForEnds: a wait that ends without a match quotes the last lines.
func TestWaitForEnds(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	ctx := testserver.Context(t)
	panes := scripted(t, srv, "stty -echo; echo old words; read x; echo last words; exit 3", "stty -echo; echo old words; read x; echo new words; exec cat")
	pane, lives := srv.Pane(panes[0]), srv.Pane(panes[1])
	_, _, err := follow.WaitFor(ctx, pane, "old words")
	check.OK(t, err)
	mark := check.Must[*follow.Look](t)(follow.LookAt(ctx, pane.Server(), pane, nil)).Mark()
	go pane.SendKeys(ctx, "Enter")
	var ended *follow.EndedError
	if _, _, err = follow.WaitForNew(ctx, pane, mark, "old words"); !errors.As(err, &ended) || !errors.Is(err, follow.ErrEnded) || ended.How != follow.ProgramExited {
		t.Fatal(err)
	}
	check.Contains(t, "error", err.Error(), "; its last lines:\n\told words")
	check.Contains(t, "error", err.Error(), "\n\tlast words")
	_, _, err = follow.WaitFor(ctx, pane, "Pane is dead")
	check.Kind(t, "what tmux itself writes", err, follow.ErrEnded)

	_, _, err = follow.WaitFor(ctx, lives, "old words")
	check.OK(t, err)
	reason := errors.New("the user went home")
	short, cancel := context.WithCancelCause(ctx)
	go func() {
		<-time.After(300 * time.Millisecond)
		cancel(reason)
	}()
	_, _, err = follow.WaitForNew(short, lives, nil, "old words")
	check.Kind(t, "the wait", err, reason)
	check.Contains(t, "error", err.Error(), "; its last lines:\n\told words")

	// What comes at once is new since the mark. A mark of another program is of what has ended.
	mark = check.Must[*follow.Look](t)(follow.LookAt(ctx, lives.Server(), lives, nil)).Mark()
	check.OK(t, lives.SendKeys(ctx, "Enter"))
	testserver.WaitScreen(t, srv, string(panes[1]), "new words")
	_, line, err := follow.WaitForNew(ctx, lives, mark, "words")
	check.OK(t, err)
	check.Equal(t, "line", "new words", line)
	testserver.Run(t, srv, "respawn-pane", "-k", "-t", string(panes[1]), "echo new words; exec cat")
	if _, _, err = follow.WaitForNew(ctx, lives, mark, "words"); !errors.As(err, &ended) || ended.How != follow.PaneRespawned {
		t.Error(err)
	}
}

// TestFollowLinesOnce: a line that is printed in pieces comes once, when it is finished, also
// if the loop is left and goes on from a mark, and if lines wrap and scroll.
func TestFollowLinesOnce(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	srv := testserver.New(t)
	ctx := testserver.Context(t)
	var want []string
	for i := range testtool.Size(300, 3000) {
		want = append(want, fmt.Sprintf("%d %s.", i, strings.Repeat("x", r.IntN(3)*r.IntN(100))))
	}
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	check.OK(t, syscall.Mkfifo(fifo, 0o600))
	pane := srv.Pane(scripted(t, srv, "stty -echo; cat <"+fifo+"; read x")[0])
	mark := check.Must[*follow.Look](t)(follow.LookAt(ctx, pane.Server(), pane, nil)).Mark()
	written := make(chan error, 1)
	go func() {
		file, err := os.OpenFile(fifo, os.O_WRONLY, 0)
		text := strings.Join(want, "\n") + "\nEND\n"
		for err == nil && text != "" {
			n := min(len(text), 1+r.IntN(200))
			_, err = file.WriteString(text[:n])
			text = text[n:]
			time.Sleep(time.Duration(r.IntN(2000)) * time.Microsecond) // as a program writes
		}
		written <- errors.Join(err, file.Close())
	}()
	var got []string
	loops := 0
	for !slices.Contains(got, "END") {
		loops++
		events := 0
		for e, err := range follow.PanesWith(ctx, srv, follow.Options{Since: map[tmux.PaneID]*follow.Mark{pane.ID: mark}}, pane.ID) {
			check.OK(t, err)
			check.That(t, !e.Missed, "lines were missed")
			got = append(got, e.Lines...)
			mark = e.Look.Mark()
			if events++; e.Kind == follow.EventLines && events > 2 || slices.Contains(e.Lines, "END") {
				break
			}
		}
	}
	check.OK(t, <-written)
	check.Equal(t, "lines", append(want, "END"), got)
	check.That(t, loops > 2, "%d loops", loops)
}

// TestFollowParts: an unfinished line comes only if that is wanted, and comes at the latest
// when its pane ends.
func TestFollowParts(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	ctx := testserver.Context(t)
	for _, c := range []struct {
		parts bool
		end   func(tmux.PaneID)
		want  []string
	}{
		{true, nil, []string{"Name: ", "Name: Ada", "Hello", "Ada!"}},
		{false, nil, []string{"Name: Ada", "Hello", "Ada!"}},
		{false, func(id tmux.PaneID) { testserver.Run(t, srv, "kill-pane", "-t", string(id)) }, []string{"Name:"}},
		{false, func(id tmux.PaneID) { testserver.Run(t, srv, "respawn-pane", "-k", "-t", string(id), "exec cat") }, []string{"Name:"}},
	} {
		id := scripted(t, srv, "stty -echo; read x; printf 'Name: '; read x; echo $x; echo Hello; printf Ada!; exec cat")[0]
		var got []string
		shows := func(l *follow.Look, text string) bool { return slices.Contains(l.Lines(), text) }
		for e, err := range follow.PanesWith(ctx, srv, follow.Options{Parts: c.parts, Quiet: 300 * time.Millisecond}, id) {
			check.OK(t, err)
			for _, line := range e.Lines {
				if n := len(got); n > 0 && c.parts && strings.HasPrefix(line, got[n-1]) && !strings.HasPrefix(line, "Name: A") {
					got[n-1] = line
				} else if line != "" {
					got = append(got, line)
				}
			}
			switch {
			case e.Kind == follow.EventBegan:
				testserver.Run(t, srv, "send-keys", "-t", string(id), "Enter")
			case e.Kind == follow.EventQuiet && shows(e.Look, "Ada!"):
				testserver.Run(t, srv, "kill-pane", "-t", string(id))
			case e.Kind == follow.EventQuiet && shows(e.Look, "Name:") && c.end != nil:
				c.end(id)
			case e.Kind == follow.EventQuiet && shows(e.Look, "Name:"):
				testserver.Run(t, srv, "send-keys", "-t", string(id), "Ada", "Enter")
			}
		}
		for i := range got {
			got[i] = strings.TrimSpace(got[i])
		}
		for i := range c.want {
			c.want[i] = strings.TrimSpace(c.want[i])
		}
		check.Equal(t, fmt.Sprintf("lines, parts %t", c.parts), c.want, got)
	}
}

// TestFollowNotice: what tmux writes below the lines of a program that has ended is no line of
// it, and hides none: not even if the screen was cleared.
func TestFollowNotice(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	ctx := testserver.Context(t)
	id := scripted(t, srv, "echo a; read x; printf '\\033[H\\033[2J\\033[3J'; echo FAIL; exec sh -c 'read x'")[0]
	testserver.WaitScreen(t, srv, string(id), "a")
	var got []string
	for e, err := range follow.Panes(ctx, srv, id) {
		check.OK(t, err)
		got = append(got, e.Lines...)
		if e.Kind == follow.EventBegan {
			testserver.Run(t, srv, "send-keys", "-t", string(id), "Enter")
			testserver.WaitScreen(t, srv, string(id), "FAIL")
			testserver.Run(t, srv, "send-keys", "-t", string(id), "Enter")
			testserver.Wait(t, srv, string(id), "end", func() bool {
				testserver.Reap(t, srv)
				return testserver.Run(t, srv, "display-message", "-p", "-t", string(id), "#{pane_dead}") == "1"
			})
		}
	}
	got = slices.DeleteFunc(got, func(line string) bool { return line == "" })
	check.Equal(t, "lines", []string{"FAIL"}, got)
}

// TestFollowRespawnedAndEnded: a program that has ended by the next look is not taken for the
// one that was followed.
func TestFollowRespawnedAndEnded(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	ctx := testserver.Context(t)
	id := scripted(t, srv, "echo one; exec cat")[0]
	for e, err := range follow.Panes(ctx, srv, id) {
		check.OK(t, err)
		switch e.Kind {
		case follow.EventBegan:
			testserver.Run(t, srv, "respawn-pane", "-k", "-t", string(id), "echo FAIL; exit 5")
			testserver.Wait(t, srv, string(id), "end", func() bool {
				testserver.Reap(t, srv)
				return testserver.Run(t, srv, "display-message", "-p", "-t", string(id), "#{pane_dead}") == "1"
			})
		case follow.EventEnded:
			if e.Look.PID == nil { // tmux 3.8 does not say which program it was
				t.Skip("this tmux does not name the program of a pane that has ended")
			}
			check.That(t, e.Ended.How == follow.PaneRespawned && e.Missed, "%s, missed %t", e.Ended.How, e.Missed)
		}
	}
}

// TestWaitForNewResized: a pane that was resized since the mark shows its old lines again,
// which are not new.
func TestWaitForNewResized(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	ctx := testserver.Context(t)
	pane := srv.Pane(scripted(t, srv, "stty -echo; echo first; echo OLD; printf '$ '; read x; echo OLD and new; read x")[0])
	_, _, err := follow.WaitFor(ctx, pane, "$ ")
	check.OK(t, err)
	mark := check.Must[*follow.Look](t)(follow.LookAt(ctx, pane.Server(), pane, nil)).Mark()
	testserver.Run(t, srv, "resize-window", "-t", string(pane.ID), "-x", "60", "-y", "20")
	check.OK(t, pane.SendKeys(ctx, "Enter"))
	_, line, err := follow.WaitForNew(ctx, pane, mark, "OLD")
	check.OK(t, err)
	check.Equal(t, "line", "$ OLD and new", line)
	for _, text := range []string{"a\x1bb", "\x00", "\xff", "a\vb", "a\nb", " "} {
		_, _, err := follow.WaitFor(ctx, pane, text)
		check.Kind(t, fmt.Sprintf("%q", text), err, tmux.ErrArgument)
	}
}
