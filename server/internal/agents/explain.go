package agents

import (
	"context"
	"slices"

	"tmuxmcp/server/internal/caller"
	"tmuxmcp/tmux"
)

// Explanation is how the screen of a pane was read.
type Explanation struct {
	Pane Pane
	// Processes are those in which an agent was looked for.
	Processes []Process
	// Program is the agent. Its rules are nil if no agent was recognized.
	Program Program
	// Rows are the rows of the screen, up to the last that has text.
	Rows   []string
	Steps  []Step
	Status Status
}

// Process is a process of a pane. Words say which program it is, and By what it was
// recognized by; By is empty if it was not.
type Process struct {
	PID   int
	Words []string
	By    string
}

// Step is a pattern that was tried on rows or on a text.
type Step struct {
	// Key is the key of the pattern. N is its number, from 0, if the key is in a list,
	// otherwise -1. The key cursor stands for the condition that the cursor is in the box.
	Key string
	N   int
	// Tried and Matched are rows, from 0, in the order in which they were tried.
	Tried, Matched []int
	// Text is what was tried instead of rows, and Is whether it matched.
	Text *string
	Is   bool
}

// Explain reads the screen of a pane by rules, or if they are nil by those of the agent that
// runs there.
func (f *Finder) Explain(ctx context.Context, srv *tmux.Server, target tmux.Target, rules *Rules) (*Explanation, error) {
	var b tmux.Batch
	look := AddLook(&b, target, ProgramTokens...)
	if err := b.Do(ctx, srv); err != nil {
		return nil, err
	}
	known := f.rules()
	if rules != nil {
		known = RuleSet{rules}
	}
	of := &Explanation{Pane: look.Pane()}
	running, ended := NewFinder(known).Programs(ctx, srv, []Pane{of.Pane})
	of.Processes = []Process{{Words: []string{of.Pane.Command}}}
	if caller.Sees(ctx, srv) {
		of.Processes = processesOf(of.Pane)
	}
	for i, p := range of.Processes {
		_, of.Processes[i].By = known.Recognize(p.Words[0], p.Words[1:])
	}
	of.Program = running[of.Pane.ID]
	if program, ok := ended[of.Pane.ID]; ok {
		of.Program = program
	}
	if rules != nil {
		of.Program.Name, of.Program.Rules = rules.Name, rules
	}
	all := look.Rows()
	var t trace
	of.Rows = trimmed(all)
	of.Status = classify(View{Program: of.Program, Ended: of.Pane.Dead, Title: of.Pane.Title, Rows: all, X: of.Pane.X, Y: of.Pane.Y}, &t)
	of.Steps = t.steps
	return of, nil
}

// trace records which patterns are tried; nil records nothing.
type trace struct{ steps []Step }

func (t *trace) step(key string, n int) *Step {
	i := slices.IndexFunc(t.steps, func(s Step) bool { return s.Key == key && s.N == n })
	if i < 0 {
		i = len(t.steps)
		t.steps = append(t.steps, Step{Key: key, N: n})
	}
	return &t.steps[i]
}

func (t *trace) tried(key string, n, row int, matched bool) {
	if t == nil {
		return
	}
	s := t.step(key, n)
	if !slices.Contains(s.Tried, row) {
		s.Tried = append(s.Tried, row)
	}
	if matched && !slices.Contains(s.Matched, row) {
		s.Matched = append(s.Matched, row)
	}
}

// find returns the match of a pattern in a row.
func (t *trace) find(key string, n int, p pattern, rows []string, row int) []string {
	if p.Regexp == nil {
		return nil
	}
	m := p.FindStringSubmatch(rows[row])
	t.tried(key, n, row, m != nil)
	return m
}

// row reports whether a pattern matches a row.
func (t *trace) row(key string, n int, p pattern, rows []string, row int) bool {
	if p.Regexp == nil {
		return false
	}
	matched := p.MatchString(rows[row])
	t.tried(key, n, row, matched)
	return matched
}

// any reports whether a pattern matches any of the rows from first to before end.
func (t *trace) any(key string, p pattern, rows []string, first, end int) bool {
	for i := first; i < end; i++ {
		if t.row(key, -1, p, rows, i) {
			return true
		}
	}
	return false
}

// text reports whether a pattern matches a text that is no row.
func (t *trace) text(key string, p pattern, text string) bool {
	is := p.Matches(text)
	if t != nil && p.Regexp != nil {
		s := t.step(key, -1)
		s.Text, s.Is = &text, is
	}
	return is
}

// cursor reports whether the cursor is in the box of the nth frame, which has the rows from
// top to before end.
func (t *trace) cursor(n, at, top, end int) bool {
	for row := top; row < end; row++ {
		t.tried("cursor", n, row, row == at)
	}
	return top <= at && at < end
}
