package jobs

import (
	"context"
	"errors"
	"time"

	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/server/internal/runner"
	"tmuxmcp/server/internal/typing"
	"tmuxmcp/tmux"
)

// Job is a command of run_command that nobody waits for: it was detached, reached its
// timeout or was cancelled, or its server was killed. Its output is recorded on disk by a
// process of tmux, so every server of the same user on the same tmux server finds it.
type Job struct {
	*runner.Job
	source rows.Source
	jobs   *Runner
	pane   typing.Pane // without an id if it is gone, or runs another program now
}

// Find finds a job on a tmux server.
func (r *Runner) Find(ctx context.Context, src rows.Source, id string) (*Job, error) {
	found, err := runner.Find(id)
	switch {
	case errors.Is(err, runner.ErrNoJob):
		return nil, reply.Faultf(reply.KindNotFound, "there is no job %.40q", id).
			Suggest("list_jobs lists the jobs; one is forgotten an hour after its end, or when its tmux server ends")
	case err != nil:
		return nil, reply.Faultf(reply.KindRefused, "the job cannot be read: %v", err)
	}
	j := &Job{Job: found, source: src, jobs: r}
	j.pane, err = j.look(ctx)
	return j, err
}

// PaneID returns the pane in which the job runs, or "" if it is gone or runs another program
// now.
func (j *Job) PaneID() tmux.PaneID { return j.pane.ID }

// Running reports whether the job has begun and not ended.
func (j *Job) Running() bool { return j.Look().Phase == runner.Running }

// look returns the pane in which the job runs.
func (j *Job) look(ctx context.Context) (typing.Pane, error) {
	srv := j.source.Tmux
	panes, err := tmux.List[typing.Pane](ctx, srv, tmux.DisplayMessage{Target: tmux.PaneID(j.Job.Pane)})
	gone := j.Socket == srv.SocketPath() && runner.Gone(j.Server)
	switch {
	case gone && (err == nil && !j.On(placeOf(srv, panes[0])) || errors.Is(err, tmux.ErrNoServer)):
		return typing.Pane{}, reply.Faultf(reply.KindNotFound, "the tmux server of job %s has ended, and the job with it", j.ID()).
			Suggest("list_jobs lists those of the server that runs there now")
	case err != nil:
		return typing.Pane{}, err
	}
	pane := panes[0]
	switch {
	case j.On(placeOf(srv, pane)):
	case j.Socket == srv.SocketPath():
		return pane, reply.Faultf(reply.KindRefused, "job %s runs on another tmux server, process %d, whose socket this one has taken", j.ID(), j.Server).
			Suggest("the user can end that server, or look at the job's pane %s in a terminal that is attached to it", j.Pane)
	default:
		return pane, reply.Faultf(reply.KindRefused, "job %s runs on the tmux server at %s, and this is another one", j.ID(), j.Socket).
			Suggest("give the socket_name of that server; if that has ended, so has the job")
	}
	if pane.ID == "" || pane.Dead || pane.PID != j.Pid {
		pane = typing.Pane{}
	}
	return pane, nil
}

// Await waits for a job to end, and returns its output.
func (j *Job) Await(ctx context.Context, output Output, limit time.Duration) (*Result, error) {
	out, err := output.sink(ctx)
	if err != nil {
		return nil, err
	}
	before := j.Look()
	if before.Phase == runner.Waiting {
		return nil, reply.Faultf(reply.KindNotBegun, "job %s has not begun: its shell has not read it", j.ID()).
			Suggest("snapshot_pane shows pane %s", j.Pane)
	}
	pane, shell := typing.Pane{PID: j.Pid, TTY: j.pane.TTY}, runner.Foreground{PID: j.Shell}
	pane.ID = tmux.PaneID(j.Pane)
	r := &recording{
		Source: j.source, jobs: j.jobs, pane: &pane, shell: &shell, cmd: j.Job.Await(out), out: out, output: output,
		start: time.Now(), limit: limit, typed: j.At, found: true,
	}
	defer r.cmd.Close()
	switch {
	case before.Phase >= runner.Ended:
		r.limit = 2 * j.jobs.MarkWait // the recording may still arrive
	case j.pane.ID == "":
		r.limit = 0 // nothing more will arrive
	}
	if err := r.wait(ctx); err != nil {
		return nil, err
	}
	ended := r.result.ExitStatus != nil
	r.start = j.At
	res, _ := r.answer(ctx)
	switch after := j.Look(); {
	case after.Phase >= runner.Ended:
		if res.ElapsedSeconds = reply.Seconds(after.At.Sub(j.At)); after.Phase == runner.Ended && res.ExitStatus == nil {
			// Its end was not recorded.
			res.ExitStatus, res.State, res.LinesMissed = &after.Status, Ended, true
		} else if after.Phase == runner.Lost && res.ExitStatus == nil {
			res.State = Lost
		}
	case j.pane.ID == "":
		res.State, res.PaneGone = Lost, true
	}
	if ended || res.State == Lost { // nothing more will arrive
		r.cmd.Stop()
	}
	res.TimedOut = res.State == Running && limit > 0
	res.EffectiveTimeout = limit.Seconds()
	return res, nil
}
