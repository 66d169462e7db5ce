package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"tmuxmcp/internal/terminal"
)

// Style says what a terminal can show. The zero Style is plain ASCII text of 80
// columns.
type Style struct {
	Color   bool
	Unicode bool
	// Width is the number of columns; 80 when zero.
	Width int
}

// textReport is a report in a style.
type textReport struct {
	*Report
	style Style
}

func newTextReport(r *Report, style Style) *textReport {
	style.Width = cmp.Or(style.Width, 80)
	return &textReport{r, style}
}

// color begins what is in a color, an SGR parameter, and ends it with 0.
func (t *textReport) color(sgr string) string {
	if !t.style.Color {
		return ""
	}
	return "\x1b[" + sgr + "m"
}

func (t *textReport) glyph(l look) string {
	shape := l.char
	if t.style.Unicode {
		shape = l.Glyph
	}
	return t.color(l.color) + shape + t.color("0")
}

func (t *textReport) arrows(s string) string {
	if t.style.Unicode {
		return s
	}
	return strings.ReplaceAll(s, "→", "->")
}

// wrap breaks a text that follows some columns, below which it stays.
func (t *textReport) wrap(columns int, text string) string {
	return terminal.Wrap(text, t.style.Width, columns)
}

// matrix returns a table with a row for each gap and a column for each target, in as many
// blocks as the width makes necessary.
func (t *textReport) matrix() string {
	longest, number := 0, 2
	for _, g := range t.Gaps {
		longest = max(longest, utf8.RuneCountInString(g.Title))
		number = max(number, len(strconv.Itoa(g.Number)))
	}
	if len(t.APIs) > manyAPIs {
		return t.byTarget(number, min(longest, 30))
	}
	title := t.titleWidth(longest, number+2)
	var all []string
	for _, targets := range t.blocks(number + 2 + title) {
		all = append(all, t.block(targets, number, title))
	}
	return strings.Join(all, "\n")
}

// manyAPIs is the largest number of wrappers that a matrix distinguishes by letters.
const manyAPIs = 6

// byTarget returns a table for each target, with a column for each layer and wrapper under its
// name, in as many blocks as the width makes necessary.
func (t *textReport) byTarget(number, title int) string {
	var all []string
	for _, target := range t.Targets {
		for rest := t.Columns(); len(rest) > 0; {
			n, width := 0, number+2+title
			for n < len(rest) && (n == 0 || width+2+utf8.RuneCountInString(rest[n].label) <= t.style.Width) {
				width += 2 + utf8.RuneCountInString(rest[n].label)
				n++
			}
			all = append(all, t.table(target, rest[:n], number, title))
			rest = rest[n:]
		}
	}
	return strings.Join(all, "\n")
}

// table returns the rows of a target in some columns.
func (t *textReport) table(target Target, columns []Column, number, title int) string {
	head := fmt.Sprintf("%-*s", number+2+title, "tmux "+target.Name)
	for _, in := range columns {
		head += "  " + in.label
	}
	text := t.color("1") + head + t.color("0") + "\n"
	for _, p := range t.parts() {
		if p.Name != "" {
			text += t.color("1") + clip(p.Name+": "+p.About, t.style.Width) + t.color("0") + "\n"
		}
		for _, g := range p.Gaps {
			line := fmt.Sprintf("%*d  %-*s", number, g.Number, title, clip(g.Title, title))
			for _, in := range columns {
				mark := " "
				if c := t.Cell(g.Number, target.Name, in); c != nil {
					mark = t.glyph(c.Look())
				}
				line += "  " + mark + strings.Repeat(" ", utf8.RuneCountInString(in.label)-1)
			}
			text += strings.TrimRight(line, " ") + "\n"
		}
	}
	return text
}

// legend returns what the glyphs mean, beside each other as far as that fits.
func (t *textReport) legend() string {
	text, column := "", 0
	for _, l := range t.seenLooks() {
		n := 2 + utf8.RuneCountInString(l.Meaning)
		switch {
		case column == 0:
		case column+3+n > t.style.Width:
			text += "\n"
			column = 0
		default:
			text += "   "
			column += 3
		}
		text += t.glyph(l) + " " + l.Meaning
		column += n
	}
	return text
}

// blocks returns the targets in groups of as many as fit beside each other, right of a number
// of columns.
func (t *textReport) blocks(left int) [][]Target {
	var blocks [][]Target
	for rest := t.Targets; len(rest) > 0; {
		width, n := left, 0
		for n < len(rest) && (n == 0 || width+2+t.columnWidth(rest[n]) <= t.style.Width) {
			width += 2 + t.columnWidth(rest[n])
			n++
		}
		blocks, rest = append(blocks, rest[:n]), rest[n:]
	}
	return blocks
}

// titleWidth returns the number of columns for titles, the longest of which is given. It is
// smaller if that saves a block.
func (t *textReport) titleWidth(longest, number int) int {
	const least = 20
	title := min(longest, max(t.style.Width-30, 20))
	fewest := len(t.blocks(number + min(title, least)))
	for title > least && len(t.blocks(number+title)) > fewest {
		title--
	}
	return title
}

func (t *textReport) columnWidth(target Target) int {
	return max(utf8.RuneCountInString(target.Name), len(t.Columns()))
}

func (t *textReport) block(targets []Target, number, title int) string {
	letters, columns := "", t.Columns()
	for _, in := range columns {
		letters += in.Letter
	}
	head := strings.Repeat(" ", number+2+title)
	sub := head
	for _, target := range targets {
		w := t.columnWidth(target)
		head += fmt.Sprintf("  %-*s", w, target.Name)
		sub += fmt.Sprintf("  %-*s", w, letters)
	}
	text := t.color("1") + strings.TrimRight(head, " ") + t.color("0") + "\n" +
		t.color("2") + strings.TrimRight(sub, " ") + t.color("0") + "\n"
	for _, p := range t.parts() {
		if p.Name != "" {
			text += t.color("1") + clip(p.Name+": "+p.About, t.style.Width) + t.color("0") + "\n"
		}
		for _, g := range p.Gaps {
			line := fmt.Sprintf("%*d  %-*s", number, g.Number, title, clip(g.Title, title))
			for _, target := range targets {
				line += "  "
				for _, in := range columns {
					if c := t.Cell(g.Number, target.Name, in); c != nil {
						line += t.glyph(c.Look())
					} else {
						line += " "
					}
				}
				line += strings.Repeat(" ", t.columnWidth(target)-len(columns))
			}
			text += strings.TrimRight(line, " ") + "\n"
		}
	}
	return text
}

func clip(s string, width int) string {
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	return string([]rune(s)[:width-2]) + ".."
}

// quoted returns a text of evidence verbatim, shortened if it is long.
func (t *textReport) quoted(name, text string) string {
	if text == "" {
		return ""
	}
	lines := strings.Split(text, "\n")
	const most = 12
	if len(lines) > most {
		// The beginning has the message, the end the last output while waiting.
		between := fmt.Sprintf("… %d more lines", len(lines)-most)
		lines = slices.Concat(lines[:most/2], []string{between}, lines[len(lines)-most/2:])
	}
	text = ""
	for _, line := range lines {
		text += fmt.Sprintf("    %s%-8s%s  %s\n", t.color("2"), name, t.color("0"), line)
		name = ""
	}
	return text
}
