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

// control handles a control character.
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
	if t.see != nil && t.leaves(key) {
		t.show()
	}
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
		if t.full != nil && key != "?h" && key != "?l" {
			t.full.args = t.args
			t.full.command(key)
		}
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
