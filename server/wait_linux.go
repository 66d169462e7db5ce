package server

import (
	"context"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"tmuxmcp/internal/procstat"
)

// ttyWrites sends true to wakes when a program has written to the pane's terminal,
// and false when it can no longer watch. It reports whether it can watch at all,
// which takes seeing the pane's processes from here.
func ttyWrites(ctx context.Context, g paneState, wakes chan<- bool) bool {
	// The terminal's name means what it does to the pane's own program, which may
	// be in a container.
	path := "/proc/" + g.PID + "/root" + g.TTY
	pid, err := strconv.Atoi(g.PID)
	if err != nil || g.TTY == "" || !hasTerminal(pid, path) {
		return false
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return false
	}
	// The end of a program shows too, by the terminal that it closes.
	if _, err := unix.InotifyAddWatch(fd, path, unix.IN_MODIFY|unix.IN_CLOSE_WRITE); err != nil {
		unix.Close(fd)
		return false
	}
	events := os.NewFile(uintptr(fd), "inotify")
	context.AfterFunc(ctx, func() { events.Close() })
	go func() {
		buf := make([]byte, 16*unix.SizeofInotifyEvent)
		for {
			n, err := events.Read(buf)
			if n <= 0 || err != nil {
				break
			}
			select {
			case wakes <- true:
			default: // it has one to take
			}
		}
		select {
		case wakes <- false:
		case <-ctx.Done():
		}
	}()
	return true
}

// hasTerminal reports whether a file is the terminal that a process is on.
func hasTerminal(pid int, path string) bool {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return false
	}
	p, err := procstat.Of(pid)
	return err == nil && p.Terminal == procstat.TTYNumber(uint64(st.Rdev))
}
