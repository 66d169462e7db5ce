package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"tmuxmcp/internal/runner"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/prompt"
)

// Job is a command that goes on by itself: it was started, or nobody waits for it any more.
// Its output is recorded by a process of tmux. A Job is safe for concurrent use.
type Job struct {
	job    *runner.Job
	srv    *tmux.Server
	settle time.Duration
	pane   prompt.Pane // without an id if it is gone, or runs another program now
}

// Find finds a job of this user on a tmux server by its name. It fails with [ErrNoJob],
// [ErrServerEnded], [ErrServerReplaced] or [ErrOtherServer].
func Find(ctx context.Context, srv *tmux.Server, id string) (*Job, error) {
	return common.Find(ctx, srv, id)
}

// Jobs returns the jobs of this user on a tmux server, newest first, and none if it has no
// sessions. It fails with [tmux.ErrNoServer] if it is not running. A job is forgotten an hour
// after its end.
func Jobs(ctx context.Context, srv *tmux.Server) ([]*Job, error) {
	return common.Jobs(ctx, srv)
}

// Find does what the function [Find] does.
func (r *Runner) Find(ctx context.Context, srv *tmux.Server, id string) (*Job, error) {
	found, err := runner.Find(id)
	switch {
	case errors.Is(err, runner.ErrNoJob), err == nil && !found.Keep():
		return nil, &Error{Kind: ErrNoJob, Text: fmt.Sprintf("there is no job %.40q", id)}
	case err != nil:
		return nil, fmt.Errorf("the job cannot be read: %w", err)
	}
	j := &Job{job: found, srv: srv, settle: r.settleTime()}
	j.pane, err = j.look(ctx)
	if err != nil {
		return nil, err
	}
	return j, nil
}

// Jobs does what the function [Jobs] does.
func (r *Runner) Jobs(ctx context.Context, srv *tmux.Server) ([]*Job, error) {
	r.Sweep()
	panes, err := prompt.Programs(ctx, srv, tmux.ListPanes{All: true})
	if errors.Is(err, tmux.ErrNoSession) {
		err = nil
	}
	if err != nil || len(panes) == 0 {
		return nil, err
	}
	programs := map[string]prompt.Pane{}
	for _, p := range panes {
		if !p.Dead {
			programs[string(p.ID)] = p
		}
	}
	var all []*Job
	for _, found := range runner.Jobs(place(srv, panes[0])) {
		if !found.Keep() {
			continue
		}
		j := &Job{job: found, srv: srv, settle: r.settleTime()}
		if p := programs[found.Pane]; p.PID == found.Pid {
			j.pane = p
		}
		all = append(all, j)
	}
	return all, nil
}

// ID returns the job's name: see [Find].
func (j *Job) ID() string { return j.job.ID() }

// Pane returns the pane that the job was started in.
func (j *Job) Pane() tmux.PaneRef { return j.srv.Pane(tmux.PaneID(j.job.Pane)) }

// InPane reports whether the pane still ran the job's shell when the job was found.
func (j *Job) InPane() bool { return j.pane.ID != "" }

// Command returns the first 1,000 bytes of the command.
func (j *Job) Command() string { return j.job.Text() }

// Started returns when the command was typed.
func (j *Job) Started() time.Time { return j.job.At }

// State returns what the job is doing, and the exit status of one that has ended. It does not
// ask tmux.
func (j *Job) State() (state State, status int) {
	s := j.job.Look()
	switch {
	case s.Phase == runner.Ended:
		return Ended, s.Status
	case s.Phase == runner.Lost || j.pane.ID == "":
		return Lost, 0
	case j.job.Stopped():
		return Stopped, 0
	}
	return Running, 0
}

// Signal sends a signal to the programs of a running job: to those in the foreground if that
// is the job's, as Ctrl-C does, otherwise to its own process group. Nothing else gets it. If
// the job has ended, the error is [os.ErrProcessDone]. What is no signal, or stops a program,
// is refused with [tmux.ErrArgument]: C-z in the pane stops a job. So is any signal for a [Remote]
// job, whose programs are not here: C-c, typed in its pane, interrupts it. It works on Linux.
func (j *Job) Signal(sig syscall.Signal) error {
	switch {
	case sig < 1 || sig > 64:
		return &Error{Kind: tmux.ErrArgument, Text: fmt.Sprintf("%d is no signal", int(sig))}
	case sig == syscall.SIGSTOP, sig == syscall.SIGTSTP, sig == syscall.SIGTTIN, sig == syscall.SIGTTOU:
		return &Error{Kind: tmux.ErrArgument, Text: fmt.Sprintf("the signal %q would stop only some of the job's programs: press C-z in its pane", sig)}
	}
	if j.job.Remote != "" {
		return &Error{Kind: tmux.ErrArgument, Pane: tmux.PaneID(j.job.Pane), Text: "the programs of a remote job are not seen here: C-c, typed in its pane, interrupts them"}
	}
	if state, _ := j.State(); state == Ended { // what has run it may take a moment to go
		return os.ErrProcessDone
	}
	return j.job.Signal(sig)
}

// OnScreen reports whether the output is not recorded, because another program has the
// pane's pipe: it is read off the screen and the history.
func (j *Job) OnScreen() bool { return j.job.Visible() }

// Scan passes on the lines that the job has printed so far. It reports whether none are
// missing: the context has not ended, none were dropped, and the output is not [Job.OnScreen].
func (j *Job) Scan(ctx context.Context, line func(string)) (whole bool) {
	return !j.OnScreen() && j.job.Scan(&output{lines: line}, func() bool { return ctx.Err() == nil })
}

// Wait waits for the end of the job, or until the context ends, whose cause is then the error.
// It returns what the job has printed, from the beginning. Errors are those of [Run]. Of the
// options it heeds Stdout, Lines, Until and Limit; Until gets the output from the beginning, too.
func (j *Job) Wait(ctx context.Context, o Options) (*Result, error) {
	var until time.Time
	if o.Limit > 0 {
		until = time.Now().Add(o.Limit)
	}
	out := &output{lines: o.Lines, raw: o.Stdout, until: o.Until}
	res, err := j.await(ctx, out, until)
	if err != nil {
		return res, err
	}
	return res, cmp.Or(res.err(j.Command()), out.err)
}

// Result returns what is known of the job now, and its output so far. Of the options it heeds
// Stdout, Lines and Until, which waits for nothing here: Reached of the [Result] says whether a
// line was such as it wants.
func (j *Job) Result(ctx context.Context, o Options) (*Result, error) {
	out := &output{lines: o.Lines, raw: o.Stdout, until: o.Until}
	res, err := j.await(ctx, out, time.Now())
	return res, cmp.Or(err, out.err)
}

// Output returns what the job prints, from the beginning and as it comes, as Stdout of
// [Options] gets it. Reading ends with io.EOF when the job has ended or was stopped, with
// [ErrDropped] if it then lacks something, and otherwise with the error of [Job.Wait]. A
// caller that does not read to the end must close it, or end the context.
func (j *Job) Output(ctx context.Context) io.ReadCloser {
	ctx, cancel := context.WithCancel(ctx)
	r, w := io.Pipe()
	// A line that nobody reads must not outlast the context.
	context.AfterFunc(ctx, func() { _ = w.CloseWithError(context.Cause(ctx)) })
	go func() {
		defer cancel()
		res, err := j.await(ctx, &output{raw: w, lines: func(string) {}}, time.Time{})
		if err == nil && res.State != Ended && res.State != Stopped {
			err = res.err(j.Command())
		} else if err == nil && res.lacks {
			err = ErrDropped
		}
		_ = w.CloseWithError(err)
	}()
	return &outputReader{r, cancel}
}

type outputReader struct {
	*io.PipeReader
	cancel context.CancelFunc
}

func (r *outputReader) Close() error {
	r.cancel()
	return r.PipeReader.Close()
}

// look returns the pane in which the job runs.
func (j *Job) look(ctx context.Context) (prompt.Pane, error) {
	panes, err := tmux.List[prompt.Pane](ctx, j.srv, tmux.DisplayMessage{Target: tmux.PaneID(j.job.Pane)})
	same := j.job.Socket == j.srv.SocketPath()
	about := func(kind error, format string, args ...any) error {
		return &Error{Kind: kind, Pane: tmux.PaneID(j.job.Pane), Text: fmt.Sprintf("job %s ", j.ID()) + fmt.Sprintf(format, args...)}
	}
	switch gone := same && runner.Gone(j.job.Server); {
	case gone && (err == nil && !j.job.On(place(j.srv, panes[0])) || errors.Is(err, tmux.ErrNoServer)):
		return prompt.Pane{}, &Error{Kind: ErrServerEnded, Text: fmt.Sprintf("the tmux server of job %s has ended, and the job with it", j.ID())}
	case err != nil:
		return prompt.Pane{}, err
	}
	pane := panes[0]
	switch {
	case j.job.On(place(j.srv, pane)):
	case same:
		return pane, about(ErrServerReplaced, "runs on another tmux server, process %d, whose socket this one has taken", j.job.Server)
	default:
		return pane, about(ErrOtherServer, "runs on the tmux server at %s, and this is another one", j.job.Socket)
	}
	if pane.ID == "" || pane.Dead || pane.PID != j.job.Pid {
		pane = prompt.Pane{}
	}
	return pane, nil
}

// await waits for the job to end, and returns its output.
func (j *Job) await(ctx context.Context, out *output, until time.Time) (*Result, error) {
	before := j.job.Look()
	if before.Phase == runner.Waiting {
		return nil, &Error{Kind: ErrNotBegun, Pane: tmux.PaneID(j.job.Pane), Text: fmt.Sprintf("job %s has not begun: its shell has not read it", j.ID())}
	}
	pane, shell := prompt.Pane{PID: j.job.Pid, TTY: j.pane.TTY}, runner.Foreground{PID: j.job.Shell}
	pane.ID = tmux.PaneID(j.job.Pane)
	w := &waiter{
		srv: j.srv, settle: j.settle, pane: &pane, shell: &shell, cmd: j.job.Await(out), out: out,
		start: j.job.At, until: until, typed: j.job.At, found: true,
	}
	defer w.cmd.Close()
	switch {
	case before.Phase >= runner.Ended:
		w.until = time.Now().Add(2 * j.settle) // the recording may still arrive
	case j.pane.ID == "":
		w.until = time.Now() // nothing more will arrive
	}
	err := w.wait(ctx)
	recorded := w.status != nil
	res := w.answer(ctx)
	res.Shell = ""
	switch after := j.job.Look(); {
	case after.Phase >= runner.Ended:
		if res.Elapsed = after.At.Sub(j.job.At); after.Phase == runner.Ended && !recorded {
			// Its end was not recorded.
			res.State, res.Status, res.Missed = Ended, after.Status, true
		} else if after.Phase == runner.Lost && !recorded {
			res.State = Lost
		}
	case j.pane.ID == "" && !recorded:
		res.State, res.PaneEnded = Lost, true
	}
	if recorded || res.State == Lost { // nothing more will arrive
		w.cmd.Stop()
	}
	return res, err
}
