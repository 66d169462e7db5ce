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
	of                 Status // or one of those below
	Glyph, char, Emoji string
	color, Class       string
	Meaning            string
}

const (
	seenRefuted Status = "refuted" // it passes with its claim refuted
	seenPartly  Status = "partly"  // its first claim is true, and another is not
	seenBlocked Status = "blocked" // what the script needs fails, and not what it asks
	seenKnown   Status = "known to fail"
)

// looks are in the order of legends.
var looks = []look{
	{Pass, "✓", "+", "✅", "32", "pass", "pass"},
	{seenRefuted, "≠", "#", "🔵", "36", "refuted", "pass: the claim is refuted"},
	{seenPartly, "◐", "p", "🌗", "33", "partly", "partly: the first claim is true, another is not"},
	{Fail, "✗", "X", "❌", "1;31", "fail", "FAIL"},
	{seenBlocked, "⊘", "B", "🚧", "1;33", "error", "blocked: the set-up, a schema or a mapping"},
	{Errored, "!", "!", "💥", "1;35", "error", "error of the runner or the script"},
	{seenKnown, "×", "x", "🟡", "33", "known", "known to fail"},
	{Flaky, "~", "~", "🎲", "33", "flaky", "flaky"},
	{NotOffered, "○", "o", "⚪", "2", "notoffered", "not offered"},
	{NotApplicable, "–", "-", "➖", "2", "na", "not for this version of tmux"},
	{Skip, "?", "?", "❔", "33", "skip", "skipped"},
}

// seen returns the cell's status, or what makes it look otherwise.
func (c *Cell) seen() Status {
	if c.Known != nil {
		return seenKnown
	}
	return c.came()
}

// came returns the same, whether or not a failure was known.
func (c *Cell) came() Status {
	switch {
	case c.Status == Pass && c.Verdict == Refuted:
		return seenRefuted
	case c.Status == Pass || c.Status == Fail || c.Status == NotOffered:
		return c.mark()
	}
	return c.Status
}

// mark returns how a cell is seen whose claims say it: on layers api and mcp the first claim is
// the gap, and the others refine it.
func (c *Cell) mark() Status {
	gap := first(c.Claims, func(cl *Claim) bool { return cl.Asked && cl.Outcome != Outcome(NotApplicable) })
	if gap == nil || c.Layer == TmuxLayer {
		if c.blocked() {
			return seenBlocked
		}
		return c.Status
	}
	another := slices.ContainsFunc(c.Claims, func(cl Claim) bool {
		return c.counts(&cl) && cl.Outcome != True && cl.Outcome != Outcome(NotApplicable)
	})
	switch {
	case gap.Outcome == Outcome(NotOffered):
		return NotOffered
	case gap.Outcome == Blocked:
		return seenBlocked
	case gap.Outcome == True && another:
		return seenPartly
	case gap.Outcome == True:
		return Pass
	}
	return Fail
}

// Look returns how the cell is shown.
func (c *Cell) Look() look {
	return looks[slices.IndexFunc(looks, func(l look) bool { return l.of == c.seen() })]
}

// seenLooks returns the looks that occur in the report.
func (r *Report) seenLooks() []look {
	return slices.DeleteFunc(slices.Clone(looks), func(l look) bool {
		return !slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.seen() == l.of })
	})
}

// answer sums up the cells of a column, with a line for each suite.
func (in Column) answer(r *Report) []string {
	var lines []string
	for _, p := range r.parts() {
		if line := in.answerFor(r, p.Gaps); line != "" {
			if p.Name != "" {
				line = p.Name + ": " + line
			}
			lines = append(lines, line)
		}
	}
	if text := in.extras(r); text != "" {
		lines = append(lines, text)
	}
	return lines
}

// What a cell is as an answer, from what says nothing to the worst.
const (
	nowhere = iota
	good
	refuted
	notOffered
	unknown
	partly
	blocked
	bad
)

// rankNames describe why a gap does not count as good.
var rankNames = [...]string{
	nowhere: "for no tmux here", refuted: "tmux refutes, in whole or in part", notOffered: "not offered",
	unknown: "not known", partly: "partly", blocked: "blocked", bad: "not closed",
}

// ranks are the ranks of what is not good, by how it is seen.
var ranks = map[Status]int{
	seenPartly: partly, seenBlocked: blocked, Fail: bad, Errored: bad, Skip: unknown, NotOffered: notOffered,
	NotApplicable: nowhere, seenRefuted: refuted, Pass: good, Flaky: good,
}

func (c *Cell) rank() int { return ranks[c.came()] }

// blocked reports whether no claim of a cell that failed is known to be wrong.
func (c *Cell) blocked() bool {
	has := func(blocked bool) bool {
		return slices.ContainsFunc(c.Claims, func(cl Claim) bool {
			return cl.Outcome.Failed() && (cl.Outcome == Blocked) == blocked
		})
	}
	return has(true) && !has(false)
}

// answerFor returns how many of the gaps' claims are true, or how many of the gaps are
// closed, and where the others are not. It is empty if no gap has a cell.
func (in Column) answerFor(r *Report, gaps []GapInfo) string {
	all := 0
	var found [len(rankNames)][]string
	for _, g := range gaps {
		rank, on := in.worst(r, g)
		if len(on) == 0 {
			continue
		}
		all++
		name := strconv.Itoa(g.Number)
		if rank >= partly {
			name += r.where(on)
		}
		found[rank] = append(found[rank], name)
	}
	if all == 0 {
		return ""
	}
	text := tally(len(found[good]), all)
	if in.Layer == TmuxLayer {
		text = behaves(len(found[good])+len(found[refuted]), all-len(found[nowhere]))
	}
	for _, rank := range []int{refuted, bad, blocked, partly, notOffered, unknown, nowhere} {
		name := rankNames[rank]
		if rank == bad && in.Layer == TmuxLayer {
			name = "not as expected"
		}
		if gaps := found[rank]; len(gaps) > 0 {
			text += "; " + name + ": " + strings.Join(gaps, ", ")
		}
	}
	return text
}

// worst returns the worst rank of a gap's cells in a column, and the targets that have it.
func (in Column) worst(r *Report, g GapInfo) (rank int, on []string) {
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.Gap != g.Number || !in.has(c) || c.rank() < rank {
			continue
		}
		if c.rank() > rank {
			rank, on = c.rank(), nil
		}
		on = append(on, c.Tmux)
	}
	return rank, on
}

// tally returns a sentence: n of all gaps are closed.
func tally(n, all int) string {
	what, are := "gaps", "are"
	if all == 1 {
		what = "gap"
	}
	if n == 1 || all == 1 {
		are = "is"
	}
	if n == all && all > 1 {
		return fmt.Sprintf("all %d %s %s closed on every tmux", all, what, are)
	}
	return fmt.Sprintf("%d of %d %s %s closed on every tmux", n, all, what, are)
}

// behaves returns a sentence: in n of all scripts, which apply, tmux behaves as they expect, also
// where it refutes a claim.
func behaves(n, all int) string {
	switch {
	case all == 0:
		return "no script applies"
	case all == 1:
		return fmt.Sprintf("as documented in %d of 1 script", n)
	case n == all:
		return fmt.Sprintf("as documented in all %d scripts", all)
	}
	return fmt.Sprintf("as documented in %d of %d scripts", n, all)
}

// section is a part of a report that is a list, in every format for people.
type section struct {
	ID, Heading string
	Items       []item
}

// Wrapper reports whether the section is about a wrapper or a server that is not this module's.
func (s section) Wrapper() bool { return s.ID == "server" || strings.HasPrefix(s.ID, "api-") }

// item is a statement about a gap, or about all gaps if Gap is 0. Link is further reading. Extra is
// set for one about an extra, which a terminal has no room for.
type item struct {
	Gap        int
	Text, Link string
	Extra      bool
}

// sections returns the sections that are not empty, without failures, whose evidence the page
// shows apart.
func (r *Report) sections() []section {
	var all []section
	put := func(id, heading string, items []item) {
		if items != nil {
			all = append(all, section{id, heading, items})
		}
	}
	add := func(id, heading string, found []group, text func(g group) item) {
		var items []item
		for _, g := range found {
			items = append(items, text(g))
		}
		put(id, heading, items)
	}
	for _, in := range foreign(r) {
		items, id, heading := []item(nil), "server", "The MCP server"
		if a := apiOf(r, in.API); a != nil {
			id, heading = "api-"+strings.ReplaceAll(a.Name, " ", "-"), a.heading()
		}
		for _, text := range in.answer(r) {
			items = append(items, item{Text: text})
		}
		for _, v := range in.verdicts(r) {
			if v.Text != closed && v.Text != notHere {
				items = append(items, item{Gap: v.Gap, Text: v.Text + r.where(v.Targets), Extra: strings.HasPrefix(v.Text, extra)})
			}
		}
		put(id, heading, items)
	}
	add("refuted", "Claims that tmux refutes", r.refutations(), func(g group) item {
		return item{Gap: g.Gap, Text: "\"" + g.Claim.Text + "\": " + g.Claim.Why + r.where(g.Targets)}
	})
	stopped := r.stopped()
	ended := func(c *Cell) bool { return stopped != "" && (c.Reason == FailFast || c.Reason == Interrupted) }
	for _, s := range []struct {
		status      Status
		id, heading string
	}{{NotApplicable, "na", "Not for this tmux"}, {Skip, "skipped", "Skipped"}, {Flaky, "flaky", "Flaky"}} {
		// What was not run because the run was ended is said once.
		add(s.id, s.heading, r.groups(func(c result) any {
			switch {
			case c.Status != s.status || c.Reason == "":
				return nil
			case ended(c.Cell):
				return stopped
			}
			return [2]any{c.Gap, c.Reason}
		}), func(g group) item {
			if ended(g.Cell) {
				return item{Text: stopped}
			}
			return item{Gap: g.Gap, Text: g.Reason + " (" + strings.Join(g.Targets, ", ") + ")"}
		})
	}
	add("known", "Known failures", r.failures(true), func(g group) item {
		return item{Text: g.What() + ": " + g.Claim.Known.Reason, Link: g.Claim.Known.Link}
	})
	var stale []item
	for _, s := range r.Stale {
		stale = append(stale, item{Text: s.String(), Link: s.Link})
	}
	put("stale", "Stale: known failures that do not fail", stale)
	return all
}

// where returns the targets of a finding in parentheses, or "" if they are all.
func (r *Report) where(targets []string) string {
	if len(targets) == len(r.Targets) {
		return ""
	}
	return " (" + strings.Join(targets, ", ") + ")"
}

// reproduce returns the command that prints the failure's reproducer, or "" if there is none.
func (f group) reproduce(r *Report) string {
	if f.Reproducer == "" {
		return ""
	}
	words := []string{"mcp-conform", "reproduce", fmt.Sprintf("%d/%s/%s", f.Gap, f.Layer, f.Tmux)}
	if a := apiOf(r, f.API); a != nil && a.Command != "" {
		command := a.Command
		if a.Described == nil || a.Name != a.Described.String() {
			command = a.Name + "=" + command
		}
		words = append(words, "--api", command)
	}
	if t := r.target(f.Tmux); t.Name != "" {
		spec := t.Spec
		if !strings.Contains(spec, "=") && t.Name != t.Version {
			spec = t.Name + "=" + spec
		}
		words = append(words, "--tmux", spec)
	}
	if r.Scripts != "" {
		words = append(words, "--scripts", r.Scripts)
	}
	if r.Server != "" && f.Layer == MCPLayer {
		words = append(words, "--server", r.Server)
		if r.DialectFile != "" {
			words = append(words, "--dialect", r.DialectFile)
		}
	}
	return CommandLine(words)
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

func (k Known) String() string { return item{Text: k.Reason, Link: k.Link}.String() }

func (i item) String() string {
	if i.Link == "" {
		return i.Text
	}
	return i.Text + " (" + i.Link + ")"
}

func (s Stale) String() string {
	what := "remove the entry"
	if s.Partly {
		what = "take it out of the entry's target"
	}
	return fmt.Sprintf("%s: %s does not fail with tmux %s: %s: %s", s.Entry, s.Claim, strings.Join(s.Tmux, ", "), what, s.Reason)
}

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
