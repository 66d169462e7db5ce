package deliver

import (
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/tmux"
)

// Sent is the outcome of a prompt.
type Sent struct {
	PaneID  tmux.PaneID `json:"pane_id"`
	Agent   string      `json:"agent"`
	Version *string     `json:"version"`
	// Queued is set if the agent was working: it takes the prompt when it can.
	Queued bool   `json:"queued"`
	State  string `json:"state"`
	// Notes say what the agent is known to change in such a prompt.
	Notes          []string `json:"notes"`
	ElapsedSeconds float64  `json:"elapsed_seconds"`
}

// View says what became of the prompt.
func (p *Sent) View() reply.View {
	var v reply.View
	v.Fact("%s %s has taken the prompt after %s", p.PaneID, p.Agent, reply.Elapsed(p.ElapsedSeconds))
	v.FactIf(p.Queued, "it was working")
	v.Fact("now %s", p.State)
	for _, n := range p.Notes {
		v.Fact("%s", n)
	}
	return v
}
