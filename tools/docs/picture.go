package main

import (
	"fmt"
	"html"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// picture runs commands in a pane of a tmux server of its own, and returns an image of
// the first lines that the pane shows then.
func picture(most string, commands []string) (string, error) {
	n, err := strconv.Atoi(most)
	if err != nil {
		return "", err
	}
	socket := fmt.Sprintf("docs-picture-%d", os.Getpid())
	args := append([]string{"-L", socket, "-f", os.DevNull, "new-session", "-d", "-x", "80", "-y", "200",
		"sh", "-c", `for c; do printf '$ %s\n' "$c"; eval "$c"; done; tmux wait-for -S drawn; exec sleep 60`, "sh"}, commands...)
	shown, err := exec.Command("tmux", append(args, ";", "wait-for", "drawn", ";", "capture-pane", "-p", "-e", ";", "kill-server")...).Output()
	if err != nil {
		return "", fmt.Errorf("run it in tmux: %w", err)
	}
	lines := strings.Split(strings.TrimRight(string(shown), " \n"), "\n")
	return draw(strings.Join(lines[:min(n, len(lines))], "\n"), strings.Join(commands, "; ")), nil
}

// The size of a cell, in pixels, and of the border around all of them.
const cellWidth, cellHeight, border = 8.4, 18, 14

// draw makes an image of a screen with escape sequences, as capture-pane -e prints it. It
// needs no font but some monospaced one: each piece of text is put at its column and
// stretched to its cells. A character is one cell.
func draw(screen, title string) string {
	var b strings.Builder
	lines := strings.Split(strings.TrimRight(screen, "\n"), "\n")
	columns := 80
	for _, line := range lines {
		columns = max(columns, utf8.RuneCountInString(escape.ReplaceAllString(line, "")))
	}
	width, height := float64(columns)*cellWidth+2*border, len(lines)*cellHeight+2*border
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 %.0f %d" width="%.0f" height="%d">
<title>%s</title>
<style>text { font: 14px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace }</style>
<rect width="100%%" height="100%%" rx="8" fill="%s"/>
`, width, height, width, height, html.EscapeString(title), background)
	var now look // lasts until it changes, also on the next line
	for row, line := range lines {
		column := 0
		y := border + row*cellHeight
		span := func(text string) {
			if _, back := now.colours(); back != background && text != "" {
				fmt.Fprintf(&b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n",
					border+float64(column)*cellWidth, y, float64(utf8.RuneCountInString(text))*cellWidth, cellHeight, back)
			}
			for _, at := range piece.FindAllStringIndex(text, -1) {
				x := border + float64(column+utf8.RuneCountInString(text[:at[0]]))*cellWidth
				b.WriteString(now.draw(text[at[0]:at[1]], x, y))
			}
			column += utf8.RuneCountInString(text)
		}
		end := 0
		for _, m := range escape.FindAllStringSubmatchIndex(line, -1) {
			span(line[end:m[0]])
			end = m[1]
			now.set(strings.Split(line[m[2]:m[3]], ";"))
		}
		span(line[end:])
	}
	b.WriteString("</svg>\n")
	return b.String()
}

var (
	escape = regexp.MustCompile("\x1b\\[([0-9;]*)m")
	// piece is text that is drawn as one: a line, or words with single spaces between them.
	piece = regexp.MustCompile(`─+|│|[^\s─│]+( [^\s─│]+)*`)
)

// look is how characters look.
type look struct {
	fore, back                  string // empty for the default
	bold, dim, italic, reversed bool
}

// set applies the parameters of an escape sequence.
func (l *look) set(params []string) {
	for i := 0; i < len(params); i++ {
		n, _ := strconv.Atoi(params[i])
		colour := &l.fore
		if n/10 == 4 || n/10 == 10 {
			colour = &l.back
		}
		switch {
		case n == 0:
			*l = look{}
		case n == 1:
			l.bold = true
		case n == 2:
			l.dim = true
		case n == 3:
			l.italic = true
		case n == 7:
			l.reversed = true
		case n == 38 || n == 48:
			if i+2 < len(params) && params[i+1] == "5" {
				n, _ = strconv.Atoi(params[i+2])
				*colour = indexed(n)
				i += 2
			} else if i+4 < len(params) {
				*colour = "rgb(" + strings.Join(params[i+2:i+5], ",") + ")"
				i += 4
			}
		case n == 39 || n == 49:
			*colour = ""
		case n >= 90:
			*colour = palette[8+n%10]
		case n >= 30:
			*colour = palette[n%10]
		}
	}
}

const foreground, background = "#e2e5e7", "#16191c"

// palette are the first 16 colours.
var palette = strings.Fields("#363c42 #ff8f87 #6fd695 #f0c663 #7fb4ff #d9a0ec #73cfe8 #cfd4d8 #6b747c #ffaaa3 #93e3b1 #f6d78b #a3c9ff #e5bdf3 #9bdff0 #ffffff")

// indexed returns one of the 256 colours of xterm.
func indexed(n int) string {
	switch {
	case n < 16:
		return palette[n]
	case n >= 232:
		return fmt.Sprintf("#%02[1]x%02[1]x%02[1]x", 8+10*(n-232))
	}
	level := func(n int) int { return []int{0, 95, 135, 175, 215, 255}[n%6] }
	return fmt.Sprintf("#%02x%02x%02x", level((n-16)/36), level((n-16)/6), level(n-16))
}

func (l look) colours() (fore, back string) {
	fore, back = foreground, background
	if l.fore != "" {
		fore = l.fore
	}
	if l.back != "" {
		back = l.back
	}
	if l.reversed {
		return back, fore
	}
	return fore, back
}

// draw draws a piece of text whose first cell has its upper left corner at x and y.
func (l look) draw(text string, x float64, y int) string {
	fore, _ := l.colours()
	width := float64(utf8.RuneCountInString(text)) * cellWidth
	switch text[:min(3, len(text))] {
	case "─":
		return fmt.Sprintf(`<path d="M%.1f %.1fh%.1f" stroke="%s"/>`+"\n", x, float64(y)+cellHeight/2, width, fore)
	case "│":
		return fmt.Sprintf(`<path d="M%.1f %dv%d" stroke="%s"/>`+"\n", x+cellWidth/2, y, cellHeight, fore)
	}
	style := ""
	if l.bold {
		style += ` font-weight="700"`
	}
	if l.italic {
		style += ` font-style="italic"`
	}
	if l.dim {
		style += ` opacity=".65"`
	}
	return fmt.Sprintf(`<text x="%.1f" y="%d" textLength="%.1f" fill="%s"%s>%s</text>`+"\n", x, y+14, width, fore, style, html.EscapeString(text))
}
