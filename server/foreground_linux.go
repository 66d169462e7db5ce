package server

import (
	"strconv"

	"tmuxmcp/internal/procstat"
	"tmuxmcp/tmux"
)

// inForeground reports whether a program other than the pane's own is known to read from
// its terminal.
func inForeground(s tmux.PaneState) bool {
	pid, err := strconv.Atoi(s.PID)
	if err != nil {
		return false
	}
	p, err := procstat.Of(pid)
	return err == nil && p.Foreground > 0 && p.Foreground != pid
}
