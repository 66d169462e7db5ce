package agents

import (
	"context"
	"slices"
	"time"

	"tmuxmcp/internal/pause"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/stdio"
	"tmuxmcp/tmux"
)

// NoAgent returns the fault for a pane in which no agent runs.
func NoAgent(id tmux.PaneID) *reply.Fault {
	return reply.Faultf(reply.KindRefused, "no coding agent runs in pane %s", id).Suggest("agent_status shows which panes run one")
}

// awaitPause is the time between two looks at agents that are waited for, and how long a state
// must last to count: a screen that is being drawn may look like another one.
const awaitPause = 150 * time.Millisecond

// awaitPace is how often they are looked at.
var awaitPace = Pace{Search: 2 * time.Second, Silence: 2 * awaitPause, Busy: time.Second, Rest: 30 * time.Second, Blind: time.Second}

// Awaited is the outcome of a wait for agents.
type Awaited struct {
	// Agents are all that were found; Reached has the panes of those in one of the wanted
	// states.
	Agents  []Agent
	Reached map[tmux.PaneID]bool
	// Gone are panes that have been closed.
	Gone []tmux.PaneID
}

// Want is what to wait for: that an agent in one of the panes, or each, is in one of the
// states, or its pane is closed.
type Want struct {
	// Panes are the panes to wait for. If nil, they are all others than Except in which an
	// agent runs now.
	Panes  []tmux.PaneID
	Except tmux.PaneID
	States []State
	All    bool
	Budget time.Duration
}

// Await waits for agents.
func (f *Finder) Await(ctx context.Context, srv *tmux.Server, want Want) (Awaited, error) {
	start := time.Now()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := &poll{Lookout: f.NewLookout(ctx, srv, want.Panes, awaitPace)}
	if err := p.begin(ctx, want); err != nil {
		return Awaited{}, err
	}
	reported := start
	for {
		a := p.outcome(want.States, time.Now())
		done := len(a.Reached) + len(a.Gone)
		if done == len(p.panes) || done > 0 && !want.All || time.Since(start) > want.Budget {
			return a, nil
		}
		if time.Since(reported) > time.Second {
			reported = time.Now()
			stdio.Waited(ctx, reply.Count(len(p.panes)-done, "agent"), start, want.Budget)
		}
		if err := p.again(ctx); err != nil {
			return a, err
		}
	}
}

// poll looks at agents again and again.
type poll struct {
	*Lookout
	panes  []tmux.PaneID                  // that had an agent at the first look
	seen   []Agent                        // at the last look
	states map[tmux.PaneID]*Steady[State] // of panes
}

func (p *poll) look(ctx context.Context) (err error) {
	p.seen, err = reply.Within(ctx, p.finder.LookTime, func(ctx context.Context) ([]Agent, error) {
		return p.Look(ctx, time.Now())
	})
	return err
}

// begin takes the first look.
func (p *poll) begin(ctx context.Context, want Want) (err error) {
	if err := p.look(ctx); err != nil {
		return err
	}
	for _, id := range want.Panes {
		if !slices.ContainsFunc(p.Lookout.panes, func(pane Pane) bool { return pane.ID == id }) {
			return reply.PaneNotFound(string(id))
		}
		if p.at(id) == nil {
			return NoAgent(id)
		}
	}
	p.seen = slices.DeleteFunc(p.seen, func(s Agent) bool { return want.Panes == nil && s.ID == want.Except })
	p.states = map[tmux.PaneID]*Steady[State]{}
	for _, s := range p.seen {
		p.panes, p.states[s.ID] = append(p.panes, s.ID), new(Steady[State])
	}
	return nil
}

// at returns the agent in a pane at the last look; nil if the pane is gone.
func (p *poll) at(id tmux.PaneID) *Agent {
	if i := slices.IndexFunc(p.seen, func(s Agent) bool { return s.ID == id }); i >= 0 {
		return &p.seen[i]
	}
	return nil
}

// outcome judges the last look.
func (p *poll) outcome(states []State, now time.Time) Awaited {
	a := Awaited{Agents: p.seen, Reached: map[tmux.PaneID]bool{}}
	for _, id := range p.panes {
		switch s := p.at(id); {
		case s == nil:
			a.Gone = append(a.Gone, id)
		case p.states[id].Saw(s.State, now) >= awaitPause && slices.Contains(states, s.State):
			a.Reached[id] = true
		}
	}
	return a
}

// again takes another look after a pause.
func (p *poll) again(ctx context.Context) error {
	if err := pause.For(ctx, awaitPause); err != nil {
		return err
	}
	err := p.look(ctx)
	p.seen = slices.DeleteFunc(p.seen, func(s Agent) bool { return !slices.Contains(p.panes, s.ID) })
	return err
}

// StatesNamed returns the states of agents that a parameter names.
func StatesNamed(names []string) (states []State, err error) {
	for _, name := range names {
		s := State(name)
		if !slices.Contains([]State{Working, Asks, Idle, Ended}, s) {
			return nil, reply.Argument("state", "must be working, asks, idle or ended, not %q", name)
		}
		states = append(states, s)
	}
	return states, nil
}
