package agents

import (
	"context"
	"errors"
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

const (
	// awaitPause is the time between two looks at agents that are waited for, and how long
	// a state must last to count: a screen that is being drawn may look like another one.
	awaitPause = 150 * time.Millisecond
	// awaitFind is the time between two looks for their processes.
	awaitFind = 2 * time.Second
)

// Awaited is the outcome of a wait for agents.
type Awaited struct {
	// Seen are the agents, and Reached those by pane that have come to the states.
	Seen    []Seen
	Reached map[tmux.PaneID]bool
	// Gone are panes that have been closed.
	Gone []tmux.PaneID
}

// Want is what to wait for: that an agent in one of the panes, or each, is in one of the
// states, or its pane is closed.
type Want struct {
	// Panes are those in which an agent runs now, except for one, if none is given.
	Panes  []tmux.PaneID
	Except tmux.PaneID
	States []State
	All    bool
	Budget time.Duration
}

// Await waits for agents.
func (f *Finder) Await(ctx context.Context, srv *tmux.Server, want Want) (Awaited, error) {
	start, ids := time.Now(), want.Panes
	var seen []Seen
	err := f.bounded(ctx, func(ctx context.Context) (err error) {
		seen, err = f.In(ctx, srv, ids)
		return err
	})
	if err != nil {
		return Awaited{}, err
	}
	for _, id := range ids {
		if !slices.ContainsFunc(seen, func(s Seen) bool { return s.ID == id }) {
			return Awaited{}, NoAgent(id)
		}
	}
	if ids == nil {
		seen = slices.DeleteFunc(seen, func(s Seen) bool { return s.ID == want.Except })
	}
	ids = nil
	for _, s := range seen {
		ids = append(ids, s.ID)
	}
	since := map[tmux.PaneID]time.Time{}
	is := map[tmux.PaneID]State{}
	found, reported := start, start
	for {
		a := Awaited{Seen: seen, Reached: map[tmux.PaneID]bool{}}
		for _, id := range ids {
			i := slices.IndexFunc(seen, func(s Seen) bool { return s.ID == id })
			if i < 0 {
				a.Gone = append(a.Gone, id)
				continue
			}
			if state := seen[i].State; is[id] != state {
				is[id], since[id] = state, time.Now()
			} else if slices.Contains(want.States, state) && time.Since(since[id]) >= awaitPause {
				a.Reached[id] = true
			}
		}
		done := len(a.Reached) + len(a.Gone)
		if done == len(ids) || done > 0 && !want.All || time.Since(start) > want.Budget {
			return a, nil
		}
		if time.Since(reported) > time.Second {
			reported = time.Now()
			stdio.Waited(ctx, reply.Count(len(ids)-done, "agent"), start, want.Budget)
		}
		began := time.Now()
		if err := pause.For(ctx, awaitPause); err != nil {
			return a, err
		}
		if time.Since(found) < awaitFind {
			again := slices.Clone(seen)
			for i := range again {
				if again[i].State != Ended {
					again[i].State, again[i].Rows = Unknown, nil
				}
			}
			err := f.bounded(ctx, func(ctx context.Context) (err error) {
				again, err = f.read(ctx, srv, again)
				return err
			})
			if err != nil {
				return a, err
			}
			if len(again) == len(seen) && !slices.ContainsFunc(again, func(s Seen) bool { return s.State != Ended && s.Dead }) {
				seen = again
				continue
			}
		}
		found = began
		err := f.bounded(ctx, func(ctx context.Context) error {
			every, err := f.In(ctx, srv, nil)
			seen = slices.DeleteFunc(every, func(s Seen) bool { return !slices.Contains(ids, s.ID) })
			return err
		})
		if err != nil {
			return a, err
		}
	}
}

// bounded runs a look that tmux has a limited time to answer.
func (f *Finder) bounded(ctx context.Context, look func(ctx context.Context) error) error {
	bound, cancel := tmux.WithTimeout(ctx, f.LookTime)
	defer cancel()
	err := look(bound)
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, context.DeadlineExceeded):
		return reply.Unresponsive(f.LookTime, err)
	}
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
