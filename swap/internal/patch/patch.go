// Package patch shows edits of configs as diffs, in which secrets are masked.
package patch

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"tmuxmcp/internal/terminal"
	"tmuxmcp/swap/format"
)

// A Differ makes the diffs of a dry run.
type Differ struct {
	Kind format.Kind
	// Visible are ways to mask a text, of which the first is used that masks nothing of the change, or
	// else the first; none: everything is shown.
	Visible []format.Visible
	Created bool // the old file does not exist
	Removed bool // the new one does not
}

// Unified returns a diff that patch(1) applies. Context lines that must not be shown are
// omitted. If the change itself contains secrets, or characters that act on a terminal, they are
// masked, and patch refuses the diff, so that no mask gets into a config.
func (f Differ) Unified(path string, old, text []byte) (shown string, masked bool) {
	name := path
	switch {
	case strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == 0x7f }):
		name = strconv.Quote(path)
	case strings.Contains(path, " "):
		name += "\t" // otherwise patch ends the name at the space
	}
	was, is := name, name
	if f.Created {
		was = "/dev/null"
	}
	if f.Removed {
		is = "/dev/null"
	}
	d := diff.Diff(was, old, is, text)
	// The first line is for git; neither patch nor the reader needs it.
	if i := bytes.Index(d, []byte("\n--- ")); i >= 0 {
		d = d[i+1:]
	}
	for _, visible := range f.Visible {
		now, hides := f.masked(d, old, text, visible)
		if !hides {
			return now, false
		}
		shown, masked = cmp.Or(shown, now), true
	}
	return cmp.Or(shown, string(d)), masked
}

// masked masks a diff.
func (f Differ) masked(d, old, text []byte, visible format.Visible) (shown string, masked bool) {
	head, hunks := f.hunks(d, old, text, visible)
	masked = slices.ContainsFunc(hunks, func(h *hunk) bool {
		return slices.ContainsFunc(h.lines, func(l hunkLine) bool { return l.masked && l.op != ' ' })
	})
	mark := "@@"
	if masked {
		mark = "@@ masked"
	}
	shown = string(head)
	for _, h := range hunks {
		for _, piece := range h.pieces() {
			shown += piece.String(mark)
		}
	}
	return shown, masked
}

// A hunk is a piece of a diff; x and y are its first lines in both texts, from 0.
type hunk struct {
	x, y  int
	lines []hunkLine
}

type hunkLine struct {
	op     byte // ' ', '-' or '+'
	text   string
	masked bool
}

// hunks parses a diff and masks its lines.
func (f Differ) hunks(d, old, text []byte, visible format.Visible) (head []byte, out []*hunk) {
	lines := func(kept []byte) [][]byte { return bytes.SplitAfter(kept, []byte("\n")) }
	was, is := lines(format.Mask(f.Kind, old, visible)), lines(format.Mask(f.Kind, text, visible))
	var h *hunk
	x, y := 0, 0
	for n, line := range lines(d) {
		switch {
		case n < 2:
			head = append(head, line...)
		case len(line) == 0:
		case line[0] == '@':
			var nx, ny int
			_, _ = fmt.Sscanf(string(line), "@@ -%d,%d +%d,%d @@", &x, &nx, &y, &ny)
			// A piece without lines is numbered by the line before it.
			if nx > 0 {
				x--
			}
			if ny > 0 {
				y--
			}
			h = &hunk{x: x, y: y}
			out = append(out, h)
		case line[0] == '\\': // No newline at end of file
			h.lines[len(h.lines)-1].text += string(line)
		default:
			l := hunkLine{op: line[0]}
			var shown []byte
			if l.op == '+' {
				shown = is[y]
			} else {
				shown = was[x]
				x++
			}
			if l.op != '-' {
				y++
			}
			l.text = Printable(string(bytes.TrimSuffix(shown, []byte("\n"))) + "\n")
			l.masked = l.text != string(line[1:])
			h.lines = append(h.lines, l)
		}
	}
	return head, out
}

// Printable returns a line of a text as it may be shown on a terminal, with its end and a byte
// order mark.
func Printable(line string) string {
	body := strings.TrimRight(line, "\r\n")
	rest := strings.TrimPrefix(body, "\ufeff")
	return body[:len(body)-len(rest)] + terminal.Printable(rest) + line[len(body):]
}

// pieces returns the hunk without masked context lines, in pieces if one is between changes. The
// pieces have as many lines before the change as after it, since patch takes a side with fewer
// lines for an end of the file.
func (h *hunk) pieces() (pieces []*hunk) {
	hides := func(l hunkLine) bool { return l.masked && l.op == ' ' }
	if !slices.ContainsFunc(h.lines, hides) {
		return []*hunk{h}
	}
	piece := &hunk{x: h.x, y: h.y}
	for _, l := range h.lines {
		if !hides(l) {
			piece.lines = append(piece.lines, l)
			continue
		}
		pieces = append(pieces, piece)
		nx, ny := piece.size()
		piece = &hunk{x: piece.x + nx + 1, y: piece.y + ny + 1}
	}
	return slices.DeleteFunc(append(pieces, piece), func(p *hunk) bool { return !p.balance() })
}

// balance removes context lines from the side with more of them. It reports false if nothing changes
// in the hunk.
func (h *hunk) balance() bool {
	changes := func(l hunkLine) bool { return l.op != ' ' }
	first := slices.IndexFunc(h.lines, changes)
	if first < 0 {
		return false
	}
	last := len(h.lines)
	for !changes(h.lines[last-1]) {
		last--
	}
	n := min(first, len(h.lines)-last)
	h.x, h.y, h.lines = h.x+first-n, h.y+first-n, h.lines[first-n:last+n]
	return true
}

// size returns how many lines of both texts the hunk has.
func (h *hunk) size() (nx, ny int) {
	for _, l := range h.lines {
		if l.op != '+' {
			nx++
		}
		if l.op != '-' {
			ny++
		}
	}
	return nx, ny
}

func (h *hunk) String(mark string) string {
	var b strings.Builder
	nx, ny := h.size()
	for _, l := range h.lines {
		b.WriteByte(l.op)
		b.WriteString(l.text)
	}
	from := func(at, n int) int {
		if n > 0 {
			at++
		}
		return at
	}
	return fmt.Sprintf("%s -%d,%d +%d,%d @@\n", mark, from(h.x, nx), nx, from(h.y, ny), ny) + b.String()
}
