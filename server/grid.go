package server

import (
	"context"
	"slices"
	"strings"

	"tmuxmcp/tmux"
)

// The rows of a pane are numbered from the oldest of its history. A row keeps its
// number when the screen scrolls and when the pane gets higher or lower: it is
// the size of the history and the row on the screen, together. Numbers change
// when tmux trims or clears the history, and when the pane gets wider or
// narrower.

// paneState is what must be known of a pane to number its rows.
type paneState struct {
	ID tmux.PaneID `tmux:"pane_id"`
	// PID is empty from tmux 3.8 on once the program has let go of its terminal, which
	// is before the pane is Dead.
	PID        string `tmux:"pane_pid"`
	Dead       bool   `tmux:"pane_dead"`
	DeadStatus *int   `tmux:"pane_dead_status"`
	Alternate  bool   `tmux:"alternate_on"`
	History    int    `tmux:"history_size"`
	Limit      int    `tmux:"history_limit"`
	CursorY    int    `tmux:"cursor_y"`
	Width      int    `tmux:"pane_width"`
	Height     int    `tmux:"pane_height"`
	TTY        string `tmux:"pane_tty"`
	// Generation counts what the pane has printed; nil before tmux 3.8.
	Generation        *int64 `tmux:"pane_output_generation,since=3.8"`
	HistoryGeneration *int64 `tmux:"history_generation,since=3.8"`
	HistoryCollected  *int64 `tmux:"history_collected,since=3.8"`
}

// cursor is the number of the cursor's row.
func (s paneState) cursor() int { return s.History + s.CursorY }

// trimStep is how many rows tmux takes off a full history at a time.
func (s paneState) trimStep() int { return max(s.Limit/10, 1) }

// mayTrim reports whether the history is so full that rows may lose their
// numbers.
func (s paneState) mayTrim() bool { return s.History >= s.Limit-s.trimStep() }

// grid is a pane's state and its rows from a certain one to the last of the
// screen, all of the same moment.
type grid struct {
	paneState
	top  int      // the number of the first row
	rows []string // with the spaces at their ends
	// lines are the rows with wrapped ones joined, when that was asked for.
	lines []gridLine
	// hidden is the digest of what an alternate screen hides, if that was read.
	hidden string
}

// gridLine is a line of output: one row, or several that were wrapped.
type gridLine struct {
	text  string
	first int // the number of its first row
	rows  int
}

// end is the number after that of the line's last row.
func (l gridLine) end() int { return l.first + l.rows }

// visible asks readGrid for the screen only, and for what a trace needs.
const visible = int(^uint(0) >> 1)

// gridRequest says what is to be read of a pane.
type gridRequest struct {
	// from is the first row that is wanted.
	from int
	// history is the size of the history as it was last known, and slack how many
	// rows the pane may have printed since.
	history, slack int
	// joined asks for the lines too.
	joined bool
}

// readGrid reads a pane from a row on. What tmux is asked for counts from the
// top of the screen, so the size of the history must be guessed: the last known
// one is right nearly always, and a wrong one costs another round trip. The first
// row may be a later one than asked for, when there is no such row or when the
// pane prints too fast.
func (c *call) readGrid(ctx context.Context, target tmux.Target, want gridRequest) (*grid, error) {
	usedCells, err := c.tmux.Supports(ctx, tmux.UsedCells)
	if err != nil {
		return nil, err
	}
	// Rows as -J joins them: until 3.3 that is with the unused cells.
	rowsOf := tmux.CapturePane{Target: target, Print: true, KeepSpaces: true, UsedCells: usedCells}
	above := traceRows
	if want.from != visible {
		above = want.history - want.from + want.slack
	}
	for attempt := 0; ; attempt++ {
		above = min(max(above, 0), 1<<30)
		rowsOf.Start = tmux.Line(-above)
		var b tmux.Batch
		states := tmux.Rows[paneState](&b, tmux.DisplayMessage{Target: target})
		raw := tmux.Add(&b, rowsOf)
		var joinedRaw *[]byte
		if want.joined {
			joinedRaw = tmux.Add(&b, tmux.CapturePane{Target: target, Print: true, Join: true, Start: rowsOf.Start})
		}
		if err := b.Do(ctx, c.tmux); err != nil {
			return nil, err
		}
		g := &grid{paneState: (*states)[0], rows: capturedRows(*raw)}
		g.top = max(0, g.History-above)
		if g.top > want.from && g.top > 0 && attempt < 2 {
			above = g.History - want.from + want.slack + 2*max(0, g.History-want.history)
			continue
		}
		if want.joined {
			g.lines = joinLines(g.rows, capturedRows(*joinedRaw), g.top)
		}
		return g, nil
	}
}

// readHidden reads the screen that the alternate one hides, with the cursor that
// it had. Without an alternate screen it is the screen.
func (c *call) readHidden(ctx context.Context, target tmux.Target) (*grid, error) {
	usedCells, err := c.tmux.Supports(ctx, tmux.UsedCells)
	if err != nil {
		return nil, err
	}
	type hidden struct {
		CursorY int `tmux:"alternate_saved_y"`
	}
	var b tmux.Batch
	states := tmux.Rows[paneState](&b, tmux.DisplayMessage{Target: target})
	saved := tmux.Rows[hidden](&b, tmux.DisplayMessage{Target: target})
	raw := tmux.Add(&b, tmux.CapturePane{Target: target, Print: true, Alternate: true, Quiet: true, KeepSpaces: true, UsedCells: usedCells})
	if err := b.Do(ctx, c.tmux); err != nil {
		return nil, err
	}
	g := &grid{paneState: (*states)[0], rows: capturedRows(*raw)}
	if !g.Alternate {
		return c.readGrid(ctx, target, gridRequest{from: visible, joined: true})
	}
	g.top, g.CursorY = g.History, min((*saved)[0].CursorY, g.Height-1)
	return g, nil
}

func capturedRows(out []byte) []string {
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

// joinLines finds out which rows each joined line is made of.
func joinLines(rows, joined []string, top int) []gridLine {
	lines := make([]gridLine, 0, len(joined))
	next := 0
	for _, text := range joined {
		l := gridLine{text: strings.TrimRight(text, " "), first: top + next}
		for size := 0; next < len(rows) && (l.rows == 0 || size < len(text)); next++ {
			size += len(rows[next])
			l.rows++
		}
		lines = append(lines, l)
	}
	return lines
}

// row is the text of a row by its number; ok is false when it is not there.
func (g *grid) row(n int) (text string, ok bool) {
	if n < g.top || n-g.top >= len(g.rows) {
		return "", false
	}
	return strings.TrimRight(g.rows[n-g.top], " "), true
}

// from are the texts of the rows from a certain one on.
func (g *grid) from(n int) []string {
	if n-g.top >= len(g.rows) {
		return nil
	}
	rows := slices.Clone(g.rows[max(0, n-g.top):])
	for i, r := range rows {
		rows[i] = strings.TrimRight(r, " ")
	}
	return rows
}

// withoutBlankEnd leaves out the blank rows at the end.
func withoutBlankEnd(rows []string) []string {
	for len(rows) > 0 && rows[len(rows)-1] == "" {
		rows = rows[:len(rows)-1]
	}
	return rows
}

// limited keeps the last lines, at most maxLines of them and maxBytes of their joined
// text; nil is no limit. It returns how many lines and bytes it left out.
func limited(lines []string, maxLines, maxBytes *int) (kept []string, cutLines, cutBytes int) {
	kept, cutLines = lastLines(lines, maxLines)
	for _, l := range lines[:cutLines] {
		cutBytes += len(l) + 1
	}
	if maxBytes == nil {
		return kept, cutLines, cutBytes
	}
	size := max(0, len(kept)-1)
	for _, l := range kept {
		size += len(l)
	}
	for len(kept) > 1 && size > *maxBytes {
		size -= len(kept[0]) + 1
		cutBytes += len(kept[0]) + 1
		cutLines++
		kept = kept[1:]
	}
	if size > *maxBytes {
		cut := tail(kept[0], *maxBytes)
		cutBytes += len(kept[0]) - len(cut)
		kept = []string{cut}
	}
	return kept, cutLines, cutBytes
}

// reading is the target of a tool that reads a pane: see [call.spec]. A session's
// name that tmux could take for more than a name is looked up first.
func (c *call) reading(ctx context.Context, s selection) (tmux.Target, error) {
	if s.pane != "" || s.window != "" || s.session != "" || plainName(s.name) {
		return c.spec(s)
	}
	p, err := c.findPane(ctx, s)
	if err != nil {
		return nil, err
	}
	return p.PaneID, nil
}
