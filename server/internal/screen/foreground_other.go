//go:build !linux

package screen

import (
	"tmuxmcp/internal/runner"
	"tmuxmcp/tmux"
)

// inForeground is not supported here.
func inForeground(int) bool { return false }

// readerOf is not supported here.
func readerOf(int, *tmux.Look) (f runner.Foreground, known bool) { return f, false }
