package tools

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	"tmuxmcp/server/internal/jobs"
	"tmuxmcp/server/internal/match"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/tool"
	"tmuxmcp/tmux"
)

func searchPanes(r *screen.Reader, j *jobs.Runner) *tool.Tool {
	return tool.New(tool.Decl{
		Name: "search_panes", Title: "Search Panes", Kind: tool.Reads, Set: tool.Panes, Core: true,
		Aim:  target.Filter(target.Pane),
		Hint: "find an error in any terminal",
		Desc: "Search for text or a regex in the screens of all tmux panes or, without a match, the scrollback: find which terminal shows an error. Returns the " +
			"last matching lines of each pane with their row, as start of capture_pane.",
	}, func(ctx context.Context, c tool.Call, in searchPanesIn) (*searchPanesResult, error) {
		m, err := match.New("pattern", in.Pattern, in.Regex, in.MatchCase)
		if err != nil {
			return nil, err
		}
		panes, err := screen.Candidates(ctx, c.Tmux, c.On)
		err = target.NoServerIsEmpty(ctx, c.On.Zero(), err)
		if err != nil {
			return nil, err
		}
		where := in.query()
		found, err := r.Matching(ctx, c.Tmux, panes, where, m)
		if err != nil {
			return nil, err
		}
		scrolled, above := false, 0
		if len(found) == 0 && in.ContentStart == nil && in.ContentEnd == nil {
			start := tmux.Line(-scrolledRows)
			deep := where
			deep.Start = &start
			panes = slices.DeleteFunc(panes, func(p screen.PaneMatch) bool { return p.History == 0 })
			var f *reply.Fault
			switch found, err = r.Matching(ctx, c.Tmux, panes, deep, m); {
			case errors.As(err, &f) && f.Kind == reply.KindRefused: // it would take too long
				found = nil
			case err != nil:
				return nil, err
			default:
				where, above, scrolled = deep, scrolledRows, len(found) > 0
			}
		}
		slices.SortFunc(found, func(a, b screen.PaneMatch) int { return cmp.Compare(paneNumber(a.PaneID), paneNumber(b.PaneID)) })

		res := &searchPanesResult{screens: where.Start == nil, above: above, ScrolledOff: scrolled, TotalPanesMatched: len(found), Offset: in.Offset, Limit: in.Limit, TruncatedPanes: []tmux.PaneID{}}
		page := []screen.PaneMatch{}
		for _, p := range found[min(res.Offset, len(found)):] {
			if in.Limit != nil && len(page) == *in.Limit {
				res.TruncatedPanes, res.Truncated = append(res.TruncatedPanes, p.PaneID), true
				continue
			}
			page = append(page, p)
		}
		if res.Matches, err = r.Search(ctx, c.Tmux, page, where, m); err != nil {
			return nil, err
		}
		for i := range res.Matches {
			p := &res.Matches[i]
			res.Truncated, p.IsCaller = res.Truncated || p.Cut, c.Here.Is(p.PaneID)
		}
		res.Jobs = []jobs.Match{}
		if in.Jobs {
			found, unsearched, err := j.Search(ctx, c.Tmux, c.On.Selection, in.query(), m)
			err = target.NoServerIsEmpty(ctx, c.On.Zero(), err)
			if err != nil {
				return nil, err
			}
			res.Jobs, res.JobsUnsearched = append(res.Jobs, found...), unsearched
		}
		return res, nil
	})
}

type searchPanesIn struct {
	Pattern string `json:"pattern"`
	Regex   bool   `json:"regex,omitempty" desc:"pattern is RE2"`
	Context int    `json:"context,omitempty" min:"0" desc:"lines around each match"`
	target.SelectPane
	MatchCase    bool       `json:"match_case,omitempty" desc:"case-sensitive"`
	ContentStart *tmux.Line `json:"content_start,omitempty" desc:"first line, as start of capture_pane"`
	ContentEnd   *tmux.Line `json:"content_end,omitempty" desc:"last line"`
	MaxLines     int        `json:"max_matched_lines_per_pane" default:"50" min:"1" desc:"keep the last"`
	Limit        *int       `json:"limit" default:"500" min:"1" desc:"most panes; null: all"`
	Offset       int        `json:"offset,omitempty" min:"0" desc:"panes to skip"`
	Jobs         bool       `json:"jobs,omitempty" desc:"also all that jobs of run_command printed"`
	target.OnSocket
}

func (in searchPanesIn) query() screen.Query {
	return screen.Query{Context: in.Context, MaxLines: in.MaxLines, Start: in.ContentStart, End: in.ContentEnd}
}

type searchPanesResult struct {
	Matches           []screen.PaneMatch `json:"matches"`
	Truncated         bool               `json:"truncated"`
	TruncatedPanes    []tmux.PaneID      `json:"truncated_panes" desc:"after this page"`
	TotalPanesMatched int                `json:"total_panes_matched"`
	Offset            int                `json:"offset"`
	Limit             *int               `json:"limit"`
	// Jobs are those whose output matches, and JobsUnsearched the number that there was no
	// time for.
	Jobs           []jobs.Match `json:"jobs"`
	JobsUnsearched int          `json:"jobs_unsearched"`
	// ScrolledOff is set if the screens have no match, and the lines are from above.
	ScrolledOff bool `json:"scrolled_off"`

	screens bool // only the screens were searched
	above   int  // or, as they have no match, so many lines above too
}

// scrolledRows is how many rows above the screens are searched if these have no match.
const scrolledRows = 10_000

func paneNumber(id tmux.PaneID) int {
	n, _ := strconv.Atoi(string(id[1:]))
	return n
}
