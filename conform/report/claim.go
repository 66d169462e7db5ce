package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A claim is the unit of reports, of comparisons and of known failures: 106/tmux/2 is the
// second claim of gap 106's script for layer tmux. A script without claims of its own, as
// those of layers api and mcp, has one, [WholeClaim].

// Claim is one statement about tmux and what was observed about it.
type Claim struct {
	// Number is its place among the claims of the script, from 1.
	Number   int     `json:"number"`
	Text     string  `json:"text"`
	Verdict  Verdict `json:"verdict"`
	Expected Verdict `json:"expected"`
	// Why is what the verdict rests on, or what failed.
	Why     string  `json:"why"`
	Outcome Outcome `json:"outcome"`
	// Asked is set for what the gap asks for. It is unset for an extra, which is merely useful: an
	// open one does not fail the run of another wrapper.
	Asked bool `json:"asked"`
	// Evidence shows a failure.
	Evidence *Evidence `json:"evidence,omitempty"`
	// Known is set for a failure that was expected; see [Expectations].
	Known *Known `json:"known,omitempty"`
}

// UnmarshalJSON reads a claim, which is asked for unless it says that it is not.
func (c *Claim) UnmarshalJSON(text []byte) error {
	type plain Claim
	p := plain{Asked: true}
	err := json.Unmarshal(text, &p)
	*c = Claim(p)
	return err
}

// WholeClaim is the text of the claim of a script that has none.
const WholeClaim = "the gap is closed"

// Outcome is what became of a claim: one of those below, or the status of its cell.
type Outcome string

const (
	True     Outcome = "true"    // it was confirmed, or the gap is closed
	Untrue   Outcome = "refuted" // tmux does otherwise, as the script expects
	Open     Outcome = "open"    // asked rightly, answered wrongly
	Blocked  Outcome = "blocked" // the set-up failed, or a schema or mapping did not fit
	Crashed  Outcome = "crash"   // tmux or the server ended
	TimedOut Outcome = "timeout"
	Unstable Outcome = "unstable" // not the same each time that the script was run
	// NotReached is for a claim behind the failure that ended the script.
	NotReached Outcome = "not reached"
)

// failures are the outcomes that can be known failures.
var failures = []Outcome{Open, Blocked, Crashed, TimedOut, Unstable}

// Failed reports whether the claim is why its cell failed.
func (o Outcome) Failed() bool { return slices.Contains(failures, o) }

// skipped reports whether nothing is known of the claim.
func (o Outcome) skipped() bool {
	return slices.Contains([]Outcome{Outcome(NotApplicable), Outcome(NotOffered), Outcome(Skip), NotReached}, o)
}

// claimID names a claim, 106/tmux/2, all of a script, 106/tmux/*, or all of a gap, 106/*.
type claimID struct {
	Gap    int
	Layer  Layer // empty for all
	Number int   // 0 for all
}

func (id claimID) String() string { return fmt.Sprintf("%d/%s/%d", id.Gap, id.Layer, id.Number) }

var claimForm = regexp.MustCompile(`^([1-9][0-9]{0,5})/(?:\*|([a-z]+)/(?:\*|([1-9][0-9]{0,5})))$`)

func parseClaimID(s string) (id claimID, err error) {
	m := claimForm.FindStringSubmatch(s)
	switch {
	case m == nil:
		return id, fmt.Errorf("%q: want a gap, layer and number, as in 12/api/1, 12/api/* or 12/*", s)
	case m[2] != "" && !slices.Contains(Layers(), Layer(m[2])):
		return id, fmt.Errorf("%q: layer %q: want tmux, api or mcp", s, m[2])
	}
	id.Gap, _ = strconv.Atoi(m[1])
	id.Number, _ = strconv.Atoi(m[3])
	id.Layer = Layer(m[2])
	return id, nil
}

// has reports whether a claim is among those that id names.
func (id claimID) has(o claimID) bool {
	return id.Gap == o.Gap && (id.Layer == "" || id.Layer == o.Layer) && (id.Number == 0 || id.Number == o.Number)
}

// place is where in a script something failed.
var place = regexp.MustCompile(`^\S+\.txtar:[0-9]+: `)

// Settle completes the cell with all claims of its script, and with a status if it has none. The
// cell has the claims that the script reached; one without a text is the failure that ended the
// script, which goes to the next claim.
func (c *Cell) Settle(all []Claim) {
	claims, end := merge(all, c.Claims)
	if len(claims) == 0 {
		claims = []Claim{wholeClaim(c.Status)}
	}
	if end != nil {
		if cl := &claims[endsAt(claims)]; !cl.Outcome.Failed() {
			cl.Outcome, cl.Why, cl.Evidence = end.Outcome, end.Why, end.Evidence
		}
	}
	for i := range claims {
		if cl := &claims[i]; cl.Outcome == "" {
			cl.Outcome, cl.Why = c.unreached(end)
		}
	}
	if c.Claims = claims; c.Status == "" {
		c.judge()
	}
}

// merge returns all claims of a script, with the outcome of those that it reached, and the failure
// that ended it, or nil.
func merge(all, came []Claim) (claims []Claim, end *Claim) {
	claims = slices.Clone(all)
	for _, cl := range came {
		if cl.Text == "" {
			end = &cl
			continue
		}
		if cl.Outcome == "" {
			cl.Outcome = cl.Verdict.outcome(cl.Expected)
		}
		at := slices.IndexFunc(claims, func(o Claim) bool { return o.Text == cl.Text })
		if at < 0 {
			at = len(claims)
			claims = append(claims, Claim{Number: at + 1, Asked: true})
		}
		cl.Number, cl.Asked = claims[at].Number, claims[at].Asked
		claims[at] = cl
	}
	return claims, end
}

// wholeClaim returns the claim of a script that has none.
func wholeClaim(status Status) Claim {
	cl := Claim{Number: 1, Text: WholeClaim, Expected: Confirmed, Asked: true}
	if status == Pass {
		cl.Verdict, cl.Outcome = Confirmed, True
	}
	return cl
}

// endsAt returns the index of the claim that fails with the script: the first without an outcome,
// else the last that is for this version, else the first.
func endsAt(claims []Claim) int {
	if at := slices.IndexFunc(claims, func(cl Claim) bool { return cl.Outcome == "" }); at >= 0 {
		return at
	}
	for i, cl := range slices.Backward(claims) {
		if cl.Outcome != Outcome(NotApplicable) {
			return i
		}
	}
	return 0
}

// unreached returns the outcome of claims that the script did not reach, and why, given the failure
// that ended it, if any.
func (c *Cell) unreached(end *Claim) (o Outcome, why string) {
	switch {
	case c.Status == "" && end != nil && end.Outcome.skipped():
		return end.Outcome, end.Why
	case c.Status == Fail, c.Status == "" && end != nil:
		return NotReached, ""
	case c.Status == Pass, c.Status == "":
		return Outcome(NotApplicable), ""
	}
	return Outcome(c.Status), c.Reason
}

// judge gives the cell the status that its claims have, and the reason and evidence of the one
// that decides.
func (c *Cell) judge() {
	var first, decides *Claim
	for i := range c.Claims {
		cl := &c.Claims[i]
		if cl.Outcome.Failed() && c.counts(cl) {
			c.Status, decides = Fail, cmp.Or(decides, cl)
		}
		if cl.Asked && cl.Outcome != Outcome(NotApplicable) {
			first = cmp.Or(first, cl)
		}
	}
	switch {
	case decides != nil:
	case first == nil && !slices.ContainsFunc(c.Claims, func(cl Claim) bool { return cl.Asked }):
		c.Status, c.Reason = Errored, "the script has extras, and no claim"
	case first == nil:
		c.Status, c.Reason = NotApplicable, "nothing that the gap asks for applies to this version"
	case first.Outcome == NotReached:
		c.Status, c.Reason = Skip, cmp.Or(first.Why, "the script ended before its first claim")
	case first.Outcome == Outcome(NotOffered):
		c.Status, decides = NotOffered, first
	default:
		c.Status = Pass
	}
	if decides != nil {
		c.Reason = decides.Why
		if decides.Evidence != nil {
			c.Evidence = append(c.Evidence, *decides.Evidence)
		}
	}
}

// counts reports whether a failure of a claim is one of the cell: an extra is not one of a
// wrapper that is not this module's.
func (c *Cell) counts(cl *Claim) bool { return cl.Asked || c.Layer == TmuxLayer || c.Transport != "" }

func (v Verdict) outcome(expected Verdict) Outcome {
	switch {
	case v != expected:
		return Open
	case v == Refuted:
		return Untrue
	}
	return True
}

// result is a claim of a cell.
type result struct {
	*Cell
	Claim *Claim
}

// results returns all claims, in the order of cells.
func (r *Report) results() (all []result) {
	for i := range r.Cells {
		c := &r.Cells[i]
		for k := range c.Claims {
			all = append(all, result{c, &c.Claims[k]})
		}
	}
	return all
}

func (c result) ID() claimID { return claimID{c.Gap, c.Layer, c.Claim.Number} }

// Failed reports whether the claim failed, or the whole cell is an error.
func (c result) Failed() bool {
	return c.Claim.Outcome.Failed() && c.counts(c.Claim) || c.Claim.Outcome == Outcome(Errored)
}

// Says returns ": " and the text of the claim; empty if the claim is a whole script.
func (c result) Says() string {
	if c.Claim.Text == WholeClaim {
		return ""
	}
	return ": " + c.Claim.Text
}

// Why returns the reason for the outcome, with the script's line if the cell has it.
func (c result) Why() string {
	if c.Status == Flaky || strings.HasSuffix(c.Reason, c.Claim.Why) {
		return c.Reason
	}
	return c.Claim.Why
}

// Skipped returns why nothing is known of the claim, or what is open of an extra that counts for
// nothing; "" if it is neither.
func (c result) Skipped() string {
	extra := ""
	switch {
	case c.Claim.Outcome.Failed() && !c.counts(c.Claim):
		extra = "extra, "
	case !c.Claim.Outcome.skipped():
		return ""
	}
	return strings.TrimSuffix(extra+string(c.Claim.Outcome)+": "+c.Why(), ": ")
}

// Wrong returns the evidence of what went wrong.
func (c result) Wrong() Evidence {
	if c.Claim.Evidence != nil {
		return *c.Claim.Evidence
	}
	return c.Last()
}

// Seen returns the evidence that the claim's verdict rests on.
func (c result) Seen() (found []Evidence) {
	for _, e := range c.Evidence {
		why, ok := strings.CutPrefix(e.Expected, string(c.Claim.Verdict)+ObservedBy)
		if ok && strings.Contains("; "+c.Claim.Why+"; ", "; "+why+"; ") {
			found = append(found, e)
		}
	}
	return found
}

// group is results that are alike: the first, and the targets of all.
type group struct {
	result
	Targets []string
}

// groups puts the results together that have the same key, in the order of the first of
// each. Those whose key is nil are left out.
func (r *Report) groups(key func(c result) any) []group {
	at := map[any]int{}
	var all []group
	for _, c := range r.results() {
		k := key(c)
		if k == nil {
			continue
		}
		if _, ok := at[k]; !ok {
			at[k] = len(all)
			all = append(all, group{result: c})
		}
		if g := &all[at[k]]; !slices.Contains(g.Targets, c.Tmux) {
			g.Targets = append(g.Targets, c.Tmux)
		}
	}
	return all
}

// refutations returns the claims that are not true of some targets, with why.
func (r *Report) refutations() []group {
	return r.groups(func(c result) any {
		if c.Claim.Verdict != Refuted {
			return nil
		}
		return [3]any{c.Gap, c.Claim.Text, c.Claim.Why}
	})
}

// failures returns the failures that were known, or those that were not. An error counts once
// for its whole cell.
func (r *Report) failures(known bool) []group {
	return r.groups(func(c result) any {
		if !c.Status.Bad() || !c.Failed() || (c.Claim.Known != nil) != known {
			return nil
		}
		number, reason := c.Claim.Number, Known{}
		if c.Status == Errored {
			number = 0
		}
		if known {
			reason = *c.Claim.Known
		}
		return [8]any{c.Gap, c.Layer, c.API, number, c.Claim.Outcome, c.Claim.Why, c.Wrong().alike(), reason}
	})
}

// What describes a failure in words.
func (g group) What() string {
	id, text := g.ID().String(), g.Says()
	if g.Status == Errored {
		id, text = fmt.Sprintf("%d/%s", g.Gap, g.Layer), ""
	}
	if wrapper := g.wrapper(); wrapper != "" {
		id += ", " + wrapper
	}
	return fmt.Sprintf("%s, tmux %s: %s%s", id, strings.Join(g.Targets, ", "), g.Claim.Outcome, text)
}

var digits = regexp.MustCompile(`[0-9]+`)

// alike returns a text that is the same for pieces of evidence that differ only in numbers,
// such as process ids and terminal numbers.
func (e Evidence) alike() string {
	return digits.ReplaceAllString(e.Command+"\x00"+e.Expected+"\x00"+e.Actual, "0")
}

// Last returns the evidence of what went wrong, which is the last.
func (c *Cell) Last() Evidence {
	if len(c.Evidence) == 0 {
		return Evidence{}
	}
	return c.Evidence[len(c.Evidence)-1]
}

// ObservedBy is the text between a verdict and what was observed, in evidence.
const ObservedBy = " by: "
