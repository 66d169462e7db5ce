package report

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// This file has what reports for people have in common: how an outcome looks,
// and cells that say the same put together.

// look is how an outcome is shown: a glyph where there is Unicode, a character
// elsewhere, an emoji where there is no color, an SGR color, and a class for
// style sheets.
type look struct {
	glyph, char, emoji string
	color, class       string
	meaning            string
}

var looks = map[Status]look{
	Pass:          {"✓", "+", "✅", "32", "pass", "pass"},
	Fail:          {"✗", "X", "❌", "1;31", "fail", "FAIL"},
	Errored:       {"!", "!", "💥", "1;35", "error", "error of the runner or the script"},
	NotApplicable: {"–", "-", "➖", "2", "na", "not for this version of tmux"},
	NotOffered:    {"○", "o", "⚪", "2", "notoffered", "not offered by the server"},
	Skip:          {"?", "?", "❔", "33", "skip", "skipped"},
	Flaky:         {"~", "~", "🎲", "33", "flaky", "flaky"},
}

var (
	// refutedLook is for a cell that passes with its claim refuted.
	refutedLook = look{"≠", "#", "🔵", "36", "refuted", "pass: the claim is refuted"}
	// knownLook is for a failure that was expected.
	knownLook = look{"×", "x", "🟡", "33", "known", "known to fail"}
)

// allLooks are in the order of legends.
var allLooks = []look{looks[Pass], refutedLook, looks[Fail], looks[Errored], knownLook, looks[Flaky], looks[NotOffered], looks[NotApplicable], looks[Skip]}

func (c *Cell) look() look {
	switch {
	case c.Known != nil:
		return knownLook
	case c.Status == Pass && c.Verdict == Refuted:
		return refutedLook
	}
	return looks[c.Status]
}

// seenLooks are those that occur in the report.
func (r *Report) seenLooks() []look {
	var seen []look
	for _, l := range allLooks {
		if slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.look() == l }) {
			seen = append(seen, l)
		}
	}
	return seen
}

// finding is something that holds alike for some targets; see everyGap.
type finding struct {
	Gap     int
	Text    string
	Targets []string
}

// collect puts cells together that say the same.
func (r *Report) collect(texts func(c *Cell) []string) []finding {
	var found []finding
	for i := range r.Cells {
		c := &r.Cells[i]
		for _, text := range texts(c) {
			j := slices.IndexFunc(found, func(f finding) bool { return f.Gap == c.Gap && f.Text == text })
			if j < 0 {
				found, j = append(found, finding{Gap: c.Gap, Text: text}), len(found)
			}
			if !slices.Contains(found[j].Targets, c.Tmux) {
				found[j].Targets = append(found[j].Targets, c.Tmux)
			}
		}
	}
	return found
}

// refutation is a part of a gap's claim that is not true of some targets.
type refutation struct {
	Gap     int
	Claim   string
	Why     string
	Targets []string
	// Evidence is the first target's.
	Evidence []Evidence
}

func (r *Report) refutations() []refutation {
	var found []refutation
	for _, c := range r.Cells {
		for _, cl := range c.Claims {
			if cl.Verdict != Refuted {
				continue
			}
			i := slices.IndexFunc(found, func(f refutation) bool { return f.Gap == c.Gap && f.Claim == cl.Text && f.Why == cl.Why })
			if i < 0 {
				found, i = append(found, refutation{Gap: c.Gap, Claim: cl.Text, Why: cl.Why, Evidence: c.evidenceOf(cl)}), len(found)
			}
			found[i].Targets = append(found[i].Targets, c.Tmux)
		}
	}
	return found
}

// layerQuestions are what the layers ask.
var layerQuestions = map[Layer]string{
	TmuxLayer: "is the claim true of this tmux?",
	APILayer:  "is the gap closed in the Go API?",
	MCPLayer:  "is the gap closed in the MCP server?",
}

// answer is what all cells of a layer come to, in a line for each suite.
func (r *Report) answer(l Layer) []string {
	var lines []string
	for _, p := range r.parts() {
		line := r.answerFor(l, p.Gaps)
		if p.Name != "" && line != "" {
			line = p.Name + ": " + line
		}
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// answerFor is that of these gaps: how many claims are true, or gaps closed, and
// which are not where. It is empty if none has a cell.
func (r *Report) answerFor(l Layer, gaps []GapInfo) string {
	var all, good int
	var refuted, bad, unknown, notOffered, nowhere []string
	for _, g := range gaps {
		var refutedOn, badOn, unknownOn, notOfferedOn []string
		asked, applies := false, false
		for i := range r.Cells {
			c := &r.Cells[i]
			if c.Gap != g.Number || c.Layer != l {
				continue
			}
			asked = true
			applies = applies || c.Status != NotApplicable
			switch {
			case c.Status.Bad():
				badOn = append(badOn, c.Tmux)
			case c.Status == Skip:
				unknownOn = append(unknownOn, c.Tmux)
			case c.Status == NotOffered:
				notOfferedOn = append(notOfferedOn, c.Tmux)
			case c.Verdict == Refuted:
				refutedOn = append(refutedOn, c.Tmux)
			}
		}
		if !asked {
			continue
		}
		all++
		name := strconv.Itoa(g.Number)
		switch {
		case len(badOn) > 0:
			bad = append(bad, name+r.where(badOn))
		case len(unknownOn) > 0:
			unknown = append(unknown, name)
		case len(notOfferedOn) > 0:
			notOffered = append(notOffered, name)
		case len(refutedOn) > 0:
			refuted = append(refuted, name)
		case !applies:
			nowhere = append(nowhere, name)
		default:
			good++
		}
	}
	if all == 0 {
		return ""
	}
	what, done, not := "gap", "closed on every tmux", "not closed"
	if l == TmuxLayer {
		what, done, not = "claim", "true where it applies", "not as expected"
		if good != 1 && all != 1 {
			done = "true where they apply"
		}
	}
	are := "are"
	if good == 1 || all == 1 {
		are = "is"
	}
	if all != 1 {
		what += "s"
	}
	text := fmt.Sprintf("%d of %d %s %s %s", good, all, what, are, done)
	if good == all && all > 1 {
		text = fmt.Sprintf("all %d %s %s %s", all, what, are, done)
	}
	for _, rest := range []struct {
		what string
		gaps []string
	}{{"refuted, in whole or in part", refuted}, {not, bad}, {"not offered", notOffered}, {"not known", unknown}, {"for no tmux here", nowhere}} {
		if len(rest.gaps) > 0 {
			text += "; " + rest.what + ": " + strings.Join(rest.gaps, ", ")
		}
	}
	return text
}

// serverVerdict reports whether a server closes a gap.
type serverVerdict struct {
	Gap     int
	Verdict string // closed, open, not offered or not known
	Why     string
	// Targets are those for which it is so, and why; empty for all.
	Targets []string
}

// serverVerdicts are those about another server, by gap. They are nil for the one
// of this program, all of whose gaps must be closed.
func (r *Report) serverVerdicts() []serverVerdict {
	if r.Server == "" {
		return nil
	}
	var all []serverVerdict
	for _, g := range r.Gaps {
		first := len(all)
		for i := range r.Cells {
			c := &r.Cells[i]
			if c.Gap != g.Number || c.Layer != MCPLayer {
				continue
			}
			v := serverVerdict{Gap: g.Number, Verdict: "closed"}
			switch {
			case c.Status.Bad():
				v.Verdict, v.Why = "open", c.Reason
			case c.Status == NotOffered:
				v.Verdict, v.Why = "not offered", c.Reason
			case c.Status == Skip, c.Status == NotApplicable:
				v.Verdict, v.Why = "not known", c.Reason
			}
			j := slices.IndexFunc(all[first:], func(o serverVerdict) bool { return o.Verdict == v.Verdict && o.Why == v.Why })
			if j < 0 {
				all, j = append(all, v), len(all)-first
			}
			all[first+j].Targets = append(all[first+j].Targets, c.Tmux)
		}
	}
	return all
}

func (v serverVerdict) text(r *Report) string {
	text := v.Verdict
	if v.Why != "" {
		text += ": " + v.Why
	}
	return text + r.where(v.Targets)
}

// where are the targets of a finding, when they are not all.
func (r *Report) where(targets []string) string {
	if len(targets) == len(r.Targets) {
		return ""
	}
	return " (" + strings.Join(targets, ", ") + ")"
}

// everyGap is the gap of a finding that is not about one.
const everyGap = -1

// reasons are the findings of cells of one status that have a reason. What was
// not run because the run was ended is one finding.
func (r *Report) reasons(s Status) []finding {
	stopped := ""
	if s == Skip {
		stopped = r.stopped()
	}
	found := r.collect(func(c *Cell) []string {
		ended := c.Reason == FailFast || c.Reason == Interrupted
		if c.Status != s || c.Reason == "" || stopped != "" && ended {
			return nil
		}
		return []string{c.Reason}
	})
	if stopped != "" {
		found = append(found, finding{Gap: everyGap, Text: stopped})
	}
	return found
}

// notPassed are the statuses of cells that neither passed nor failed.
var notPassed = []struct {
	status  Status
	heading string
}{{NotApplicable, "Not for this version"}, {Skip, "Skipped"}, {Flaky, "Flaky"}}

// alike is a failure that happened alike on some targets.
type alike struct {
	Cell
	Targets []string
}

// failures are the unexpected ones, or those that were known.
func (r *Report) failures(known bool) []alike {
	var found []alike
	for _, c := range r.Cells {
		if !c.Status.Bad() || (c.Known != nil) != known {
			continue
		}
		i := slices.IndexFunc(found, func(f alike) bool {
			return f.Gap == c.Gap && f.Layer == c.Layer && f.Reason == c.Reason && f.Last().same(c.Last()) &&
				(!known || *f.Known == *c.Known)
		})
		if i < 0 {
			found, i = append(found, alike{Cell: c}), len(found)
		}
		found[i].Targets = append(found[i].Targets, c.Tmux)
	}
	return found
}

// what is a failure's cell, in words.
func (f *alike) what() string {
	return fmt.Sprintf("gap %d, layer %s, tmux %s", f.Gap, f.Layer, strings.Join(f.Targets, ", "))
}

// reproduce is the command that prints the failure's reproducer; empty if there is
// none.
func (f *alike) reproduce(r *Report) string {
	if f.Reproducer == "" {
		return ""
	}
	words := []string{"mcp-conform", "reproduce", fmt.Sprintf("%d/%s/%s", f.Gap, f.Layer, f.Tmux)}
	i := slices.IndexFunc(r.Targets, func(t Target) bool { return t.Name == f.Tmux })
	if i >= 0 {
		t := r.Targets[i]
		spec := t.Spec
		if !strings.Contains(spec, "=") && t.Name != t.Version {
			spec = t.Name + "=" + spec
		}
		words = append(words, "--tmux", spec)
	}
	if r.Scripts != "" {
		words = append(words, "--scripts", r.Scripts)
	}
	return CommandLine(words)
}

var digits = regexp.MustCompile(`[0-9]+`)

// same reports whether two pieces of evidence differ only in numbers, such as
// process ids and terminal numbers.
func (e Evidence) same(o Evidence) bool {
	all := func(e Evidence) string {
		return digits.ReplaceAllString(e.Command+"\x00"+e.Expected+"\x00"+e.Actual, "0")
	}
	return all(e) == all(o)
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

// evidenceOf is the evidence that a claim's verdict rests on.
func (c *Cell) evidenceOf(cl Claim) []Evidence {
	var found []Evidence
	for _, e := range c.Evidence {
		why, ok := strings.CutPrefix(e.Expected, string(cl.Verdict)+ObservedBy)
		if ok && strings.Contains("; "+cl.Why+"; ", "; "+why+"; ") {
			found = append(found, e)
		}
	}
	return found
}

func (k Known) String() string {
	if k.Link == "" {
		return k.Reason
	}
	return k.Reason + " (" + k.Link + ")"
}

func (s Stale) String() string {
	return fmt.Sprintf("%s: gap %d, layer %s passes with tmux %s: %s", s.Entry, s.Gap, s.Layer, strings.Join(s.Tmux, ", "), s.Known)
}

// Gap returns the report's entry for the gap with this number.
func (r *Report) Gap(number int) GapInfo {
	for _, g := range r.Gaps {
		if g.Number == number {
			return g
		}
	}
	return GapInfo{Number: number}
}
