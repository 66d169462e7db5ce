package report

import (
	_ "embed"
	"io"
	"slices"
)

//go:embed findings.md
var findingsSource string

// WriteFindings writes what the run found out about tmux, as a page for people who
// write wrappers: what changed from one target to the next, and each claim with the
// targets on which it holds. It has nothing that was not observed in the run.
func WriteFindings(w io.Writer, r *Report) error {
	r = printable(r)
	return execute(w, findingsSource, r.pageFuncs(), r)
}

// claimOn is a claim about tmux with its verdicts, each with the targets that have it.
type claimOn struct {
	Gap      int
	Text     string
	Verdicts []group
}

// claimsOn are the claims about tmux that were observed, in the order of gaps.
func (r *Report) claimsOn() (claims []*claimOn) {
	for _, g := range r.groups(func(c result) any {
		switch {
		case c.Layer != TmuxLayer || c.Claim.Text == WholeClaim:
		case c.Claim.Verdict == Confirmed:
			return [3]any{c.Gap, c.Claim.Text}
		case c.Claim.Verdict == Refuted:
			return [3]any{c.Gap, c.Claim.Text, c.Claim.Why}
		}
		return nil
	}) {
		i := slices.IndexFunc(claims, func(o *claimOn) bool { return o.Gap == g.Gap && o.Text == g.Claim.Text })
		if i < 0 {
			i, claims = len(claims), append(claims, &claimOn{Gap: g.Gap, Text: g.Claim.Text})
		}
		claims[i].Verdicts = append(claims[i].Verdicts, g)
	}
	return claims
}

// Now is what a target changes, after another one; empty for nothing.
func (c *claimOn) Now(before, target string) string {
	on := func(target string) int {
		return slices.IndexFunc(c.Verdicts, func(v group) bool { return slices.Contains(v.Targets, target) })
	}
	was, is := on(before), on(target)
	switch {
	case was < 0 || is < 0 || was == is:
		return ""
	case c.Verdicts[is].Claim.Verdict == Confirmed:
		return "holds now"
	}
	return "does not hold: " + c.Verdicts[is].Claim.Why
}

// Holds is the verdict that confirms the claim; nil if there is none.
func (c *claimOn) Holds() *group {
	if i := slices.IndexFunc(c.Verdicts, func(v group) bool { return v.Claim.Verdict == Confirmed }); i >= 0 {
		return &c.Verdicts[i]
	}
	return nil
}
