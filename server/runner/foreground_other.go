//go:build !linux

package runner

import (
	"math"

	"golang.org/x/sys/unix"
)

// ForegroundOf knows only what tmux does: the name of the program. Whether a
// shell shows its prompt is not known, and taken for granted.
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

// Reaches takes for granted that a shell can read this program's files.
func (Foreground) Reaches(*Command) error { return nil }

// unseenPrompt is not known here.
func (Foreground) unseenPrompt() bool { return true }

// MostLine is not known here: no line is so long.
const MostLine = math.MaxInt

// CutsLines is not known here.
func CutsLines(int, string) bool { return false }
