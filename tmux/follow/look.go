package follow

import (
	"context"
	"strings"
	"unicode/utf8"

	"tmuxmcp/tmux"
)

// The rows of a pane's normal screen are numbered from the oldest of its history. A row's
// number is the size of the history plus its row on the screen, and does not change when
// the screen scrolls or the pane's height changes. Numbers change when tmux trims or clears
// the history, when the pane's width changes and, below it, when a part of the screen
// scrolls.

// PaneState is the state of a pane in a [Look], apart from its text.
type PaneState struct {
	ID tmux.PaneID `tmux:"pane_id"`
	// PID is nil from tmux 3.8 on once the program has closed its terminal, which happens
	// before the pane is Dead.
	PID        *int   `tmux:"pane_pid"`
	TTY        string `tmux:"pane_tty"`
	Dead       bool   `tmux:"pane_dead"`
	DeadStatus *int   `tmux:"pane_dead_status"`
	// Bell is set while the pane's window has a bell that no client has shown.
	Bell bool `tmux:"window_bell_flag"`
	// Alternate is set while the program draws on the alternate screen.
	Alternate bool `tmux:"alternate_on"`
	Width     int  `tmux:"pane_width"`
	Height    int  `tmux:"pane_height"`
	// CursorX and CursorY are the cursor's column and row on the screen, from 0.
	CursorX int `tmux:"cursor_x"`
	CursorY int `tmux:"cursor_y"`
	// History is the number of rows above the screen, and Limit its maximum.
	History int `tmux:"history_size"`
	Limit   int `tmux:"history_limit"`
	// Generation counts the pane's output; nil before tmux 3.8.
	Generation *int64 `tmux:"pane_output_generation,since=3.8"`

	// How often the history was cleared or rewrapped, how many rows were added to it, and
	// how many were trimmed.
	HistoryGeneration *int64 `tmux:"history_generation,since=3.8"`
	HistoryAdded      *int64 `tmux:"history_added,since=3.8"`
	HistoryCollected  *int64 `tmux:"history_collected,since=3.8"`

	SavedY int `tmux:"alternate_saved_y"`
}

// pid returns the program's process, or 0 if it has closed its terminal.
func (s PaneState) pid() int {
	if s.PID == nil {
		return 0
	}
	return *s.PID
}

// printedSince reports whether the pane has printed since an earlier state; false if this tmux
// does not count that.
func (s PaneState) printedSince(was PaneState) bool {
	return s.Generation != nil && was.Generation != nil && *s.Generation != *was.Generation
}

// counted reports whether this tmux has the counters.
func (s PaneState) counted() bool {
	return s.HistoryGeneration != nil && s.HistoryAdded != nil && s.HistoryCollected != nil
}

// Look is one look at a pane: what it shows, and what is new since an earlier look. See
// [LookAt].
type Look struct {
	PaneState
	// New holds the lines printed, changed or drawn since the earlier look, in order: first
	// the history and the normal screen, then the alternate screen. A wrapped line is one
	// line. A line that only moved is not new, unless it moved from the alternate screen to
	// the normal one. Trailing spaces are removed.
	New []string
	// NewRows holds the number of the first row of each line of New. Rows of the history
	// and the normal screen count from 0, the oldest; those of the alternate screen from -1
	// down.
	NewRows []int
	// Shift is by how much row numbers fell since the earlier look because tmux trimmed the
	// history; -1 if unknown.
	Shift int
	// Missed is set unless New is proven to be complete. New then holds what the screen
	// shows or, if the only doubt is whether rows below the cursor were cut off, what is
	// new.
	Missed bool
	// WasRow is the present number of the row in which the cursor was at the earlier look, and
	// WasY that row on the screen; -1 if unknown, or if either look is of the alternate screen.
	WasRow, WasY int
	// Respawned is set if another program runs in the pane than at the earlier look, or has
	// run there last, as far as this tmux says so of a pane whose program has ended.
	Respawned bool
	// Printed is set if New is not empty, if lines may be missing from it, or if the cursor
	// moved down past blank lines.
	Printed bool

	rows    []string   // of the normal screen and of the history from top on, with trailing spaces
	top     int        // the number of the first row
	normal  int        // how many of them are on the normal screen
	all     []textLine // the same rows as lines
	altRows []string   // of the alternate screen, if it shows
	alt     []textLine
	digests knownRows // of rows, computed when needed
	// mixed is set if the alternate screen hides rows that tmux may rewrap later.
	mixed bool
	grown int // by how many rows the history has grown since the earlier look
}

// cursor returns the number of the cursor's row on the normal screen or, while the
// alternate screen shows, the row it was in.
func (l *Look) cursor() int {
	if l.Alternate {
		return l.History + min(l.SavedY, l.normal-1)
	}
	return l.History + min(l.CursorY, l.normal-1) // tmux 3.6 may report it below a screen that it rewrapped
}

// CursorLine returns the text of the line that the cursor is in and the number of its first
// row, as in NewRows.
func (l *Look) CursorLine() (row int, text string) {
	lines, at := l.all, l.cursor()
	if l.Alternate {
		lines, at = l.alt, l.CursorY
	}
	for _, line := range lines {
		if line.first <= at && at < line.end {
			row, text = line.first, line.text
		}
	}
	if l.Alternate {
		row = -1 - row
	}
	return row, text
}

// Above returns up to n lines above the cursor's, the nearest first, and the numbers of their
// first rows, as in NewRows. On the normal screen they may be above the visible part, as far
// as that was read.
func (l *Look) Above(n int) (texts []string, rows []int) {
	lines, at := l.all, l.cursor()
	if l.Alternate {
		lines, at = l.alt, l.CursorY
	}
	for i := len(lines) - 1; i >= 0 && len(texts) < n; i-- {
		if line := lines[i]; line.end <= at {
			if l.Alternate {
				line.first = -1 - line.first
			}
			texts, rows = append(texts, line.text), append(rows, line.first)
		}
	}
	return texts, rows
}

// LineAt returns the text of the normal screen's line in a row and the number of its first row,
// as in NewRows; -1 if that was not read.
func (l *Look) LineAt(row int) (first int, text string) {
	for _, line := range l.all {
		if line.first <= row && row < line.end {
			return line.first, line.text
		}
	}
	return -1, ""
}

// CursorRow returns the text of the cursor's row, and of the rows above it that belong to
// the same line.
func (l *Look) CursorRow() (above, row string) {
	lines, rows, top, at := l.all, l.rows, l.top, l.cursor()
	if l.Alternate {
		lines, rows, top, at = l.alt, l.altRows, 0, l.CursorY
	}
	for _, line := range lines {
		if line.first <= at && at < line.end {
			above, row = strings.Join(rows[line.first-top:at-top], ""), rows[at-top]
		}
	}
	return above, row
}

// CursorIn returns the number of the cursor's row, as in NewRows.
func (l *Look) CursorIn() int {
	if l.Alternate {
		return -1 - l.CursorY
	}
	return l.cursor()
}

// typed returns the text of a line up to the cursor, which is in row at. It returns the
// whole line on the alternate screen, if there is no text before the cursor, or where cells
// are not bytes.
func (l *Look) typed(line textLine, at int) string {
	if l.Alternate || strings.ContainsFunc(line.text, func(r rune) bool { return r == '\t' || r >= utf8.RuneSelf }) {
		return line.text
	}
	above := strings.Join(l.rows[line.first-l.top:at-l.top], "")
	if text := strings.TrimRight(line.text[:min(len(line.text), len(above)+l.CursorX)], " "); text != "" {
		return text
	}
	return line.text
}

// wraps reports whether any row of the normal screen is wrapped or so long that it may be
// cut: tmux does not rewrap what the alternate screen hides when the pane's width changes.
func (l *Look) wraps() bool {
	known := l.known()
	for n := l.History; n < known.end(); n++ {
		if row := l.rows[n-l.top]; known.goesOn(n) || len(row) >= l.Width || strings.Contains(row, "\t") {
			return true
		}
	}
	return false
}

// textLine is a line of text: one row, or several if it is wrapped.
type textLine struct {
	text       string // without trailing spaces
	first, end int    // the numbers of its first row and of the one after its last
}

// Lines returns the lines on the visible screen, down to the last that is not blank.
func (l *Look) Lines() []string {
	shown, _ := l.shown()
	return shown
}

// shown returns Lines and their rows as in NewRows.
func (l *Look) shown() (shown []string, rows []int) { return l.from(l.History) }

// from returns the lines on the screen or, on the normal one, from a row on.
func (l *Look) from(row int) (shown []string, rows []int) {
	lines := l.all
	if l.Alternate {
		lines = l.alt
	}
	for _, line := range lines {
		if l.Alternate {
			line.first = -1 - line.first
		}
		if l.Alternate || line.end > row {
			shown, rows = append(shown, line.text), append(rows, line.first)
		}
	}
	shown = trimBlank(shown)
	return shown, rows[:len(shown)]
}

// printed returns the lines that the program has left on the screen. tmux writes its notice
// below those of a program that has ended, and pushes the first into the history.
func (l *Look) printed() (shown []string, rows []int) {
	shown, rows = l.shown()
	if without := l.withoutNotice(shown); len(without) < len(shown) {
		shown, rows = l.from(l.History - 1)
		shown = l.withoutNotice(shown)
	}
	return shown, rows[:len(shown)]
}

// withoutNotice removes what tmux itself wrote on the last line of a dead pane.
func (l *Look) withoutNotice(lines []string) []string {
	if n := len(lines) - 1; l.Dead && n >= 0 && isNotice(lines[n]) {
		return trimBlank(lines[:n])
	}
	return lines
}

func isNotice(line string) bool { return strings.HasPrefix(line, "Pane is dead") }

// Blank reports whether the screen shows no text.
func (l *Look) Blank() bool { return len(l.Lines()) == 0 }

// Tail returns [Look.Lines], on the normal screen after the lines above that were read.
func (l *Look) Tail() []string {
	if l.Alternate {
		return l.Lines()
	}
	var read []string
	for _, line := range l.all {
		read = append(read, line.text)
	}
	return trimBlank(read)
}

// trimBlank removes trailing blank lines.
func trimBlank(lines []string) []string {
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

const (
	// tailRows is how many rows above the screen a look remembers. Nothing can write to
	// them any more, so they show whether rows still have their numbers.
	tailRows = 40
	// farRows is how many rows above those a later look remembers as one: a pane that was
	// higher in between may have had them on its screen.
	farRows = 60
	// leastSlack is how many rows a pane may print between two looks without costing
	// another round trip.
	leastSlack = 40
	// mostRows is the maximum number of rows of the history that are read.
	mostRows = 50_000
)

// LookAt looks at a pane; if target is nil, tmux picks one. Given the [Mark] of an earlier
// look, it reports what is new since then. It takes one round trip to the server, or two or
// three if much was printed or rows may have been renumbered.
//
// The new Look has missed lines unless all of this holds:
//
//   - The same program runs in the pane, and the pane's width is the same. If wrapped or
//     long lines were hidden by the alternate screen when the width changed, they still
//     are.
//   - The pane's height is the same, or it has a history and nothing was below the cursor
//     at either look.
//   - The rows above the screen that the earlier look remembers (40 if it was the first,
//     otherwise 100) are where they were, less the rows that tmux trimmed, and no row was
//     trimmed that was on the screen at the earlier look. From tmux 3.8 on, it is known how
//     many were trimmed, unless the history was cleared. Before, a number is proven if
//     three or more different lines above the screen fit it, and no other number fits. In a
//     pane without history, the first row and three lines are where they were, or
//     everything is unchanged.
//   - No rows are missing at the end of the screen, except as many as it got lower.
//   - Of the lines with text above the cursor's that have not scrolled off the screen, one
//     is still there. If there were none, there is still no text above the cursor's line,
//     the cursor is no higher, and its line is not blank if it had text.
//
// Text that the program overwrites on the screen between two looks, such as a progress bar,
// is not seen. Neither is text that was erased as a whole while all of this holds
// nevertheless, mainly before tmux 3.8 in a pane with no text above the cursor's line, nor
// what tmux cuts off below the cursor when a pane gets lower. If the pane was resized and
// got its old size back in between, the same is true of what was drawn in rows that had
// been further above the screen or were rewrapped, and of what tmux trimmed meanwhile.
func LookAt(ctx context.Context, srv *tmux.Server, target tmux.Target, since *Mark) (*Look, error) {
	above := tailRows
	if since != nil {
		above += farRows + leastSlack + 2*since.grown
	}
	for try := 0; ; try++ {
		above = min(above, mostRows)
		var b tmux.Batch
		l := addLook(&b, target, above)
		if err := b.Do(ctx, srv); err != nil {
			return nil, err
		}
		if since == nil {
			return l, nil
		}
		l.Respawned = since.PID != 0 && l.PID != nil && since.PID != *l.PID
		need := since.compare(l, try == 3 || l.top == 0 || above == mostRows)
		if need >= l.top {
			return l, nil
		}
		// More rows may be printed before they are read.
		above = l.History - need + leastSlack + 2*max(0, l.History-since.history)
	}
}

// AddLook appends a look at a pane. After [tmux.Batch.Do], the Look shows the pane as it was
// between the commands before and after it, with nothing new.
func AddLook(b *tmux.Batch, target tmux.Target) *Look { return addLook(b, target, tailRows) }

// addLook appends the commands that read a pane, from above rows above the screen on.
func addLook(b *tmux.Batch, target tmux.Target, above int) *Look {
	l := &Look{WasRow: -1, WasY: -1}
	start := tmux.Line(-above)
	states := tmux.AddRows[PaneState](b, tmux.DisplayMessage{Target: target})
	capture := func(what tmux.CapturePane, then func(out []byte)) {
		what.Target, what.Print = target, true
		tmux.AddFunc(b, func(v tmux.Version) (tmux.Command, error) {
			// Rows as -J joins them: up to tmux 3.3, with the unused cells.
			what.UsedCells = what.KeepSpaces && tmux.FeatureOf(what, "UsedCells").In(v)
			return what, nil
		}, func(_ tmux.Version, out []byte) error { then(out); return nil })
	}
	var rows, lines, saved []byte
	capture(tmux.CapturePane{KeepSpaces: true, Start: start}, func(out []byte) { rows = out })
	capture(tmux.CapturePane{Join: true, Start: start}, func(out []byte) { lines = out })
	// Without an alternate screen these two print nothing.
	capture(tmux.CapturePane{KeepSpaces: true, Alternate: true, Quiet: true}, func(out []byte) { saved = out })
	capture(tmux.CapturePane{Join: true, Alternate: true, Quiet: true}, func(savedLines []byte) {
		l.PaneState = (*states)[0]
		l.top = max(0, l.History-above)
		l.rows = splitRows(rows)
		joined := splitRows(lines)
		if l.Alternate {
			// The visible screen is the alternate one; the history is the normal one's.
			shown := min(len(l.rows), l.History-l.top)
			above, below, wrapped := splitJoined(joined, l.rows, shown)
			l.altRows = l.rows[shown:]
			l.alt = joinRows(l.altRows, below, 0)
			hidden := splitRows(savedLines)
			if wrapped {
				hidden[0] = above[len(above)-1] + hidden[0]
				above = above[:len(above)-1]
			}
			l.rows = append(l.rows[:shown:shown], splitRows(saved)...)
			joined = append(above[:len(above):len(above)], hidden...)
		}
		l.all = joinRows(l.rows, joined, l.top)
		l.normal = l.top + len(l.rows) - l.History
		l.mixed = l.Alternate && l.wraps()
	})
	return l
}

func splitRows(out []byte) []string {
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

// splitJoined splits joined lines before a row. If that row is in the middle of a line,
// each part gets its piece of the line, and wrapped is set.
func splitJoined(joined, rows []string, at int) (above, below []string, wrapped bool) {
	next := 0
	for i, text := range joined {
		if next == at {
			return joined[:i], joined[i:], false
		}
		first := next
		for size := 0; next < len(rows) && (next == first || size < len(text)); next++ {
			if next == at {
				above = append(joined[:i:i], text[:size])
				return above, append([]string{text[size:]}, joined[i+1:]...), true
			}
			size += len(rows[next])
		}
	}
	return joined, nil, false
}

// joinRows determines which rows each joined line consists of.
func joinRows(rows, joined []string, top int) []textLine {
	lines := make([]textLine, 0, len(joined))
	next := 0
	for _, text := range joined {
		l := textLine{text: strings.TrimRight(text, " "), first: top + next}
		for size := 0; next < len(rows) && (l.first == top+next || size < len(text)); next++ {
			size += len(rows[next])
		}
		l.end = top + next
		lines = append(lines, l)
	}
	return lines
}
