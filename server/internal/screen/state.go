package screen

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tmuxmcp/server/internal/agents"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/tmux"
)

// statePause is the time between two readings of an agent's state while its screen changes,
// and how long a state must last to count: a screen that is being drawn may look like
// another one.
const statePause = 100 * time.Millisecond

const (
	// stateRest is how long a pane must be silent for its state to be read if nobody asked
	// for it: an agent that asks waits.
	stateRest = 500 * time.Millisecond
	// agentGap is the time between two such readings, even if the pane is never silent.
	agentGap = 2 * time.Second
	// mostStateGap bounds it where no agent was found; it doubles each time.
	mostStateGap = 32 * time.Second
)

// stateDue returns when to read the state of a pane's agent; zero if not before the pane
// changes.
func (w *Wait) stateDue(p *waitedPane) time.Time {
	switch {
	case w.states == nil:
		return time.Time{}
	case p.state.Value != "":
		return p.asked.Add(statePause)
	case !w.unasked && !p.asked.After(p.printed):
		return p.asked.Add(statePause)
	case w.unasked && p.gap == 0:
		return earlier(p.printed.Add(stateRest), w.start.Add(agentGap))
	case w.unasked && p.gap == agentGap && p.printed.After(p.asked):
		return earlier(p.printed.Add(stateRest), p.asked.Add(agentGap))
	case w.unasked:
		return p.asked.Add(p.gap)
	}
	return time.Time{}
}

// readStates reads the states of agents whose panes have changed.
func (w *Wait) readStates(ctx context.Context) error {
	now := time.Now()
	var read []*waitedPane
	var ids []tmux.PaneID
	for _, p := range w.panes {
		if due := w.stateDue(p); p.outcome == "" && !due.IsZero() && !now.Before(due) {
			read, ids = append(read, p), append(ids, p.id)
		}
	}
	if ids == nil {
		return nil
	}
	seen, err := reply.Within(ctx, w.reader.LookTime, func(ctx context.Context) ([]agents.Agent, error) {
		return w.reader.Agents.In(ctx, w.src.Tmux, ids)
	})
	var f *reply.Fault
	if errors.As(err, &f) && f.Kind == reply.KindPane {
		for _, p := range w.panes {
			p.asked = time.Now() // the next look finds which pane is gone
		}
		return nil
	}
	if err != nil {
		return err
	}
	for _, p := range read {
		var agent *agents.Agent
		if i := slices.IndexFunc(seen, func(s agents.Agent) bool { return s.ID == p.id }); i >= 0 {
			agent = &seen[i]
		}
		if err := w.judgeState(ctx, p, agent); err != nil {
			return err
		}
	}
	return nil
}

// judgeState judges a reading of the state of a pane's agent, which is nil if there is none.
func (w *Wait) judgeState(ctx context.Context, p *waitedPane, agent *agents.Agent) error {
	first := p.asked.IsZero()
	p.asked = time.Now()
	if agent == nil {
		p.state = agents.Steady[agents.State]{}
		p.gap = min(max(2*p.gap, 2*agentGap), mostStateGap)
		if first && len(w.panes) == 1 && !w.unasked {
			return reply.Faultf(reply.KindRefused, "no coding agent runs in pane %s, so it has no state", p.id).Suggest("agent_status shows which panes run one")
		}
		return nil
	}
	p.gap = agentGap
	if !slices.Contains(w.states, agent.State) {
		p.state = agents.Steady[agents.State]{}
		return nil
	}
	if p.state.Saw(agent.State, p.asked) < statePause {
		return nil
	}
	// The state may come from a newer screen than the last look.
	if err := w.again(ctx, p); err != nil {
		return err
	}
	if p.outcome == "" {
		p.outcome, p.matched = outcomeState, asked(agent.Status)
	}
	return nil
}

// asked returns what an agent asks, with its choices.
func asked(s agents.Status) (lines []string) {
	if s.Question != "" {
		lines = append(lines, s.Question)
	}
	for _, c := range s.Choices {
		lines = append(lines, fmt.Sprintf("%s: %s", strings.Join(c.Keys, " "), c.Label))
	}
	return lines
}
