package transcript

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// What a program prints is text, control characters and sequences of these.

type state int

const (
	text state = iota
	escape
	control
	operating // OSC
	other     // DCS, APC, PM, SOS, or a window's name
)

// Write processes more of the program's output. It never fails.
func (t *Transcript) Write(p []byte) (int, error) {
	if t.see != nil {
		*t.credit = min(*t.credit+seenBytes*len(p), mostCredit)
	}
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

func (t *Transcript) control(c byte) {
	switch {
	case c == 0x0e: // SO: line drawing
		t.failIf(true)
	case t.alternate:
		if t.full != nil {
			t.full.control(c)
		}
	case c == '\n' || c == '\v' || c == '\f':
		t.show()
		t.lineFeed()
	case c == '\r':
		t.show()
		t.col = 0
	case c == '\b' && t.col > 0:
		t.show()
		t.col--
	case c == '\b' && t.row > 0 && t.screen[t.row-1].wrapped:
		t.show()
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

// command is what a sequence does.
type command struct {
	// places is set if the cursor may be in any row afterwards, or other rows have changed;
	// entering and leaving the alternate screen belongs here too.
	places bool
	// leaves, which may be nil, reports whether it moves the cursor to another row or to the
	// left, or erases what is left of it. Switching screens is not counted.
	leaves func(t *Transcript) bool
	// both is set if it has an effect on the normal screen while the alternate one is on.
	both bool
	// do does it; n is the first parameter, at least 1.
	do func(t *Transcript, n int)
}

// commands are the sequences that tmux knows and that have to do with text. All others are
// ignored.
var commands = map[string]command{
	"A":     {places: true, leaves: always, do: func(t *Transcript, n int) { t.vertical(-n) }},
	"B":     {places: true, leaves: always, do: func(t *Transcript, n int) { t.vertical(n) }},
	"C":     {do: func(t *Transcript, n int) { t.goTo(min(t.col+n, t.columns-1)) }},
	"D":     {leaves: always, do: func(t *Transcript, n int) { t.col = max(t.col-n, 0) }},
	"E":     {places: true, leaves: always, do: func(t *Transcript, n int) { t.col = 0; t.vertical(n) }},
	"F":     {places: true, leaves: always, do: func(t *Transcript, n int) { t.col = 0; t.vertical(-n) }},
	"G":     {leaves: goesLeft, do: (*Transcript).column},
	"`":     {leaves: goesLeft, do: (*Transcript).column},
	"H":     {places: true, leaves: always, do: (*Transcript).position},
	"f":     {places: true, leaves: always, do: (*Transcript).position},
	"d":     {places: true, leaves: always, do: func(t *Transcript, n int) { t.row, t.lost, t.moved = min(n, t.rows)-1, false, true }},
	"J":     {places: true, leaves: erasesLeft, both: true, do: func(t *Transcript, _ int) { t.eraseScreen(t.arg(0, 0, 0)) }},
	"K":     {leaves: erasesLeft, do: func(t *Transcript, _ int) { t.eraseLine(t.arg(0, 0, 0)) }},
	"r":     {places: true, leaves: always, both: true, do: (*Transcript).region},
	"s":     {both: true, do: (*Transcript).save},
	"\x1b7": {both: true, do: (*Transcript).save},
	"u":     {places: true, leaves: always, do: (*Transcript).restore},
	"\x1b8": {places: true, leaves: always, do: (*Transcript).restore},
	"\x1bc": {places: true, leaves: always, both: true, do: (*Transcript).reset},
	"?h":    {both: true, do: func(t *Transcript, _ int) { t.modes(true) }},
	"?l":    {both: true, do: func(t *Transcript, _ int) { t.modes(false) }},

	"h":      {both: true, do: func(t *Transcript, _ int) { t.failIf(slices.Contains(t.args, 4)) }}, // insert mode
	"\x1b(0": {both: true, do: fails},                                                               // line drawing
	"\x1b)0": {both: true, do: fails},
	"\x1b#8": {both: true, do: fails}, // a screen of E
	"\x1bH":  {both: true, do: fails}, // tab stops
	"g":      {both: true, do: fails},
	"Z":      {both: true, do: fails},

	// What full-screen programs do: index, insert and delete lines and characters, scroll, repeat.
	"\x1bD": {leaves: always, do: fails},
	"\x1bE": {leaves: always, do: fails},
	"\x1bM": {leaves: always, do: fails},
	"L":     {leaves: always, do: fails},
	"M":     {leaves: always, do: fails},
	"S":     {leaves: always, do: fails},
	"T":     {leaves: always, do: fails},
	"@":     {do: fails},
	"P":     {do: fails},
	"X":     {do: fails},
	"b":     {do: fails},
}

func always(*Transcript) bool       { return true }
func goesLeft(t *Transcript) bool   { return t.arg(0, 1, 1)-1 < t.col }
func erasesLeft(t *Transcript) bool { return t.arg(0, 0, 0) > 0 }
func fails(t *Transcript, _ int)    { t.failIf(true) }

// command handles a sequence.
func (t *Transcript) command(key string) {
	c := commands[key]
	t.placed = t.placed || c.places
	if t.see != nil && c.leaves != nil && c.leaves(t) {
		t.show()
	}
	if c.do != nil && (c.both || !t.alternate) {
		c.do(t, t.arg(0, 1, 1))
	}
	if t.full != nil && key != "?h" && key != "?l" {
		t.full.args = t.args
		t.full.command(key)
	}
}

// column moves the cursor to a column, from 1.
func (t *Transcript) column(n int) { t.goTo(min(n, t.columns) - 1) }

// position moves the cursor to a row and a column.
func (t *Transcript) position(row int) {
	t.home()
	t.row, t.col = min(row, t.rows)-1, min(t.arg(1, 1, 1), t.columns)-1
}

// region sets the rows that scroll.
func (t *Transcript) region(top int) {
	if top, bottom := min(top, t.rows)-1, min(t.arg(1, 1, t.rows), t.rows)-1; top < bottom {
		t.failIf(top > 0)
		t.bottom = bottom
		t.home()
	}
}

func (t *Transcript) save(int) {
	t.saved = t.cursor
	t.saved.since, t.saved.lost = t.hidden, t.lost || t.alternate
}

// restore moves the cursor to where it was saved.
func (t *Transcript) restore(int) {
	t.cursor = t.saved
	t.col = min(t.col, t.columns-1)
	t.lost = t.lost || !t.moved && t.since != t.hidden
}

func (t *Transcript) reset(int) {
	t.bottom, t.saved = t.rows-1, cursor{moved: true}
	if t.home(); !t.alternate {
		t.clear()
	}
}

// modes sets or resets the modes that the parameters name.
func (t *Transcript) modes(on bool) {
	for _, mode := range t.args {
		t.mode(mode, on)
	}
}

// home moves the cursor to the top left of the screen.
func (t *Transcript) home() {
	if !t.alternate {
		t.cursor = cursor{moved: true}
	}
}

func (t *Transcript) mode(mode int, on bool) {
	switch mode {
	case 3, 6, 7: // 132 columns, rows from the first that scrolls, wrapping
		t.failIf(!on || mode != 7)
	case 47, 1047: // these leave the cursor where it is
		t.failIf(true)
	case 1049:
		if t.show(); on && !t.alternate {
			t.unwrap(-1)
		} else if !on {
			t.lost = t.lost || !t.alternate // it was saved long ago
			t.col = min(t.col, t.columns-1)
		}
		if t.alternate, t.placed = on, true; t.see != nil {
			t.switched()
		}
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
