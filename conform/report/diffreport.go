package report

import (
	"fmt"
	"html"
	"io"
	"strings"
)

var diffHeadings = map[string]string{Worse: "Worse", Better: "Better", Changed: "Changed", New: "New", Gone: "Gone"}

// Summary is what changed in a line.
func (d *Diff) Summary() string {
	counts := map[string]int{}
	for _, c := range d.Changes {
		counts[c.Change]++
	}
	var parts []string
	for _, k := range []string{Worse, Better, Changed, New, Gone} {
		if counts[k] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[k], k))
		}
	}
	return strings.Join(append(parts, fmt.Sprintf("%d the same", d.Same)), ", ")
}

// text is a change in words.
func (c *CellChange) text(arrow string) string {
	what := fmt.Sprintf("gap %d, layer %s, tmux %s", c.Gap, c.Layer, c.Tmux)
	if c.Transport != "exec" && c.Transport != "" {
		what += ", " + c.Transport
	}
	outcome := c.From + arrow + c.To
	if c.From == "" || c.To == "" {
		outcome = c.From + c.To
	}
	text := fmt.Sprintf("%s (%s): %s", what, c.Title, outcome)
	if c.Reason != "" {
		text += ": " + c.Reason
	}
	return text
}

// split sets apart what is of targets that one of the runs lacks, except for failures.
func (d *Diff) split() (changes []CellChange, rest map[TargetPair][]CellChange) {
	rest = map[TargetPair][]CellChange{}
	for _, c := range d.Changes {
		if (c.Tmux.A == "" || c.Tmux.B == "") && c.Change != Worse {
			rest[c.Tmux] = append(rest[c.Tmux], c)
		} else {
			changes = append(changes, c)
		}
	}
	return changes, rest
}

// added sums up the cells of a target that one of the runs lacks.
func (p TargetPair) added(changes []CellChange) string {
	what := "added"
	if p.B == "" {
		what = "removed"
	}
	outcomes := map[string]int{}
	var order []string
	for _, c := range changes {
		o := c.From + c.To
		if outcomes[o] == 0 {
			order = append(order, o)
		}
		outcomes[o]++
	}
	for i, o := range order {
		order[i] = fmt.Sprintf("%d %s", outcomes[o], o)
	}
	return fmt.Sprintf("%s %s: %s", p, what, strings.Join(order, "; "))
}

// WriteDiff writes what changed for people: what got worse first.
func WriteDiff(w io.Writer, d *Diff, style Style) error {
	d = printable(d)
	t := &textReport{Report: &Report{}, style: style}
	if t.style.Width == 0 {
		t.style.Width = 80
	}
	colors := map[string]string{Worse: "1;31", Better: "32", Changed: "36"}
	arrow := " -> "
	if style.Unicode {
		arrow = " → "
	}
	last := ""
	kept, rest := d.split()
	for _, c := range kept {
		if c.Change != last {
			if last != "" {
				t.printf("\n")
			}
			t.printf("%s\n", t.paint(colors[c.Change], diffHeadings[c.Change]))
			last = c.Change
		}
		text := c.text(arrow)
		if !style.Unicode {
			text = strings.ReplaceAll(text, "→", "->")
		}
		t.item("  ", text)
	}
	if last != "" {
		t.printf("\n")
	}
	for _, p := range d.Targets {
		if len(rest[p]) > 0 {
			t.printf("tmux %s\n", p.added(rest[p]))
		}
	}
	t.printf("%s\n", d.Summary())
	_, err := w.Write(t.buf.Bytes())
	return err
}

// WriteDiffMarkdown writes what changed for a comment on a pull request: what got
// worse first, and collapsed what is of targets that one of the runs lacks, except for
// failures.
func WriteDiffMarkdown(w io.Writer, d *Diff) error {
	d = printable(d)
	var b strings.Builder
	mark := "✅"
	if d.Worse() {
		mark = "❌"
	}
	fmt.Fprintf(&b, "## %s mcp-conform: %s\n\n", mark, d.Summary())
	kept, rest := d.split()
	last := ""
	for _, c := range kept {
		if c.Change != last {
			fmt.Fprintf(&b, "### %s\n\n", diffHeadings[c.Change])
			last = c.Change
		}
		fmt.Fprintf(&b, "- %s\n", MarkdownText(c.text(" → ")))
	}
	if last != "" {
		b.WriteByte('\n')
	}
	for _, p := range d.Targets {
		changes := rest[p]
		if len(changes) == 0 {
			continue
		}
		fmt.Fprintf(&b, "<details><summary>tmux %s</summary>\n\n", html.EscapeString(p.added(changes)))
		for _, c := range changes {
			fmt.Fprintf(&b, "- %s\n", MarkdownText(c.text(" → ")))
		}
		b.WriteString("\n</details>\n\n")
	}
	text := b.String()
	if len(text) > maxMarkdown {
		const note = "\n\n(The rest is left out: it would be too large.)\n"
		text = strings.ToValidUTF8(text[:maxMarkdown-len(note)], "") + note
	}
	_, err := io.WriteString(w, text)
	return err
}
