package tmux

import (
	"context"
	"path/filepath"
)

// PipePane connects a pane to a shell command: what the pane's program writes
// goes to the command's standard input. It ends the pipe that the pane had; one
// pane has one pipe. Without a Command it does only that.
type PipePane struct {
	Target Target `flag:"t"`
	// Input types what the command writes into the pane.
	Input bool `flag:"I"`
	// Output gives the command what the pane writes: the default without Input.
	Output bool `flag:"O"`
	// Toggle does not open a new pipe when it ended one.
	Toggle bool `flag:"o"`
	// Command is a command for /bin/sh. tmux would expand formats in it and pass
	// it to strftime; it arrives as it stands.
	Command string `arg:"time"`
}

func (PipePane) CommandName() string { return "pipe-pane" }

// Pipe feeds what the pane writes from now on to a command for /bin/sh, until
// the command or the pane ends or [PaneRef.ClosePipe]. The pane's earlier pipe
// ends. Whether the command works is not told; the token pane_pipe tells whether
// a pipe is open.
func (r PaneRef) Pipe(ctx context.Context, command string) error {
	if command == "" {
		return argumentError("an empty command to pipe %s to", r.ID)
	}
	return r.do(ctx, PipePane{Target: r, Command: shellCommand(command)})
}

// PipeToFile appends what the pane writes from now on to a file, which is made
// when it does not exist. The path is absolute, as the tmux server's working
// directory is not the caller's; any characters may be in it.
func (r PaneRef) PipeToFile(ctx context.Context, path string) error {
	if !filepath.IsAbs(path) {
		return argumentError("pipe %s to %q: not an absolute path", r.ID, path)
	}
	return r.Pipe(ctx, "exec cat >>"+ShellQuote(path))
}

// ClosePipe ends the pane's pipe. Without one it does nothing.
func (r PaneRef) ClosePipe(ctx context.Context) error {
	return r.do(ctx, PipePane{Target: r})
}
