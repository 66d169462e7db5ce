package server

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	"tmuxmcp/tmux"
)

var searchPanes = tool[searchPanesIn, *searchPanesResult]{
	name: "search_panes", title: "Search Panes", kind: reads, set: setPanes, core: true,
	desc: "Find text in all tmux panes (terminals) or those of a session: their screens, or with content_start (negative: history) and content_end more. " +
		"Wrapped lines count as one. Each pane tells its last matching lines; limit and offset page through panes.",
	run: func(ctx context.Context, c *call, in searchPanesIn) (*searchPanesResult, error) {
		m, err := newMatcher("pattern", in.Pattern, in.Regex, in.MatchCase)
		if err != nil {
			return nil, err
		}
		candidates, err := c.candidates(ctx, in, m)
		if err != nil {
			return nil, err
		}
		found, err := c.search(ctx, candidates, in, m)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(found, func(a, b foundLines) int { return cmp.Compare(paneNumber(a.pane), paneNumber(b.pane)) })

		res := &searchPanesResult{TotalPanesMatched: len(found), Offset: max(0, in.Offset), Limit: in.Limit, TruncatedPanes: []tmux.PaneID{}}
		rest := found[min(res.Offset, len(found)):]
		if in.Limit != nil && len(rest) > *in.Limit {
			for _, f := range rest[*in.Limit:] {
				res.TruncatedPanes = append(res.TruncatedPanes, f.pane)
			}
			rest, res.Truncated = rest[:*in.Limit], true
		}
		for _, f := range rest {
			res.Truncated = res.Truncated || f.cut
		}
		if res.Matches, err = c.matches(ctx, rest, in); err != nil {
			return nil, err
		}
		return res, nil
	},
}

type searchPanesIn struct {
	Pattern string `json:"pattern" desc:"literal text unless regex"`
	Regex   bool   `json:"regex,omitempty"`
	sessionSelect
	MatchCase    bool       `json:"match_case,omitempty"`
	ContentStart *tmux.Line `json:"content_start,omitempty"`
	ContentEnd   *tmux.Line `json:"content_end,omitempty"`
	MaxLines     int        `json:"max_matched_lines_per_pane" default:"50" min:"1"`
	Limit        *int       `json:"limit" default:"500" min:"1" desc:"panes; null: all"`
	Offset       int        `json:"offset,omitempty"`
	socket
}

type searchPanesResult struct {
	Matches           []paneMatch   `json:"matches"`
	Truncated         bool          `json:"truncated"`
	TruncatedPanes    []tmux.PaneID `json:"truncated_panes" desc:"after this page"`
	TotalPanesMatched int           `json:"total_panes_matched"`
	Offset            int           `json:"offset"`
	Limit             *int          `json:"limit"`
}

// paneMatch is a pane with lines that match.
type paneMatch struct {
	PaneID             tmux.PaneID    `json:"pane_id" tmux:"pane_id"`
	PaneLeft           int            `json:"pane_left" tmux:"pane_left"`
	PaneTop            int            `json:"pane_top" tmux:"pane_top"`
	PaneRight          int            `json:"pane_right" tmux:"pane_right"`
	PaneBottom         int            `json:"pane_bottom" tmux:"pane_bottom"`
	PaneAtLeft         bool           `json:"pane_at_left" tmux:"pane_at_left"`
	PaneAtRight        bool           `json:"pane_at_right" tmux:"pane_at_right"`
	PaneAtTop          bool           `json:"pane_at_top" tmux:"pane_at_top"`
	PaneAtBottom       bool           `json:"pane_at_bottom" tmux:"pane_at_bottom"`
	PaneTTY            *string        `json:"pane_tty" tmux:"pane_tty"`
	PaneCurrentCommand *string        `json:"pane_current_command" tmux:"pane_current_command"`
	PaneCurrentPath    *string        `json:"pane_current_path" tmux:"pane_current_path"`
	WindowID           tmux.WindowID  `json:"window_id" tmux:"window_id"`
	WindowName         *string        `json:"window_name" tmux:"window_name"`
	SessionID          tmux.SessionID `json:"session_id" tmux:"session_id"`
	SessionName        *string        `json:"session_name" tmux:"session_name"`
	MatchedLines       []string       `json:"matched_lines"`
	IsCaller           *bool          `json:"is_caller"`
}

// candidate is a pane that may match, and how much there is of it.
type candidate struct {
	Pane    tmux.PaneID `tmux:"pane_id"`
	History int         `tmux:"history_size"`
	Height  int         `tmux:"pane_height"`
	Width   int         `tmux:"pane_width"`
}

// foundLines are the last lines of a pane that match; cut says that there are more.
type foundLines struct {
	pane  tmux.PaneID
	lines []string
	cut   bool
}

func paneNumber(id tmux.PaneID) int {
	n, _ := strconv.Atoi(string(id[1:]))
	return n
}

// candidates lists the panes that are worth to be captured: those in the selection
// that tmux does not rule out.
func (c *call) candidates(ctx context.Context, in searchPanesIn, m *matcher) ([]candidate, error) {
	s := in.selection()
	if err := s.check(); err != nil {
		return nil, err
	}
	var conditions []tmux.Format
	if !s.zero() {
		conditions = append(conditions, s.within())
	}
	if in.ContentStart == nil && in.ContentEnd == nil {
		if f := m.condition(); f != "" {
			conditions = append(conditions, f)
		}
	}
	list := tmux.ListPanes{All: true}
	if len(conditions) > 0 {
		list.Filter = tmux.And(conditions...)
	}
	type session struct {
		ID tmux.SessionID `tmux:"session_id"`
	}
	var b tmux.Batch
	sessions := tmux.Rows[session](&b, tmux.ListSessions{Filter: s.within()})
	panes := tmux.Rows[candidate](&b, list)
	if err := noneIsEmpty(b.Do(ctx, c.tmux)); err != nil {
		return nil, err
	}
	if !s.zero() && len(*sessions) == 0 {
		return nil, c.missing(ctx, s)
	}
	return uniqueBy(*panes, func(p candidate) tmux.PaneID { return p.Pane }), nil
}

// maxCaptured bounds what is captured in one round trip, in bytes, more or less.
const maxCaptured = 8 << 20

// search captures panes and finds the lines that match.
func (c *call) search(ctx context.Context, panes []candidate, in searchPanesIn, m *matcher) ([]foundLines, error) {
	var found []foundLines
	for len(panes) > 0 {
		var b tmux.Batch
		var captured []*[]byte
		for size := 0; len(captured) < len(panes) && size < maxCaptured; {
			p := panes[len(captured)]
			capture := tmux.CapturePane{Target: p.Pane, Print: true, Join: true, End: in.ContentEnd}
			rows := p.Height
			if in.ContentStart != nil {
				capture.Start = *in.ContentStart
				rows += min(p.History, max(0, -int(*in.ContentStart)))
			}
			size += rows * p.Width
			captured = append(captured, b.Add(capture))
		}
		// A pane that ended since it was listed ends the list of commands: the
		// answers before it are there, and those after it are asked for again.
		err := b.Do(ctx, c.tmux)
		done := len(captured)
		if err != nil {
			if !errors.Is(err, tmux.ErrNotFound) {
				return nil, err
			}
			if done = slices.IndexFunc(captured, func(out *[]byte) bool { return *out == nil }); done < 0 {
				return nil, err
			}
		}
		for i, out := range captured[:done] {
			if f := (foundLines{pane: panes[i].Pane}); f.find(screenLines(*out), m, in.MaxLines) {
				found = append(found, f)
			}
		}
		if err != nil {
			done++
		}
		panes = panes[done:]
	}
	return found, nil
}

// find keeps the last of the lines that match, and reports whether there are any.
func (f *foundLines) find(lines []string, m *matcher, most int) bool {
	for _, l := range lines {
		if m.match(l) {
			f.lines = append(f.lines, l)
		}
	}
	var cut int
	f.lines, cut = lastLines(f.lines, &most)
	f.cut = cut > 0
	return len(f.lines) > 0
}

// matches tells what panes the lines were found in. One that has ended since is
// left out.
func (c *call) matches(ctx context.Context, found []foundLines, in searchPanesIn) ([]paneMatch, error) {
	matches := []paneMatch{}
	if len(found) == 0 {
		return matches, nil
	}
	ids := make([]tmux.PaneID, len(found))
	for i, f := range found {
		ids[i] = f.pane
	}
	list := tmux.ListPanes{All: true, Filter: tmux.MatchOneOf("pane_id", ids...)}
	if s := in.selection(); !s.zero() {
		list.Filter = tmux.And(s.within(), list.Filter)
	}
	rows, err := tmux.List[paneMatch](ctx, c.tmux, list)
	if err != nil {
		return matches, noneIsEmpty(err)
	}
	byID := make(map[tmux.PaneID]paneMatch, len(rows))
	for _, p := range slices.Backward(rows) {
		byID[p.PaneID] = p
	}
	for _, f := range found {
		if p, ok := byID[f.pane]; ok {
			p.MatchedLines, p.IsCaller = f.lines, c.s.isCaller(c.tmux, f.pane)
			matches = append(matches, p)
		}
	}
	return matches, nil
}
