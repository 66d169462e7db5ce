// Package patch shows edits of configs as diffs, in which secrets are masked.
package patch

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"tmuxmcp/swap/format"
)

// A Differ makes the diffs of a dry run.
type Differ struct {
	Kind    format.Kind
	Visible func(string) bool // nil: everything is shown
	Created bool              // the old file does not exist
	Removed bool              // the new one does not
}

// Unified returns a diff that patch(1) applies. Context lines that must not be shown are
// omitted. If the change itself contains secrets, it is masked, and patch refuses the diff,
// so that no mask gets into a config.
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
	if f.Visible == nil {
		return string(d), false
	}
	head, hunks := f.hunks(d, old, text)
	out, all := string(head), string(head)
	for _, h := range hunks {
		all += h.String("@@ masked")
		masked = !h.trim() || masked
		out += h.String("@@")
	}
	if masked {
		return all, true
	}
	return out, false
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
func (f Differ) hunks(d, old, text []byte) (head []byte, out []*hunk) {
	lines := func(kept []byte) [][]byte { return bytes.SplitAfter(kept, []byte("\n")) }
	was, is := lines(format.Mask(f.Kind, old, f.Visible)), lines(format.Mask(f.Kind, text, f.Visible))
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
			l.text = string(bytes.TrimSuffix(shown, []byte("\n"))) + "\n"
			l.masked = l.text != string(line[1:])
			h.lines = append(h.lines, l)
		}
	}
	return head, out
}

// trim removes masked context lines, the same number before and after the change, since
// patch takes a side with fewer lines for an end of the file. It reports whether no masked
// line is left.
func (h *hunk) trim() bool {
	first, last := 0, len(h.lines)
	for h.lines[first].op == ' ' {
		first++
	}
	for h.lines[last-1].op == ' ' {
		last--
	}
	n := 0
	for first-n > 0 && last+n < len(h.lines) && !h.lines[first-n-1].masked && !h.lines[last+n].masked {
		n++
	}
	if slices.ContainsFunc(h.lines[first:last], func(l hunkLine) bool { return l.masked }) {
		return false
	}
	for i, l := range h.lines {
		if l.masked && (i < first || i >= last) {
			h.x, h.y, h.lines = h.x+first-n, h.y+first-n, h.lines[first-n:last+n]
			return true
		}
	}
	return true
}

func (h *hunk) String(mark string) string {
	var b strings.Builder
	nx, ny := 0, 0
	for _, l := range h.lines {
		if l.op != '+' {
			nx++
		}
		if l.op != '-' {
			ny++
		}
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
