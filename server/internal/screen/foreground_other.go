//go:build !linux

package screen

import (
	"tmuxmcp/internal/runner"
	"tmuxmcp/tmux/follow"
)

// inForeground is not supported here.
func inForeground(int) bool { return false }

// readerOf is not supported here.
func readerOf(int, *follow.Look) (f runner.Foreground, known bool) { return f, false }
