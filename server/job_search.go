package server

import (
	"context"
	"time"

	"tmuxmcp/server/runner"
	"tmuxmcp/tmux"
)

// jobMatch is a job with the matching lines of its recorded output.
type jobMatch struct {
	JobID   string      `json:"job_id"`
	PaneID  tmux.PaneID `json:"pane_id"`
	Command string      `json:"command"`
	Matches int         `json:"matches"`
	Lines   []string    `json:"lines" exact:"true" desc:"each after its number and a colon, or a dash if it is context"`
	// cut is set if there are more, or if part of the output was not searched.
	cut bool
}

// searchJobs searches the output of the jobs in the selection, newest job first, for up to
// maxMatching. rest is the number of jobs that were not searched completely by then.
func (c *call) searchJobs(ctx context.Context, in searchPanesIn, m *matcher) (found []jobMatch, rest int, err error) {
	rows, err := tmux.List[runPane](ctx, c.tmux, tmux.ListPanes{All: true, Filter: c.on.selection.within()})
	if err := noneIsEmpty(err); err != nil || len(rows) == 0 {
		return nil, 0, err
	}
	selected := map[string]bool{}
	for _, r := range rows {
		selected[string(r.ID)] = true
	}
	look := &matching{most: maxMatching}
	begun := time.Now()
	more := func() bool { return ctx.Err() == nil && time.Since(begun) < maxMatching }
	for _, j := range runner.Jobs(rows[0].on(c)) {
		if j.Visible() || !c.on.zero() && !selected[j.Pane] {
			continue
		}
		if !more() {
			rest++
			continue
		}
		out := &outputSink{ctx: context.WithoutCancel(ctx), m: m, context: in.Context, look: look}
		j.Scan(out, more)
		if !more() {
			rest++
		}
		if out.matched > 0 {
			most, bytes := in.MaxLines*(2*in.Context+1), mostKept
			lines, cutLines, cutBytes := limited(out.kept, &most, &bytes)
			found = append(found, jobMatch{j.ID(), tmux.PaneID(j.Pane), firstLine(j.Text()), out.matched, lines, cutLines+cutBytes+out.dropped > 0})
		}
	}
	return found, rest, ctx.Err()
}
