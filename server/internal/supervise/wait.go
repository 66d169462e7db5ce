package supervise

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"tmuxmcp/server/internal/agents"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/tool"
	"tmuxmcp/tmux"
)

func waitForAgent(f *agents.Finder, r *screen.Reader) *tool.Tool {
	return tool.New(tool.Decl{
		Name: "wait_for_agent", Title: "Wait For Agent", Kind: tool.Reads, Set: tool.Panes, SelfBounded: true,
		Aim:  target.Nowhere,
		Hint: "wait for the first of several coding agents to finish or ask",
		Desc: "Wait until a coding agent, the first of several or all, is idle or asks. Returns their states, questions and choices, and with answer what they answered.",
	}, func(ctx context.Context, c tool.Call, in waitForAgentIn) (*waitForAgentResult, error) {
		start := time.Now()
		budget, err := r.Budget(in.Timeout, screen.WaitAgain)
		if err != nil {
			return nil, err
		}
		var panes []tmux.PaneID
		if len(in.Panes) > 0 {
			if panes, err = target.PanesNamed(ctx, c.Tmux, "panes", in.Panes); err != nil {
				return nil, err
			}
		}
		a, err := f.Await(ctx, c.Tmux, agents.Want{Panes: panes, Except: c.Here.Own(), States: in.states(), All: in.Until == "all", Budget: budget})
		if err != nil {
			return nil, err
		}
		if len(a.Agents)+len(a.Gone) == 0 {
			return nil, reply.Faultf(reply.KindRefused, "no coding agent runs in any other pane").Suggest("agent_status lists those that do")
		}
		out := &waitForAgentResult{Agents: []awaitedAgent{}, Gone: append([]tmux.PaneID{}, a.Gone...)}
		for _, s := range a.Agents {
			one := awaitedAgent{answered{agentInfo: infoOf(s)}, a.Reached[s.ID]}
			if one.Reached && in.Answer {
				e, err := f.AnswerOf(ctx, s, "")
				if err != nil {
					return nil, err
				}
				one.answered = answeredBy(e)
			}
			out.Agents = append(out.Agents, one)
		}
		slices.SortStableFunc(out.Agents, func(a, b awaitedAgent) int { return order(b.Reached) - order(a.Reached) })
		done := len(a.Reached) + len(a.Gone)
		out.TimedOut = done == 0 || in.Until == "all" && done < len(a.Agents)+len(a.Gone)
		out.ElapsedSeconds = reply.Seconds(time.Since(start))
		return out, nil
	})
}

func order(first bool) int {
	if first {
		return 1
	}
	return 0
}

type waitForAgentIn struct {
	Panes   []string `json:"panes,omitempty" desc:"ids or sessions; default all others with an agent"`
	State   []string `json:"state,omitempty" desc:"working, asks, idle, ended; default idle, asks, ended"`
	Until   string   `json:"until" default:"any" enum:"any,all"`
	Answer  bool     `json:"answer,omitempty"`
	Timeout float64  `json:"timeout" default:"60" desc:"seconds, to 300"`
	target.OnSocket
}

func (in waitForAgentIn) Check(tool.Limits) error {
	_, err := agents.StatesNamed(in.State)
	return err
}

func (in waitForAgentIn) states() []agents.State {
	if states, _ := agents.StatesNamed(in.State); states != nil {
		return states
	}
	return []agents.State{agents.Idle, agents.Asks, agents.Ended}
}

// waitForAgentResult has the agents that are in one of the states first.
type waitForAgentResult struct {
	Agents         []awaitedAgent `json:"agents"`
	Gone           []tmux.PaneID  `json:"gone"`
	TimedOut       bool           `json:"timed_out"`
	ElapsedSeconds float64        `json:"elapsed_seconds"`
}

type awaitedAgent struct {
	answered
	Reached bool `json:"reached"`
}

func (r *waitForAgentResult) View() reply.View {
	var v reply.View
	v.Head = true
	var still []string
	done := 0
	for _, a := range r.Agents {
		if !a.Reached {
			still = append(still, fmt.Sprintf("%s %s", a.PaneID, a.State))
			continue
		}
		done++
		v.Lines = append(v.Lines, a.agentInfo.lines()...)
		if a.Source != "" {
			var said reply.View
			a.facts(&said)
			text := a.lines()
			v.Lines = append(v.Lines, string(reply.Say("== answer of %s, %s: %s", a.PaneID, reply.Count(len(text), "line"), said.Summary())))
			v.Lines = append(v.Lines, plain(text)...)
		}
	}
	v.Fact("%s after %s", reply.Count(done, "agent"), reply.Elapsed(r.ElapsedSeconds))
	v.FactIf(r.TimedOut, "timeout")
	v.FactIf(len(r.Gone) > 0, "gone: %s", reply.Listed(r.Gone, ","))
	v.FactIf(len(still) > 0 && len(still) <= mostStill, "not yet: %s", strings.Join(still, "; "))
	v.FactIf(len(still) > mostStill, "not yet: %d others", len(still))
	return v
}

// mostStill bounds the agents that are named as not yet done.
const mostStill = 20
