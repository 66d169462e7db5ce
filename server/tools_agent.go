package server

import (
	"context"
	"fmt"
	"strings"

	"tmuxmcp/server/internal/deliver"
	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/tmux"
)

var agentStatus = newTool(tool{
	name: "agent_status", title: "Agent Status", kind: reads, set: setPanes,
	aim:  target.Nowhere,
	hint: "which coding agent is waiting for an answer",
	desc: "Find the coding agents (claude, codex, gemini, opencode) in all panes: is each working, asks (with the question, its choices and the keys " +
		"for send_keys), idle, ended or unknown; its input.",
}, func(ctx context.Context, c *call, in agentStatusIn) (out agentStatusResult, err error) {
	seen, err := c.s.agents.In(ctx, c.Tmux, in.Panes)
	out.Agents = []agentInfo{}
	for _, s := range seen {
		a := agentInfo{
			PaneID: s.ID, Place: rows.PlaceOf(s.Session, s.Window, s.Index), Agent: s.Name, State: string(s.State), Choices: []agentChoice{},
			Version: reply.NonEmpty(s.Version), Question: reply.NonEmpty(s.Question),
		}
		if s.Box != nil {
			a.Input = reply.NonEmpty(s.Box.Text)
		}
		for _, choice := range s.Choices {
			a.Choices = append(a.Choices, agentChoice{Keys: choice.Keys, Label: choice.Label})
		}
		out.Agents = append(out.Agents, a)
	}
	return out, err
})

type agentStatusIn struct {
	Panes []tmux.PaneID `json:"panes,omitempty" desc:"default all"`
	target.OnSocket
}

func (in agentStatusIn) check(limits) error {
	for _, id := range in.Panes {
		if !id.Valid() {
			return reply.Argument("panes", "must be panes' ids, such as %%3").Suggest("list_panes returns the ids")
		}
	}
	return nil
}

type agentStatusResult struct {
	Agents []agentInfo `json:"agents"`
}

type agentInfo struct {
	PaneID   tmux.PaneID   `json:"pane_id"`
	Place    string        `json:"place"`
	Agent    string        `json:"agent"`
	Version  *string       `json:"version"`
	State    string        `json:"state" enum:"working,asks,idle,ended,unknown"`
	Question *string       `json:"question" exact:"true"`
	Choices  []agentChoice `json:"choices"`
	Input    *string       `json:"input" exact:"true" desc:"in its input box"`
}

type agentChoice struct {
	Keys  []string `json:"keys"`
	Label string   `json:"label" exact:"true"`
}

func (r agentStatusResult) View() reply.View {
	var v reply.View
	v.Head = true
	v.Fact("%s", reply.Count(len(r.Agents), "agent"))
	for _, a := range r.Agents {
		line := fmt.Sprintf("%s %s\t%s %s\t%s", a.PaneID, a.Place, a.Agent, reply.ValueOr(a.Version, ""), a.State)
		if a.Input != nil {
			line += "\tinput: " + reply.Flat(*a.Input)
		}
		if a.Question != nil {
			line += "\t" + reply.Flat(*a.Question)
		}
		v.Lines = append(v.Lines, reply.Legible(line, "\t"))
		for _, c := range a.Choices {
			v.Lines = append(v.Lines, reply.Legible("  "+strings.Join(c.Keys, " ")+" = "+c.Label, ""))
		}
	}
	return v
}

var sendPrompt = newTool(tool{
	name: "send_prompt", title: "Send Prompt", kind: shell, set: setInput, selfBounded: true,
	aim: target.Need(target.Pane), harm: guard.Types,
	hint: "give another coding agent a task",
	desc: "Give the coding agent in a pane (claude, codex, gemini, opencode) a prompt of any length: waits until it takes input, pastes, submits and " +
		"checks, exactly once. Types nothing, and says why, if it asks, its box is not empty, a user is looking, or no agent runs there.",
}, func(ctx context.Context, c *call, in sendPromptIn) (*deliver.Sent, error) {
	budget, err := c.s.screens.Budget(in.Timeout)
	if err != nil {
		return nil, err
	}
	return c.s.prompts.Send(ctx, c.types(), c.on, in.Prompt, budget)
})

type sendPromptIn struct {
	target.SelectPaneID
	deliver.Prompt
	target.OnSocket
}

func (in sendPromptIn) check(limits) error { return in.Prompt.Check() }
