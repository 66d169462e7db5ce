package report

import (
	_ "embed"
	"io"
	"slices"
	"strings"
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
	verdicts []group
	report   *Report
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
			i, claims = len(claims), append(claims, &claimOn{Gap: g.Gap, Text: g.Claim.Text, report: r})
		}
		claims[i].verdicts = append(claims[i].verdicts, g)
	}
	return claims
}

// Now is what a target changes, after another one; empty for nothing.
func (c *claimOn) Now(before, target string) string {
	on := func(target string) int {
		return slices.IndexFunc(c.verdicts, func(v group) bool { return slices.Contains(v.Targets, target) })
	}
	was, is := on(before), on(target)
	switch {
	case was < 0 || is < 0 || was == is:
		return ""
	case c.verdicts[is].Claim.Verdict == Confirmed:
		return "holds now"
	}
	return "does not hold: " + c.verdicts[is].Claim.Why
}

// Wrong is why the claim holds on no target; empty if it holds on one.
func (c *claimOn) Wrong() string {
	var whys []string
	for _, v := range c.verdicts {
		if v.Claim.Verdict == Confirmed {
			return ""
		}
		whys = append(whys, v.Claim.Why+c.report.where(v.Targets))
	}
	return strings.Join(whys, "; ")
}

// Holds are the targets on which the claim holds.
func (c *claimOn) Holds() string {
	for _, v := range c.verdicts {
		if v.Claim.Verdict == Confirmed {
			return c.on(v)
		}
	}
	return ""
}

// HoldsNot are those on which it does not, and why.
func (c *claimOn) HoldsNot() string {
	var not []string
	for _, v := range c.verdicts {
		if v.Claim.Verdict == Refuted {
			not = append(not, c.on(v)+": "+v.Claim.Why)
		}
	}
	return strings.Join(not, "; ")
}

func (c *claimOn) on(v group) string {
	if len(v.Targets) == len(c.report.Targets) {
		return "all"
	}
	return strings.Join(v.Targets, ", ")
}
