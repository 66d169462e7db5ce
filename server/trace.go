package server

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// traceRows is how many rows above the screen a trace remembers.
const traceRows = 10

// trace is what a look at a pane leaves behind, so that the next one can check
// whether rows still have their numbers. Nothing can write to rows above the screen
// any more, so they are the proof; if there are too few of them, so is what stood on
// the screen above the cursor.
//
// No trace shows that a pane was cleared before tmux 3.8 if there was nothing
// above the cursor, or if the same was printed again.
type trace struct {
	history, cursor int

	Width     int    `json:"width,omitempty"`
	Alternate bool   `json:"alternate,omitempty"`
	Above     string `json:"above,omitempty"`  // digest of the last rows above the screen
	Screen    string `json:"screen,omitempty"` // of the rows of the screen above the cursor
	Hidden    string `json:"hidden,omitempty"` // of those that the alternate screen hides
	// Generation counts how often the history was cleared or wrapped anew, and
	// Collected the rows that were trimmed; nil before tmux 3.8.
	Generation *int64 `json:"generation,omitempty"`
	Collected  *int64 `json:"collected,omitempty"`
}

// trace is what this look leaves behind.
func (g *grid) trace() trace {
	t := trace{
		history: g.History, cursor: g.cursor(), Width: g.Width, Alternate: g.Alternate, Hidden: g.hidden,
		Generation: g.HistoryGeneration, Collected: g.HistoryCollected,
	}
	t.Above, _ = g.digest(max(0, t.history-traceRows), t.history)
	t.Screen, _ = g.digest(t.history, t.cursor)
	return t
}

// digest is a short hash of the rows before end; ok is false when some are not
// there.
func (g *grid) digest(first, end int) (hash string, ok bool) {
	h := sha256.New()
	for n := first; n < end; n++ {
		row, ok := g.row(n)
		if !ok {
			return "none", false
		}
		h.Write([]byte(row + "\n"))
	}
	return hex.EncodeToString(h.Sum(nil)[:4]), true
}

// holds reports whether all rows have the numbers that they had at the trace,
// less shift.
func (t trace) holds(g *grid, shift int) bool {
	same := func(want string, first, end int) bool {
		got, ok := g.digest(first-shift, end-shift)
		return ok && got == want
	}
	wrapped := g.Width != t.Width
	switch {
	case t.Width == 0: // a cursor that another program made
		return false
	case t.Generation != nil && g.HistoryGeneration != nil && *t.Generation != *g.HistoryGeneration && (!wrapped || t.cursor == 0):
		return false
	case !same(t.Above, max(0, t.history-traceRows), t.history):
		return false
	case t.Alternate != g.Alternate || t.Hidden != g.hidden || t.Alternate && (t.history-shift != g.History || wrapped):
		// Neither screen shows what was printed on the other.
		return false
	}
	return t.history >= traceRows && !wrapped && !t.Alternate || same(t.Screen, t.history, t.cursor)
}

// mayBeTrimmed reports whether tmux may have trimmed the history since the trace.
func (t trace) mayBeTrimmed(s paneState) bool {
	return s.mayTrim() || t.history >= s.Limit-s.trimStep()
}

// moved is by how much the numbers of the rows fell since the trace, as tmux
// trims the same number of rows each time; ok is false when that is not certain.
// When rows may have been trimmed, the grid must hold the whole history.
func (t trace) moved(g *grid) (shift int, ok bool) {
	switch {
	case !t.mayBeTrimmed(g.paneState):
		return 0, t.holds(g, 0)
	case t.cursor == 0 && g.HistoryCollected == nil:
		return 0, false // nothing was above it to find again
	case t.Collected != nil && g.HistoryCollected != nil:
		shift = int(*g.HistoryCollected - *t.Collected)
		return shift, shift >= 0 && t.holds(g, shift)
	}
	step := g.trimStep()
	least := max(0, t.cursor-g.History-g.Height) // nothing is below the screen
	for by := (least + step - 1) / step * step; by <= t.cursor; by += step {
		if !t.holds(g, by) {
			continue
		}
		if ok {
			return 0, false
		}
		shift, ok = by, true
	}
	return shift, ok
}

// hides is the digest of the rows that the alternate screen hides, which only
// count as such if they are of the same moment.
func (g *grid) hides(hidden *grid) string {
	if !hidden.Alternate || hidden.History != g.History {
		return "none"
	}
	sum := sha256.Sum256([]byte(strings.Join(hidden.rows, "\n")))
	return hex.EncodeToString(sum[:4])
}
