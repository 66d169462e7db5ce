package script

import (
	"fmt"
	"slices"
	"strings"

	"tmuxmcp/conform/internal/child"
	"tmuxmcp/conform/report"
)

// observation is a line "saw" before the claim that it is about.
type observation struct {
	verdict report.Verdict
	why     string
	printed printed
}

// claims are the claims of a script so far, with their evidence.
type claims struct {
	seen     []observation
	all      []report.Claim
	evidence []report.Evidence
}

// decide returns a claim with the observed verdict, and what is wrong with that, or "" if it is as
// expected.
func (c *claims) decide(expected report.Verdict, text string) (claim report.Claim, wrong string) {
	claim = report.Claim{Text: text, Expected: expected, Asked: true}
	var whys []string
	verdicts := map[report.Verdict]bool{}
	for _, o := range c.seen {
		claim.Verdict, verdicts[o.verdict] = o.verdict, true
		whys = append(whys, o.why)
	}
	claim.Why = child.Clip(strings.Join(whys, "; "))
	switch {
	case len(verdicts) == 0:
		wrong = fmt.Sprintf("neither confirmed nor refuted, want %s: %s", claim.Expected, claim.Text)
		claim.Why = wrong
	case len(verdicts) > 1:
		wrong = "both confirmed and refuted: " + claim.Text
		claim.Verdict, claim.Why = "", wrong
	case claim.Verdict != claim.Expected:
		wrong = fmt.Sprintf("%s, want %s: %s: %s", claim.Verdict, claim.Expected, claim.Text, claim.Why)
	}
	return claim, wrong
}

// cell returns the cell of a script that ended with verdict v, or reached its end if v is nil.
// wrong is the verdict on its first wrong claim, or nil.
func (c *claims) cell(req child.Request, v, wrong *Verdict) report.Cell {
	cell := report.Cell{Status: report.Pass, Claims: c.all, Evidence: c.evidence}
	for _, cl := range c.all {
		if cell.Verdict != report.Refuted && cl.Verdict != "" {
			cell.Verdict = cl.Verdict
		}
	}
	switch {
	case v != nil || wrong != nil:
	case len(c.seen) > 0:
		v = &Verdict{Kind: Errored, Why: "the script says what it saw, and not of which claim"}
	case req.Layer == report.TmuxLayer && len(c.all) == 0:
		v = &Verdict{Kind: Errored, Why: "the script ended without a claim"}
	}
	if v != nil && v.Evidence != (report.Evidence{}) {
		cell.Evidence = append(cell.Evidence, v.Evidence)
		if v.Kind.failed() || v.Kind == NotOffered {
			cell.Claims = append(cell.Claims, report.Claim{Outcome: v.Kind.outcome(), Why: v.Why, Evidence: &v.Evidence})
		}
	}
	if wrong != nil && (v == nil || v.Kind != Errored) {
		v = wrong
		cell.Evidence = append(cell.Evidence, v.Evidence)
	}
	if v == nil {
		return cell
	}
	cell.Status, cell.Reason = report.Status(v.Kind.outcome()), child.Clip(where(req.File, v)+v.Why)
	switch {
	case v.Kind.failed():
		cell.Status = report.Fail
	case v.Kind == NotOffered:
		cell.Reason = v.Why
	case v.Kind == NotApplicable && req.Layer == report.TmuxLayer:
		cell.Verdict = report.NoVerdict
	}
	return cell
}

// parted returns the cell of a script whose parts fail alone, and that ended with verdict v, or
// reached its end if v is nil. An empty status follows from the claims, once those that the script
// did not reach are known.
func (c *claims) parted(req child.Request, v *Verdict) report.Cell {
	cell := report.Cell{Claims: c.all}
	if v == nil {
		return cell
	}
	why := child.Clip(where(req.File, v) + v.Why)
	wrong := slices.ContainsFunc(c.all, func(cl report.Claim) bool { return cl.Outcome.Failed() })
	switch {
	case v.Kind.failed():
		cell.Claims = append(cell.Claims, report.Claim{Outcome: v.Kind.outcome(), Why: why, Evidence: &v.Evidence})
		return cell
	case v.Kind != Errored && wrong: // which counts, however the script ended later
		cell.Claims = append(cell.Claims, report.Claim{Outcome: v.Kind.outcome(), Why: why})
		return cell
	}
	cell.Status, cell.Reason = report.Status(v.Kind.outcome()), why
	if v.Evidence != (report.Evidence{}) {
		cell.Evidence = []report.Evidence{v.Evidence}
	}
	return cell
}
