package agents

import (
	"testing"
	"time"

	"tmuxmcp/tmux"
)

// A value is steady since it was last another.
func TestSteady(t *testing.T) {
	t.Parallel()
	var s Steady[State]
	start := time.Now()
	for second, look := range []struct {
		state State
		want  int
	}{{"", 0}, {"", 1}, {Idle, 0}, {Idle, 1}, {Idle, 2}, {Asks, 0}, {Idle, 0}, {Idle, 1}} {
		if got := s.Saw(look.state, start.Add(time.Duration(second)*time.Second)); got != time.Duration(look.want)*time.Second {
			t.Errorf("look %d: %q for %v, want %d s", second, look.state, got, look.want)
		}
	}
}

// An agent has come to a state once it has lasted; a closed pane is gone, whatever it was.
func TestOutcome(t *testing.T) {
	t.Parallel()
	p := &poll{panes: []tmux.PaneID{"%1", "%2"}, states: map[tmux.PaneID]*Steady[State]{"%1": {}, "%2": {}}}
	start := time.Now()
	for i, look := range []struct {
		after         time.Duration
		one, two      State
		reached, gone int
	}{
		{0, Idle, Working, 0, 0},
		{awaitPause - 1, Idle, Working, 0, 0},
		{awaitPause, Idle, Working, 1, 0},
		{2 * awaitPause, Working, Working, 0, 0},
		{3 * awaitPause, Working, Idle, 0, 0},
		{4 * awaitPause, Idle, Idle, 1, 0},
		{5 * awaitPause, Idle, Idle, 2, 0},
		{6 * awaitPause, Idle, "", 1, 1},
		{7 * awaitPause, Ended, "", 0, 1},
	} {
		p.seen = []Agent{{Pane: Pane{ID: "%1"}, Status: Status{State: look.one}}}
		if look.two != "" {
			p.seen = append(p.seen, Agent{Pane: Pane{ID: "%2"}, Status: Status{State: look.two}})
		}
		a := p.outcome([]State{Idle, Asks}, start.Add(look.after))
		if len(a.Reached) != look.reached || len(a.Gone) != look.gone || len(a.Agents) != len(p.seen) {
			t.Errorf("look %d: %+v", i, a)
		}
	}
}
