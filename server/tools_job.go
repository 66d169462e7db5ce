package server

import (
	"context"
	"errors"
	"fmt"
	"math"
	"syscall"
	"time"

	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/typing"
	"tmuxmcp/server/runner"
	"tmuxmcp/tmux"
)

// A job is a command of run_command that nobody waits for: it was detached, reached its
// timeout or was cancelled, or its server was killed. Its output is recorded on disk by a
// process of tmux, so every server of the same user on the same tmux server finds it.

var getJob = newTool(tool{
	name: "get_job", title: "Get Job", kind: reads, set: setInput, core: true, selfBounded: true,
	aim:  target.Nowhere,
	hint: "output and exit status of a background command",
	desc: "Get the state, exit status and output so far of jobs of run_command, until an hour after their end. With timeout, waits for it.",
}, func(ctx context.Context, c *call, in getJobIn) (*gotJobs, error) {
	limit := time.Duration(0)
	if in.Timeout > 0 {
		var err error
		if limit, err = c.s.screens.Budget(in.Timeout); err != nil {
			return nil, err
		}
	}
	if in.MaxLines == nil && len(in.JobID) > 1 {
		lines := screen.ShownLines
		in.MaxLines = &lines
	}
	c.s.sweepJobs()
	out, end := &gotJobs{Others: otherJobs{}}, time.Now().Add(limit)
	for i, id := range in.JobID {
		sink, err := in.sink(ctx)
		if err != nil {
			return nil, err
		}
		j, pane, err := c.job(ctx, id)
		if err != nil {
			return nil, err
		}
		res, err := c.await(ctx, j, pane, in.outputSelect, sink, max(time.Until(end), 0))
		if err != nil {
			return nil, err
		}
		res.TimedOut, res.EffectiveTimeout = res.State == jobRunning && limit > 0, limit.Seconds()
		if i == 0 {
			out.runResult = *res
		} else {
			out.Others = append(out.Others, *res)
		}
	}
	return out, nil
})

// gotJobs is the outcome of one job or, one after the other, of several.
type gotJobs struct {
	runResult
	Others otherJobs `json:"others"`
}

// otherJobs are the jobs after the first.
type otherJobs []runResult

func (otherJobs) JSONSchema() string { return `"type":"array","items":{"type":"object"}` }

// maxJobs is how many jobs one call may ask for.
const maxJobs = 50

type getJobIn struct {
	JobID   target.TextList `json:"job_id" desc:"one, or a list"`
	Timeout float64         `json:"timeout,omitempty" desc:"seconds"`
	outputSelect
	target.OnSocket
}

func (in getJobIn) Waits() bool { return in.Timeout > 0 }

func (in getJobIn) check(limits) error {
	if in.Timeout < 0 || math.IsNaN(in.Timeout) {
		return reply.Argument("timeout", "must be 0 or more")
	}
	if len(in.JobID) == 0 || len(in.JobID) > maxJobs {
		return reply.Argument("job_id", "must have 1 to %d items", maxJobs)
	}
	return in.outputSelect.check()
}

// job finds a job on the tmux server of the call, and its pane, which is empty if it is
// gone or now runs another program.
func (c *call) job(ctx context.Context, id string) (*runner.Job, typing.Pane, error) {
	j, err := runner.Find(id)
	switch {
	case errors.Is(err, runner.ErrNoJob):
		return nil, typing.Pane{}, reply.Faultf(reply.KindNotFound, "there is no job %.40q", id).
			Suggest("list_jobs lists the jobs; one is forgotten an hour after its end, or when its tmux server ends")
	case err != nil:
		return nil, typing.Pane{}, reply.Faultf(reply.KindRefused, "the job cannot be read: %v", err)
	}
	pane, err := c.jobPane(ctx, j)
	return j, pane, err
}

func (c *call) jobPane(ctx context.Context, j *runner.Job) (typing.Pane, error) {
	rows, err := tmux.List[typing.Pane](ctx, c.Tmux, tmux.DisplayMessage{Target: tmux.PaneID(j.Pane)})
	gone := j.Socket == c.Tmux.SocketPath() && runner.Gone(j.Server)
	switch {
	case gone && (err == nil && !j.On(placeOf(c, rows[0])) || errors.Is(err, tmux.ErrNoServer)):
		return typing.Pane{}, reply.Faultf(reply.KindNotFound, "the tmux server of job %s has ended, and the job with it", j.ID()).
			Suggest("list_jobs lists those of the server that runs there now")
	case err != nil:
		return typing.Pane{}, err
	}
	pane := rows[0]
	switch {
	case j.On(placeOf(c, pane)):
	case j.Socket == c.Tmux.SocketPath():
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

// await waits for a job to end, and returns its output.
func (c *call) await(ctx context.Context, j *runner.Job, pane typing.Pane, in outputSelect, out *outputSink, limit time.Duration) (*runResult, error) {
	before := j.Look()
	if before.Phase == runner.Waiting {
		return nil, reply.Faultf(reply.KindNotBegun, "job %s has not begun: its shell has not read it", j.ID()).
			Suggest("snapshot_pane shows pane %s", j.Pane)
	}
	r := &execution{call: c, in: runCommandIn{outputSelect: in}, out: out, typed: j.At, found: true, cmd: j.Await(out), Shell: &typing.Shell{Typist: c.typist, Begun: time.Now(), Limit: limit}}
	defer r.cmd.Close()
	r.Pane.ID, r.Pane.PID, r.Pane.TTY, r.Foreground.PID = tmux.PaneID(j.Pane), j.Pid, pane.TTY, j.Shell
	switch {
	case before.Phase >= runner.Ended:
		r.Limit = 2 * r.s.markWait // the recording may still arrive
	case pane.ID == "":
		r.Limit = 0 // nothing more will arrive
	}
	if err := r.wait(ctx); err != nil {
		return nil, err
	}
	ended := r.result.ExitStatus != nil
	r.Begun = j.At
	res, _ := r.answer(ctx)
	switch after := j.Look(); {
	case after.Phase >= runner.Ended:
		if res.ElapsedSeconds = reply.Seconds(after.At.Sub(j.At)); after.Phase == runner.Ended && res.ExitStatus == nil {
			// Its end was not recorded.
			res.ExitStatus, res.State, res.LinesMissed = &after.Status, jobEnded, true
		} else if after.Phase == runner.Lost && res.ExitStatus == nil {
			res.State = jobLost
		}
	case pane.ID == "":
		res.State, res.PaneGone = jobLost, true
	}
	if ended || res.State == jobLost { // nothing more will arrive
		r.cmd.Stop()
	}
	res.TimedOut = res.State == jobRunning && limit > 0
	res.EffectiveTimeout = limit.Seconds()
	return res, nil
}

var listJobs = newTool(tool{
	name: "list_jobs", title: "List Jobs", kind: reads, set: setInput,
	aim:  target.Nowhere,
	desc: "List the commands of run_command that run or have ended lately: job, pane, command, state, exit status, age.",
}, func(ctx context.Context, c *call, in target.OnSocket) (l reply.List[jobInfo], err error) {
	c.s.sweepJobs()
	rows, err := typing.Programs(ctx, c.Tmux, tmux.ListPanes{All: true})
	if err := target.NoneIsEmpty(err); err != nil {
		return l, err
	}
	l.Result = []jobInfo{}
	if len(rows) == 0 {
		return l, nil
	}
	panes := map[string]int{}
	for _, r := range rows {
		if !r.Dead {
			panes[string(r.ID)] = r.PID
		}
	}
	for _, j := range runner.Jobs(placeOf(c, rows[0])) {
		s := j.Look()
		info := jobInfo{JobID: j.ID(), PaneID: tmux.PaneID(j.Pane), Command: firstLine(j.Text()), AgeSeconds: reply.Seconds(time.Since(j.At).Round(time.Second))}
		switch {
		case s.Phase == runner.Ended:
			info.State, info.ExitStatus = jobEnded, &s.Status
		case s.Phase == runner.Lost || panes[j.Pane] != j.Pid:
			info.State = jobLost
		case j.Stopped():
			info.State = jobStopped
		default:
			info.State = jobRunning
		}
		l.Result = append(l.Result, info)
	}
	l.Total = len(l.Result)
	return l, nil
})

type jobInfo struct {
	JobID      string      `json:"job_id"`
	PaneID     tmux.PaneID `json:"pane_id"`
	Command    string      `json:"command"`
	State      string      `json:"state" enum:"running,stopped,ended,lost"`
	ExitStatus *int        `json:"exit_status"`
	AgeSeconds float64     `json:"age_seconds"`
}

func (j jobInfo) Columns() []reply.Column[jobInfo] {
	return []reply.Column[jobInfo]{
		{Name: "job", Text: func(j jobInfo) string { return j.JobID }},
		{Name: "pane", Text: func(j jobInfo) string { return string(j.PaneID) }},
		{Name: "state", Text: func(j jobInfo) string {
			if j.ExitStatus != nil {
				return fmt.Sprintf("exit %d", *j.ExitStatus)
			}
			return j.State
		}},
		{Name: "age", Text: func(j jobInfo) string { return reply.Elapsed(j.AgeSeconds) }},
		{Name: "command", Text: func(j jobInfo) string { return j.Command }},
	}
}

// firstLine returns the first line of a command, truncated to fit a row.
func firstLine(command string) string {
	const longest = 80
	for i, r := range command {
		if r == '\n' || i >= longest {
			return command[:i] + "…"
		}
	}
	return command
}

var cancelJob = newTool(tool{
	name: "cancel_job", title: "Cancel Job", kind: discards, set: setInput,
	aim: target.NeedEach(target.Pane), harm: guard.Ends,
	hint: "stop, kill or interrupt a running command",
	desc: "Interrupt a running job as Ctrl-C does, or send its programs another signal, and return what became of it. Only the job's own programs get the signal.",
}, func(ctx context.Context, c *call, in cancelJobIn) (*runResult, error) {
	j, pane, err := c.job(ctx, in.JobID)
	if err != nil {
		return nil, err
	}
	out, _ := outputSelect{}.sink(ctx)
	if j.Look().Phase == runner.Running && pane.ID != "" {
		if _, err := c.guard.At(ctx, target.Selection{Pane: pane.ID}); err != nil {
			return nil, err
		}
		if err := c.guard.Cleared(ctx); err != nil {
			return nil, err
		}
		if err := j.Signal(signals[in.Signal]); err != nil && j.Look().Phase == runner.Running {
			return nil, reply.Faultf(reply.KindRefused, "job %s in pane %s cannot be signalled: %v", j.ID(), j.Pane, err).
				Suggest("look at the pane; send_keys with C-c interrupts what runs there")
		}
	}
	lines := 20
	return c.await(ctx, j, pane, outputSelect{MaxLines: &lines}, out, cancelWait)
})

// cancelWait is how long a job may take to end after the signal.
const cancelWait = 2 * time.Second

type cancelJobIn struct {
	JobID  string `json:"job_id"`
	Signal string `json:"signal" enum:"INT,TERM,HUP,QUIT,KILL" default:"INT"`
	target.OnSocket
}

var signals = map[string]syscall.Signal{
	"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "QUIT": syscall.SIGQUIT, "KILL": syscall.SIGKILL,
}
