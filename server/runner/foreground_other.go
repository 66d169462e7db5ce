//go:build !linux

package runner

// ForegroundOf knows only what tmux does: the name of the program. Whether a
// shell shows its prompt is not known, and taken for granted.
func ForegroundOf(pid int, _, command string) (Foreground, error) {
	shell := shellOf(command, command)
	return Foreground{
		PID: pid, Name: command, path: command, shell: shell, Prompt: true,
		editing: shell != nil && shell.edits, kill: ctrlU, Interrupt: ctrlC,
	}, nil
}

// Reaches takes for granted that a shell can read this program's files.
func (Foreground) Reaches(*Command) error { return nil }
