// Package transcript turns what a program prints in a pane into lines of text.
package transcript

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

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
	alternate bool   // the alternate screen is on; drawing there is ignored
	line      []byte // the part of an unfinished line that is in the history
	joins     bool   // there is such a part
	scrolled  bool   // rows have moved into the history

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

type state int

const (
	text state = iota
	escape
	control
	operating // OSC
	other     // DCS, APC, PM, SOS, or a window's name
)

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

// Below records that the row above the output has text, and that it does not matter what
// becomes of the rows above.
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
	written := len(r.cells)
	for !r.wrapped && written > 0 && r.cells[written-1] == empty {
		written--
	}
	for _, c := range r.cells[:written] {
		switch c {
		case tabbed:
		case empty:
			t.line = append(t.line, ' ')
		default:
			t.line = append(t.line, c...)
		}
	}
	t.failIf(len(t.line) > maxLine)
	if t.joins = true; !r.wrapped || len(t.line) > maxLine {
		t.unwrap(-1)
	}
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

// put writes a character.
func (t *Transcript) put(c rune) {
	if t.alternate {
		return
	}
	w, cell := 1, ""
	if c < 0x80 {
		cell = ascii[c : c+1]
	} else {
		w, cell = widthOf(c), string(c)
		t.failIf(w > t.columns || unicode.In(c, jamo, unlike) || !unicode.IsGraphic(c) && !unicode.In(c, unicode.Cf, unicode.Co))
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

// lineFeed moves to the next row.
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

// Write processes more of the program's output. It never fails.
func (t *Transcript) Write(p []byte) (int, error) {
	for _, c := range p {
		if len(t.char) > 0 && c < 0x80 {
			t.putChars(true)
		}
		switch {
		case t.state == text && c >= ' ' && c < 0x7f:
			t.put(rune(c))
		case c == 0x18 || c == 0x1a: // CAN and SUB
			t.state = text
		case c == 0x1b:
			t.state, t.sequence = escape, t.sequence[:0]
		case t.state >= operating && c == '\n':
			// In tmux it continues until ESC or CAN, or for five seconds. But binary noise
			// that looks like its beginning must not swallow the rest.
			t.failIf(true)
			t.state = text
			t.control(c)
		case t.state >= operating:
			if t.state == operating && c == 0x07 {
				t.state = text
			}
		case c < ' ':
			t.control(c)
		case c == 0x7f, c >= 0x80 && t.state != text:
		case t.state == text:
			t.char = append(t.char, c)
			t.putChars(false)
		default:
			t.collect(c)
		}
	}
	return len(p), nil
}

// putChars puts the characters of the collected bytes; with all, even an incomplete one.
// tmux versions differ in what they show for invalid bytes.
func (t *Transcript) putChars(all bool) {
	for len(t.char) > 0 && (all || utf8.FullRune(t.char)) {
		c, n := utf8.DecodeRune(t.char)
		t.failIf(n == 1)
		t.char = append(t.char[:0], t.char[n:]...)
		t.put(c)
	}
}

// control handles a control character.
func (t *Transcript) control(c byte) {
	switch {
	case c == 0x0e: // SO: line drawing
		t.failIf(true)
	case t.alternate:
	case c == '\n' || c == '\v' || c == '\f':
		t.lineFeed()
	case c == '\r':
		t.col = 0
	case c == '\b' && t.col > 0:
		t.col--
	case c == '\b' && t.row > 0 && t.screen[t.row-1].wrapped:
		t.here()
		t.row, t.col, t.placed = t.row-1, t.columns-1, true
	case c == '\t' && t.col < t.columns-1:
		r, from := t.here(), t.col
		t.goTo(min(from/8*8+8, t.columns-1))
		for x := from; x < min(t.col, len(r.cells)); x++ {
			if r.cells[x] != " " && r.cells[x] != empty {
				return
			}
		}
		t.failIf(from < len(r.cells)) // only if they look the same
		r.extend(t.col)
		for x := from; x < t.col; x++ {
			r.cells[x] = tabbed
		}
		r.cells[from] = "\t"
	}
}

var introducers = map[byte]state{'[': control, ']': operating, 'P': other, 'X': other, '^': other, '_': other, 'k': other}

// collect takes the next byte of a sequence.
func (t *Transcript) collect(c byte) {
	next, introduces := introducers[c]
	switch begun := len(t.sequence) > 0; {
	case c < 0x30, c < 0x40 && t.state == control:
		t.sequence = append(t.sequence, c)
		if len(t.sequence) > 2*maxSequence {
			t.failIf(true)
			t.state = text
		}
	case t.state == control:
		t.state = text
		t.command(t.parse(c))
	case introduces && !begun:
		t.failIf(c == 'P') // it may be an image
		t.state = next
	default:
		t.state, t.args = text, t.args[:0]
		t.command("\x1b" + string(t.sequence) + string(c))
	}
}

// parse parses a control sequence and returns it without parameters; "" if invalid.
func (t *Transcript) parse(final byte) string {
	s := string(t.sequence)
	private := len(s) - len(strings.TrimLeft(s, "<=>?"))
	between := strings.TrimLeft(s[private:], "0123456789:;")
	params := s[private : len(s)-len(between)]
	t.args = t.args[:0]
	for p := range strings.SplitSeq(params, ";") {
		n, err := strconv.ParseInt(p, 10, 32)
		if p == "" {
			n = -1
		} else if err != nil {
			t.failIf(final != 'm')
		}
		t.args = append(t.args, int(n))
	}
	t.failIf(final != 'm' && (private > 1 || strings.Trim(between, " !\"#$%&'()*+,-./") != "" || len(params) > maxSequence || len(t.args) > 23))
	return s[:private] + between + string(final)
}

// arg returns a parameter of a sequence, at least least, or otherwise if it is omitted.
func (t *Transcript) arg(i, least, otherwise int) int {
	if i >= len(t.args) || t.args[i] < 0 {
		return otherwise
	}
	return max(t.args[i], least)
}

// placing are the sequences after which the cursor may be in any row, and those that change
// other rows; entering and leaving the alternate screen belongs here too.
var placing = map[string]bool{
	"A": true, "B": true, "E": true, "F": true, "H": true, "f": true, "d": true, "r": true,
	"\x1b8": true, "u": true, "\x1bc": true, "J": true,
}

// command handles a sequence. Sequences without a meaning to tmux are ignored here too.
func (t *Transcript) command(key string) {
	n := t.arg(0, 1, 1)
	t.placed = t.placed || placing[key]
	switch key { // these also work on the alternate screen
	case "J":
		t.eraseScreen(t.arg(0, 0, 0))
	case "r":
		if top, bottom := min(n, t.rows)-1, min(t.arg(1, 1, t.rows), t.rows)-1; top < bottom {
			t.failIf(top > 0)
			t.bottom = bottom
			t.home()
		}
	case "\x1b7", "s":
		t.saved = t.cursor
		t.saved.since, t.saved.lost = t.hidden, t.lost || t.alternate
	case "\x1bc":
		t.bottom, t.saved = t.rows-1, cursor{moved: true}
		if t.home(); !t.alternate {
			t.clear()
		}
	case "?h", "?l":
		for _, mode := range t.args {
			t.mode(mode, key == "?h")
		}
	case "h": // insert mode
		t.failIf(slices.Contains(t.args, 4))
	case "\x1b(0", "\x1b)0", "\x1b#8", "\x1bH", "g", "Z": // line drawing, a screen of E, tab stops
		t.failIf(true)
	}
	if t.alternate {
		return
	}
	switch key {
	case "\x1b8", "u":
		t.cursor = t.saved
		t.col = min(t.col, t.columns-1)
		t.lost = t.lost || !t.moved && t.since != t.hidden
	case "A":
		t.vertical(-n)
	case "B":
		t.vertical(n)
	case "C":
		t.goTo(min(t.col+n, t.columns-1))
	case "D":
		t.col = max(t.col-n, 0)
	case "E":
		t.col = 0
		t.vertical(n)
	case "F":
		t.col = 0
		t.vertical(-n)
	case "G", "`":
		t.goTo(min(n, t.columns) - 1)
	case "H", "f":
		t.home()
		t.row, t.col = min(n, t.rows)-1, min(t.arg(1, 1, 1), t.columns)-1
	case "d":
		t.row, t.lost, t.moved = min(n, t.rows)-1, false, true
	case "K":
		t.eraseLine(t.arg(0, 0, 0))
	case "\x1bD", "\x1bE", "\x1bM", "L", "M", "S", "T", "@", "P", "X", "b": // what full-screen programs do
		t.failIf(true)
	}
}

// home moves the cursor to the top left of the screen.
func (t *Transcript) home() {
	if !t.alternate {
		t.cursor = cursor{moved: true}
	}
}

// mode sets or resets a mode.
func (t *Transcript) mode(mode int, on bool) {
	switch mode {
	case 3, 6, 7: // 132 columns, rows from the first that scrolls, wrapping
		t.failIf(!on || mode != 7)
	case 47, 1047: // these leave the cursor where it is
		t.failIf(true)
	case 1049:
		if on && !t.alternate {
			t.unwrap(-1)
		} else if !on {
			t.lost = t.lost || !t.alternate // it was saved long ago
			t.col = min(t.col, t.columns-1)
		}
		t.alternate, t.placed = on, true
	}
}

// vertical moves the cursor down, or up if n is negative, not beyond the scrolling rows.
func (t *Transcript) vertical(n int) {
	most := t.rows - 1
	if t.row <= t.bottom {
		most = t.bottom
	}
	to := max(0, min(t.row+n, most))
	t.lost = t.lost || !t.moved && t.hidden > 0 && (t.row+n > most || !t.screen[to].own || t.unsure())
	t.row, t.col = to, min(t.col, t.columns-1)
}

// SplitAt splits a line of text at a terminal column, padding a shorter line with blanks.
func SplitAt(text string, column int) (left, right string) {
	x := 0
	for i, c := range text {
		w := widthOf(c)
		if c == '\t' {
			w = 8 - x%8
		}
		if w > 0 && x+w > column {
			return text[:i], text[i:]
		}
		x += w
	}
	return text + strings.Repeat(" ", max(0, column-x)), ""
}

// Width returns the number of columns of a text without tabs.
func Width(text string) (columns int) {
	for _, c := range text {
		columns += widthOf(c)
	}
	return columns
}

// widthOf returns the number of columns of a character.
func widthOf(c rune) int {
	switch {
	case c < 0x300 || unicode.Is(unicode.Prepended_Concatenation_Mark, c):
		return 1
	case unicode.In(c, unicode.Mn, unicode.Me, unicode.Cf, jamo):
		return 0
	case unicode.Is(alsoWide, c):
		return 2
	}
	if kind := width.LookupRune(c).Kind(); kind == width.EastAsianWide || kind == width.EastAsianFullwidth {
		return 2
	}
	return 1
}

var (
	// jamo are the Hangul vowels and final consonants that tmux combines with the character
	// before them.
	jamo     = table(0x1160, 0x11ff, 0xd7b0, 0xd7ff)
	alsoWide = table(0x3248, 0x324f, 0x4dc0, 0x4dff)
	// unlike are joiners, emoji modifiers, regional indicators, and emoji and scripts that
	// are newer than some versions of tmux, or wider in some.
	unlike = table(0x0cf3, 0x0cf3, 0x0ece, 0x0ece, 0x200d, 0x200d, 0x261d, 0x261d, 0x26f9, 0x26f9, 0x270c, 0x270d, 0x3164, 0x3164, 0xfe0f, 0xfe0f,
		0x10efd, 0x10eff, 0x1123f, 0x11241, 0x11f00, 0x11f59, 0x13430, 0x13455, 0x1b132, 0x1b132, 0x1b155, 0x1b155, 0x1d2c0, 0x1d2d3, 0x1df25, 0x1df2a,
		0x1e030, 0x1e08f, 0x1e4d0, 0x1e4f9, 0x1f1e6, 0x1f1ff, 0x1f3cb, 0x1f3cc, 0x1f3fb, 0x1f3ff, 0x1f574, 0x1f575, 0x1f590, 0x1f590, 0x1f6dc, 0x1f6dc,
		0x1f774, 0x1f77f, 0x1f7d9, 0x1f7d9, 0x1fa70, 0x1faff)
	ascii = string(slices.Collect(func(yield func(byte) bool) {
		for c := byte(0); c < 0x80 && yield(c); c++ {
		}
	}))
)

func table(bounds ...uint32) *unicode.RangeTable {
	t := &unicode.RangeTable{}
	for i := 0; i < len(bounds); i += 2 {
		t.R32 = append(t.R32, unicode.Range32{Lo: bounds[i], Hi: bounds[i+1], Stride: 1})
	}
	return t
}
