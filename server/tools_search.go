package server

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"tmuxmcp/tmux"
)

var searchPanes = tool[searchPanesIn, *searchPanesResult]{
	name: "search_panes", title: "Search Panes", kind: reads, set: setPanes, core: true,
	aim:  narrows(aPane),
	hint: "find an error in any terminal",
	desc: "Search for text or a regex in the screens, and optionally the scrollback, of all panes: find which terminal shows an error. Returns the " +
		"last matching lines of each pane with their row, as start of capture_pane.",
	run: func(ctx context.Context, c *call, in searchPanesIn) (*searchPanesResult, error) {
		m, err := newMatcher("pattern", in.Pattern, in.Regex, in.MatchCase)
		if err != nil {
			return nil, err
		}
		candidates, err := c.candidates(ctx)
		if err != nil {
			return nil, err
		}
		found, err := c.search(ctx, candidates, in, m, false)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(found, func(a, b foundLines) int { return cmp.Compare(paneNumber(a.Pane), paneNumber(b.Pane)) })

		res := &searchPanesResult{screens: in.ContentStart == nil, TotalPanesMatched: len(found), Offset: in.Offset, Limit: in.Limit, TruncatedPanes: []tmux.PaneID{}}
		page := []candidate{}
		for _, f := range found[min(res.Offset, len(found)):] {
			if in.Limit != nil && len(page) == *in.Limit {
				res.TruncatedPanes, res.Truncated = append(res.TruncatedPanes, f.Pane), true
				continue
			}
			page = append(page, f.candidate)
		}
		rest, err := c.search(ctx, page, in, m, true)
		if err != nil {
			return nil, err
		}
		for _, f := range rest {
			res.Truncated = res.Truncated || f.cut
		}
		if res.Matches, err = c.matches(ctx, rest, in); err != nil {
			return nil, err
		}
		res.Jobs = []jobMatch{}
		if in.Jobs {
			found, unsearched, err := c.searchJobs(ctx, in, m)
			if err != nil {
				return nil, err
			}
			res.Jobs, res.JobsUnsearched = append(res.Jobs, found...), unsearched
		}
		return res, nil
	},
}

type searchPanesIn struct {
	Pattern string `json:"pattern" desc:"text"`
	Regex   bool   `json:"regex,omitempty" desc:"pattern is RE2"`
	Context int    `json:"context,omitempty" min:"0" desc:"lines around each match"`
	paneSelect
	MatchCase    bool       `json:"match_case,omitempty" desc:"case-sensitive"`
	ContentStart *tmux.Line `json:"content_start,omitempty" desc:"first line, as start of capture_pane"`
	ContentEnd   *tmux.Line `json:"content_end,omitempty" desc:"last line"`
	MaxLines     int        `json:"max_matched_lines_per_pane" default:"50" min:"1" desc:"keep the last"`
	Limit        *int       `json:"limit" default:"500" min:"1" desc:"most panes; null: all"`
	Offset       int        `json:"offset,omitempty" min:"0" desc:"panes to skip"`
	Jobs         bool       `json:"jobs,omitempty" desc:"also all that jobs of run_command printed"`
	socket
}

type searchPanesResult struct {
	Matches           []paneMatch   `json:"matches"`
	Truncated         bool          `json:"truncated"`
	TruncatedPanes    []tmux.PaneID `json:"truncated_panes" desc:"after this page"`
	TotalPanesMatched int           `json:"total_panes_matched"`
	Offset            int           `json:"offset"`
	Limit             *int          `json:"limit"`
	// Jobs are those whose output matches, and JobsUnsearched the number that there was no
	// time for.
	Jobs           []jobMatch `json:"jobs"`
	JobsUnsearched int        `json:"jobs_unsearched"`

	screens bool // only the screens were searched
}

// paneMatch is a pane with matching lines.
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
	MatchedRows        []int          `json:"matched_rows" desc:"0: top of the screen; -1: newest of the history"`
	Context            []contextLine  `json:"context" desc:"the matches among their neighbours"`
	IsCaller           *bool          `json:"is_caller"`
}

// candidate is a pane that may match, and its size.
type candidate struct {
	Pane    tmux.PaneID `tmux:"pane_id"`
	History int         `tmux:"history_size"`
	Height  int         `tmux:"pane_height"`
	Width   int         `tmux:"pane_width"`
}

// contextLine is a line that matches, or is near one that does.
type contextLine struct {
	Row   int    `json:"row"`
	Line  string `json:"line" exact:"true"`
	Match bool   `json:"match"`
	// apart is set if lines before it are omitted.
	apart bool
}

// foundLines are the last matching lines of a pane; cut is set if there are more.
type foundLines struct {
	candidate
	lines   []string
	rows    []int
	context []contextLine
	cut     bool
}

// lastMatches returns the last matching lines of a pane and their neighbours. matches are
// indexes of lines, and rows the row of each line.
func (in searchPanesIn) lastMatches(p candidate, lines []string, matches, rows []int) foundLines {
	cut := max(0, len(matches)-in.MaxLines)
	f := foundLines{candidate: p, cut: cut > 0, context: []contextLine{}}
	next := 0 // first line that is not in context yet
	for _, at := range matches[cut:] {
		f.lines, f.rows = append(f.lines, lines[at]), append(f.rows, rows[at])
		if in.Context == 0 {
			continue
		}
		from := max(next, at-in.Context)
		apart := len(f.context) > 0 && from > next
		for next = from; next < min(len(lines), at+in.Context+1); next++ {
			_, is := slices.BinarySearch(matches, next)
			f.context = append(f.context, contextLine{rows[next], lines[next], is, apart && next == from})
		}
	}
	return f
}

func paneNumber(id tmux.PaneID) int {
	n, _ := strconv.Atoi(string(id[1:]))
	return n
}

// mostCells bounds what one list of commands has tmux capture, in cells: tmux has one
// thread for all clients, which are served between lists.
const mostCells = 400_000

// cells returns the cost of a pane with so many rows. The pane itself has a cost too.
func (p candidate) cells(rows int) int { return rows*p.Width + 200 }

// candidates lists the panes of the selection.
func (c *call) candidates(ctx context.Context) ([]candidate, error) {
	s := c.on.selection
	if err := s.check(); err != nil {
		return nil, err
	}
	type session struct {
		ID tmux.SessionID `tmux:"session_id"`
	}
	var b tmux.Batch
	var holders tmux.Lister = tmux.ListSessions{Filter: s.within()}
	if s.pane != "" || s.window != "" {
		holders = tmux.ListPanes{All: true, Filter: s.within()}
	}
	sessions := tmux.Rows[session](&b, holders)
	rows := tmux.Rows[candidate](&b, tmux.ListPanes{All: true, Filter: s.within()})
	if err := noneIsEmpty(b.Do(ctx, c.tmux)); err != nil {
		return nil, err
	}
	if !s.zero() && len(*sessions) == 0 {
		return nil, c.missing(ctx, s)
	}
	return uniqueBy(*rows, func(p candidate) tmux.PaneID { return p.Pane }), nil
}

// search captures panes and finds the lines that match. Since a line may be several rows,
// with rows each pane is captured both joined and unjoined; otherwise the rows are wrong.
func (c *call) search(ctx context.Context, panes []candidate, in searchPanesIn, m *matcher, rows bool) (found []foundLines, err error) {
	exact, err := c.tmux.Supports(ctx, tmux.UsedCells)
	if err != nil {
		return nil, err
	}
	look := matching{most: c.s.matchTime}
	for len(panes) > 0 {
		var b tmux.Batch
		var sizes []*[]candidate
		var joined, last []*[]byte
		for cells := 0; len(last) < len(panes); {
			p := panes[len(last)]
			if cells += p.cells(in.rows(p)); cells > mostCells && len(last) > 0 {
				break
			}
			size, capture := &[]candidate{p}, in.capture(p)
			if rows {
				size = tmux.Rows[candidate](&b, tmux.DisplayMessage{Target: p.Pane})
			}
			sizes, joined = append(sizes, size), append(joined, tmux.Add(&b, capture))
			if last = append(last, joined[len(joined)-1]); rows {
				cells += p.cells(in.rows(p))
				// With these flags the rows are exactly the pieces of the joined lines.
				capture.Join, capture.KeepSpaces, capture.UsedCells = false, true, exact
				last[len(last)-1] = tmux.Add(&b, capture)
			}
		}
		done, err := doneOf(last, b.Do(ctx, c.tmux))
		if err != nil {
			return nil, err
		}
		for i, size := range sizes[:done] {
			lines, p := screenLines(*joined[i]), (*size)[0]
			matches, err := look.indexes(ctx, m, lines)
			if err != nil {
				return nil, err
			}
			if len(matches) > 0 {
				at := rowsOf(strings.Split(string(*joined[i]), "\n"), strings.Split(string(*last[i]), "\n"), in.first(p))
				found = append(found, in.lastMatches(p, lines, matches, at))
			}
		}
		if done < len(last) {
			done++
		}
		panes = panes[done:]
	}
	return found, nil
}

// capture returns the command that captures the searched part of a pane.
func (in searchPanesIn) capture(p candidate) tmux.CapturePane {
	capture := tmux.CapturePane{Target: p.Pane, Print: true, Join: true, End: in.ContentEnd}
	if in.ContentStart != nil {
		capture.Start = *in.ContentStart
	}
	return capture
}

// rows returns about how many rows that captures.
func (in searchPanesIn) rows(p candidate) int {
	if in.ContentStart == nil {
		return p.Height
	}
	return p.Height + min(p.History, max(0, -int(max(*in.ContentStart, -maxHistory))))
}

// maxHistory exceeds the number of lines that any pane has.
const maxHistory = 1 << 30

// doneOf returns how many panes were captured. A pane that has ended since it was listed
// ends the list of commands: the answers before it are there, and the panes after it are
// requested again.
func doneOf(captured []*[]byte, err error) (int, error) {
	if err == nil {
		return len(captured), nil
	}
	done := slices.IndexFunc(captured, func(out *[]byte) bool { return *out == nil })
	if done < 0 || !errors.Is(err, tmux.ErrNotFound) {
		return 0, err
	}
	return done, nil
}

// first returns the first row of a capture of a pane.
func (in searchPanesIn) first(p candidate) int {
	within := func(l *tmux.Line, otherwise int) int {
		if l == nil {
			return otherwise
		}
		return min(max(int(*l), -p.History), p.Height-1)
	}
	return min(within(in.ContentStart, 0), within(in.ContentEnd, p.Height-1))
}

// rowsOf returns the rows in which joined lines begin. The first of plain is in row first.
func rowsOf(joined, plain []string, first int) []int {
	rows := make([]int, len(joined))
	at := 0
	for i, line := range joined {
		for line != "" && at < len(plain)-1 && plain[at] == "" {
			at++ // the end of a wrapped line, which was cleared
		}
		rows[i] = first + at
		for at < len(plain) {
			piece, ok := strings.CutPrefix(line, plain[at])
			at++
			if line = piece; !ok || line == "" {
				break
			}
		}
	}
	return rows
}

// matches describes the panes with matches. A pane that has ended since is omitted.
func (c *call) matches(ctx context.Context, found []foundLines, in searchPanesIn) ([]paneMatch, error) {
	matches := []paneMatch{}
	if len(found) == 0 {
		return matches, nil
	}
	ids := make([]tmux.PaneID, len(found))
	for i, f := range found {
		ids[i] = f.Pane
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
		if p, ok := byID[f.Pane]; ok {
			p.MatchedLines, p.MatchedRows, p.Context, p.IsCaller = f.lines, f.rows, f.context, c.s.isCaller(c.tmux, f.Pane)
			matches = append(matches, p)
		}
	}
	return matches, nil
}
