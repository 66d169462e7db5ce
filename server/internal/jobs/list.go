package jobs

import (
	"context"
	"fmt"
	"time"

	"tmuxmcp/server/internal/match"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/prompt"
	"tmuxmcp/tmux/shell"
)

// JobInfo is a job, as it is listed.
type JobInfo struct {
	JobID      string      `json:"job_id"`
	PaneID     tmux.PaneID `json:"pane_id"`
	Command    string      `json:"command"`
	State      string      `json:"state" enum:"running,stopped,ended,lost"`
	ExitStatus *int        `json:"exit_status"`
	AgeSeconds float64     `json:"age_seconds"`
}

// Columns returns the columns of a list of jobs.
func (JobInfo) Columns() []reply.Column[JobInfo] {
	return []reply.Column[JobInfo]{
		{Name: "job", Text: func(j JobInfo) string { return j.JobID }},
		{Name: "pane", Text: func(j JobInfo) string { return string(j.PaneID) }},
		{Name: "state", Text: func(j JobInfo) string {
			if j.ExitStatus != nil {
				return fmt.Sprintf("exit %d", *j.ExitStatus)
			}
			return j.State
		}},
		{Name: "age", Text: func(j JobInfo) string { return reply.Elapsed(j.AgeSeconds) }},
		{Name: "command", Text: func(j JobInfo) string { return j.Command }},
	}
}

// List returns the jobs of a tmux server, newest first.
func (r *Runner) List(ctx context.Context, srv *tmux.Server) ([]JobInfo, error) {
	all := []JobInfo{}
	found, err := r.Shells.Jobs(ctx, srv)
	for _, j := range found {
		state, status := j.State()
		info := JobInfo{
			JobID: j.ID(), PaneID: j.Pane().ID, Command: firstLine(j.Command()), State: string(state),
			AgeSeconds: reply.Seconds(time.Since(j.Started()).Round(time.Second)),
		}
		if state == shell.Ended {
			info.ExitStatus = &status
		}
		all = append(all, info)
	}
	return all, err
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

// Match is a job with the matching lines of its recorded output.
type Match struct {
	JobID   string      `json:"job_id"`
	PaneID  tmux.PaneID `json:"pane_id"`
	Command string      `json:"command"`
	Matches int         `json:"matches"`
	Lines   []string    `json:"lines" exact:"true" desc:"each after its number and a colon, or a dash if it is context"`
	// Cut is set if there are more, or if part of the output was not searched.
	Cut bool `json:"-"`
}

// Search searches the output of the jobs in the panes that on names, newest job first, for up
// to match.MaxTime. rest is the number of jobs that were not searched completely by then.
func (r *Runner) Search(ctx context.Context, srv *tmux.Server, on target.Selection, q screen.Query, m *match.Matcher) (found []Match, rest int, err error) {
	jobs, err := r.Shells.Jobs(ctx, srv)
	if err != nil || len(jobs) == 0 {
		return nil, 0, err
	}
	selected := map[tmux.PaneID]bool{}
	if !on.Zero() {
		panes, err := prompt.Programs(ctx, srv, tmux.ListPanes{All: true, Filter: on.Within()})
		if err := target.NoneIsEmpty(err); err != nil {
			return nil, 0, err
		}
		for _, p := range panes {
			selected[p.ID] = true
		}
	}
	look := &match.Search{Most: match.MaxTime}
	limited, cancel := context.WithTimeout(ctx, match.MaxTime)
	defer cancel()
	for _, j := range jobs {
		if j.OnScreen() || !on.Zero() && !selected[j.Pane().ID] {
			continue
		}
		if limited.Err() != nil {
			rest++
			continue
		}
		out := &sink{ctx: context.WithoutCancel(ctx), m: m, context: q.Context, look: look}
		j.Scan(limited, out.Line)
		if limited.Err() != nil {
			rest++
		}
		if out.matched > 0 {
			most, bytes := q.MaxLines*(2*q.Context+1), mostKept
			lines, cutLines, cutBytes := reply.Limited(out.kept, &most, &bytes)
			found = append(found, Match{j.ID(), j.Pane().ID, firstLine(j.Command()), out.matched, lines, cutLines+cutBytes+out.dropped > 0})
		}
	}
	return found, rest, ctx.Err()
}
