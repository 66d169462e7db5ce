package screen

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"

	"tmuxmcp/internal/turns"
	"tmuxmcp/server/internal/match"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/tmux"
)

// Query is what to search panes for, and where.
type Query struct {
	Context    int        // lines around each match
	MaxLines   int        // of a pane, the last
	Start, End *tmux.Line // nil: the first and the last of the screen
}

// PaneMatch is a pane with matching lines.
type PaneMatch struct {
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
	Context            []ContextLine  `json:"context" desc:"the matches among their neighbours"`
	IsCaller           *bool          `json:"is_caller"`

	History int `json:"-" tmux:"history_size"`
	Height  int `json:"-" tmux:"pane_height"`
	Width   int `json:"-" tmux:"pane_width"`
	// Cut is set if there are more matching lines.
	Cut bool `json:"-"`
}

// ContextLine is a line that matches, or is near one that does.
type ContextLine struct {
	Row   int    `json:"row"`
	Line  string `json:"line" exact:"true"`
	Match bool   `json:"match"`
	// Apart is set if lines before it are omitted.
	Apart bool `json:"-"`
}

// addMatches adds the last matching lines and their neighbours. matches are indexes of
// lines, and rowOf has the row of each line.
func (p *PaneMatch) addMatches(lines []string, matches, rowOf []int, in Query) {
	cut := max(0, len(matches)-in.MaxLines)
	p.Cut, p.MatchedLines, p.MatchedRows, p.Context = cut > 0, nil, nil, []ContextLine{}
	next := 0 // first line that is not in context yet
	for _, at := range matches[cut:] {
		p.MatchedLines, p.MatchedRows = append(p.MatchedLines, lines[at]), append(p.MatchedRows, rowOf[at])
		if in.Context == 0 {
			continue
		}
		from := max(next, at-in.Context)
		apart := len(p.Context) > 0 && from > next
		for next = from; next < min(len(lines), at+in.Context+1); next++ {
			_, is := slices.BinarySearch(matches, next)
			p.Context = append(p.Context, ContextLine{rowOf[next], lines[next], is, apart && next == from})
		}
	}
}

// MostCells bounds what one list of commands has tmux capture, in cells: tmux has one
// thread for all clients, which are served between lists. mostPanes bounds the panes of a
// list, on which tmux's work grows with the square of its length.
const (
	MostCells = 400_000
	mostPanes = 100
)

// lists divides panes into lists, each pane of which is captured so many times. A pane of
// more than MostCells is alone. A pane has a cost besides its cells.
func (in Query) lists(panes []PaneMatch, times int) (lists [][]PaneMatch) {
	cells := 0
	for i, p := range panes {
		more := times * (in.rows(p)*p.Width + 200)
		if cells += more; i == 0 || cells > MostCells || len(lists[len(lists)-1]) == mostPanes {
			cells, lists = more, append(lists, nil)
		}
		last := &lists[len(lists)-1]
		*last = append(*last, p)
	}
	return lists
}

// long reports whether a pane is captured in pieces.
func (in Query) long(p PaneMatch) bool { return in.rows(p)*p.Width > MostCells }

// Candidates lists the panes of the selection: what they are, and how large. The rest of a
// row is read only where something matches, as it costs tmux much more.
func Candidates(ctx context.Context, srv *tmux.Server, on target.Object) ([]PaneMatch, error) {
	s := on.Selection
	var b tmux.Batch
	listed := tmux.AddRows[PaneMatch](&b, tmux.ListPanes{All: true, Filter: s.Within()},
		"pane_id", "window_id", "session_id", "history_size", "pane_height", "pane_width")
	if err := target.NoneIsEmpty(b.Do(ctx, srv)); err != nil {
		return nil, err
	}
	if !s.Zero() && len(*listed) == 0 {
		return nil, target.Missing(ctx, srv, s)
	}
	return target.UniqueBy(*listed, func(p PaneMatch) tmux.PaneID { return p.PaneID }), nil
}

// groupSize is how many panes are captured as one text where few are expected to match.
const groupSize = 20

// Matching returns the panes with a line that matches, in no particular order. Panes are
// captured in groups, which costs tmux less, and the panes of a group with a match again, one
// by one. tmux accepts one list and runs another while the output of a third is read and
// matched.
func (r *Reader) Matching(ctx context.Context, srv *tmux.Server, panes []PaneMatch, in Query, m *match.Matcher) ([]PaneMatch, error) {
	found := []PaneMatch{}
	look := match.Search{Most: r.MatchTime}
	var turn sync.Mutex
	for size := groupSize; len(panes) > 0; size = 1 {
		if len(panes) <= groupSize {
			size = 1
		}
		var again []PaneMatch
		seen := 0
		for list, got := range ahead(ctx, in.lists(panes, 1), func(ctx context.Context, list []PaneMatch) captured {
			return in.groups(ctx, srv, list, size, &turn)
		}) {
			if got.err != nil {
				return nil, got.err
			}
			for i, group := range got.groups {
				is, err := look.Any(ctx, m, got.texts[i])
				switch {
				case err != nil:
					return nil, err
				case is && len(group) == 1:
					found = append(found, group[0])
				case is:
					again = append(again, group...)
				}
			}
			if seen += len(list); len(again) > max(mostPanes, seen/2) {
				again = append(again, panes[seen:]...) // the rest may match too
				break
			}
		}
		panes = again
	}
	return found, nil
}

// captured is what groups of panes show.
type captured struct {
	groups [][]PaneMatch
	texts  [][]byte
	err    error
}

// groups captures panes in groups of a size. It leaves out panes that have ended since they
// were listed.
func (in Query) groups(ctx context.Context, srv *tmux.Server, panes []PaneMatch, size int, turn sync.Locker) (c captured) {
	if p := panes[0]; in.long(p) {
		turn.Lock()
		defer turn.Unlock()
		text, err := InPieces(ctx, srv, in.capture(p), in.span(p), p.History, p.Width, mostSearched)
		if errors.Is(err, tmux.ErrNotFound) {
			return captured{}
		}
		return captured{[][]PaneMatch{panes}, [][]byte{text}, err}
	}
	for {
		c.groups = slices.Collect(slices.Chunk(panes, size))
		captures := make([][]tmux.CapturePane, len(c.groups))
		for i, group := range c.groups {
			for _, p := range group {
				captures[i] = append(captures[i], in.capture(p))
			}
		}
		c.texts, c.err = srv.CaptureAll(turns.WithList(ctx, turn), captures)
		gone := func(p PaneMatch) bool {
			var e *tmux.Error
			return errors.As(c.err, &e) && errors.Is(e, tmux.ErrNotFound) && e.Object.Name == string(p.PaneID)
		}
		if !slices.ContainsFunc(panes, gone) {
			return c
		}
		panes = slices.DeleteFunc(slices.Clone(panes), gone)
	}
}

// ahead yields what do returns for each, in order, while do runs for the next two.
func ahead[T, R any](ctx context.Context, all []T, do func(context.Context, T) R) iter.Seq2[T, R] {
	return func(yield func(T, R) bool) {
		ctx, stop := context.WithCancel(ctx)
		var running sync.WaitGroup
		defer running.Wait()
		defer stop()
		results := make([]chan R, len(all))
		start := func(i int) {
			if i < len(all) {
				results[i] = make(chan R, 1)
				running.Go(func() { results[i] <- do(ctx, all[i]) })
			}
		}
		start(0)
		start(1)
		for i, one := range all {
			start(i + 2)
			if !yield(one, <-results[i]) {
				return
			}
		}
	}
}

// Search captures panes and finds the lines that match. It completes the rows of the panes
// and, since a line may be several rows, captures them both joined and unjoined.
func (r *Reader) Search(ctx context.Context, srv *tmux.Server, panes []PaneMatch, in Query, m *match.Matcher) ([]PaneMatch, error) {
	exact, err := srv.Supports(ctx, tmux.FeatureOf(tmux.CapturePane{}, "UsedCells"))
	if err != nil {
		return nil, err
	}
	found := []PaneMatch{}
	look := match.Search{Most: r.MatchTime}
	take := func(p PaneMatch, joined, last []byte) error {
		matches, err := look.Indexes(ctx, m, joined)
		if len(matches) > 0 && err == nil {
			at := rowsOf(strings.Split(string(joined), "\n"), strings.Split(string(last), "\n"), in.span(p)[0])
			p.addMatches(Lines(joined), matches, at, in)
			found = append(found, p)
		}
		return err
	}
	for _, list := range in.lists(panes, 2) {
		if in.long(list[0]) {
			p, joined, last, err := searchedLong(ctx, srv, list[0], in, exact)
			if err == nil {
				err = take(p, joined, last)
			}
			if err != nil && !errors.Is(err, tmux.ErrNotFound) {
				return nil, err
			}
			continue
		}
		for len(list) > 0 {
			var b tmux.Batch
			var now []*[]PaneMatch
			var joined, last []*[]byte
			for _, p := range list {
				now = append(now, tmux.AddRows[PaneMatch](&b, p.itself()))
				joined = append(joined, tmux.Add(&b, in.capture(p)))
				last = append(last, tmux.Add(&b, unjoined(in.capture(p), exact)))
			}
			done, err := doneOf(last, b.Do(ctx, srv))
			if err != nil {
				return nil, err
			}
			for i := range done {
				if err := take((*now[i])[0], *joined[i], *last[i]); err != nil {
					return nil, err
				}
			}
			list = list[min(done+1, len(list)):]
		}
	}
	return found, nil
}

// searchedLong captures a pane that is too large for one list.
func searchedLong(ctx context.Context, srv *tmux.Server, p PaneMatch, in Query, exact bool) (_ PaneMatch, joined, last []byte, err error) {
	var b tmux.Batch
	now := tmux.AddRows[PaneMatch](&b, p.itself())
	if err := b.Do(ctx, srv); err != nil {
		return p, nil, nil, err
	}
	p = (*now)[0]
	capture := in.capture(p)
	joined, err = InPieces(ctx, srv, capture, in.span(p), p.History, p.Width, mostSearched)
	if err == nil {
		last, err = InPieces(ctx, srv, unjoined(capture, exact), in.span(p), p.History, p.Width, mostSearched)
	}
	return p, joined, last, err
}

// mostSearched is how much text of one pane is searched, in bytes.
const mostSearched = 64 << 20

// InPieces captures rows in lists between which tmux serves others. Their numbers hold for a
// history of this size. Joined lines continue in the next piece.
func InPieces(ctx context.Context, srv *tmux.Server, capture tmux.CapturePane, span [2]int, history, width, most int) (out []byte, err error) {
	from, to := span[0], span[1]
	for tries := 0; from <= to; {
		end := tmux.Line(min(to, from+MostCells/width))
		capture.Start, capture.End = tmux.Line(from), &end
		var b tmux.Batch
		size := tmux.AddMessage(&b, tmux.DisplayMessage{Target: capture.Target, Message: "#{history_size}"})
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
		if bytes.Count(*seam, []byte("\n")) == 1 { // the last row continues in the next
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
func (p PaneMatch) itself() tmux.DisplayMessage {
	return tmux.DisplayMessage{Target: tmux.TargetSpec(fmt.Sprintf("%s:%s.%s", p.SessionID, p.WindowID, p.PaneID))}
}

// unjoined returns the command that captures the same, as exactly the pieces of the joined
// lines.
func unjoined(capture tmux.CapturePane, exact bool) tmux.CapturePane {
	capture.Join, capture.KeepSpaces, capture.UsedCells = false, true, exact
	return capture
}

// capture returns the command that captures the searched part of a pane.
func (in Query) capture(p PaneMatch) tmux.CapturePane {
	capture := tmux.CapturePane{Target: p.PaneID, Print: true, Join: true, End: in.End}
	if in.Start != nil {
		capture.Start = *in.Start
	}
	return capture
}

// rows returns about how many rows that captures.
func (in Query) rows(p PaneMatch) int {
	if in.Start == nil {
		return p.Height
	}
	return p.Height + min(p.History, max(0, -int(max(*in.Start, -maxHistory))))
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
func (in Query) span(p PaneMatch) [2]int {
	within := func(l *tmux.Line, otherwise int) int {
		if l == nil {
			return otherwise
		}
		return min(max(int(*l), -p.History), p.Height-1)
	}
	start, end := within(in.Start, 0), within(in.End, p.Height-1)
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

// Lines returns the rows of a capture without trailing blank ones.
func Lines(captured []byte) []string {
	s := strings.TrimRight(string(captured), "\n")
	if s == "" {
		return nil
	}
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
