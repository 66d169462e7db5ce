package tools

import (
	"context"
	"math"
	"syscall"
	"time"

	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/jobs"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/tool"
	"tmuxmcp/tmux/shell"
)

func getJob(r *jobs.Runner) *tool.Tool {
	return tool.New(tool.Decl{
		Name: "get_job", Title: "Get Job", Kind: tool.Reads, Set: tool.Input, Core: true, SelfBounded: true,
		Aim:  target.Nowhere,
		Hint: "output and exit status of a background command",
		Desc: "Get the state, exit status and output so far of run_command's jobs, until an hour after their end. With timeout, waits.",
	}, func(ctx context.Context, c tool.Call, in getJobIn) (*gotJobs, error) {
		limit := time.Duration(0)
		if in.Timeout > 0 {
			var err error
			if limit, err = r.Screens.Budget(in.Timeout, screen.WaitAgain); err != nil {
				return nil, err
			}
		}
		if in.MaxLines == nil && len(in.JobID) > 1 {
			lines := screen.ShownLines
			in.MaxLines = &lines
		}
		r.Shells.Sweep()
		out, end := &gotJobs{Others: otherJobs{}}, time.Now().Add(limit)
		for i, id := range in.JobID {
			j, err := r.Find(ctx, c.Source, id)
			if err != nil {
				return nil, err
			}
			res, err := j.Await(ctx, in.Output, max(time.Until(end), 0))
			if err != nil {
				return nil, err
			}
			res.TimedOut, res.EffectiveTimeout = res.State == string(shell.Running) && res.Reached == nil && limit > 0, limit.Seconds()
			if i == 0 {
				out.Result = *res
			} else {
				out.Others = append(out.Others, *res)
			}
		}
		return out, nil
	})
}

// gotJobs is the outcome of one job or, one after the other, of several.
type gotJobs struct {
	jobs.Result
	Others otherJobs `json:"others"`
}

// View shows several jobs as a batch does: each below a line with its number of lines.
func (g *gotJobs) View() reply.View {
	if len(g.Others) == 0 {
		return g.Result.View()
	}
	v := reply.View{More: "get_job with one job_id and match"}
	v.Fact("%s", reply.Count(1+len(g.Others), "job"))
	for _, r := range append([]jobs.Result{g.Result}, g.Others...) {
		o := r.View()
		v.Lines = append(v.Lines, string(reply.Say("== %s, %s", o.Summary(), reply.Count(len(o.Lines), "line"))))
		v.Lines = append(v.Lines, o.Lines...)
	}
	return v
}

// otherJobs are the jobs after the first.
type otherJobs []jobs.Result

func (otherJobs) JSONSchema() string { return `"type":"array","items":{"type":"object"}` }

// maxJobs is how many jobs one call may ask for.
const maxJobs = 50

type getJobIn struct {
	JobID   target.TextList `json:"job_id" desc:"one, or a list"`
	Timeout float64         `json:"timeout,omitempty" desc:"seconds"`
	jobs.Output
	target.OnSocket
}

func (in getJobIn) Waits() bool { return in.Timeout > 0 }

func (in *getJobIn) Check(tool.Limits) error {
	if in.Timeout < 0 || math.IsNaN(in.Timeout) {
		return reply.Argument("timeout", "must be 0 or more")
	}
	if len(in.JobID) == 0 || len(in.JobID) > maxJobs {
		return reply.Argument("job_id", "must have 1 to %d items", maxJobs)
	}
	return in.Output.Check()
}

func listJobs(r *jobs.Runner) *tool.Tool {
	return tool.New(tool.Decl{
		Name: "list_jobs", Title: "List Jobs", Kind: tool.Reads, Set: tool.Input,
		Aim:  target.Nowhere,
		Desc: "List the commands of run_command that run or have ended lately: job, pane, command, state, exit status, age.",
	}, func(ctx context.Context, c tool.Call, _ target.OnSocket) (l reply.List[jobs.JobInfo], err error) {
		l.Result, err = r.List(ctx, c.Tmux)
		l.Total = len(l.Result)
		return l, target.NoServerIsEmpty(ctx, true, err)
	})
}

func cancelJob(r *jobs.Runner) *tool.Tool {
	return tool.New(tool.Decl{
		Name: "cancel_job", Title: "Cancel Job", Kind: tool.Discards, Set: tool.Input,
		Aim: target.NeedEach(target.Pane), Harm: guard.Ends,
		Hint: "stop, kill or interrupt a running command",
		Desc: "Interrupt a running job as Ctrl-C does, or send its programs another signal, and return what became of it. Only the job's own programs get the signal.",
	}, func(ctx context.Context, c tool.Call, in cancelJobIn) (*jobs.Result, error) {
		j, err := r.Find(ctx, c.Source, in.JobID)
		if err != nil {
			return nil, err
		}
		if j.Running() && j.PaneID() != "" {
			if _, err := c.Guard.At(ctx, target.Selection{Pane: j.PaneID()}); err != nil {
				return nil, err
			}
			if err := c.Guard.Cleared(ctx); err != nil {
				return nil, err
			}
			if err := j.Signal(signals[in.Signal]); err != nil && j.Running() {
				return nil, reply.Faultf(reply.KindRefused, "job %s in pane %s cannot be signalled: %v", j.ID(), j.Pane().ID, err).
					Suggest("look at the pane; send_keys with C-c interrupts what runs there")
			}
		}
		lines := 20
		return j.Await(ctx, jobs.Output{MaxLines: &lines}, cancelWait)
	})
}

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
