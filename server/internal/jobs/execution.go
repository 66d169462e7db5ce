package jobs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"tmuxmcp/internal/pause"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/runner"
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

// place returns where the command runs.
func (x *execution) place() runner.Place {
	at := placeOf(x.Tmux, x.Pane)
	at.Pane, at.Pid, at.Shell = string(x.Pane.ID), x.Pane.PID, x.Foreground.PID
	p := x.Pane
	at.Columns, at.Rows = p.Width, p.Height
	at.Odd = p.Upper != 0 || p.Lower != p.Height-1 || p.Insert || p.Origin || !p.Wrap || p.Alternate
	return at
}

// placeOf returns where commands in a pane run.
func placeOf(srv *tmux.Server, p typing.Pane) runner.Place {
	return runner.Place{Socket: srv.SocketPath(), Server: p.Server, Started: p.Started.Unix()}
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

// awaitSize waits until the terminal has the size that its pane has just got. Otherwise the
// command would see the old size, and the new one would look like a resize while it runs.
func (x *execution) awaitSize(ctx context.Context) error {
	for end := time.Now().Add(sizeWait); x.place().Resized(x.Pane.TTY) && time.Now().Before(end); {
		if err := pause.For(ctx, 10*time.Millisecond); err != nil {
			return err
		}
		if err := x.LookAgain(ctx); err != nil {
			return err
		}
	}
	return nil
}

// prepare writes the files and starts recording.
func (x *execution) prepare(ctx context.Context) error {
	visible, err := x.pipeTaken(ctx)
	if err != nil {
		return err
	}
	x.jobs.Sweep()
	err = x.writeFiles(visible)
	if runner.NoSpace(err) {
		runner.Evict()
		err = x.writeFiles(visible)
	}
	switch {
	case runner.NoSpace(err):
		return reply.Faultf(reply.KindRefused, "the command has not run: no space left in %s", x.jobs.files.Home()).
			Suggest("free some space there, or set TMPDIR to a directory that has some and start this server again")
	case errors.Is(err, runner.ErrNoHome):
		return reply.Faultf(reply.KindRefused, "%v", err).
			Suggest("remove or rename what is in the way, or set TMPDIR to a directory of your own with mode 0700 and start this server again")
	}
	return err
}

// writeFiles makes the files of the command.
func (x *execution) writeFiles(visible bool) error {
	cmd, err := x.jobs.files.Command(x.place(), visible, x.resume)
	if err != nil {
		return err
	}
	x.cmd = cmd
	if err = cmd.Write(x.Foreground, strings.ReplaceAll(x.command.Text, "\r\n", "\n"), x.command.Record); err != nil {
		err = fmt.Errorf("write the command: %w", err)
	} else if reach := x.Foreground.Reaches(cmd); reach != nil {
		err = reply.Faultf(reply.KindRefused, "%s in pane %s %v, so it cannot read the command", x.Program(), x.Pane.ID, reach).
			Suggest("send_keys types into it, wait_for_text waits")
	} else if !visible {
		err = cmd.Record(x.out)
	}
	if err != nil {
		cmd.Remove()
	}
	return err
}

// pipeTaken reports whether another program uses the pane's pipe. After one of our
// recorders ends, tmux closes the pipe only when it gets to it.
func (x *execution) pipeTaken(ctx context.Context) (bool, error) {
	for begun := time.Now(); x.Pane.Piped; {
		if x.resume = x.jobs.files.Resumes(x.place()); x.resume || runner.PipeIsOurs(x.place()) {
			return false, nil
		}
		ended := false // whether a recorder ended recently
		if jobs := runner.PaneJobs(x.place()); len(jobs) > 0 && !jobs[0].Visible() {
			s := jobs[0].Look()
			ended = s.Phase == runner.Ended && time.Since(s.At) < 2*x.jobs.MarkWait
		}
		if !ended && !x.jobs.files.Closing(x.place()) || time.Since(begun) > 2*x.jobs.MarkWait {
			return true, nil
		}
		if err := pause.For(ctx, 20*time.Millisecond); err != nil {
			return true, err
		}
		if err := x.LookAgain(ctx); err != nil {
			return true, err
		}
	}
	return false, nil
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

// notBegun clears the line of a shell that did not begin the command, and returns the fault
// for it. err is what ended the wait.
func (x *execution) notBegun(ctx context.Context, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), typing.CleanupTime)
	defer cancel()
	waited := time.Since(x.Begun).Round(time.Millisecond)
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

// unpipe stops recording and closes the pane's pipe. The pipe is certainly ours only if the
// end of the command has just arrived through it. Otherwise the recorder is ended, and tmux
// closes the pipe when it notices, before it has answered twice.
func (x *execution) unpipe(ctx context.Context) {
	if !x.cmd.Recorded() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), typing.CleanupTime)
	defer cancel()
	if x.marked && x.Tmux.Pane(x.Pane.ID).ClosePipe(ctx) == nil {
		return
	}
	x.cmd.EndRecording(typing.CleanupTime)
	for range 2 {
		_, _ = x.Tmux.Do(ctx, tmux.DisplayMessage{Target: x.Pane.ID})
	}
}
