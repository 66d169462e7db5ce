package screen

import (
	"tmuxmcp/internal/procstat"
	"tmuxmcp/internal/runner"
	"tmuxmcp/tmux/follow"
)

// inForeground reports whether a program other than the pane's own is known to read from
// its terminal.
func inForeground(pid int) bool {
	p, err := procstat.Of(pid)
	return err == nil && p.Foreground > 0 && p.Foreground != pid
}

// readerOf returns the program that reads what is typed into a pane, if that is known.
func readerOf(pid int, l *follow.Look) (runner.Foreground, bool) {
	f, err := runner.ForegroundOf(pid, l.TTY, "")
	return f, err == nil
}
