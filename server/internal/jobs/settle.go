package jobs

import (
	"context"
	"fmt"
	"time"

	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/runner"
	"tmuxmcp/server/internal/typing"
)

// settle answers after a wait that ended with err, and decides what becomes of the recorder,
// which may rest for the next command, and of the files.
func (x *execution) settle(ctx context.Context, err error) (*Result, error) {
	rests := x.marked && !x.detach
	switch {
	case rests:
	case x.known():
		x.unpipe(ctx)
	case err != nil && ctx.Err() == nil:
		x.unpipe(ctx)
		x.cmd.Remove()
	default: // it continues as a job
		x.cmd.Leave()
	}
	if err != nil {
		return nil, err
	}
	if x.result.ExitStatus != nil && runner.Gone(x.Foreground.PID) {
		x.shellEnded()
	}
	res, whole := x.answer(ctx)
	forget := !x.detach && (x.result.ExitStatus != nil && whole || x.result.PaneGone)
	if forget {
		res.JobID = nil
	}
	switch {
	case forget && rests && !x.result.PaneGone:
		x.jobs.files.Rest(x.cmd)
		return res, nil
	case rests:
		x.unpipe(ctx)
	}
	if forget {
		x.cmd.Remove()
	}
	return res, nil
}

// notBegun clears the line of a shell that did not begin the command, and returns the fault
// for it. err is what ended the wait.
func (x *execution) notBegun(ctx context.Context, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), typing.CleanupTime)
	defer cancel()
	waited := time.Since(x.start).Round(time.Millisecond)
	f := reply.Faultf(reply.KindNotBegun, "the command has not run: %s in pane %s did not begin it within %v, and will not", x.Program(), x.Pane.ID, waited)
	if dir, full := x.cmd.NoSpace(); full {
		f = reply.Faultf(reply.KindNotBegun, "the command has not run: no space left in %s", dir)
	}
	switch {
	case x.Foreground.Held():
		f = f.Suggest("the terminal holds back the shell's output, as after C-s: send_keys with C-q lets it go on")
	case !x.Pane.Idle(x.Foreground.PID): // what it does may not be known
		f = f.Suggest("if C-s has stopped the output, send_keys with C-q lets it go on")
	}
	if x.result.PaneGone {
		return reply.Faultf(reply.KindPaneGone, "the command has not run: pane %s ended before it began", x.Pane.ID)
	}
	if x.LookAgain(ctx) == nil {
		f = f.Showing("the pane shows", x.Pane.LastSeen())
		if x.Pane.Idle(x.Foreground.PID) {
			_ = x.FreshLine(ctx)
		}
	}
	if err != nil {
		return err
	}
	return f
}

// shellEnded records that the shell ended with its command.
func (x *execution) shellEnded() {
	if x.Foreground.PID == x.Pane.PID {
		x.result.PaneGone = true
		return
	}
	note := fmt.Sprintf("the shell it ran in has ended: %s", x.Program())
	x.result.Note = &note
}

// known reports whether the outcome of the command is known.
func (x *execution) known() bool {
	return x.result.ExitStatus != nil || x.result.PaneGone || x.result.State == Lost
}
