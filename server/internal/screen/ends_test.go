package screen

import (
	"testing"
	"time"

	"tmuxmcp/server/internal/ledger"
)

// An empty prompt proves that a line has been read only once something shows that it was, or
// after a while. Without a prompt that is known, a program that ran and runs no more has
// ended, unless the shell itself runs.
func TestEndingPrompt(t *testing.T) {
	t.Parallel()
	const no, half, empty = ledger.NoPrompt, ledger.HalfTyped, ledger.EmptyPrompt
	now := time.Now()
	soon := readWait - time.Millisecond // after the line was typed
	for _, c := range []struct {
		name                string
		shown               ledger.Prompt
		isShell, mayRun     bool
		read, changed, runs bool
		submitted           bool // a line, at the prompt
		ago                 time.Duration
		prompt              ledger.Prompt
		proven              bool
		again               time.Duration // from now
	}{
		{"not read yet", empty, true, false, false, false, false, false, soon, no, false, time.Millisecond},
		{"not read, after a while", empty, true, false, false, false, false, false, readWait, empty, true, 0},
		{"read", empty, true, false, true, false, false, false, soon, empty, true, 0},
		{"the pane has printed", empty, true, false, false, true, false, false, soon, empty, true, 0},
		{"a program has run", empty, true, false, false, false, true, false, soon, empty, true, 0},
		{"a program has run, of which nothing shows", empty, true, false, false, false, true, true, soon, no, false, time.Millisecond},
		{"and after a while", empty, true, false, false, false, true, true, readWait, empty, true, 0},
		{"half a line", half, true, false, false, false, false, false, soon, half, false, 0},
		{"nothing has run", no, true, false, true, false, false, false, soon, no, false, 0},
		{"it runs", no, true, true, true, true, true, false, soon, no, false, 0},
		{"it ran, and the shell itself runs", no, true, false, true, true, true, false, soon, no, false, endPause},
		{"it ran, and the shell waits for the rest of a line", half, true, false, true, true, true, false, soon, empty, false, 0},
		{"it ran, and what started it is no shell", no, false, false, true, true, true, false, soon, empty, false, 0},
	} {
		line := ledger.Line{At: now.Add(-c.ago)}
		if c.submitted {
			line.Submitted, line.AtPrompt, line.Prompt = line.At, true, "$ "
		}
		var l ledger.Ledger
		l.Typed(ledger.Pane{}, line, 0)
		line, _ = l.Of(ledger.Pane{})
		line.Read = c.read
		e := ending{line: line, changed: c.changed, runs: c.runs}
		prompt, proven, again := e.prompt(c.shown, c.isShell, c.mayRun, now)
		var want time.Time
		if c.again > 0 {
			want = now.Add(c.again)
		}
		if prompt != c.prompt || proven != c.proven || !again.Equal(want) {
			t.Errorf("%s: %v %t, again in %v", c.name, prompt, proven, again.Sub(now))
		}
	}
}

// A line has arrived at the second look that finds it read, if anything shows of it or after a
// while, and another begins anew.
func TestArrives(t *testing.T) {
	t.Parallel()
	var l ledger.Ledger
	at := ledger.Pane{ID: "%1"}
	now := time.Now()
	line := func() ledger.Line {
		l.Typed(at, ledger.Line{At: now, Submitted: now, AtPrompt: true, Prompt: "$ "}, 0)
		line, _ := l.Of(at)
		return line
	}
	var e ending
	for i, look := range []struct {
		typed, changed, read, proven, runs bool
		ago                                time.Duration
		sure                               bool
		taken                              int
	}{
		{typed: true, changed: true},
		{changed: true, runs: true},
		{changed: true, runs: true, sure: true},
		{changed: true, proven: true, sure: true, taken: 1},
		{typed: true, changed: true, proven: true, taken: 1},
		{changed: true, taken: 1},
		{changed: true, proven: true, taken: 1},
		{changed: true, proven: true, sure: true, taken: 2},
		// Nothing shows of the next.
		{typed: true, runs: true, taken: 2},
		{runs: true, taken: 2},
		{proven: true, ago: readWait - 1, taken: 2},
		{runs: true, ago: readWait, sure: true, taken: 2},
		{proven: true, read: true, sure: true, taken: 3},
	} {
		if look.typed {
			e.line = line()
		}
		e.changed, e.line.Read = look.changed, look.read
		e.arrives(look.proven, look.runs, now.Add(look.ago))
		if e.sure != look.sure || e.taken != look.taken {
			t.Errorf("look %d: sure %t, taken %d", i, e.sure, e.taken)
		}
	}
}
