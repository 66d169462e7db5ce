package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// claimOn is a claim about tmux with its verdicts, each with the targets that have it.
type claimOn struct {
	Gap      GapInfo
	Text     string
	Verdicts []group
}

// claimsOn are the claims about tmux that were observed, in the order of gaps.
func (r *Report) claimsOn() []claimOn {
	var claims []claimOn
	for _, g := range r.groups(func(c *Cell, cl *Claim) any {
		switch {
		case c.Layer != TmuxLayer || cl.Text == WholeClaim:
		case cl.Verdict == Confirmed:
			return [3]any{c.Gap, cl.Text}
		case cl.Verdict == Refuted:
			return [3]any{c.Gap, cl.Text, cl.Why}
		}
		return nil
	}) {
		i := slices.IndexFunc(claims, func(o claimOn) bool { return o.Gap.Number == g.Gap && o.Text == g.Claim.Text })
		if i < 0 {
			claims, i = append(claims, claimOn{Gap: r.Gap(g.Gap), Text: g.Claim.Text}), len(claims)
		}
		claims[i].Verdicts = append(claims[i].Verdicts, g)
	}
	return claims
}

// on is the verdict for a target; nil when there is none.
func (c *claimOn) on(target string) *Claim {
	for i := range c.Verdicts {
		if slices.Contains(c.Verdicts[i].Targets, target) {
			return &c.Verdicts[i].Claim
		}
	}
	return nil
}

// WriteFindings writes what the run found out about tmux, as a page for people who
// write wrappers: what changed from one target to the next, and each claim with the
// targets on which it holds. It has nothing that was not observed in the run.
func WriteFindings(w io.Writer, r *Report) error {
	r = printable(r)
	var names []string
	for _, t := range r.Targets {
		names = append(names, t.Name)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# What tmux does, release by release\n\n")
	fmt.Fprintf(&b, "What mcp-conform's suites found in tmux %s. Each claim is something that wrappers of tmux rely on; what is shown of it is what a script saw, on a server of its own with no configuration. ", strings.Join(names, ", "))
	b.WriteString("`mcp-conform explain N` prints a script, `mcp-conform reproduce N/tmux --tmux PATH` a shell script that shows it with nothing but that tmux.\n\n")
	b.WriteString("This page is generated, by a run over these versions:\n\n    mcp-conform --suite all --layer tmux --tmux … --format findings -o docs/findings.md\n\n")
	claims := r.claimsOn()
	b.WriteString("## From release to release\n")
	for i := 1; i < len(names); i++ {
		var lines []string
		for _, c := range claims {
			was, is := c.on(names[i-1]), c.on(names[i])
			if was == nil || is == nil || was.Verdict == is.Verdict && (is.Verdict == Confirmed || was.Why == is.Why) {
				continue
			}
			what := "holds now"
			if is.Verdict == Refuted {
				what = "does not hold: " + is.Why
			}
			lines = append(lines, fmt.Sprintf("- [%d](#%s) %s: **%s**\n", c.Gap.Number, Anchor(c.Gap), MarkdownText(c.Text), MarkdownText(what)))
		}
		fmt.Fprintf(&b, "\n### %s, after %s\n\n", MarkdownText(names[i]), MarkdownText(names[i-1]))
		if len(lines) == 0 {
			lines = []string{"Nothing that a script looks at.\n"}
		}
		b.WriteString(strings.Join(lines, ""))
	}
	b.WriteString("\n## Wrong on every version\n\n")
	for _, c := range claims {
		if !slices.ContainsFunc(c.Verdicts, func(v group) bool { return v.Claim.Verdict == Confirmed }) {
			var whys []string
			for _, v := range c.Verdicts {
				whys = append(whys, v.Claim.Why+r.where(v.Targets))
			}
			fmt.Fprintf(&b, "- [%d](#%s) %s: %s\n", c.Gap.Number, Anchor(c.Gap), MarkdownText(c.Text), MarkdownText(strings.Join(whys, "; ")))
		}
	}
	for _, p := range r.parts() {
		if p.Name != "" {
			fmt.Fprintf(&b, "\n## %s: %s\n", MarkdownText(p.Name), MarkdownText(p.About))
		}
		for _, g := range p.Gaps {
			r.findingsOf(&b, g, slices.DeleteFunc(slices.Clone(claims), func(c claimOn) bool { return c.Gap.Number != g.Number }))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Anchor returns the name of a gap's heading in the findings page, for links.
func Anchor(g GapInfo) string { return fmt.Sprintf("gap-%d", g.Number) }

func (r *Report) findingsOf(b *strings.Builder, g GapInfo, claims []claimOn) {
	fmt.Fprintf(b, "\n### <a id=\"%s\"></a>%d %s\n\n", Anchor(g), g.Number, MarkdownText(g.Title))
	for _, f := range []struct{ name, text string }{{"Claim", g.Claim}, {"Truth", g.Truth}, {"Since", g.Since}, {"Wrappers", g.Wrappers}, {"Source", g.Source}} {
		if f.text != "" {
			fmt.Fprintf(b, "- **%s**: %s\n", f.name, MarkdownText(f.text))
		}
	}
	if len(claims) == 0 {
		b.WriteString("\nNot for any of these versions.\n")
		return
	}
	b.WriteString("\n| claim | holds on | does not hold on |\n|:-|:-|:-|\n")
	for _, c := range claims {
		var holds string
		var not []string
		for _, v := range c.Verdicts {
			switch {
			case v.Claim.Verdict == Confirmed && len(v.Targets) == len(r.Targets):
				holds = "all"
			case v.Claim.Verdict == Confirmed:
				holds = strings.Join(v.Targets, ", ")
			case len(v.Targets) == len(r.Targets):
				not = append(not, "all: "+v.Claim.Why)
			default:
				not = append(not, strings.Join(v.Targets, ", ")+": "+v.Claim.Why)
			}
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", MarkdownText(c.Text), MarkdownText(holds), MarkdownText(strings.Join(not, "; ")))
	}
}
