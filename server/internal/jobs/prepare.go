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
	"tmuxmcp/server/internal/typing"
	"tmuxmcp/tmux"
)

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
