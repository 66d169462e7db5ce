package screen

import (
	"tmuxmcp/internal/procstat"
)

// inForeground reports whether a program other than the pane's own is known to read from
// its terminal.
func inForeground(pid int) bool {
	p, err := procstat.Of(pid)
	return err == nil && p.Foreground > 0 && p.Foreground != pid
}
