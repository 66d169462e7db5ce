package tmuxtest

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"tmuxmcp/internal/cells"
)

// style is how a cell looks: what every supported tmux can report of it, so neither the colour of
// an underline nor the address of a link.
type style struct {
	attributes   string // SGR parameters in ascending order, each followed by ";"
	fg, bg       string // SGR parameters
	lined, solid bool   // a blank cell shows a line, or the colour of the text
}

// run is text of one style in a row.
type run struct {
	style
	text string
}

// row is a row of the screen, without the invisible cells at its end.
type row []run

func (r row) text() string {
	var b strings.Builder
	for _, s := range r {
		b.WriteString(s.text)
	}
	return strings.TrimRight(b.String(), " ")
}

// styled returns the row as text with SGR sequences; equal rows have equal texts.
func (r row) styled() string {
	var b strings.Builder
	for _, s := range r {
		sgr := s.attributes
		for _, color := range []string{s.fg, s.bg} {
			if color != "" {
				sgr += color + ";"
			}
		}
		if sgr == "" {
			b.WriteString(s.text)
		} else {
			fmt.Fprintf(&b, "\x1b[%sm%s\x1b[0m", strings.TrimSuffix(sgr, ";"), s.text)
		}
	}
	return b.String()
}

// withoutErased returns the row as styled does, without the blanks at its end that have
// nothing but a background.
func (r row) withoutErased() string {
	return r.trim(func(s style) bool { return !s.lined && !s.solid }).styled()
}

// trim removes blanks of some styles from the end of the row.
func (r row) trim(of func(style) bool) row {
	for len(r) > 0 && of(r[len(r)-1].style) {
		last := r[len(r)-1]
		last.text = strings.TrimRight(last.text, " ")
		r = r[:len(r)-1]
		if last.text != "" {
			return append(r[:len(r):len(r)], last)
		}
	}
	return r
}

// parseRows reads what capture-pane -e -N prints: text with sequences that change the style
// and the character set. Both last beyond the end of a row. Blank rows at the end are left
// out.
func parseRows(captured string) (rows []row) {
	var now pen
	graphic := false
	var r row
	column := 0
	put := func(text string, width int) {
		column += width
		if s := now.style(); len(r) > 0 && r[len(r)-1].style == s {
			r[len(r)-1].text += text
		} else {
			r = append(r, run{s, text})
		}
	}
	for rest := captured; rest != ""; {
		c, size := utf8.DecodeRuneInString(rest)
		text := rest[:size]
		rest = rest[size:]
		switch {
		case c == '\n':
			rows = append(rows, r.trim(func(s style) bool { return !s.lined && !s.solid && s.bg == "" }))
			r, column = nil, 0
		case c == '\x1b' && strings.HasPrefix(rest, "["):
			var sgr string
			sgr, rest, _ = strings.Cut(rest[1:], "m")
			if strings.Trim(sgr, "0123456789;:") == "" {
				now.set(strings.Split(sgr, ";"))
			}
		case c == '\x1b': // the address of a link
			_, rest, _ = strings.Cut(rest, "\x1b\\")
		case c == '\x0e' || c == '\x0f':
			graphic = c == '\x0e'
		case c == '\t': // from tmux 3.6 on
			width := 8 - column%8
			put(strings.Repeat(" ", width), width)
		case graphic && graphics[c] != 0:
			put(string(graphics[c]), 1)
		default:
			put(text, cells.Width(text))
		}
	}
	for len(rows) > 0 && len(rows[len(rows)-1]) == 0 {
		rows = rows[:len(rows)-1]
	}
	return rows
}

// graphics are the characters of the VT100's line drawing set.
var graphics = func() map[rune]rune {
	const from, to = "`afgijklmnopqrstuvwxyz{|}~", "◆▒°±␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·"
	m, drawn := map[rune]rune{}, []rune(to)
	for i, c := range from {
		m[c] = drawn[i]
	}
	return m
}()

// pen is the style that sequences have set.
type pen struct {
	attributes [10]string // by SGR number, 0 is overline
	fg, bg     string
}

func (p pen) style() style {
	s := style{fg: p.fg, bg: p.bg, lined: p.attributes[4]+p.attributes[9]+p.attributes[0] != "", solid: p.attributes[7] != ""}
	for _, a := range append(p.attributes[1:], p.attributes[0]) {
		if a != "" {
			s.attributes += a + ";"
		}
	}
	return s
}

// set applies the parameters of an SGR sequence as tmux prints them: it resets attributes
// only all at once.
func (p *pen) set(params []string) {
	for len(params) > 0 {
		n := params[0]
		used := 1
		switch {
		case n == "" || n == "0":
			*p = pen{}
		case n == "5:3" || n == "53": // as tmux writes it, and as others do
			p.attributes[0] = "53"
		case len(n) == 1 && n != ":", strings.HasPrefix(n, "4:"):
			p.attributes[n[0]-'0'] = n
		case n == "39":
			p.fg = ""
		case n == "49":
			p.bg = ""
		case n == "38" || n == "48" || n == "58":
			if used = 3; len(params) > 1 && params[1] == "2" {
				used = 5
			}
			if len(params) < used || slices.Contains(params[:used], "") {
				return // from a golden file edited by hand: tmux prints no such thing
			}
			switch color := strings.Join(params[:used], ";"); n {
			case "38":
				p.fg = color
			case "48":
				p.bg = color
			}
		case strings.HasPrefix(n, "3"), strings.HasPrefix(n, "9"):
			p.fg = n
		case strings.HasPrefix(n, "4"), strings.HasPrefix(n, "10"):
			p.bg = n
		}
		params = params[used:]
	}
}

// frame draws a frame around rows of text, so that blanks at their ends show.
func frame(rows []string, width int) string {
	edge := strings.Repeat("─", width)
	var b strings.Builder
	fmt.Fprintf(&b, "┌%s┐\n", edge)
	for _, text := range rows {
		fmt.Fprintf(&b, "│%s│\n", pad(text, width))
	}
	fmt.Fprintf(&b, "└%s┘", edge)
	return b.String()
}

// pad appends blanks up to a width.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-cells.Width(text)))
}
