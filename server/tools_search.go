package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"tmuxmcp/tmux"
)

var searchPanes = tool[searchPanesIn, *searchPanesResult]{
	name: "search_panes", title: "Search Panes", kind: reads, set: setPanes, core: true,
	aim:  narrows(aSession),
	hint: "find an error in any terminal",
	desc: "Search for text or a regex in the screens, and optionally the scrollback, of all panes: find which terminal shows an error. Returns the " +
		"last matching lines of each pane. Wrapped lines count as one.",
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
	Pattern string `json:"pattern" desc:"text, or with regex a regular expression (RE2)"`
	Regex   bool   `json:"regex,omitempty" desc:"RE2"`
	sessionSelect
	MatchCase    bool       `json:"match_case,omitempty" desc:"case-sensitive"`
	ContentStart *tmux.Line `json:"content_start,omitempty" desc:"first line, as start of capture_pane"`
	ContentEnd   *tmux.Line `json:"content_end,omitempty" desc:"last line"`
	MaxLines     int        `json:"max_matched_lines_per_pane" default:"50" min:"1" desc:"keep the last"`
	Limit        *int       `json:"limit" default:"500" min:"1" desc:"most panes; null: all"`
	Offset       int        `json:"offset,omitempty" desc:"panes to skip"`
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
	MatchedLines       []string       `json:"matched_lines" exact:"true"`
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

// mostCells bounds what one list of commands has tmux search or capture, in cells:
// it has one thread for all its clients, and needs 0.15 to 0.4 µs for the two
// searches of a cell that has accents. Others are served between two lists.
const mostCells = 160_000

// capturesFor is how many cells are captured in the time that one is searched.
const capturesFor = 4

// cells is what a pane with so many rows counts for. The pane itself costs too.
func (p candidate) cells(rows int) int { return rows*p.Width + 200 }

// searchable is how many of the panes, from the first, one list may search.
func searchable(panes []candidate) (n int) {
	for cells := 0; n < len(panes); n++ {
		if cells += panes[n].cells(panes[n].Height); cells > mostCells {
			break
		}
	}
	return n
}

// sized is a pane with its size, as tmux reports it: what has grown is another.
func (p candidate) sized() string { return fmt.Sprintf("%s/%dx%d", p.Pane, p.Width, p.Height) }

// isOneOf is the condition that a pane is one of these and has its size.
func isOneOf(panes map[string]candidate) tmux.Format {
	list := strings.Join(slices.Collect(maps.Keys(panes)), " ")
	return "#{m:* #{pane_id}/#{pane_width}x#{pane_height} *," + tmux.Literal(" "+list+" ") + "}"
}

// within is a condition that tmux looks at only for panes in the selection.
func within(s selection, condition tmux.Format) tmux.Format {
	if s.zero() {
		return condition
	}
	return choose(s.within(), condition, "")
}

// smallServers remembers the panes of the tmux servers that one list can search,
// by socket, so that the next search of one takes one round trip.
type smallServers struct {
	mu    sync.Mutex
	panes map[string]map[string]candidate
}

// of are the panes that are known of a server.
func (k *smallServers) of(socket string) map[string]candidate {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.panes[socket]
}

// add remembers panes, or forgets all when there are too many.
func (k *smallServers) add(socket string, panes []candidate) {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := maps.Clone(k.panes[socket])
	if all == nil {
		all = map[string]candidate{}
	}
	for _, p := range panes {
		all[p.sized()] = p
	}
	if k.panes == nil {
		k.panes = map[string]map[string]candidate{}
	}
	k.panes[socket] = all
	if searchable(slices.Collect(maps.Values(all))) < len(all) {
		delete(k.panes, socket)
	}
}

// candidates lists the panes that are worth to be captured: those in the selection
// that tmux does not rule out.
func (c *call) candidates(ctx context.Context, in searchPanesIn, m *matcher) ([]candidate, error) {
	s := c.on.selection
	if err := s.check(); err != nil {
		return nil, err
	}
	var condition tmux.Format
	if in.ContentStart == nil && in.ContentEnd == nil {
		condition = m.condition()
	}
	socket := c.tmux.SocketPath()
	known := c.s.small.of(socket)
	list := tmux.ListPanes{All: true, Filter: s.within()}
	if condition != "" {
		// The panes that are not known show themselves, and are searched next.
		list.Filter = within(s, choose(isOneOf(known), condition, "1"))
	}
	type session struct {
		ID tmux.SessionID `tmux:"session_id"`
	}
	var b tmux.Batch
	sessions := tmux.Rows[session](&b, tmux.ListSessions{Filter: s.within()})
	rows := tmux.Rows[candidate](&b, list)
	if err := noneIsEmpty(b.Do(ctx, c.tmux)); err != nil {
		return nil, err
	}
	if !s.zero() && len(*sessions) == 0 {
		return nil, c.missing(ctx, s)
	}
	panes := uniqueBy(*rows, func(p candidate) tmux.PaneID { return p.Pane })
	if condition == "" {
		return panes, nil
	}
	var found, unknown []candidate
	for _, p := range panes {
		if _, ok := known[p.sized()]; ok || p.cells(p.Height) > mostCells {
			found = append(found, p)
		} else {
			unknown = append(unknown, p)
		}
	}
	c.s.small.add(socket, unknown)
	// A part is what stands between two ids, which is cheap to compare.
	slices.SortFunc(unknown, func(a, b candidate) int { return cmp.Compare(a.Pane, b.Pane) })
	for len(unknown) > 0 {
		n := searchable(unknown)
		first, last := string(unknown[0].Pane), string(unknown[n-1].Pane)
		unknown = unknown[n:]
		part := tmux.ListPanes{All: true, Filter: within(s,
			choose("#{<:#{pane_id},"+tmux.Literal(first)+"}", "", choose("#{>:#{pane_id},"+tmux.Literal(last)+"}", "", condition)))}
		rows, err := tmux.List[candidate](ctx, c.tmux, part)
		if err := noneIsEmpty(err); err != nil {
			return nil, err
		}
		found = append(found, rows...)
	}
	return uniqueBy(found, func(p candidate) tmux.PaneID { return p.Pane }), nil
}

// search captures panes and finds the lines that match.
func (c *call) search(ctx context.Context, panes []candidate, in searchPanesIn, m *matcher) ([]foundLines, error) {
	var found []foundLines
	look := matching{most: maxMatching}
	for len(panes) > 0 {
		var b tmux.Batch
		var captured []*[]byte
		for cells := 0; len(captured) < len(panes); {
			p := panes[len(captured)]
			capture := tmux.CapturePane{Target: p.Pane, Print: true, Join: true, End: in.ContentEnd}
			rows := p.Height
			if in.ContentStart != nil {
				capture.Start = *in.ContentStart
				rows += min(p.History, max(0, -int(*in.ContentStart)))
			}
			if cells += p.cells(rows); cells > capturesFor*mostCells && len(captured) > 0 {
				break
			}
			captured = append(captured, tmux.Add(&b, capture))
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
			lines, err := look.lines(ctx, m, screenLines(*out))
			if err != nil {
				return nil, err
			}
			if len(lines) > 0 {
				f := foundLines{pane: panes[i].Pane}
				cut := 0
				f.lines, cut = lastLines(lines, &in.MaxLines)
				f.cut = cut > 0
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

// matches describes the panes that the lines were found in. One that has ended since is
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
	if s := c.on.selection; !s.zero() {
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
