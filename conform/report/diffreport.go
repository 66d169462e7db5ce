package report

import (
	"fmt"
	"html"
	"io"
	"strings"
)

// Summary is what changed in a line.
func (d *Diff) Summary() string {
	counts := map[string]int{}
	for _, c := range d.Changes {
		counts[c.Change]++
	}
	return strings.Join(append(counted(counts, changeOrder), fmt.Sprintf("%d the same", d.Same)), ", ")
}

// counted are numbers with what they are of, in an order.
func counted(counts map[string]int, order []string) []string {
	var parts []string
	for _, k := range order {
		if counts[k] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[k], k))
		}
	}
	return parts
}

// text is a change in words.
func (c *ClaimChange) text() string {
	what := fmt.Sprintf("%d/%s/%d, tmux %s", c.Gap, c.Layer, c.Claim, c.Tmux)
	if c.Transport != "exec" && c.Transport != "" {
		what += ", " + c.Transport
	}
	what += " (" + c.Title + ")"
	if c.Text != WholeClaim {
		what += ": " + c.Text
	}
	outcome := c.From + " → " + c.To
	switch {
	case c.From == "" || c.To == "":
		outcome = c.From + c.To
	case c.From == c.To:
		outcome = c.From + ": " + c.Was + " → " + c.Reason
	}
	if c.From != c.To && c.Reason != "" {
		outcome += ": " + c.Reason
	}
	return what + ": " + outcome
}

// diffPart is changes of one kind, or what a target adds or removes.
type diffPart struct {
	heading string
	target  bool
	changes []string
}

// parts are all changes, what got worse first. What is of targets that one of the runs
// lacks comes last, except for failures.
func (d *Diff) parts() []diffPart {
	var parts []diffPart
	rest := map[TargetPair][]ClaimChange{}
	for _, change := range changeOrder {
		p := diffPart{heading: strings.ToUpper(change[:1]) + change[1:]}
		for _, c := range d.Changes {
			switch {
			case c.Change != change:
			case (c.Tmux.A == "" || c.Tmux.B == "") && c.Change != Worse:
				rest[c.Tmux] = append(rest[c.Tmux], c)
			default:
				p.changes = append(p.changes, c.text())
			}
		}
		if p.changes != nil {
			parts = append(parts, p)
		}
	}
	for _, t := range d.Targets {
		if len(rest[t]) == 0 {
			continue
		}
		what, outcomes, order := "added", map[string]int{}, []string{}
		if t.B == "" {
			what = "removed"
		}
		p := diffPart{target: true}
		for _, c := range rest[t] {
			if outcomes[c.From+c.To]++; outcomes[c.From+c.To] == 1 {
				order = append(order, c.From+c.To)
			}
			p.changes = append(p.changes, c.text())
		}
		p.heading = fmt.Sprintf("tmux %s %s: %s", t, what, strings.Join(counted(outcomes, order), "; "))
		parts = append(parts, p)
	}
	return parts
}

// WriteDiff writes what changed for people: what got worse first.
func WriteDiff(w io.Writer, d *Diff, style Style) error {
	d = printable(d)
	t := &textReport{Report: &Report{}, style: style}
	if t.style.Width == 0 {
		t.style.Width = 80
	}
	colors := map[string]string{"Worse": "1;31", "Better": "32", "Changed": "36"}
	for _, p := range d.parts() {
		if p.target {
			t.printf("%s\n", p.heading)
			continue
		}
		t.printf("%s\n", t.paint(colors[p.heading], p.heading))
		for _, text := range p.changes {
			if !style.Unicode {
				text = strings.ReplaceAll(text, "→", "->")
			}
			t.item(2, "  ", text)
		}
		t.printf("\n")
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
	for _, p := range d.parts() {
		begin, end := "### "+p.heading, "\n"
		if p.target {
			begin, end = "<details><summary>"+html.EscapeString(p.heading)+"</summary>", "\n</details>\n\n"
		}
		fmt.Fprintf(&b, "%s\n\n", begin)
		for _, text := range p.changes {
			fmt.Fprintf(&b, "- %s\n", MarkdownText(text))
		}
		b.WriteString(end)
	}
	_, err := io.WriteString(w, fitting(b.String()))
	return err
}
