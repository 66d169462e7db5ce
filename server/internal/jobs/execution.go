package jobs

import (
	"context"
	"errors"
	"time"

	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/typing"
	"tmuxmcp/tmux"
)

// execution is one command that runs in a pane.
type execution struct {
	*typing.Shell
	recording
	command Command
	resume  bool // a recorder is waiting in the pane
}

const (
	// lineWait is how long after the line was typed a shell that is waiting for input must
	// have begun.
	lineWait = time.Second
	// sizeWait is how long a terminal may take to get the size of its pane: tmux waits a
	// quarter of a second, in case another size follows.
	sizeWait = time.Second
)

// run waits for an empty prompt, types the line, waits for the end of the command, and
// answers.
func (x *execution) run(ctx context.Context) (*Result, error) {
	if err := x.AwaitPrompt(ctx); err != nil {
		return nil, err
	}
	if err := x.awaitSize(ctx); err != nil {
		return nil, err
	}
	if err := x.FreshLine(ctx); err != nil {
		return nil, err
	}
	if err := x.prepare(ctx); err != nil {
		return nil, err
	}
	defer x.cmd.Close()
	if err := x.begin(ctx); err != nil {
		if x.cmd.Revoke() {
			x.cmd.Remove()
		}
		return nil, err
	}
	err := x.wait(ctx)
	if x.result.PaneGone && x.cmd.Recorded() {
		x.finish()
	}
	if x.result.ExitStatus == nil && x.cmd.Revoke() {
		x.unpipe(ctx)
		x.cmd.Remove()
		return nil, x.notBegun(ctx, err)
	}
	return x.settle(ctx, err)
}

// begin types the line, once, and starts recording in the same round trip.
func (x *execution) begin(ctx context.Context) error {
	x.typed = time.Now()
	_, err := x.Type(ctx, target.AtPane(x.Pane.ID), screen.Echo{Lines: x.cmd.Shows(x.command.Text), Command: true}, func(to tmux.Target) ([]tmux.Command, error) {
		cmds, err := x.Pasting(ctx, to, x.cmd.Line(x.Foreground))
		if x.cmd.Recorded() && !x.cmd.Resumed() {
			pipe := tmux.PipePane{Target: to, Input: true, Output: true, Command: x.cmd.Feed()}
			cmds = append([]tmux.Command{pipe}, cmds...)
		}
		return cmds, err
	})
	var refused *reply.Fault
	if err != nil && !errors.As(err, &refused) {
		x.unpipe(ctx) // recording may have begun
	}
	return err
}

// awaitSize waits until the terminal has the size that its pane has just got. Otherwise the
// command would see the old size, and the new one would look like a resize while it runs.
func (x *execution) awaitSize(ctx context.Context) error {
	has := func() bool { return !x.place().Resized(x.Pane.TTY) }
	if has() {
		return nil
	}
	_, err := x.AwaitLook(ctx, sizeWait, has)
	return err
}
