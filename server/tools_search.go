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
		panes, err := c.searched(ctx, in, m)
		if err != nil {
			return nil, err
		}
		matches, err := c.matchPanes(ctx, panes, in, m)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(matches, func(a, b paneMatch) int { return cmp.Compare(paneNumber(a.PaneID), paneNumber(b.PaneID)) })

		res := &searchPanesResult{TotalPanesMatched: len(matches), Offset: max(0, in.Offset), Limit: in.Limit, Matches: []paneMatch{}, TruncatedPanes: []tmux.PaneID{}}
		rest := matches[min(res.Offset, len(matches)):]
		if in.Limit != nil && len(rest) > *in.Limit {
			for _, p := range rest[*in.Limit:] {
				res.TruncatedPanes = append(res.TruncatedPanes, p.PaneID)
			}
			rest, res.Truncated = rest[:*in.Limit], true
		}
		for _, p := range rest {
			res.Truncated = res.Truncated || p.cut
			res.Matches = append(res.Matches, p)
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

	// What the capture will be about.
	History int `json:"-" tmux:"history_size"`
	Height  int `json:"-" tmux:"pane_height"`
	Width   int `json:"-" tmux:"pane_width"`
	cut     bool
}

func paneNumber(id tmux.PaneID) int {
	n, _ := strconv.Atoi(string(id[1:]))
	return n
}

// searched lists the panes that are worth to be captured: those in the selection
// that tmux does not rule out.
func (c *call) searched(ctx context.Context, in searchPanesIn, m *matcher) ([]paneMatch, error) {
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
	panes := tmux.Rows[paneMatch](&b, list)
	if err := noneIsEmpty(b.Do(ctx, c.tmux)); err != nil {
		return nil, err
	}
	if !s.zero() && len(*sessions) == 0 {
		return nil, c.missing(ctx, s)
	}
	return uniqueBy(*panes, func(p paneMatch) tmux.PaneID { return p.PaneID }), nil
}

// maxCaptured bounds what is captured in one round trip, in bytes, more or less.
const maxCaptured = 8 << 20

// matchPanes captures panes and keeps those that match, with the lines that do.
func (c *call) matchPanes(ctx context.Context, panes []paneMatch, in searchPanesIn, m *matcher) ([]paneMatch, error) {
	var matches []paneMatch
	for len(panes) > 0 {
		var b tmux.Batch
		var captured []*[]byte
		for size := 0; len(captured) < len(panes) && size < maxCaptured; {
			p := panes[len(captured)]
			capture := tmux.CapturePane{Target: p.PaneID, Print: true, Join: true, End: in.ContentEnd}
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
			if p := panes[i]; p.keep(screenLines(*out), m, in.MaxLines) {
				p.IsCaller = c.s.isCaller(c.tmux, p.PaneID)
				matches = append(matches, p)
			}
		}
		if err != nil {
			done++
		}
		panes = panes[done:]
	}
	return matches, nil
}

// keep keeps the last of the lines that match, and reports whether there are any.
func (p *paneMatch) keep(lines []string, m *matcher, most int) bool {
	for _, l := range lines {
		if m.match(l) {
			p.MatchedLines = append(p.MatchedLines, l)
		}
	}
	var cut int
	p.MatchedLines, cut = lastLines(p.MatchedLines, &most)
	p.cut = cut > 0
	return len(p.MatchedLines) > 0
}
