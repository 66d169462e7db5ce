//go:build !linux

package runner

import (
	"math"

	"golang.org/x/sys/unix"
)

// ForegroundOf knows only what tmux does: the name of the program. Whether a shell is at
// its prompt is unknown, and assumed.
func ForegroundOf(pid int, _, command string) (Foreground, error) {
	shell := shellOf(command, command)
	return Foreground{
		PID: pid, Name: command, path: command, shell: shell, Prompt: true, Waiting: true,
		editing: shell != nil && shell.edits, kill: ctrlU, Interrupt: ctrlC,
	}, nil
}

// openTerminal opens a terminal.
func openTerminal(_ int, tty string) (fd int, err error) {
	return unix.Open(tty, unix.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
}

// Reaches assumes that a shell can read this program's files.
func (Foreground) Reaches(*Command) error { return nil }

// unseenPrompt is not supported here.
func (Foreground) unseenPrompt() bool { return true }

// MostLine is unlimited here, because the limit is unknown.
const MostLine = math.MaxInt

// CutsLines is not supported here.
func CutsLines(int, string) bool { return false }
