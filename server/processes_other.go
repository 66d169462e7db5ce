//go:build !linux

package server

import (
	"tmuxmcp/server/agents"
)

func agentsAt(panes []agentPane) map[int]agents.Program { return agentsByName(panes) }

// inForeground is not supported here.
func inForeground(int) bool { return false }

// known reports false: the processes of a pane's program are not looked for here.
func (paneProgram) known() bool { return false }

func survivors([]paneProgram) []survivor { return nil }
