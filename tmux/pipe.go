package tmux

import (
	"context"
	"fmt"
	"path/filepath"
)

// PipePane connects a pane to a shell command, which reads the pane's output. A pane has
// one pipe; an existing one is closed. Without a Command, nothing else happens.
type PipePane struct {
	Target Target `flag:"t"`
	// Input types the command's output into the pane.
	Input bool `flag:"I"`
	// Output gives the command the pane's output: the default without Input.
	Output bool `flag:"O"`
	// Toggle opens no new pipe if it closed one.
	Toggle bool `flag:"o"`
	// Command is a command for /bin/sh, passed unchanged: the formats and strftime
	// sequences that tmux would expand are escaped.
	Command string `arg:"time"`
}

func (PipePane) commandName() string { return "pipe-pane" }

// Pipe sends the pane's output from now on to a command for /bin/sh, until the command or
// the pane exits or [PaneRef.ClosePipe] is called. It replaces the pane's earlier pipe. It
// does not report whether the command works; the token pane_pipe shows whether a pipe is
// open.
func (r PaneRef) Pipe(ctx context.Context, command string) error {
	if command == "" {
		return argumentError("pipe %s: empty command", r.ID)
	}
	return r.srv.run(ctx, PipePane{Target: r, Command: shellCommand(command)})
}

// PipeToFile appends the pane's output from now on to a file, creating it if necessary. The
// path must be absolute, because the tmux server has another working directory; it may
// contain any characters. Its directory is checked as by [SessionRef.NewWindow].
func (r PaneRef) PipeToFile(ctx context.Context, path string) error {
	if !filepath.IsAbs(path) {
		return argumentError("pipe %s to %q: not an absolute path", r.ID, path)
	}
	dir := filepath.Dir(path)
	if err := r.srv.checkDir(ctx, &dir); err != nil {
		return fmt.Errorf("pipe %s to %q: %w", r.ID, path, err)
	}
	return r.Pipe(ctx, "exec cat >>"+ShellQuote(path))
}

// ClosePipe closes the pane's pipe. It is a no-op if there is none.
func (r PaneRef) ClosePipe(ctx context.Context) error {
	return r.srv.run(ctx, PipePane{Target: r})
}
