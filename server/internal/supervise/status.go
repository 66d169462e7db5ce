package supervise

import (
	"context"
	"fmt"
	"strings"

	"tmuxmcp/server/internal/agents"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/tool"
	"tmuxmcp/tmux"
)

func agentStatus(f *agents.Finder) *tool.Tool {
	return tool.New(tool.Decl{
		Name: "agent_status", Title: "Agent Status", Kind: tool.Reads, Set: tool.Panes,
		Aim:  target.Nowhere,
		Hint: "which coding agent is waiting for an answer",
		Desc: "Find the coding agents (claude, codex, …) in all panes: is each working, asks (with the question, its choices and the keys for send_keys), " +
			"idle, ended or unknown; its input.",
	}, func(ctx context.Context, c tool.Call, in agentStatusIn) (out agentStatusResult, err error) {
		seen, err := f.In(ctx, c.Tmux, in.Panes)
		err = target.NoServerIsEmpty(ctx, len(in.Panes) == 0, err)
		out.Agents = []agentInfo{}
		for _, s := range seen {
			out.Agents = append(out.Agents, infoOf(s))
		}
		return out, err
	})
}

// infoOf returns an agent as callers see it.
func infoOf(s agents.Agent) agentInfo {
	a := agentInfo{
		PaneID: s.ID, Place: rows.PlaceOf(s.Session, s.Window, s.Index), Agent: s.Name, State: string(s.State), Choices: []agentChoice{},
		Version: reply.NonEmpty(s.Version), Question: reply.NonEmpty(s.Question),
		Input: reply.NonEmpty(s.Input()),
	}
	for _, choice := range s.Choices {
		a.Choices = append(a.Choices, agentChoice{Keys: choice.Keys, Label: choice.Label})
	}
	return a
}

type agentStatusIn struct {
	Panes []tmux.PaneID `json:"panes,omitempty" desc:"default all"`
	target.OnSocket
}

func (in agentStatusIn) Check(tool.Limits) error {
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
		v.Lines = append(v.Lines, a.lines()...)
	}
	return v
}

// lines show an agent: its state, and what it asks.
func (a agentInfo) lines() []string {
	line := fmt.Sprintf("%s %s\t%s %s\t%s", a.PaneID, a.Place, a.Agent, reply.ValueOr(a.Version, ""), a.State)
	if a.Input != nil {
		line += "\tinput: " + reply.Flat(*a.Input)
	}
	if a.Question != nil {
		line += "\t" + reply.Flat(*a.Question)
	}
	lines := []string{reply.Legible(line, "\t")}
	for _, c := range a.Choices {
		lines = append(lines, reply.Legible("  "+strings.Join(c.Keys, " ")+" = "+c.Label, ""))
	}
	return lines
}
