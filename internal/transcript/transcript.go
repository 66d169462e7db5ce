// Package transcript turns what a program prints in a pane into lines of text.
package transcript

import (
	"slices"
	"unicode"

	"tmuxmcp/internal/cells"
)

// ascii has each character of one byte, so that it takes no memory of its own.
var ascii = string(slices.Collect(func(yield func(byte) bool) {
	for c := byte(0); c < 0x80 && yield(c); c++ {
	}
}))

// Transcript is a tmux pane, as far as its text goes: a screen of the pane's size, whose top
// rows move into the history. The rows of the output become lines: what capture-pane -J shows
// of them, with those trailing blanks and tabs that the program has written. A tab over
// blanks is a tab, as from tmux 3.6 on, and a row that wraps before a wide character is
// joined without a blank, as from 3.4 on.
//
// It does what all of tmux 3.2a to 3.8 do with their default options. Anything that may
// differ sets Missed. So does text that is drawn above the first row of the output, or that
// is erased from the history but kept here. If the pane was resized, Holds reports whether
// that matters.
//
// It accepts any bytes, in pieces of any size.
type Transcript struct {
	// Missed is set if the lines may differ from what tmux shows.
	Missed bool

	emit          func(line string)
	columns, rows int
	placed        bool // the cursor moved to a row other than the next
	widest        int  // the last column written; all if the cursor moved where nothing was
	// above is set if the row above the output has text and it does not matter what becomes
	// of the rows above.
	above bool

	screen []*row
	cursor
	saved  cursor
	bottom int // the last of the rows that scroll, which begin with the first
	// hidden is by how many rows everything may be further up: output that begins in an
	// unknown row is assumed to begin in the last.
	hidden    int
	alternate bool   // the alternate screen is on; drawing there is not output
	line      []byte // the part of an unfinished line that is in the history
	joins     bool   // there is such a part
	scrolled  bool   // rows have moved into the history

	see    func(line string) // may be nil: see Watch
	unseen bool              // something was written in the cursor's line since see got it
	credit *int              // how many bytes see may still get
	seen   []byte            // the line that it gets
	full   *Transcript       // the alternate screen, if it is on and see is set

	state    state
	sequence []byte // so far
	args     []int
	char     []byte // so far
}

// row holds the characters of a row, as far as tmux has any; they are "" in the second
// column of a wide character, tabbed in the further columns of a tab, and empty where there
// is a blank that the program has not written.
type row struct {
	cells   []string
	wrapped bool
	own     bool // belongs to the output
}

const (
	tabbed = "\x00"
	empty  = "\x01"
)

// cursor is where the next character goes; at column t.columns it wraps.
type cursor struct {
	row, col int
	lost     bool // the row is unknown
	moved    bool // the row is counted from the top of the screen, not relative to other rows
	since    int  // the value of hidden when it was saved
}

const (
	maxLine     = 1 << 20 // bytes of a line; longer lines are split
	maxCell     = 21      // bytes of a character including combining characters
	maxSequence = 63
)

// New returns a transcript that begins in a row of a screen that is blank from
// there on, or in an unknown row if start is negative.
func New(columns, rows, start int, emit func(line string)) *Transcript {
	t := &Transcript{emit: emit, columns: columns, rows: rows}
	if most := 10_000; columns < 1 || rows < 1 || columns > most || rows > most { // tmux's own limit
		t.columns, t.rows, t.Missed = 80, 24, true
	}
	if t.row = start; start < 0 || start >= t.rows {
		t.row, t.hidden, t.scrolled = t.rows-1, t.rows-1, true
	}
	for y := range t.rows {
		t.screen = append(t.screen, &row{own: y >= t.row})
	}
	t.bottom, t.saved.lost = t.rows-1, true
	return t
}

// Below records that the row above the output has text, and that what becomes of the rows above
// does not matter.
func (t *Transcript) Below() {
	t.above, t.scrolled, t.hidden = true, false, max(0, t.hidden-1)
}

// Holds reports whether nothing was missed, given the pane's present size.
func (t *Transcript) Holds(columns, rows int) bool {
	switch {
	case columns == t.columns && rows == t.rows:
		return !t.Missed
	case columns != t.columns && t.widest >= min(columns, t.columns)-1:
		return false
	}
	return !t.Missed && !t.placed
}

// failIf records that from here on tmux may show something else.
func (t *Transcript) failIf(odd bool) {
	if odd {
		t.Missed, t.hidden, t.lost = true, 0, false
	}
}

// Flush emits the rest at the end of the output.
func (t *Transcript) Flush() {
	t.putChars(true)
	t.Missed = t.Missed || t.alternate
	for _, r := range t.screen[:max(t.used(), t.row)] { // a newline ends a line and begins none
		t.push(r)
	}
	t.unwrap(-1)
}

// used returns the number of rows down to the last one with text.
func (t *Transcript) used() int {
	y := t.rows
	for y > 0 && (!t.screen[y-1].own || len(t.screen[y-1].cells) == 0) {
		y--
	}
	return y
}

// push moves a row into the history.
func (t *Transcript) push(r *row) {
	t.scrolled = t.scrolled || r.own || !t.above
	if !r.own {
		return
	}
	t.line = r.appendTo(t.line)
	if len(t.line) > maxLine {
		t.failIf(true)
		if t.see != nil {
			t.see(string(t.line))
		}
	}
	if t.joins = true; !r.wrapped || len(t.line) > maxLine {
		t.unwrap(-1)
	}
}

func (r *row) appendTo(line []byte) []byte {
	written := len(r.cells)
	for !r.wrapped && written > 0 && r.cells[written-1] == empty {
		written--
	}
	for _, c := range r.cells[:written] {
		switch c {
		case tabbed:
		case empty:
			line = append(line, ' ')
		default:
			line = append(line, c...)
		}
	}
	return line
}

// unwrap ends the line of a row, or the one in the history.
func (t *Transcript) unwrap(y int) {
	if y >= 0 {
		t.screen[y].wrapped = false
	} else if t.joins {
		t.emit(string(t.line))
		t.line, t.joins = t.line[:0], false
	}
}

// unsure reports whether the cursor's row is unknown.
func (t *Transcript) unsure() bool {
	return t.lost || t.hidden > 0 && (t.moved || t.bottom < t.rows-1)
}

// here returns the cursor's row, for changing it.
func (t *Transcript) here() *row {
	r := t.screen[t.row]
	t.failIf(t.unsure() || !r.own)
	r.own = true
	return r
}

func (t *Transcript) put(c rune) {
	if t.alternate {
		if t.full != nil {
			t.full.put(c)
		}
		return
	}
	t.unseen = true
	w, cell := 1, ""
	if c < 0x80 {
		cell = ascii[c : c+1]
	} else {
		w, cell = cells.Of(c), string(c)
		t.failIf(w > t.columns || cells.Vary(c) || !unicode.IsGraphic(c) && !unicode.In(c, unicode.Cf, unicode.Co))
	}
	if w == 0 || w > t.columns {
		t.combine(cell)
		return
	}
	if t.col > t.columns-w {
		r := t.here()
		t.failIf(len(r.cells) <= t.columns-w)
		r.wrapped = true
		t.lineFeed()
		t.col = 0
	}
	r, x := t.here(), t.col
	if x < len(r.cells) { // a partly overwritten character becomes blank
		t.failIf(c >= 0x80 && r.cells[x] == "\t" || x == 1 && r.splits(x)) // differs in tmux 3.6, and 3.4
		from, to := x, x+w
		for from > 0 && r.splits(from) {
			from--
		}
		for r.splits(to) {
			to++
		}
		for y := from; y < to; y++ {
			if y < x || r.splits(y) {
				r.cells[y] = " "
			}
		}
	}
	r.extend(x + w)
	if r.cells[x] = cell; w == 2 {
		r.cells[x+1] = ""
	}
	t.col += w
	t.widest = max(t.widest, t.col)
}

// goTo moves to a column where nothing may have been written: when a pane's width changes,
// tmux puts the cursor behind the text.
func (t *Transcript) goTo(column int) { t.col, t.widest = column, t.columns }

// combine adds a zero-width character to the one before the cursor.
func (t *Transcript) combine(c string) {
	if t.col == 0 {
		return
	}
	r, x := t.here(), t.col-1
	r.extend(t.col)
	if r.cells[x] == "" && x > 0 {
		x--
	}
	if r.cells[x] == empty {
		r.cells[x] = " "
	}
	old := r.cells[x]
	t.failIf(len(old)+len(c) > maxCell || old == "" || old == "\t" || old == tabbed || r.splits(t.col))
	if len(old)+len(c) <= maxCell {
		r.cells[x] += c
	}
}

func (r *row) extend(n int) {
	for len(r.cells) < n {
		r.cells = append(r.cells, empty)
	}
}

// splits reports whether a column is not the first of its character.
func (r *row) splits(x int) bool {
	return x < len(r.cells) && (r.cells[x] == "" || r.cells[x] == tabbed)
}

func (t *Transcript) lineFeed() {
	t.failIf(t.unsure())
	if t.col > 0 {
		t.goTo(t.col)
	}
	if t.row != t.bottom {
		t.row = min(t.row+1, t.rows-1)
		return
	}
	t.scrollUp()
	t.hidden = max(0, t.hidden-1)
}

// scrollUp moves the first of the scrolling rows into the history.
func (t *Transcript) scrollUp() {
	first := t.screen[0]
	t.failIf(!t.screen[t.bottom].own)
	t.push(first)
	copy(t.screen, t.screen[1:t.bottom+1])
	*first = row{cells: first.cells[:0], own: true}
	t.screen[t.bottom] = first
}

// clearRows clears rows, if any, which the row above then no longer continues in.
func (t *Transcript) clearRows(from, n int) {
	if n == 0 {
		return
	}
	for y := from; y < from+n; y++ {
		r := t.screen[y]
		*r = row{cells: r.cells[:0], own: r.own}
	}
	t.unwrap(from - 1)
}

// erase clears columns of the cursor's row.
func (t *Transcript) erase(from, to int) {
	r := t.here()
	if from == 0 && to == t.columns {
		t.clearRows(t.row, 1)
		return
	}
	t.failIf(r.splits(from) || r.splits(to))
	for x := from; x < min(to, len(r.cells)); x++ {
		r.cells[x] = empty
	}
}

// eraseLine erases in the cursor's row.
func (t *Transcript) eraseLine(mode int) {
	if mode > 0 && t.col > 0 {
		t.goTo(t.col)
	}
	switch {
	case mode == 0 && t.col == 0, mode == 1 && t.col >= t.columns-1, mode == 2:
		// In an empty row, colours decide whether the row above stays wrapped.
		t.failIf(len(t.here().cells) == 0 && (t.row == 0 && t.joins || t.row > 0 && t.screen[t.row-1].wrapped))
		t.clearRows(t.row, 1)
	case mode == 0 && t.col < t.columns:
		t.erase(t.col, t.columns)
	case mode == 1:
		t.erase(0, t.col+1)
	}
}

// eraseScreen erases below the cursor, above it, the whole screen, or the history.
func (t *Transcript) eraseScreen(mode int) {
	switch {
	case mode == 3:
		t.failIf(t.scrolled || len(t.args) > 1)
	case t.alternate:
	case mode == 0 && t.row == 0 && t.col == 0 && (t.moved || t.hidden == 0):
		t.failIf(t.lost)
		t.clear()
	case mode == 0:
		t.failIf(t.row <= t.hidden && t.hidden > 0 && t.col == 0 && t.used() > t.row) // it may be row 0
		if t.here(); t.col < t.columns {
			t.erase(t.col, t.columns)
		}
		t.clearRows(t.row+1, t.rows-t.row-1)
	case mode == 1:
		t.failIf(true)
	case mode == 2:
		t.clear()
	}
}

// clear moves the rows down to the last one with text into the history.
func (t *Transcript) clear() {
	last := t.used()
	if last == 0 {
		last = slices.IndexFunc(t.screen, func(r *row) bool { return r.own })
		t.failIf(last > 0 && !t.above)
	} else { // tmux versions differ in whether blanks are text
		t.failIf(!slices.ContainsFunc(t.screen[last-1].cells, func(c string) bool { return c > " " }))
	}
	t.lost = t.lost || t.hidden > 0 && !t.moved
	bottom := t.bottom
	t.hidden, t.bottom = 0, t.rows-1
	for range last {
		t.scrollUp()
	}
	t.bottom = bottom
	t.clearRows(0, t.rows-last)
}
