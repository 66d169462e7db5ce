// Package supervise has the tools of other coding agents: their states, the prompts that
// they are given, and their answers.
package supervise

import (
	"tmuxmcp/server/internal/agents"
	"tmuxmcp/server/internal/deliver"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/tool"
	"tmuxmcp/server/internal/typing"
)

// All returns the tools, in catalogue order.
func All(f *agents.Finder, k *typing.Keyboard, s *deliver.Sender, r *screen.Reader) []*tool.Tool {
	return []*tool.Tool{agentStatus(f), sendPrompt(k, s, f), agentAnswer(f), waitForAgent(f, r)}
}
