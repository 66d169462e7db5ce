package procstat

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// OpenTerminal opens a terminal, provided that a process is on it.
func OpenTerminal(pid int, tty string) (fd int, err error) {
	p, err := Of(pid)
	if err != nil {
		return -1, err
	}
	var st unix.Stat_t
	if err := unix.Stat(tty, &st); err != nil {
		return -1, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFCHR || TTYNumber(uint64(st.Rdev)) != p.Terminal {
		return -1, fmt.Errorf("%s is another terminal", tty)
	}
	return unix.Open(tty, unix.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
}

// Terminal returns the settings of a process's terminal, and how many bytes of its input are
// unread: -1 if that is unknown.
func Terminal(pid int, tty string) (t *unix.Termios, unread int, err error) {
	fd, err := OpenTerminal(pid, tty)
	if err != nil {
		return nil, -1, err
	}
	defer unix.Close(fd)
	t, err = unix.IoctlGetTermios(fd, unix.TCGETS)
	if n, unknown := unix.IoctlGetInt(fd, unix.TIOCINQ); unknown == nil {
		return t, n, err
	}
	return t, -1, err
}
