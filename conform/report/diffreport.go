package report

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
)

//go:embed diff.md
var diffSource string

// Summary is what changed in a line.
func (d *Diff) Summary() string {
	var changes []string
	for _, c := range d.Changes {
		changes = append(changes, c.Change)
	}
	counts, _ := count(changes)
	return strings.Join(append(counted(counts, changeOrder), fmt.Sprintf("%d the same", d.Same)), ", ")
}

// count is how often each of a list is in it, and their order.
func count[T comparable](list []T) (times map[T]int, order []T) {
	times = map[T]int{}
	for _, v := range list {
		if times[v]++; times[v] == 1 {
			order = append(order, v)
		}
	}
	return times, order
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
	Heading string
	Target  bool
	Changes []string
}

// parts are all changes, what got worse first. What is of targets that one of the runs
// lacks comes last.
func (d *Diff) parts() (parts []diffPart) {
	ofTarget := func(c ClaimChange) bool { return c.Tmux.A == "" || c.Tmux.B == "" }
	for _, change := range changeOrder {
		p := diffPart{Heading: strings.ToUpper(change[:1]) + change[1:]}
		for _, c := range d.Changes {
			if c.Change == change && !ofTarget(c) {
				p.Changes = append(p.Changes, c.text())
			}
		}
		parts = append(parts, p)
	}
	for _, t := range d.Targets {
		what := "added"
		if t.B == "" {
			what = "removed"
		}
		p := diffPart{Target: true}
		var outcomes []string
		for _, c := range d.Changes {
			if ofTarget(c) && c.Tmux == t {
				outcomes = append(outcomes, c.From+c.To)
				p.Changes = append(p.Changes, c.text())
			}
		}
		counts, order := count(outcomes)
		p.Heading = fmt.Sprintf("tmux %s %s: %s", t, what, strings.Join(counted(counts, order), "; "))
		parts = append(parts, p)
	}
	return slices.DeleteFunc(parts, func(p diffPart) bool { return p.Changes == nil })
}

// WriteDiff writes what changed for people: what got worse first.
func WriteDiff(w io.Writer, d *Diff, style Style) error {
	d = printable(d)
	t := newTextReport(&Report{}, style)
	colors := map[string]string{"Worse": "1;31", "Better": "32", "Changed": "36"}
	for _, p := range d.parts() {
		if p.Target {
			t.printf("%s\n", p.Heading)
			continue
		}
		t.printf("%s\n", t.paint(colors[p.Heading], p.Heading))
		for _, text := range p.Changes {
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
// worse first, and collapsed what is of targets that one of the runs lacks.
func WriteDiffMarkdown(w io.Writer, d *Diff) error {
	d = printable(d)
	funcs := (&Report{}).pageFuncs()
	funcs["parts"] = d.parts
	var b strings.Builder
	if err := execute(&b, diffSource, funcs, d); err != nil {
		return err
	}
	_, err := io.WriteString(w, fitting(b.String()))
	return err
}
