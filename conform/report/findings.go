package report

import (
	"slices"
)

// claimOn is a claim about tmux with its verdicts, each with the targets that have it.
type claimOn struct {
	Gap      int
	Text     string
	Verdicts []group
}

// claimsOn returns the claims about tmux that were observed, in the order of gaps.
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

// Now describes what changes from one target to the next; it is empty if nothing does.
func (c *claimOn) Now(before, target string) string {
	on := func(target string) *group {
		return first(c.Verdicts, func(v *group) bool { return slices.Contains(v.Targets, target) })
	}
	was, is := on(before), on(target)
	switch {
	case was == nil || is == nil || was == is:
		return ""
	case is.Claim.Verdict == Confirmed:
		return "holds now"
	}
	return "does not hold: " + is.Claim.Why
}

// Holds returns the verdict that confirms the claim, or nil if there is none.
func (c *claimOn) Holds() *group {
	return first(c.Verdicts, func(v *group) bool { return v.Claim.Verdict == Confirmed })
}
