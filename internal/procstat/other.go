//go:build !linux

package procstat

import (
	"errors"

	"golang.org/x/sys/unix"
)

// OpenTerminal opens a terminal.
func OpenTerminal(_ int, tty string) (fd int, err error) {
	return unix.Open(tty, unix.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
}

// Terminal is not supported here.
func Terminal(int, string) (t *unix.Termios, unread int, err error) {
	return nil, -1, errors.ErrUnsupported
}

// SharesFiles reports whether a process is known to see the same files as this one.
func SharesFiles(int) bool { return false }
