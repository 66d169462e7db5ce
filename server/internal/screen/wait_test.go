package screen

import (
	"testing"
	"time"

	"tmuxmcp/tmux/follow"
)

// TestNoEndWithoutALook: a wait does not end because of silence, or because a program has
// ended, before a newer look: what was printed since the last one is still to be read.
func TestNoEndWithoutALook(t *testing.T) {
	t.Parallel()
	start := time.Now()
	for _, c := range []struct {
		outcome string
		at      time.Duration
		quiet   time.Duration
		back    time.Time
	}{
		{outcomeQuiet, time.Second, time.Second, time.Time{}},
		{outcomeEnded, endPause, 0, start},
		{outcomeTimeout, time.Hour, 0, time.Time{}},
	} {
		p := &waitedPane{look: &follow.Look{}, printed: start, began: start, ending: ending{back: c.back}, echo: new(Echo)}
		w := &Wait{panes: []*waitedPane{p}, deadline: start.Add(time.Hour), quiet: c.quiet}
		at := start.Add(c.at)
		if next := w.next(); !next.Equal(at) {
			t.Errorf("%s: the next look is after %v", c.outcome, next.Sub(start))
		}
		p.began = at.Add(-time.Nanosecond)
		if w.over() {
			t.Errorf("%s after a look that was too early", p.outcome)
		}
		p.began = at
		if !w.over() || p.outcome != c.outcome {
			t.Errorf("%q after a look at its time, want %s", p.outcome, c.outcome)
		}
		other := &waitedPane{look: &follow.Look{}, printed: at, began: at.Add(-time.Nanosecond), echo: new(Echo)}
		w.panes = append(w.panes, other)
		if over := w.over(); over != (c.outcome != outcomeTimeout) {
			t.Errorf("%s in one of two panes ends a wait is %t", c.outcome, over)
		}
	}
}
