// Package ledger remembers what this server typed into each pane, and what of that an answer
// has reported as ended. Two screens show that a pane changed, but not who changed it, nor
// whether a program that has ended is the one that a wait is for: the ledger decides that.
package ledger

import (
	"slices"
	"sync"
	"time"
)

// Pane is a pane with the program that tmux started in it: what runs there after a respawn
// has an entry of its own.
type Pane struct {
	Socket, ID string
	PID        int
}

// Line is what was typed into a pane since an end was last reported there.
type Line struct {
	// Began is when the first of it was typed, At when the last was, and Submitted when a line
	// was last submitted with Enter: zero if none was.
	Began, At, Submitted time.Time
	// AtPrompt is set if all of it was typed at the prompt of a shell, and not into a program.
	AtPrompt bool
	// Ran is set if a program of the pane's shell was seen in the foreground at that moment.
	Ran bool
	// Prompt is the text that was left of the cursor there; "" if unknown.
	Prompt string
	// Last is the last line of the text.
	Last string
	// Job is the id of the job that it began, if run_command typed it.
	Job string
	// Read is set once something has shown that it was read.
	Read bool
	// Reported is set once an answer has said that what it began has ended, or has shown the
	// prompt that came afterwards.
	Reported bool
	// Answered is set once a wait has answered after it was typed: what is submitted then is
	// what the next wait is for, whatever this has left in the background.
	Answered bool

	number  int
	submits []Submission // also of those whose end was reported
}

// Submission is a line that was submitted with Enter.
type Submission struct {
	At time.Time
	// Prompt is the text that was left of the cursor, if that was the prompt of a shell; else "".
	Prompt string
	// Row is the number of the cursor's row then, from the first of the history.
	Row int
	// Text is the end of what was typed.
	Text string
}

// SubmittedSince returns the lines that were submitted since a time, as far as is known.
func (line Line) SubmittedSince(t time.Time) []Submission {
	i, _ := slices.BinarySearchFunc(line.submits, t, func(s Submission, t time.Time) int { return s.At.Compare(t) })
	return line.submits[i:]
}

// Ledger has a Line for each pane into which this server has typed. It is safe for concurrent
// use. The zero Ledger is empty.
type Ledger struct {
	mu    sync.Mutex
	last  int
	lines map[Pane]Line
}

// mostSubmits bounds how many lines of a pane are remembered, and mostText how many bytes of each.
const mostSubmits, mostText = 100, 200

// mostPanes bounds the number of panes; beyond it, the one typed into least recently is
// forgotten.
const mostPanes = 1000

// Typed records what is being typed in a row, and returns its number. What was typed before and
// has not been reported still counts.
func (l *Ledger) Typed(at Pane, typed Line, row int) (number int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, known := l.lines[at]
	now := Submission{typed.Submitted, "", row, typed.Last[max(0, len(typed.Last)-mostText):]}
	if typed.AtPrompt {
		now.Prompt = typed.Prompt
	}
	if !known && len(l.lines) >= mostPanes {
		l.forgetOldest()
	}
	if known && !before.Reported && !(before.Answered && !now.At.IsZero() && typed.Last != "") {
		typed.Began = before.Began
		typed.AtPrompt, typed.Ran = typed.AtPrompt && before.AtPrompt, typed.Ran || before.Ran
		if typed.Submitted.IsZero() {
			typed.Submitted = before.Submitted
		}
		if typed.Prompt == "" {
			typed.Prompt = before.Prompt
		}
	}
	typed.submits = before.submits
	if !now.At.IsZero() {
		typed.submits = append(slices.Clone(typed.submits[max(0, len(typed.submits)+1-mostSubmits):]), now)
	}
	l.last++
	typed.number = l.last
	if l.lines == nil {
		l.lines = map[Pane]Line{}
	}
	l.lines[at] = typed
	return typed.number
}

func (l *Ledger) forgetOldest() {
	var oldest Pane
	first := 0
	for at, line := range l.lines {
		if first == 0 || line.number < first {
			oldest, first = at, line.number
		}
	}
	delete(l.lines, oldest)
}

// Of returns what was typed into a pane; known is false if nothing was.
func (l *Ledger) Of(at Pane) (line Line, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	line, known = l.lines[at]
	return line, known
}

// Runs records which job what was typed with this number has begun.
func (l *Ledger) Runs(at Pane, number int, job string) {
	l.change(at, func(line *Line) {
		if line.number == number {
			line.Job = job
		}
	})
}

// Read records that what was typed with this number has been read.
func (l *Ledger) Read(at Pane, number int) {
	l.change(at, func(line *Line) { line.Read = line.Read || line.number == number })
}

// Report records that an answer has reported the end of what was typed with this number, or of
// what was typed before.
func (l *Ledger) Report(at Pane, number int) {
	l.change(at, func(line *Line) { line.Reported = line.Reported || line.number <= number })
}

// Answer records that a wait has answered after what was typed with this number.
func (l *Ledger) Answer(at Pane, number int) {
	l.change(at, func(line *Line) { line.Answered = line.Answered || line.number == number })
}

func (l *Ledger) change(at Pane, do func(*Line)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if line, known := l.lines[at]; known {
		do(&line)
		l.lines[at] = line
	}
}

// Forget forgets a pane that is gone.
func (l *Ledger) Forget(at Pane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.lines, at)
}

// Number returns the number that [Ledger.Typed] gave to the line.
func (line Line) Number() int { return line.number }
