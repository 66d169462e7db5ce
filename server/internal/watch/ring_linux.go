package watch

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"tmuxmcp/internal/procstat"
)

// ring rings the bell of a client's terminal, and reports whether it did. tmux has no
// command for that: it passes on a bell that the program in a pane rings, and nothing should
// be written into other people's panes. So the bell goes to the terminal itself, as tmux's
// own output does, but only if that is proven to be a terminal of this user and the one that
// controls the client's process. A terminal that is behind is left alone: tmux may have written a
// part of a sequence.
func ring(tty string, pid int) bool {
	info, err := os.Lstat(tty)
	if err != nil || !strings.HasPrefix(tty, "/dev/") || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	fd, err := unix.Open(tty, unix.O_WRONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFCHR || int(st.Uid) != os.Geteuid() {
		return false
	}
	p, err := procstat.Of(pid)
	if err != nil || p.Terminal == 0 || p.Terminal != procstat.TTYNumber(st.Rdev) {
		return false
	}
	n, err := unix.Write(fd, []byte("\a"))
	return err == nil && n == 1
}
