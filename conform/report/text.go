package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"path/filepath"
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

// textReport writes one report.
type textReport struct {
	*Report
	style Style
	buf   bytes.Buffer
}

// WriteText writes the report for people: the matrix of gaps and targets with a
// glyph for each layer, what the refuted claims are, and the failures with
// their evidence.
func WriteText(w io.Writer, r *Report, style Style) error {
	t := newTextReport(printable(r), style)
	t.matrix()
	t.sections()
	t.failed()
	t.end()
	_, err := w.Write(t.buf.Bytes())
	return err
}

func newTextReport(r *Report, style Style) *textReport {
	style.Width = cmp.Or(style.Width, 80)
	return &textReport{Report: r, style: style}
}

func (t *textReport) printf(format string, args ...any) { fmt.Fprintf(&t.buf, format, args...) }

func (t *textReport) paint(color, s string) string {
	if !t.style.Color || color == "" {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}

func (t *textReport) glyph(l look) string {
	if t.style.Unicode {
		return t.paint(l.color, l.Glyph)
	}
	return t.paint(l.color, l.char)
}

func (t *textReport) heading(s string) { t.printf("\n%s\n", t.paint("1", s)) }

// layerLetters stand above the glyphs of a cell.
var layerLetters = map[Layer]string{TmuxLayer: "t", APILayer: "a", MCPLayer: "m"}

func (t *textReport) matrix() {
	longest, number := 0, 2
	for _, g := range t.Gaps {
		longest = max(longest, utf8.RuneCountInString(g.Title))
		number = max(number, len(strconv.Itoa(g.Number)))
	}
	title := t.titleWidth(longest, number+2)
	var letters string
	for _, l := range t.Layers {
		letters += layerLetters[l]
	}
	for i, block := range t.blocks(number + 2 + title) {
		if i > 0 {
			t.printf("\n")
		}
		t.block(block, number, title, letters)
	}
	t.printf("\n")
	var names []string
	for _, l := range t.Layers {
		name := layerLetters[l] + " " + string(l)
		if l == MCPLayer && t.Server != "" {
			dialect := "the scripts' own dialect"
			if t.Dialect != "" {
				dialect = "dialect " + t.Dialect
			}
			name += fmt.Sprintf(" (%s), %s", t.Server, dialect)
		}
		names = append(names, name)
	}
	t.legend()
	t.printf("%s\n", t.paint("2", "layers: "+strings.Join(names, ", ")))
}

// legend writes what the glyphs mean, beside each other as far as that fits.
func (t *textReport) legend() {
	column := 0
	for _, l := range t.seenLooks() {
		n := 2 + utf8.RuneCountInString(l.Meaning)
		switch {
		case column == 0:
		case column+3+n > t.style.Width:
			t.printf("\n")
			column = 0
		default:
			t.printf("   ")
			column += 3
		}
		t.printf("%s %s", t.glyph(l), l.Meaning)
		column += n
	}
	t.printf("\n")
}

// blocks are the targets in groups of as many as fit beside each other, right of a
// number of columns.
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

// titleWidth is the number of columns for titles, the longest of which is given. It
// is smaller if that saves a block.
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
	return max(utf8.RuneCountInString(target.Name), len(t.Layers))
}

func (t *textReport) block(targets []Target, number, title int, letters string) {
	left := number + 2 + title
	head, sub := strings.Repeat(" ", left), strings.Repeat(" ", left)
	for _, target := range targets {
		w := t.columnWidth(target)
		head += "  " + pad(target.Name, w)
		sub += "  " + pad(letters, w)
	}
	t.printf("%s\n%s\n", t.paint("1", strings.TrimRight(head, " ")), t.paint("2", strings.TrimRight(sub, " ")))
	for _, p := range t.parts() {
		if p.Name != "" {
			t.printf("%s\n", t.paint("1", clip(p.Name+": "+p.About, t.style.Width)))
		}
		for _, g := range p.Gaps {
			line := fmt.Sprintf("%*d  %s", number, g.Number, pad(clip(g.Title, title), title))
			for _, target := range targets {
				line += "  "
				for _, l := range t.Layers {
					if c := t.Cell(g.Number, target.Name, l); c != nil {
						line += t.glyph(c.Look())
					} else {
						line += " "
					}
				}
				line += strings.Repeat(" ", t.columnWidth(target)-len(t.Layers))
			}
			t.printf("%s\n", strings.TrimRight(line, " "))
		}
	}
}

func pad(s string, width int) string { return fmt.Sprintf("%-*s", width, s) }

func clip(s string, width int) string {
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	return string([]rune(s)[:width-2]) + ".."
}

// sections are lists of what is not a failure.
func (t *textReport) sections() {
	for _, s := range t.Report.sections() {
		t.heading(s.Heading)
		if s.ID == "server" {
			for _, a := range t.answer(MCPLayer) {
				t.item(0, "", a)
			}
		}
		for _, i := range s.Items {
			mark := "    "
			if i.Gap > 0 {
				mark = fmt.Sprintf("%2d  ", i.Gap)
			}
			t.item(len(mark), mark, i.String())
		}
	}
}

func (t *textReport) failed() {
	found := t.failures(false)
	if len(found) > 0 {
		t.heading("Failures")
	}
	for _, f := range found {
		t.item(2, t.glyph(f.Look())+" ", f.What())
		t.item(4, "    ", f.Why())
		for _, e := range f.Wrong().fields() {
			t.evidence(e.Name, e.Text)
		}
		t.evidence("shown by", f.reproduce(t.Report))
		if f.Dir != "" {
			t.evidence("kept", fmt.Sprintf("%s (its server: tmux -S %[1]s/s attach)", f.Dir))
		}
	}
}

// evidence writes a text verbatim, shortened if it is long.
func (t *textReport) evidence(name, text string) {
	if text == "" {
		return
	}
	lines := strings.Split(text, "\n")
	const most = 12
	if len(lines) > most {
		// The beginning has the message, the end what came last of what was waited for.
		between := fmt.Sprintf("… %d more lines", len(lines)-most)
		lines = slices.Concat(lines[:most/2], []string{between}, lines[len(lines)-most/2:])
	}
	for i, line := range lines {
		if i > 0 {
			name = ""
		}
		t.printf("    %s  %s\n", t.paint("2", pad(name, 8)), line)
	}
}

func (t *textReport) end() {
	t.printf("\n")
	for _, target := range t.Targets {
		line := target.Name
		if target.Name != target.Version {
			line += ": tmux " + target.Version
		}
		if target.Probed {
			line += " by what it can do"
		}
		if target.Claimed != "" {
			line += fmt.Sprintf(" (-V prints %q)", target.Claimed)
		}
		t.printf("%s\n", t.paint("2", line+": "+CommandLine(slices.Concat(target.Env, []string{target.Path}, target.Args))))
	}
	color := "32"
	if !t.OK() {
		color = "1;31"
	}
	t.printf("%s\n", t.paint(color, t.Summary()))
	if t.Kept != "" {
		t.printf("kept, with a directory and a tmux server for each script: %s\n", t.Kept)
		if i := slices.IndexFunc(t.Cells, func(c Cell) bool { return c.Dir != "" }); i >= 0 {
			c := t.Cells[i]
			target := t.target(c.Tmux)
			words := slices.Concat([]string{target.Path}, target.Args, []string{"-S", filepath.Join(c.Dir, "s"), "attach"})
			t.printf("attach, here to that of %d/%s/%s: %s\n", c.Gap, c.Layer, c.Tmux, CommandLine(words))
		}
	}
}

// item writes a text that is wrapped and indented below its mark, of that many columns.
func (t *textReport) item(columns int, mark, text string) {
	t.printf("%s%s\n", mark, terminal.Wrap(text, t.style.Width, columns))
}
