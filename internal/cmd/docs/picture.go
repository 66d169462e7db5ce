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

// picture runs a command in a pane of a tmux server of its own, and prints an image of
// the first lines that the pane shows then.
func picture(most, command string) error {
	n, err := strconv.Atoi(most)
	if err != nil {
		return err
	}
	socket := fmt.Sprintf("docs-picture-%d", os.Getpid())
	shown, err := exec.Command("tmux", "-L", socket, "-f", os.DevNull, "new-session", "-d", "-x", "80", "-y", "100",
		"sh", "-c", `printf '$ %s\n' "$1"; eval "$1"; tmux wait-for -S drawn; exec sleep 60`, "sh", command, ";",
		"wait-for", "drawn", ";", "capture-pane", "-p", "-e", ";", "kill-server").Output()
	if err != nil {
		return fmt.Errorf("run it in tmux: %w", err)
	}
	lines := strings.Split(strings.TrimRight(string(shown), " \n"), "\n")
	_, err = fmt.Print(draw(lines[:min(n, len(lines))], command))
	return err
}

// The size of a cell, in pixels, and of the border around all of them.
const cellWidth, cellHeight, columns, border = 8.4, 19, 80, 14

// draw makes an image of lines with escape sequences. It needs no font but some
// monospaced one: each line is stretched to its cells. A character is one cell.
func draw(lines []string, title string) string {
	var b strings.Builder
	width, height := columns*cellWidth+2*border, len(lines)*cellHeight+2*border
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 %.0f %d" width="%.0f" height="%d">
<title>%s</title>
<style>%s</style>
<rect x=".5" y=".5" width="%.0f" height="%d" rx="8"/>
`, width, height, width, height, html.EscapeString(title), css, width-1, height-1)
	class := "" // lasts until it changes, also on the next line
	for i, line := range lines {
		text := strings.TrimRight(style.ReplaceAllString(line, ""), " ")
		fmt.Fprintf(&b, `<text x="%d" y="%d" textLength="%.1f">`, border, border+i*cellHeight+14, float64(utf8.RuneCountInString(text))*cellWidth)
		at, left := 0, len(text)
		span := func(text string) {
			text = text[:min(left, len(text))]
			left -= len(text)
			if text = html.EscapeString(text); class != "" && text != "" {
				text = fmt.Sprintf(`<tspan class="%s">%s</tspan>`, class, text)
			}
			b.WriteString(text)
		}
		for _, m := range style.FindAllStringSubmatchIndex(line, -1) {
			span(line[at:m[0]])
			at = m[1]
			for param := range strings.SplitSeq(line[m[2]:m[3]], ";") {
				switch param {
				case "", "0":
					class = ""
				case "1", "2": // what mcp-conform uses
					class = strings.TrimSpace(class + " s" + param)
				case "31", "32", "33", "36":
					class = strings.TrimSpace(colour.ReplaceAllString(class, "") + " s" + param)
				case "39":
					class = colour.ReplaceAllString(class, "")
				}
			}
		}
		span(line[at:])
		b.WriteString("</text>\n")
	}
	b.WriteString("</svg>\n")
	return b.String()
}

var (
	style  = regexp.MustCompile("\x1b\\[([0-9;]*)m")
	colour = regexp.MustCompile(` ?s3\d`)
)

// css has two palettes. It is in the image, so that both are readable wherever it is shown.
const css = `
text { font: 14px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace; fill: #24292f; white-space: pre }
rect { fill: #fbfaf7; stroke: #d5d1c8 } .s1 { font-weight: 700 } .s2 { opacity: .65 }
.s31 { fill: #b3201f } .s32 { fill: #156b39 } .s33 { fill: #7d5700 } .s36 { fill: #0a627a }
@media (prefers-color-scheme: dark) {
text { fill: #e2e5e7 } rect { fill: #16191c; stroke: #363c42 }
.s31 { fill: #ff8f87 } .s32 { fill: #6fd695 } .s33 { fill: #f0c663 } .s36 { fill: #73cfe8 }
}
`
