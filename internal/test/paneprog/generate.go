package paneprog

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Generate returns a random program. Some are what users see every day, some are as brutal
// as a terminal allows, most are in between.
func Generate(r *rand.Rand) Program {
	g := gen{Rand: r}
	p := Program{History: pick(r, 0, 1, 10, 20, 20, 50, 50, 500, 500, 2000, 2000, 50_000)}
	p.Columns, p.Rows = g.size()
	p.NoAlternate = g.one(25)
	p.NoScrollClear = g.one(15)
	g.columns, g.rows = p.Columns, p.Rows
	// What the program is about.
	weights := map[string]int{"look": 18, "lines": 8, "line": 6, "real": 3, "alternate": 3, "draw": 4, "erase": 2, "mode": 2, "user": 3, "raw": 1}
	for range 1 + r.IntN(3) {
		about := pick(r, "lines", "line", "real", "alternate", "draw", "erase", "mode", "user", "user", "raw")
		weights[about] += r.IntN(16)
	}
	for range r.IntN(5) {
		delete(weights, pick(r, "real", "alternate", "draw", "erase", "mode", "user", "raw"))
	}
	if g.one(8) {
		p.Steps = append(p.Steps, g.lines(1+r.IntN(3*p.Rows)))
	}
	p.Steps = append(p.Steps, Look)
	for range 8 + r.IntN(50) {
		p.Steps = append(p.Steps, g.step(weights)...)
	}
	p.Steps = append(p.Steps, Look)
	return p
}

// GeneratePlain returns a program in which nothing is lost or overwritten: it prints lines,
// prompts and progress bars far from the end of the history.
func GeneratePlain(r *rand.Rand) Program {
	g := gen{Rand: r}
	p := Program{History: pick(r, 2000, 50_000)}
	p.Columns, p.Rows = max(20, pick(r, 20, 60, 80, 80, 120, 200)), pick(r, 2, 5, 12, 24, 24, 50)
	g.columns, g.rows = p.Columns, p.Rows
	p.Steps = []Step{Look}
	for range 5 + r.IntN(30) {
		switch r.IntN(7) {
		case 0, 1:
			p.Steps = append(p.Steps, g.lines(1+r.IntN(30)))
		case 2:
			p.Steps = append(p.Steps, Out(g.line()+"\r\n"))
		case 3:
			p.Steps = append(p.Steps, Out(fmt.Sprintf("\x1b[32muser@host {w}\x1b[0m:~$ make {x*%d}\r\n", r.IntN(10))))
		case 4:
			p.Steps = append(p.Steps, Step{Op: "out", A: 1 + r.IntN(9), Text: fmt.Sprintf("\r{w} [{#*%d}]", r.IntN(p.Columns-10))}, Out("\r\n"))
		default:
			p.Steps = append(p.Steps, Look)
		}
	}
	p.Steps = append(p.Steps, Look)
	return p
}

// Size returns a random size of a pane, usually an ordinary one.
func Size(r *rand.Rand) (columns, rows int) { return gen{Rand: r}.size() }

// GenerateOutput returns a program that only writes, in a pane of the given size. It may be
// cut off in the middle of anything.
func GenerateOutput(r *rand.Rand, columns, rows int) Program {
	g := gen{r, columns, rows}
	p := Program{Columns: columns, Rows: rows, History: 60_000, Above: r.IntN(rows)}
	weights := map[string]int{"lines": 2, "line": 8, "real": 4, "alternate": 1, "draw": 6, "erase": 1, "mode": 3, "raw": 1}
	for range r.IntN(7) {
		delete(weights, pick(r, "real", "alternate", "draw", "erase", "mode", "raw"))
	}
	for range 1 + r.IntN(16) {
		for _, s := range g.step(weights) {
			if s.A = min(s.A, 120); ops[s.Op] == textArg {
				p.Steps = append(p.Steps, s)
			}
		}
	}
	if g.one(6) && len(p.Steps) > 0 {
		last := &p.Steps[len(p.Steps)-1]
		last.Text = last.Text[:r.IntN(len(last.Text)+1)]
	}
	return p
}

// gen generates parts of programs for a pane of about this size.
type gen struct {
	*rand.Rand
	columns, rows int
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// one reports true once in n times.
func (g gen) one(n int) bool { return g.IntN(n) == 0 }

func (g gen) size() (columns, rows int) {
	switch g.IntN(8) {
	case 0:
		return 1 + g.IntN(300), 1 + g.IntN(100)
	case 1:
		return 1 + g.IntN(12), 1 + g.IntN(12)
	case 2, 3:
		return 80, 24
	case 4:
		return pick(g.Rand, 1, 2, 3, 10, 40, 79, 100, 132, 300), pick(g.Rand, 1, 2, 3, 6, 12, 40, 100)
	}
	return 30 + g.IntN(60), 4 + g.IntN(20)
}

// count returns a parameter of a sequence: usually small, sometimes empty or too large.
func (g gen) count(about int) string {
	switch g.IntN(12) {
	case 0:
		return ""
	case 1:
		return pick(g.Rand, "0", "1", "999", "65535", "99999999999")
	case 2, 3, 4, 5:
		return fmt.Sprint(1 + g.IntN(3))
	}
	return fmt.Sprint(1 + g.IntN(max(1, about)))
}

func (g gen) row() string    { return g.count(g.rows) }
func (g gen) column() string { return g.count(g.columns) }

// step returns one or a few steps.
func (g gen) step(weights map[string]int) []Step {
	names := []string{"look", "lines", "line", "real", "alternate", "draw", "erase", "mode", "user", "raw"}
	total := 0
	for _, n := range names {
		total += weights[n]
	}
	at, name := g.IntN(total), ""
	for _, name = range names {
		if at -= weights[name]; at < 0 {
			break
		}
	}
	switch name {
	case "look":
		return []Step{Look}
	case "lines":
		n := 1 + g.IntN(2*g.rows)
		if g.one(12) {
			n = 1 + g.IntN(200)
		}
		if g.one(400) {
			n = 2500
		}
		return []Step{g.lines(n)}
	case "line":
		return []Step{Out(g.line() + pick(g.Rand, "\r\n", "\r\n", "\r\n", "", "\n", "\r", " ", "\r\n\r\n"))}
	case "real":
		return Realistic(g.Rand, pick(g.Rand, Kinds...), g.columns, g.rows)
	case "alternate":
		return g.alternate()
	case "draw":
		return []Step{Out(g.draws())}
	case "erase":
		return []Step{Out(g.erase())}
	case "mode":
		return []Step{Out(g.mode())}
	case "user":
		return g.user()
	}
	return []Step{{Op: "raw", A: 1, Text: g.raw()}}
}

// lines returns printed lines of one kind.
func (g gen) lines(n int) Step {
	return Step{Op: "out", A: n, Text: g.line() + "\r\n"}
}

// line returns text that contains words and may wrap.
func (g gen) line() string {
	wide := func(n int) string {
		return fmt.Sprintf("{%s*%d}", pick(g.Rand, "日", "漢字", "ｶﾞ", "😀", "한"), 1+n/2)
	}
	fill := func(n int) string { return fmt.Sprintf("{%s*%d}", pick(g.Rand, "x", ".", "=", "ab ", "o"), max(1, n)) }
	switch g.IntN(16) {
	case 0, 1, 2:
		return "{w}"
	case 3, 4:
		return "{w} " + fill(g.IntN(g.columns+1))
	case 5:
		return "{w}" + fill(g.IntN(3*g.columns+1))
	case 6:
		return fill(max(1, g.columns-6+g.IntN(3)-1)) + "{w}" // about as wide as the pane
	case 7:
		return "{w}" + fill(g.columns+g.IntN(g.columns)) + "{w}"
	case 8:
		return "{w}" + wide(g.IntN(2*g.columns))
	case 9:
		return wide(g.IntN(g.columns)) + pick(g.Rand, "", "x") + "{w}"
	case 10:
		return "{w} e\u0301 " + pick(g.Rand, "👩\u200d👩\u200d👧", "❤\ufe0f", "🇩🇪", "กำ", "\u200b", "\u0301", "☔", "👍🏽", "אב", "…")
	case 11:
		return fmt.Sprintf("%s{w}%s%s\x1b[0m", g.sgr(), g.sgr(), fill(g.IntN(20)))
	case 12:
		return "{w}" + strings.Repeat("\t", 1+g.IntN(3)) + "{w}"
	case 13:
		return strings.Repeat(" ", g.IntN(g.columns)) + "{w}" + strings.Repeat(" ", g.IntN(10))
	case 14:
		return "same {w}"
	}
	return "{w} " + pick(g.Rand, "", "the same text", "\x1b[K", "\x07", "b\bc", "\x1b[1mbold\x1b[m", "\x0e\x0f")
}

func (g gen) sgr() string {
	switch g.IntN(6) {
	case 0:
		return fmt.Sprintf("\x1b[38;2;%d;%d;%dm", g.IntN(256), g.IntN(256), g.IntN(256))
	case 1:
		return fmt.Sprintf("\x1b[48;5;%dm", g.IntN(256))
	case 2:
		return fmt.Sprintf("\x1b[%d;%dm", g.IntN(10), 30+g.IntN(20))
	case 3:
		return "\x1b[4:3m"
	case 4:
		return fmt.Sprintf("\x1b[48:2::%d:%d:%dm", g.IntN(256), g.IntN(256), g.IntN(256))
	}
	return fmt.Sprintf("\x1b[%dm", pick(g.Rand, 0, 1, 3, 4, 7, 9, 31, 42, 97, 104))
}

// text returns a short text to draw.
func (g gen) text() string {
	if g.one(3) {
		return g.line()
	}
	return pick(g.Rand, "{w}", "{w} ", " {w}", "{w}xyz", "{日*2}{w}", "ab", "x", "日")
}

// draws returns some of g.draw, mixed with text.
func (g gen) draws() string {
	var b strings.Builder
	for range 1 + g.IntN(5) {
		b.WriteString(g.draw())
		if g.one(2) {
			b.WriteString(g.text())
		}
	}
	return b.String()
}

// draw returns a sequence that moves the cursor or changes the screen.
func (g gen) draw() string {
	switch g.IntN(34) {
	case 0, 1, 2:
		return fmt.Sprintf("\x1b[%s;%s%s", g.row(), g.column(), pick(g.Rand, "H", "H", "f"))
	case 3:
		return "\x1b[H"
	case 4, 5:
		return fmt.Sprintf("\x1b[%s%s", g.row(), pick(g.Rand, "A", "B", "d", "E", "F"))
	case 6, 7:
		return fmt.Sprintf("\x1b[%s%s", g.column(), pick(g.Rand, "C", "D", "G", "`", "a"))
	case 8:
		return pick(g.Rand, "\x1b7", "\x1b[s")
	case 9:
		return pick(g.Rand, "\x1b8", "\x1b[u")
	case 10, 11:
		return pick(g.Rand, "\x1b[K", "\x1b[0K", "\x1b[1K", "\x1b[2K")
	case 12:
		return pick(g.Rand, "\x1b[J", "\x1b[0J", "\x1b[1J")
	case 13, 14:
		return fmt.Sprintf("\x1b[%s%s", g.row(), pick(g.Rand, "L", "M"))
	case 15, 16:
		return fmt.Sprintf("\x1b[%s%s", g.column(), pick(g.Rand, "@", "P", "X"))
	case 17:
		return fmt.Sprintf("o\x1b[%sb", g.column())
	case 18, 19:
		return fmt.Sprintf("\x1b[%s%s", g.row(), pick(g.Rand, "S", "T"))
	case 20:
		return pick(g.Rand, "\x1bD", "\x1bE")
	case 21:
		return strings.Repeat("\x1bM", 1+g.IntN(3))
	case 22, 23:
		top := 1 + g.IntN(g.rows)
		return fmt.Sprintf("\x1b[%d;%dr", top, top+g.IntN(g.rows-top+1))
	case 24:
		return fmt.Sprintf("\x1b[1;%dr\x1b[%d;1H", g.rows-1, g.rows-1)
	case 25, 26:
		return "\x1b[r"
	case 27:
		return strings.Repeat("\b", 1+g.IntN(10))
	case 28:
		return pick(g.Rand, "\x0b", "\x0c", "\n", "\r", "\r\n", "\t", "\x1b[I", "\x1b[Z")
	case 29:
		return "\x1b#8"
	case 30:
		return g.sgr()
	case 31:
		return fmt.Sprintf("\x1b[%d;1H%s", g.rows, g.text()) // the last row
	case 32:
		return fmt.Sprintf("\x1b[%d;%dH%s", 1+g.IntN(g.rows), max(1, g.columns-g.IntN(3)), g.text()) // the right edge
	}
	return fmt.Sprintf("\x1b[%s;%sH", g.row(), g.column())
}

// erase returns a sequence that erases everything.
func (g gen) erase() string {
	return pick(g.Rand, "\x1b[2J", "\x1b[H\x1b[2J", "\x1b[H\x1b[J", "\x1b[3J", "\x1b[H\x1b[2J\x1b[3J", "\x1b[2J\x1b[3J", "\x1bc", "\x1b[!p",
		"\x1b[?3h", "\x1b[?3l", "\x1b[3J\x1b[H\x1b[2J", "\x1b[1J\x1b[J", "\x1b[r\x1b[H\x1b[J") + pick(g.Rand, "", "{w}", "{w}\r\n")
}

// mode returns a sequence that changes the effect of others, or shows nothing.
func (g gen) mode() string {
	switch g.IntN(16) {
	case 0, 1:
		return pick(g.Rand, "\x1b[?7l", "\x1b[?7h")
	case 2, 3:
		return pick(g.Rand, "\x1b[?6h", "\x1b[?6l")
	case 4, 5:
		return pick(g.Rand, "\x1b[4h", "\x1b[4l")
	case 6:
		return "\x1b[?7h\x1b[?6l\x1b[4l\x1b[r"
	case 7:
		return fmt.Sprintf("\x1b[%sG%s", g.column(), pick(g.Rand, "\x1bH", "\x1b[g", "\x1b[3g", "\x1b[0g"))
	case 8:
		return pick(g.Rand, "\x1b(0lqqk\x1b(B", "\x1b)0\x0exx\x0f", "\x1b(0", "\x1b(B", "\x0e", "\x0f", "\x1b(A")
	case 9:
		return pick(g.Rand, "\x1b]0;a title\x07", "\x1b]2;other\x1b\\", "\x1b]8;;file:///tmp\x1b\\{w}\x1b]8;;\x1b\\", "\x1b]133;A\x1b\\", "\x1b]133;C\x07", "\x1b]7;file:///\x07",
			"\x1bkwid\x1b\\", "\x1b]52;c;YWJj\x07", "\x1b]4;1;#ff0000\x07", "\x1b]104\x07", "\x1b]9;4;1;50\x07", "\x1b]12;red\x07", "\x1b]1337;CurrentDir\x07")
	case 10:
		return pick(g.Rand, "\x1bP$q q\x1b\\", "\x1bP+q544e\x1b\\", "\x1bPtmux;x\x1b\\", "\x1bP1$t\x1b\\", "\x1b_apc\x1b\\", "\x1b^pm\x1b\\", "\x1bXsos\x1b\\")
	case 11:
		return pick(g.Rand, "\x1b[6n", "\x1b[c", "\x1b[>c", "\x1b[>q", "\x1b[18t", "\x1b[22;0t", "\x1b[23;0t", "\x1b[?2004$p")
	case 12:
		return pick(g.Rand, "\x1b[?25l", "\x1b[?25h", "\x1b[?1000h", "\x1b[?1000l", "\x1b[?2004h", "\x1b[?2004l", "\x1b[?2026h", "\x1b[?2026l", "\x1b[?1h", "\x1b[?1004h", "\x1b[?12h", "\x1b[20h", "\x1b[20l", "\x1b[?5h", "\x1b[?45h", "\x1b[?69h", "\x1b[5;10s")
	case 13:
		return pick(g.Rand, "\x1b=", "\x1b>", "\x1b[4 q", "\x1b[>4;2m", "\x1b[>1u", "\x1b[<u", "\x1b[1;2;3$r", "\x1b[2;2;9;9$z", "\x1b[3'}", "\x1b[?1J", "\x1b[?K", "\x1b[1;1;5;5$x", "\x1b6", "\x1b9", "\x1b%G", "\x1b%@", "\x1bN", "\x1bO")
	}
	return g.sgr()
}

// alternate enters or leaves the alternate screen, and sometimes draws there.
func (g gen) alternate() []Step {
	n := pick(g.Rand, "1049", "1049", "1049", "1047", "47")
	on, off := Out("\x1b[?"+n+"h"), Out("\x1b[?"+n+"l")
	switch g.IntN(5) {
	case 0, 1:
		return []Step{on}
	case 2, 3:
		return []Step{off}
	}
	steps := []Step{on, Out(g.fullScreen())}
	for range g.IntN(3) {
		steps = append(steps, pick(g.Rand, Look, Out(g.fullScreen()), Out(g.draws()), g.user()[0]))
	}
	return append(steps, off)
}

// fullScreen draws all rows, as vim, less and top do.
func (g gen) fullScreen() string {
	var b strings.Builder
	b.WriteString(pick(g.Rand, "\x1b[H\x1b[2J", "\x1b[H\x1b[J", "\x1b[H", "\x1b[2J\x1b[H", "\x1b[1;1H"))
	for y := range min(g.rows, 30) {
		switch g.IntN(4) {
		case 0:
			fmt.Fprintf(&b, "\x1b[%d;1H{w}\x1b[K", y+1)
		case 1:
			fmt.Fprintf(&b, "\x1b[%dH{~*%d}\x1b[K", y+1, 1+g.IntN(g.columns))
		case 2:
			fmt.Fprintf(&b, "{w} {x*%d}\x1b[K\r\n", 1+g.IntN(g.columns))
		}
	}
	fmt.Fprintf(&b, "\x1b[%d;1H\x1b[7m:{w}\x1b[m\x1b[K", g.rows)
	return b.String()
}

// user returns something done to the pane from outside.
func (g gen) user() []Step {
	switch g.IntN(22) {
	case 0, 1, 2:
		c, r := g.size()
		return []Step{{Op: "size", A: c, B: r}}
	case 3, 4:
		return []Step{{Op: "size", A: max(1, g.columns+g.IntN(21)-10), B: max(1, g.rows+g.IntN(9)-4)}}
	case 5:
		return []Step{{Op: "size", A: g.columns, B: 1 + g.IntN(40)}}
	case 6:
		return []Step{{Op: "size", A: 1 + g.IntN(150), B: g.rows}}
	case 7, 8:
		return []Step{{Op: "size", A: g.columns, B: g.rows}}
	case 9:
		return []Step{{Op: "clear"}}
	case 10:
		return []Step{{Op: "reset"}}
	case 11:
		return []Step{{Op: "copy"}}
	case 12:
		return []Step{{Op: "copy"}, {Op: "scroll", A: g.IntN(60) - 20}}
	case 13:
		return []Step{{Op: "uncopy"}}
	case 14:
		return []Step{{Op: "respawn"}}
	case 15:
		return []Step{{Op: "split", A: g.IntN(2)}}
	case 16:
		return []Step{{Op: "unsplit"}}
	case 17:
		return []Step{{Op: "zoom"}}
	case 18:
		return []Step{{Op: "break"}}
	case 19:
		return []Step{{Op: "join", A: g.IntN(2)}}
	case 20:
		return []Step{{Op: "swap"}}
	}
	if !g.one(3) {
		return []Step{{Op: "detach"}}
	}
	c, r := g.size()
	return []Step{{Op: "attach", A: c, B: r + 1}}
}

// raw returns arbitrary bytes: broken characters, truncated sequences, words in between.
func (g gen) raw() string {
	var b strings.Builder
	for range 1 + g.IntN(12) {
		switch g.IntN(10) {
		case 0:
			b.WriteString(pick(g.Rand, "\xe6\x97", "\xff", "\xc3", "\xf0\x9f\x98", "\x80\x80", "\xed\xa0\x80", "\xc0\xaf", "\xf4\x90\x80\x80", "é", "日", "\u009b2J", "\u0085"))
		case 1:
			b.WriteString(pick(g.Rand, "\x1b[", "\x1b[1;", "\x1b[?10", "\x1b]0;cut", "\x1bP1;2", "\x1b", "\x1b(", "\x1b[38;2;1", "\x1b[1:2:3", "\x1b[;;;;", "\x1b_", "\x1b[ ", "\x1b[\x18", "\x1b\x1a", "\x1b[1\x1b[2", "\x1b[3\n1H"))
		case 2:
			for range 1 + g.IntN(6) {
				if c := byte(g.IntN(256)); c != '{' && !isUpper(c) {
					b.WriteByte(c)
				}
			}
		case 3, 4:
			b.WriteString(g.draw())
		case 5:
			fmt.Fprintf(&b, "\x1b[%s%d%c", pick(g.Rand, "", "?", ">", "=", "!", "1;"), g.IntN(30), pick(g.Rand, []byte("ABCDEFGHJKLMPSTX@abcdefghlmpqrstu`")...))
		case 6:
			fmt.Fprintf(&b, "\x1b[%s", strings.Repeat("1;", g.IntN(40))+"m")
		case 7:
			b.WriteString(g.mode())
		default:
			b.WriteString(g.text())
		}
	}
	return b.String()
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
