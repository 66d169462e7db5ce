package server

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tmuxmcp/server/internal/match"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/tmux"
)

var searchPanes = newTool(tool{
	name: "search_panes", title: "Search Panes", kind: reads, set: setPanes, core: true,
	aim:  target.Filter(target.Pane),
	hint: "find an error in any terminal",
	desc: "Search for text or a regex in the screens of all panes or, without a match, the scrollback: find which terminal shows an error. Returns the " +
		"last matching lines of each pane with their row, as start of capture_pane.",
}, func(ctx context.Context, c *call, in searchPanesIn) (*searchPanesResult, error) {
	m, err := match.New("pattern", in.Pattern, in.Regex, in.MatchCase)
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
	scrolled, above := false, 0
	if len(found) == 0 && in.ContentStart == nil && in.ContentEnd == nil {
		start := tmux.Line(-scrolledRows)
		deep := in
		deep.ContentStart = &start
		candidates = slices.DeleteFunc(candidates, func(p paneMatch) bool { return p.History == 0 })
		var f *reply.Fault
		switch found, err = c.search(ctx, candidates, deep, m, false); {
		case errors.As(err, &f) && f.Kind == reply.KindRefused: // it would take too long
			found = nil
		case err != nil:
			return nil, err
		default:
			in, above, scrolled = deep, scrolledRows, len(found) > 0
		}
	}
	slices.SortFunc(found, func(a, b paneMatch) int { return cmp.Compare(paneNumber(a.PaneID), paneNumber(b.PaneID)) })

	res := &searchPanesResult{screens: in.ContentStart == nil, above: above, ScrolledOff: scrolled, TotalPanesMatched: len(found), Offset: in.Offset, Limit: in.Limit, TruncatedPanes: []tmux.PaneID{}}
	page := []paneMatch{}
	for _, p := range found[min(res.Offset, len(found)):] {
		if in.Limit != nil && len(page) == *in.Limit {
			res.TruncatedPanes, res.Truncated = append(res.TruncatedPanes, p.PaneID), true
			continue
		}
		page = append(page, p)
	}
	if res.Matches, err = c.search(ctx, page, in, m, true); err != nil {
		return nil, err
	}
	for i := range res.Matches {
		p := &res.Matches[i]
		res.Truncated, p.IsCaller = res.Truncated || p.cut, c.Here.Is(p.PaneID)
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
})

type searchPanesIn struct {
	Pattern string `json:"pattern" desc:"text"`
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
	// ScrolledOff is set if the screens have no match, and the lines are from above.
	ScrolledOff bool `json:"scrolled_off"`

	screens bool // only the screens were searched
	above   int  // or, as they have no match, so many lines above too
}

// scrolledRows is how many rows above the screens are searched if these have no match.
const scrolledRows = 10_000

// paneMatch is a pane with matching lines.
type paneMatch struct {
	PaneID tmux.PaneID `json:"pane_id" tmux:"pane_id"`
	rows.Edges
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

	History int `json:"-" tmux:"history_size"`
	Height  int `json:"-" tmux:"pane_height"`
	Width   int `json:"-" tmux:"pane_width"`
	// cut is set if there are more matching lines.
	cut bool
}

// contextLine is a line that matches, or is near one that does.
type contextLine struct {
	Row   int    `json:"row"`
	Line  string `json:"line" exact:"true"`
	Match bool   `json:"match"`
	// apart is set if lines before it are omitted.
	apart bool
}

// addMatches adds the last matching lines and their neighbours. matches are indexes of lines, and
// rows the row of each line.
func (p *paneMatch) addMatches(lines []string, matches, rows []int, in searchPanesIn) {
	cut := max(0, len(matches)-in.MaxLines)
	p.cut, p.MatchedLines, p.MatchedRows, p.Context = cut > 0, nil, nil, []contextLine{}
	next := 0 // first line that is not in context yet
	for _, at := range matches[cut:] {
		p.MatchedLines, p.MatchedRows = append(p.MatchedLines, lines[at]), append(p.MatchedRows, rows[at])
		if in.Context == 0 {
			continue
		}
		from := max(next, at-in.Context)
		apart := len(p.Context) > 0 && from > next
		for next = from; next < min(len(lines), at+in.Context+1); next++ {
			_, is := slices.BinarySearch(matches, next)
			p.Context = append(p.Context, contextLine{rows[next], lines[next], is, apart && next == from})
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
func (p paneMatch) cells(rows int) int { return rows*p.Width + 200 }

// candidates lists the panes of the selection: what they are, and how large. The rest of a
// row is read only where something matches, as it costs tmux much more.
func (c *call) candidates(ctx context.Context) ([]paneMatch, error) {
	s := c.on.Selection
	var b tmux.Batch
	rows := tmux.Rows[paneMatch](&b, tmux.ListPanes{All: true, Filter: s.Within()},
		"pane_id", "window_id", "session_id", "history_size", "pane_height", "pane_width")
	if err := target.NoneIsEmpty(b.Do(ctx, c.Tmux)); err != nil {
		return nil, err
	}
	if !s.Zero() && len(*rows) == 0 {
		return nil, target.Missing(ctx, c.Tmux, s)
	}
	return target.UniqueBy(*rows, func(p paneMatch) tmux.PaneID { return p.PaneID }), nil
}

// search captures panes and finds the lines that match. With rows it completes what is known
// of each pane and, since a line may be several rows, captures it both joined and unjoined;
// otherwise the rows are wrong.
func (c *call) search(ctx context.Context, panes []paneMatch, in searchPanesIn, m *match.Matcher, rows bool) (found []paneMatch, err error) {
	exact, err := c.Tmux.Supports(ctx, tmux.UsedCells)
	if err != nil {
		return nil, err
	}
	found = []paneMatch{}
	look := match.Search{Most: c.s.matchTime}
	take := func(p paneMatch, joined, last []byte) error {
		lines := screenLines(joined)
		matches, err := look.Indexes(ctx, m, lines)
		if len(matches) > 0 && err == nil {
			at := rowsOf(strings.Split(string(joined), "\n"), strings.Split(string(last), "\n"), in.span(p)[0])
			p.addMatches(lines, matches, at, in)
			found = append(found, p)
		}
		return err
	}
	for len(panes) > 0 {
		if p := panes[0]; p.cells(in.rows(p)) > mostCells {
			p, joined, last, err := searchedLong(ctx, c.Tmux, p, in, exact, rows)
			if err == nil {
				err = take(p, joined, last)
			}
			if err != nil && !errors.Is(err, tmux.ErrNotFound) {
				return nil, err
			}
			panes = panes[1:]
			continue
		}
		var b tmux.Batch
		var now []*[]paneMatch
		var joined, last []*[]byte
		for cells := 0; len(last) < len(panes); {
			p := panes[len(last)]
			cost := p.cells(in.rows(p))
			if rows {
				cost *= 2
			}
			if cells += cost; cells > mostCells && len(last) > 0 || p.cells(in.rows(p)) > mostCells {
				break
			}
			row, capture := &[]paneMatch{p}, in.capture(p)
			if !rows {
				out := tmux.Add(&b, capture)
				joined, last = append(joined, out), append(last, out)
			} else {
				row = tmux.Rows[paneMatch](&b, p.itself())
				joined = append(joined, tmux.Add(&b, capture))
				last = append(last, tmux.Add(&b, unjoined(capture, exact)))
			}
			now = append(now, row)
		}
		done, err := doneOf(last, b.Do(ctx, c.Tmux))
		if err != nil {
			return nil, err
		}
		for i := range done {
			if err := take((*now[i])[0], *joined[i], *last[i]); err != nil {
				return nil, err
			}
		}
		if done < len(last) {
			done++
		}
		panes = panes[done:]
	}
	return found, nil
}

// searchedLong captures a pane that is too large for one list.
func searchedLong(ctx context.Context, srv *tmux.Server, p paneMatch, in searchPanesIn, exact, rows bool) (_ paneMatch, joined, last []byte, err error) {
	if rows {
		var b tmux.Batch
		now := tmux.Rows[paneMatch](&b, p.itself())
		if err := b.Do(ctx, srv); err != nil {
			return p, nil, nil, err
		}
		p = (*now)[0]
	}
	capture := in.capture(p)
	joined, err = inPieces(ctx, srv, capture, in.span(p), p.History, p.Width, mostSearched)
	if last = joined; rows && err == nil {
		last, err = inPieces(ctx, srv, unjoined(capture, exact), in.span(p), p.History, p.Width, mostSearched)
	}
	return p, joined, last, err
}

// mostSearched is how much text of one pane is searched, in bytes.
const mostSearched = 64 << 20

// inPieces captures rows in lists between which tmux serves others. history is the size of
// the history for which their numbers hold. Joined lines go on in the next piece.
func inPieces(ctx context.Context, srv *tmux.Server, capture tmux.CapturePane, span [2]int, history, width, most int) (out []byte, err error) {
	from, to := span[0], span[1]
	for tries := 0; from <= to; {
		end := tmux.Line(min(to, from+mostCells/width))
		capture.Start, capture.End = tmux.Line(from), &end
		var b tmux.Batch
		size := tmux.Displayed(&b, tmux.DisplayMessage{Target: capture.Target, Message: "#{history_size}"})
		text, seam := tmux.Add(&b, capture), new([]byte)
		if capture.Join && int(end) < to {
			next := end + 1
			both := capture
			both.Start, both.End = end, &next
			seam = tmux.Add(&b, both)
		}
		if err := b.Do(ctx, srv); err != nil {
			return nil, err
		}
		if now, _ := strconv.Atoi(*size); now > history && tries < 3 { // they have moved up
			from, to, history, tries = from-(now-history), to-(now-history), now, tries+1
			continue
		}
		if bytes.Count(*seam, []byte("\n")) == 1 { // the last row goes on in the next
			*text = bytes.TrimSuffix(*text, []byte("\n"))
		}
		out, from, tries = append(out, *text...), int(end)+1, 0
		if len(out) > most {
			return nil, reply.Faultf(reply.KindRefused, "these lines have more than %d MB", most>>20).Suggest("ask for fewer of them, by the first and the last")
		}
	}
	return out, nil
}

// itself returns the command that lists the pane at the place where it was found.
func (p paneMatch) itself() tmux.DisplayMessage {
	return tmux.DisplayMessage{Target: tmux.TargetSpec(fmt.Sprintf("%s:%s.%s", p.SessionID, p.WindowID, p.PaneID))}
}

// unjoined returns the command that captures the same, as exactly the pieces of the joined
// lines.
func unjoined(capture tmux.CapturePane, exact bool) tmux.CapturePane {
	capture.Join, capture.KeepSpaces, capture.UsedCells = false, true, exact
	return capture
}

// capture returns the command that captures the searched part of a pane.
func (in searchPanesIn) capture(p paneMatch) tmux.CapturePane {
	capture := tmux.CapturePane{Target: p.PaneID, Print: true, Join: true, End: in.ContentEnd}
	if in.ContentStart != nil {
		capture.Start = *in.ContentStart
	}
	return capture
}

// rows returns about how many rows that captures.
func (in searchPanesIn) rows(p paneMatch) int {
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

// span returns the first and the last row of a capture of a pane.
func (in searchPanesIn) span(p paneMatch) [2]int {
	within := func(l *tmux.Line, otherwise int) int {
		if l == nil {
			return otherwise
		}
		return min(max(int(*l), -p.History), p.Height-1)
	}
	start, end := within(in.ContentStart, 0), within(in.ContentEnd, p.Height-1)
	return [2]int{min(start, end), max(start, end)}
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
