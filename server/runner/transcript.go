package runner

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// transcript makes lines of text of what a program wrote to a terminal: what a
// user would have seen go by, on a terminal of endless width and height. Colours
// and other escape sequences are gone, a line that was overwritten (a progress
// bar) is there as it was last, wrapped lines do not exist, a cleared screen is
// still there, and what was drawn on the alternate screen is not.
//
// It takes any bytes, in pieces of any size, and emits each line when nothing can
// change it any more.
type transcript struct {
	emit func(line string)
	// columns is the width of the terminal, beyond which programs cannot move
	// the cursor, though text goes on; 80 when 0.
	columns int

	// page are the lines that cursor movements can reach, from the last clear
	// on. There is always one for the cursor.
	page     []line
	row, col int
	// homed is that the cursor was just sent to the first place of the screen:
	// what erases from there on clears it.
	homed bool
	saved struct{ row, col int }
	last  rune // for REP
	// written is how many characters came since lines were last taken off the
	// page.
	written int

	alternate bool                    // the alternate screen is on
	state     func(*transcript, byte) // nil is plain text
	params    []byte                  // of the control sequence so far
	char      []byte                  // of the character so far
}

// line is the characters of a line, with a zero width one after the one it
// belongs to.
type line struct {
	text  []rune
	width int
	// mixed lines have characters that do not take one column each.
	mixed bool
}

const (
	maxWritten = 512 << 10 // characters that a page takes before its lines are emitted
	maxPage    = 500       // lines that cursor movements can reach
	maxJump    = 100       // empty lines that a cursor movement can make
	maxWidth   = 1 << 20   // columns of a line; then it is two
	maxMixed   = 1 << 12   // columns of a mixed line that is written over; then it is two
	maxCount   = 1000      // characters that a sequence can make
	maxParams  = 64
)

// Write takes more of what the program wrote. It never fails.
func (t *transcript) Write(p []byte) (int, error) {
	for _, c := range p {
		switch {
		case c == 0x18 || c == 0x1a: // CAN and SUB end a sequence anywhere
			t.state = nil
		case t.state != nil:
			t.state(t, c)
		case c >= ' ' && c < 0x7f && len(t.char) == 0:
			t.put(rune(c))
		case c < ' ' || c == 0x7f:
			t.flushChar()
			t.control(c)
		default:
			t.char = append(t.char, c)
			for len(t.char) > 0 && utf8.FullRune(t.char) {
				t.putChar()
			}
		}
	}
	return len(p), nil
}

// putChar puts the first character of the bytes collected; a byte that is none
// is a replacement character.
func (t *transcript) putChar() {
	r, n := utf8.DecodeRune(t.char)
	t.char = append(t.char[:0], t.char[n:]...)
	t.put(r)
}

// flushChar puts what was collected, though it is no whole character.
func (t *transcript) flushChar() {
	for len(t.char) > 0 {
		t.putChar()
	}
}

// flush emits what is left, at the end of the output.
func (t *transcript) flush() {
	t.flushChar()
	// A newline ends a line and begins none.
	if n := len(t.page); n > 0 && len(t.page[n-1].text) == 0 {
		t.page = t.page[:n-1]
	}
	t.finish(len(t.page))
}

// control does what a control character says.
func (t *transcript) control(c byte) {
	switch c {
	case 0x1b:
		t.state = (*transcript).escape
	case '\n', '\v', '\f':
		// Programs that turn the terminal's own carriage return off still mean
		// a new line.
		t.move(t.row+1, 0)
	case '\r':
		t.col = 0
	case '\b':
		t.col = max(0, t.col-1)
	case '\t':
		if t.alternate {
			return
		}
		if l := t.current(); t.col < l.width {
			t.col += 8 - t.col%8
			return
		}
		t.put('\t')
	}
}

// escape reads the byte after ESC.
func (t *transcript) escape(c byte) {
	t.state = nil
	switch {
	case c == '[':
		t.params, t.state = t.params[:0], (*transcript).sequence
	case c == ']' || c == 'P' || c == '_' || c == '^' || c == 'X' || c == 'k':
		t.state = (*transcript).str
	case c >= 0x20 && c <= 0x2f: // an intermediate: of a character set
		t.state = func(t *transcript, c byte) {
			if c < 0x20 || c > 0x2f {
				t.state = nil
			}
		}
	case c == 0x1b:
		t.state = (*transcript).escape
	case c == '7':
		t.saved.row, t.saved.col = t.row, t.col
	case c == '8':
		t.move(t.saved.row, t.saved.col)
	case c == 'c':
		t.clear()
		t.alternate = false
	case c == 'D' || c == 'E':
		t.move(t.row+1, 0)
	case c == 'M':
		t.move(t.row-1, t.col)
	case c < 0x20:
		t.control(c)
	}
}

// str skips a string for the terminal, such as its title. It ends with BEL or
// ST. A newline ends it too: none of the strings that programs send has one, and
// binary noise that looks like the start of one must not swallow the rest.
func (t *transcript) str(c byte) {
	switch c {
	case 0x07:
		t.state = nil
	case 0x1b:
		t.state = func(t *transcript, c byte) {
			t.state = nil
			if c != '\\' {
				t.escape(c)
			}
		}
	case '\n':
		t.state = nil
		t.control(c)
	}
}

// sequence reads a control sequence after its CSI.
func (t *transcript) sequence(c byte) {
	switch {
	case c < 0x20: // ESC begins another sequence, the rest is done in between
		t.control(c)
	case c < 0x40:
		if t.params = append(t.params, c); len(t.params) > maxParams {
			t.state = nil
		}
	case c < 0x7f:
		t.state = nil
		t.command(c, string(t.params))
	default:
		t.state = nil
	}
}

// command does what a control sequence says, as far as it is about text.
func (t *transcript) command(final byte, params string) {
	if mode, private := strings.CutPrefix(params, "?"); private {
		for m := range strings.SplitSeq(mode, ";") {
			if m == "1049" || m == "1047" || m == "47" {
				t.alternate = final == 'h' || t.alternate && final != 'l'
			}
		}
		return
	}
	if t.alternate || strings.ContainsAny(params, "<=> !\"#$%&'()*+,-./") {
		return
	}
	first, second, _ := strings.Cut(params, ";")
	n := number(first, 1)
	switch final {
	case 'A':
		t.move(t.row-n, t.col)
	case 'B', 'e':
		t.move(t.row+n, t.col)
	case 'C', 'a':
		t.column(t.col + n)
	case 'D':
		t.column(t.col - n)
	case 'E':
		t.move(t.row+n, 0)
	case 'F':
		t.move(t.row-n, 0)
	case 'G', '`':
		t.column(n - 1)
	case 'd':
		t.move(n-1, t.col)
	case 'H', 'f':
		t.move(n-1, 0)
		t.column(number(second, 1) - 1)
		t.homed = t.row == 0 && t.col == 0
	case 'J':
		switch number(first, 0) {
		case 0:
			if t.homed {
				t.clear()
				return
			}
			t.current().cut(t.col, maxWidth, 0)
			t.page = t.page[:min(len(t.page), t.row+1)]
		case 2, 3:
			t.clear()
		}
	case 'K':
		switch number(first, 0) {
		case 0:
			t.current().cut(t.col, maxWidth, 0)
		case 1:
			t.current().cut(0, t.col+1, t.col+1)
		case 2:
			*t.current() = line{}
		}
	case 'P':
		t.current().cut(t.col, n, 0)
	case 'X':
		t.current().cut(t.col, min(n, maxCount), min(n, maxCount))
	case '@':
		t.current().insert(t.col, []rune(strings.Repeat(" ", min(n, maxCount))))
	case 'b':
		for range min(n, maxCount) {
			t.put(t.last)
		}
	case 's':
		t.saved.row, t.saved.col = t.row, t.col
	case 'u':
		t.move(t.saved.row, t.saved.col)
	}
}

// number is a parameter of a control sequence; nothing and 0 are its default.
func number(s string, otherwise int) int {
	n, err := strconv.Atoi(s)
	if err != nil || n <= 0 {
		return otherwise
	}
	return min(n, maxWidth)
}

// current is the line of the cursor.
func (t *transcript) current() *line {
	for len(t.page) <= t.row {
		t.page = append(t.page, line{})
	}
	return &t.page[t.row]
}

// move puts the cursor elsewhere. Lines above the page are out of reach, and the
// page goes on below.
func (t *transcript) move(row, col int) {
	if t.alternate {
		return
	}
	t.row, t.col, t.homed = max(0, min(row, len(t.page)+maxJump)), max(0, col), false
	t.current()
	n := 0
	if len(t.page) > 2*maxPage { // many at once, for each time moves the rest
		n = maxPage
	}
	if t.written > maxWritten { // long lines
		n = t.row
	}
	if n > 0 {
		t.finish(n)
		t.row, t.written = max(0, t.row-n), 0
	}
}

// column puts the cursor into a column of the terminal, or leaves it in text
// that went on beyond.
func (t *transcript) column(col int) {
	columns := t.columns
	if columns == 0 {
		columns = 80
	}
	t.col, t.homed = max(0, min(col, max(columns-1, t.col))), false
}

// clear begins a new page; the text of this one is kept.
func (t *transcript) clear() {
	for len(t.page) > 0 && len(t.page[len(t.page)-1].text) == 0 {
		t.page = t.page[:len(t.page)-1]
	}
	t.finish(len(t.page))
	t.page, t.row, t.col = t.page[:0], 0, 0
}

// finish takes the first n lines off the page.
func (t *transcript) finish(n int) {
	for _, l := range t.page[:n] {
		t.emit(string(l.text))
	}
	t.page = slices.Delete(t.page, 0, n)
}

// put writes a character at the cursor.
func (t *transcript) put(r rune) {
	if t.alternate || r == 0 {
		return
	}
	l := t.current()
	// To write into the middle of a line takes time with its length.
	if l.width >= maxWidth || l.mixed && l.width > maxMixed && t.col < l.width {
		t.move(t.row+1, 0)
		l = t.current()
	}
	t.last, t.homed = r, false
	t.written++
	w := widthOf(r, t.col)
	if w != 1 {
		l.mixed = true
	}
	switch {
	case t.col < l.width && !l.mixed:
		l.text[t.col] = r
	case w == 0:
		// Onto the character before, which is the last one but in odd cases.
		l.text = append(l.text, r)
	case t.col >= l.width:
		for ; l.width < t.col; l.width++ {
			l.text = append(l.text, ' ')
		}
		l.text = append(l.text, r)
		l.width += w
	default:
		l.cut(t.col, w, 0)
		l.insert(t.col, []rune{r})
	}
	t.col += w
}

// index finds the character at a column: where it is and the column it starts
// in.
func (l *line) index(col int) (i, start int) {
	if !l.mixed {
		i = min(col, len(l.text))
		return i, i
	}
	for i = 0; i < len(l.text); i++ {
		w := widthOf(l.text[i], start)
		if w > 0 && start+w > col {
			return i, start
		}
		start += w
	}
	return i, start
}

// cut replaces n columns from col on with some blanks. Half of a wide character
// becomes a blank.
func (l *line) cut(col, n, blanks int) {
	if col >= l.width {
		return
	}
	from, start := l.index(col)
	to, end := l.index(col + n)
	if to < len(l.text) && end < col+n {
		blanks += end + widthOf(l.text[to], end) - (col + n)
		to++
	}
	for to < len(l.text) && widthOf(l.text[to], end) == 0 {
		to++
	}
	blanks += col - start
	l.replace(from, to, []rune(strings.Repeat(" ", blanks)))
}

// insert puts text before the character at a column.
func (l *line) insert(col int, text []rune) {
	if col > l.width || l.width > maxWidth {
		return
	}
	at, _ := l.index(col)
	l.replace(at, at, text)
}

func (l *line) replace(from, to int, with []rune) {
	l.text = slices.Replace(l.text, from, to, with...)
	if l.width = len(l.text); !l.mixed {
		return
	}
	l.width = 0
	for _, r := range l.text {
		l.width += widthOf(r, l.width)
	}
}

// SplitAt splits a line of text at a column of the terminal.
func SplitAt(text string, column int) (left, right string) {
	l := line{mixed: true}
	l.replace(0, 0, []rune(text))
	at, _ := l.index(column)
	return string(l.text[:at]), string(l.text[at:])
}

// widthOf is the number of columns of a character that starts in a column.
func widthOf(r rune, col int) int {
	switch {
	case r == '\t':
		return 8 - col%8
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, jamo):
		return 0
	}
	if kind := width.LookupRune(r).Kind(); kind == width.EastAsianWide || kind == width.EastAsianFullwidth {
		return 2
	}
	return 1
}

// jamo are the vowels and final consonants of Hangul that tmux draws over the
// character before them.
var jamo = &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0x1160, Hi: 0x11ff, Stride: 1}, {Lo: 0xd7b0, Hi: 0xd7ff, Stride: 1}}}
