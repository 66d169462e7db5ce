package main

import (
	"cmp"
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A style is what escape sequences select: bold, dim, italic, underlined and reversed by
// their parameters, 1 to 4 and 7, and colours, by their classes. "" is the default.
type style struct {
	on     [8]bool
	fg, bg string
}

// A span is a piece of a line in one style, without blanks at its ends.
type span struct {
	style
	column int
	text   string
}

// The size of a cell and of the border around all of them, in pixels.
const (
	cellWidth, cellHeight = 8.4, 19
	border                = 14
)

// draw makes an image of lines with escape sequences. It needs no font but some
// monospaced one: each span is stretched to its cells. Characters count as one cell.
func draw(lines []string, title string) string {
	var b strings.Builder
	width, height := columns*cellWidth+2*border, len(lines)*cellHeight+2*border
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 %.0f %d" width="%.0f" height="%d">
<title>%s</title>
<style>%s</style>
<rect class="screen" x=".5" y=".5" width="%.0f" height="%d" rx="8"/>
`, width, height, width, height, html.EscapeString(title), css, width-1, height-1)
	var now style
	for i, line := range lines {
		var spans []span
		spans, now = parse(line, now)
		for _, s := range spans {
			s.draw(&b, i)
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func (s span) draw(b *strings.Builder, line int) {
	fg, bg := s.fg, s.bg
	if s.on[7] {
		fg, bg = cmp.Or(bg, "paper"), cmp.Or(fg, "ink")
	}
	width := float64(utf8.RuneCountInString(s.text)) * cellWidth
	x, y := border+float64(s.column)*cellWidth, border+line*cellHeight
	if bg != "" {
		fmt.Fprintf(b, "<rect class=%q x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n", bg, x, y, width, cellHeight)
	}
	classes := fg
	for n, on := range s.on[:5] {
		if on {
			classes += fmt.Sprintf(" s%d", n)
		}
	}
	if s.text != "" {
		fmt.Fprintf(b, "<text class=%q x=\"%.1f\" y=\"%d\" textLength=\"%.1f\">%s</text>\n", strings.TrimSpace(classes), x, y+14, width, html.EscapeString(s.text))
	}
}

// escape is a sequence that tmux writes: a style, which is all that is drawn, the
// address of a link, or the switch to another character set.
var escape = regexp.MustCompile("\x1b\\[([0-9;:]*)m|\x1b\\]8;[^\x1b\a]*(?:\x1b\\\\|\a)|[\x0e\x0f]")

// parse cuts a line into spans. A style lasts until it changes, also on the next line.
func parse(line string, now style) ([]span, style) {
	var spans []span
	column := 0
	add := func(text string) {
		if n := len(spans) - 1; n >= 0 && spans[n].style == now && spans[n].column+utf8.RuneCountInString(spans[n].text) == column {
			spans[n].text += text
		} else if text != "" {
			spans = append(spans, span{now, column, text})
		}
		column += utf8.RuneCountInString(text)
	}
	for at := escape.FindStringSubmatchIndex(line); at != nil; at = escape.FindStringSubmatchIndex(line) {
		add(line[:at[0]])
		if at[2] >= 0 {
			now.apply(strings.Split(line[at[2]:at[3]], ";"))
		}
		line = line[at[1]:]
	}
	add(line)
	for i, s := range spans {
		if s.bg == "" && !s.on[4] && !s.on[7] {
			text := strings.TrimLeft(s.text, " ")
			spans[i].column += len(s.text) - len(text)
			spans[i].text = strings.TrimRight(text, " ")
		}
	}
	return spans, now
}

// apply changes the style by the parameters of one sequence.
func (s *style) apply(params []string) {
	for _, param := range params {
		param, _, _ = strings.Cut(param, ":")
		n, _ := strconv.Atoi(param)
		switch {
		case n == 0:
			*s = style{}
		case n <= 4 || n == 7:
			s.on[n] = true
		case n == 22:
			s.on[1], s.on[2] = false, false
		case n == 23 || n == 24 || n == 27:
			s.on[n-20] = false
		case n >= 30 && n <= 37:
			s.fg = fmt.Sprintf("c%d", n-30)
		case n >= 90 && n <= 97:
			s.fg = fmt.Sprintf("c%d", n-90+8)
		case n >= 40 && n <= 47:
			s.bg = fmt.Sprintf("c%d", n-40)
		case n >= 100 && n <= 107:
			s.bg = fmt.Sprintf("c%d", n-100+8)
		case n == 39:
			s.fg = ""
		case n == 49:
			s.bg = ""
		case n == 38 || n == 48:
			return // one of 256 colours, or of all
		}
	}
}

// css has two palettes. It is in the image, so that both are readable wherever it is shown.
const css = `
text { font: 14px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace; fill: #24292f; white-space: pre }
.screen { fill: #fbfaf7; stroke: #d5d1c8 } .ink { fill: #24292f } .paper { fill: #fbfaf7 }
.s1 { font-weight: 700 } .s2 { opacity: .65 } .s3 { font-style: italic } .s4 { text-decoration: underline }
.c0 { fill: #24292f } .c1 { fill: #b3201f } .c2 { fill: #156b39 } .c3 { fill: #7d5700 } .c4 { fill: #1c5fb0 } .c5 { fill: #8a2a9b } .c6 { fill: #0a627a } .c7 { fill: #6b7280 }
.c8 { fill: #5c636b } .c9 { fill: #d1332f } .c10 { fill: #1f8a4c } .c11 { fill: #96690a } .c12 { fill: #2f78d6 } .c13 { fill: #a53ab8 } .c14 { fill: #0f7d9b } .c15 { fill: #3b4148 }
@media (prefers-color-scheme: dark) {
text, .ink { fill: #e2e5e7 } .screen { fill: #16191c; stroke: #363c42 } .paper { fill: #16191c }
.c0 { fill: #5f6770 } .c1 { fill: #ff8f87 } .c2 { fill: #6fd695 } .c3 { fill: #f0c663 } .c4 { fill: #82b4ff } .c5 { fill: #e19bf0 } .c6 { fill: #73cfe8 } .c7 { fill: #c3c9ce }
.c8 { fill: #8a939b } .c9 { fill: #ffada7 } .c10 { fill: #94e6b1 } .c11 { fill: #f6d88c } .c12 { fill: #a6caff } .c13 { fill: #ebb8f5 } .c14 { fill: #9bdff1 } .c15 { fill: #fff }
}
`
