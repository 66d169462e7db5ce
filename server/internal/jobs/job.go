package jobs

import (
	"context"
	"errors"
	"time"

	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/typing"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/shell"
)

// Job is a command of run_command that nobody waits for: it was detached, reached its
// timeout or was cancelled, or its server was killed or lost its client. Every server of the
// same user on the same tmux server finds it.
type Job struct {
	*shell.Job
	source  rows.Source
	screens *screen.Reader
}

// Find finds a job on a tmux server.
func (r *Runner) Find(ctx context.Context, src rows.Source, id string) (*Job, error) {
	found, err := r.Shells.Find(ctx, src.Tmux, id)
	if err != nil {
		return nil, typing.FaultOf(err)
	}
	return &Job{found, src, r.Screens}, nil
}

// PaneID returns the pane in which the job runs, or "" if it is gone or runs another program
// now.
func (j *Job) PaneID() tmux.PaneID {
	if !j.InPane() {
		return ""
	}
	return j.Pane().ID
}

// Running reports whether the job has begun and not ended.
func (j *Job) Running() bool {
	state, _ := j.State()
	return state == shell.Running || state == shell.Stopped
}

// Await waits for a job to end or to print a line that output awaits, and returns its output.
func (j *Job) Await(ctx context.Context, output Output, limit time.Duration) (*Result, error) {
	out := output.sink(ctx)
	o := shell.Options{Lines: out.Line, Until: out.until(), Limit: limit}
	var res *shell.Result
	var err error
	if limit > 0 {
		res, err = j.Wait(ctx, o)
	} else {
		res, err = j.Result(ctx, o)
	}
	var failed *shell.Error
	switch {
	case errors.As(err, &failed) && failed.Kind == shell.ErrNotBegun:
		return nil, reply.Faultf(reply.KindNotBegun, "%s", failed.Text).Suggest("snapshot_pane shows pane %s", failed.Pane)
	case res == nil:
		return nil, typing.FaultOf(err)
	case ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		return nil, err
	}
	if ended := res.State == shell.Ended || res.State == shell.Lost; ended || res.Reached {
		line := ""
		if res.Reached {
			line = out.await.line
		}
		j.screens.JobReturned(j.source.Tmux, res.Pane, j.ID(), ended, out.lines, out.tail, line)
	}
	a := answer{Source: j.source, out: out, output: output, limit: limit, job: true}
	return a.of(ctx, res), nil
}
