//go:build !linux

package server

import (
	"tmuxmcp/server/agents"
	"tmuxmcp/tmux"
)

// agentsAt uses the names of the running commands. It does not detect programs run by an
// interpreter, or versions.
func agentsAt(panes []agentPane) map[int]agents.Program {
	found := map[int]agents.Program{}
	for _, pane := range panes {
		if name, ok := agents.Recognise("", []string{pane.Command}); ok {
			found[pane.PID] = agents.Program{Name: name}
		}
	}
	return found
}

// lostServer finds none here.
func lostServer(string) int { return 0 }

// inForeground is not supported here.
func inForeground(tmux.PaneState) bool { return false }

// known reports false: the processes of a pane's program are not looked for here.
func (paneProgram) known() bool { return false }

func survivors([]paneProgram) []survivor { return nil }
