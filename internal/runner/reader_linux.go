package runner

import (
	"golang.org/x/sys/unix"

	"tmuxmcp/internal/procstat"
)

// Reader is the program that reads from the terminal of a pane: the leader of its foreground
// process group. The zero Reader is unknown.
type Reader struct {
	Foreground
	group   int
	started int64 // of the leader; 0 if the group has none
}

// ReaderOf returns what reads from the terminal of a pane, given its process.
func ReaderOf(pid int, tty string) Reader {
	first, err := procstat.Of(pid)
	if err != nil || first.Foreground <= 0 {
		return Reader{}
	}
	r := Reader{group: first.Foreground}
	if r.Foreground, err = ForegroundOf(pid, tty, ""); err != nil || r.PID != r.group {
		return Reader{} // it is changing, or ends
	}
	if leader, err := procstat.Of(r.group); err == nil {
		r.started = leader.Started
	}
	return r
}

// Known reports whether anything is known of it.
func (r Reader) Known() bool { return r.group != 0 }

// Same reports whether now is the same program, and none that took its place by exec. The
// leader of a pipeline may have ended.
func (r Reader) Same(now Reader) bool {
	again := r.group == now.group && (r.started == now.started || r.started == 0 || now.started == 0)
	return again && (r.path == "" || now.path == "" || r.path == now.path && r.IsShell() == now.IsShell())
}

// Leads reports whether what reads now is the same program, or one that it has started. What
// takes the place of a shell has been started in it.
func (r Reader) Leads(now Reader) bool {
	if r.Same(now) || r.group == now.group && r.IsShell() {
		return true
	}
	if r.started == 0 || r.Ended() {
		return false
	}
	for _, p := range procstat.All() {
		if p.Group != now.group {
			continue
		}
		for depth := 0; p.PID > 1 && depth < mostBelow; depth++ {
			if p.Parent == r.group {
				return true
			}
			var err error
			if p, err = procstat.Of(p.Parent); err != nil {
				break
			}
		}
	}
	return false
}

// Ended reports whether the program has ended.
func (r Reader) Ended() bool {
	p, err := procstat.Of(r.group)
	return err != nil || p.Started != r.started || p.State == 'Z' || p.Dying
}

// AtOnce reports whether what reads from the terminal of a pane takes Enter for itself if it
// follows a text at once. Terminals that gather lines do, and line editors: shells', and
// readline's, which leave the keys that make signals to the terminal and take C-v for
// themselves. Others may take it for a part of a paste. known is not set if nothing is known.
func AtOnce(pid int, tty string) (takes, known bool) {
	t, _, err := procstat.Terminal(pid, tty)
	if err != nil {
		return false, false
	}
	if t.Lflag&unix.ICANON != 0 || t.Lflag&unix.ISIG != 0 && t.Cc[unix.VLNEXT] == 0 {
		return true, true
	}
	fg, err := ForegroundOf(pid, tty, "")
	return fg.IsShell(), err == nil
}

// ReadsSignals reports whether C-c and the like are known to be keys like others at the terminal
// of a pane, which its program reads.
func ReadsSignals(pid int, tty string) bool {
	t, _, err := procstat.Terminal(pid, tty)
	return err == nil && t.Lflag&unix.ISIG == 0
}
