//go:build !linux

package server

import "tmuxmcp/server/agents"

// agentsAt goes by the names of the running commands: programs that an interpreter
// runs, and versions, are not known.
func agentsAt(panes []agentPane) map[int]agents.Program {
	found := map[int]agents.Program{}
	for _, pane := range panes {
		if name, ok := agents.Recognise("", []string{pane.Command}); ok {
			found[pane.PID] = agents.Program{Name: name}
		}
	}
	return found
}
