package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// verdictOn is what became of a claim on some targets: alike, and in their order.
type verdictOn struct {
	Verdict Verdict
	Why     string
	Targets []string
}

// claimOn is a claim about tmux with its verdicts.
type claimOn struct {
	Gap      GapInfo
	Text     string
	Verdicts []verdictOn
}

// claimsOn are the claims of a gap that were observed.
func (r *Report) claimsOn(g GapInfo) []claimOn {
	var claims []claimOn
	for _, c := range r.Cells {
		if c.Gap != g.Number || c.Layer != TmuxLayer {
			continue
		}
		for _, cl := range c.Claims {
			i := slices.IndexFunc(claims, func(o claimOn) bool { return o.Text == cl.Text })
			if i < 0 {
				claims, i = append(claims, claimOn{Gap: g, Text: cl.Text}), len(claims)
			}
			why := ""
			if cl.Verdict == Refuted {
				why = cl.Why
			}
			of := &claims[i].Verdicts
			j := slices.IndexFunc(*of, func(v verdictOn) bool { return v.Verdict == cl.Verdict && v.Why == why })
			if j < 0 {
				*of, j = append(*of, verdictOn{Verdict: cl.Verdict, Why: why}), len(*of)
			}
			(*of)[j].Targets = append((*of)[j].Targets, c.Tmux)
		}
	}
	return claims
}

// on is the verdict for a target; nil when there is none.
func (c *claimOn) on(target string) *verdictOn {
	for i := range c.Verdicts {
		if slices.Contains(c.Verdicts[i].Targets, target) {
			return &c.Verdicts[i]
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
	var claims []claimOn
	for _, g := range r.Gaps {
		claims = append(claims, r.claimsOn(g)...)
	}
	b.WriteString("## From release to release\n")
	for i := 1; i < len(names); i++ {
		var lines []string
		for _, c := range claims {
			was, is := c.on(names[i-1]), c.on(names[i])
			if was == nil || is == nil || was.Verdict == is.Verdict && was.Why == is.Why {
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
		if !slices.ContainsFunc(c.Verdicts, func(v verdictOn) bool { return v.Verdict == Confirmed }) {
			var whys []string
			for _, v := range c.Verdicts {
				whys = append(whys, v.Why+r.where(v.Targets))
			}
			fmt.Fprintf(&b, "- [%d](#%s) %s: %s\n", c.Gap.Number, Anchor(c.Gap), MarkdownText(c.Text), MarkdownText(strings.Join(whys, "; ")))
		}
	}
	for _, p := range r.parts() {
		if p.Name != "" {
			fmt.Fprintf(&b, "\n## %s: %s\n", MarkdownText(p.Name), MarkdownText(p.About))
		}
		for _, g := range p.Gaps {
			r.findingsOf(&b, g)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Anchor returns the name of a gap's heading in the findings page, for links.
func Anchor(g GapInfo) string { return fmt.Sprintf("gap-%d", g.Number) }

func (r *Report) findingsOf(b *strings.Builder, g GapInfo) {
	fmt.Fprintf(b, "\n### <a id=\"%s\"></a>%d %s\n\n", Anchor(g), g.Number, MarkdownText(g.Title))
	for _, f := range []struct{ name, text string }{{"Claim", g.Claim}, {"Truth", g.Truth}, {"Since", g.Since}, {"Wrappers", g.Wrappers}, {"Source", g.Source}} {
		if f.text != "" {
			fmt.Fprintf(b, "- **%s**: %s\n", f.name, MarkdownText(f.text))
		}
	}
	claims := r.claimsOn(g)
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
			case v.Verdict == Confirmed && len(v.Targets) == len(r.Targets):
				holds = "all"
			case v.Verdict == Confirmed:
				holds = strings.Join(v.Targets, ", ")
			case len(v.Targets) == len(r.Targets):
				not = append(not, "all: "+v.Why)
			default:
				not = append(not, strings.Join(v.Targets, ", ")+": "+v.Why)
			}
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", MarkdownText(c.Text), MarkdownText(holds), MarkdownText(strings.Join(not, "; ")))
	}
}
