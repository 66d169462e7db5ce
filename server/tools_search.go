package server

import (
	"bytes"
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
		found, err := c.search(ctx, candidates, in, m)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(found, func(a, b foundLines) int { return cmp.Compare(paneNumber(a.Pane), paneNumber(b.Pane)) })

		res := &searchPanesResult{screens: in.ContentStart == nil, TotalPanesMatched: len(found), Offset: in.Offset, Limit: in.Limit, TruncatedPanes: []tmux.PaneID{}}
		rest := found[min(res.Offset, len(found)):]
		if in.Limit != nil && len(rest) > *in.Limit {
			for _, f := range rest[*in.Limit:] {
				res.TruncatedPanes = append(res.TruncatedPanes, f.Pane)
			}
			rest, res.Truncated = rest[:*in.Limit], true
		}
		if err := c.findRows(ctx, rest, in, m); err != nil {
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
	// rowsKnown is set if no line of the pane is wrapped, so that each line is one row.
	rowsKnown bool
}

// take keeps the last matching lines and their neighbours. matches are indexes of lines,
// and rows the row of each line.
func (f *foundLines) take(lines []string, matches, rows []int, in searchPanesIn) {
	cut := max(0, len(matches)-in.MaxLines)
	f.cut, f.lines, f.rows, f.context = cut > 0, nil, nil, []contextLine{}
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

// search captures panes and finds the lines that match.
func (c *call) search(ctx context.Context, panes []candidate, in searchPanesIn, m *matcher) ([]foundLines, error) {
	var found []foundLines
	look := matching{most: c.s.matchTime}
	for len(panes) > 0 {
		var b tmux.Batch
		var captured []*[]byte
		sizes := make([]*[]candidate, len(panes))
		for cells := 0; len(captured) < len(panes); {
			p := panes[len(captured)]
			if cells += p.cells(in.rows(p)); cells > mostCells && len(captured) > 0 {
				break
			}
			if in.ContentStart != nil || in.ContentEnd != nil {
				sizes[len(captured)] = tmux.Rows[candidate](&b, tmux.DisplayMessage{Target: p.Pane})
			}
			captured = append(captured, tmux.Add(&b, in.capture(p)))
		}
		done, err := doneOf(captured, b.Do(ctx, c.tmux))
		if err != nil {
			return nil, err
		}
		for i, out := range captured[:done] {
			lines := screenLines(*out)
			matches, err := look.indexes(ctx, m, lines)
			if err != nil {
				return nil, err
			}
			if len(matches) > 0 {
				f := foundLines{candidate: panes[i]}
				if sizes[i] != nil {
					f.candidate = (*sizes[i])[0]
				}
				first, n := in.span(f.candidate)
				f.rowsKnown = bytes.Count(*out, []byte("\n")) == n
				rows := make([]int, len(lines))
				for row := range rows {
					rows[row] = first + row
				}
				f.take(lines, matches, rows, in)
				found = append(found, f)
			}
		}
		if done < len(captured) {
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

// findRows finds the rows of lines where a line may be several rows, by capturing the lines
// both joined and unjoined. A pane where nothing matches any more, or that has ended, then
// has no lines.
func (c *call) findRows(ctx context.Context, found []foundLines, in searchPanesIn, m *matcher) error {
	var rest []*foundLines
	for i := range found {
		if f := &found[i]; !f.rowsKnown {
			f.lines, f.rows, f.context = nil, nil, nil
			rest = append(rest, f)
		}
	}
	if rest == nil {
		return nil
	}
	exact, err := c.tmux.Supports(ctx, tmux.UsedCells)
	if err != nil {
		return err
	}
	look := matching{most: c.s.matchTime}
	for len(rest) > 0 {
		var b tmux.Batch
		var sizes []*[]candidate
		var joined, plain []*[]byte
		for cells := 0; len(plain) < len(rest); {
			p := rest[len(plain)].candidate
			if cells += 2 * p.cells(in.rows(p)); cells > mostCells && len(plain) > 0 {
				break
			}
			capture := in.capture(p)
			sizes = append(sizes, tmux.Rows[candidate](&b, tmux.DisplayMessage{Target: p.Pane}))
			joined = append(joined, tmux.Add(&b, capture))
			// With these flags the rows are exactly the pieces of the joined lines.
			capture.Join, capture.KeepSpaces, capture.UsedCells = false, true, exact
			plain = append(plain, tmux.Add(&b, capture))
		}
		done, err := doneOf(plain, b.Do(ctx, c.tmux))
		if err != nil {
			return err
		}
		for i, f := range rest[:done] {
			lines := screenLines(*joined[i])
			matches, err := look.indexes(ctx, m, lines)
			if err != nil {
				return err
			}
			first, _ := in.span((*sizes[i])[0])
			f.take(lines, matches, rowsOf(strings.Split(string(*joined[i]), "\n"), strings.Split(string(*plain[i]), "\n"), first), in)
		}
		if done < len(plain) {
			done++
		}
		rest = rest[done:]
	}
	return nil
}

// span returns the first row of a capture of a pane, and the number of rows.
func (in searchPanesIn) span(p candidate) (first, rows int) {
	within := func(l *tmux.Line, otherwise int) int {
		if l == nil {
			return otherwise
		}
		return min(max(int(*l), -p.History), p.Height-1)
	}
	from, to := within(in.ContentStart, 0), within(in.ContentEnd, p.Height-1)
	return min(from, to), max(from, to) - min(from, to) + 1
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
		if p, ok := byID[f.Pane]; ok && len(f.lines) > 0 {
			p.MatchedLines, p.MatchedRows, p.Context, p.IsCaller = f.lines, f.rows, f.context, c.s.isCaller(c.tmux, f.Pane)
			matches = append(matches, p)
		}
	}
	return matches, nil
}
