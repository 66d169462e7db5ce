package closing

import (
	"os"
	"slices"
	"syscall"

	"tmuxmcp/internal/procstat"
	"tmuxmcp/server/internal/reply"
)

// known reports whether the program's process is one of this system: tmux may run where
// processes have other numbers.
func (p paneProgram) known() bool {
	tty, err := os.Stat(p.TTY)
	if err != nil {
		return false
	}
	dev, ok := tty.Sys().(*syscall.Stat_t)
	proc, err := procstat.Of(p.PID)
	return ok && err == nil && proc.Session == p.PID && proc.Terminal == procstat.TTYNumber(dev.Rdev)
}

// survivors returns the processes that the panes' programs started in their terminals and
// that still run. As long as there is one, its session keeps the number of the program.
func survivors(panes []paneProgram) (left []survivor) {
	for _, p := range procstat.All() {
		ended := p.Dying || p.State == 'Z' || p.State == 'X'
		if !ended && slices.ContainsFunc(panes, func(pane paneProgram) bool { return pane.PID == p.Session }) {
			left = append(left, survivor{p.PID, reply.Legible(p.Name, "")})
		}
	}
	return left
}
