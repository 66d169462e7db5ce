package report

import (
	"slices"
)

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

func (r *Report) seenLooks() []look {
	return slices.DeleteFunc(slices.Clone(looks), func(l look) bool {
		return !slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.seen() == l.of })
	})
}

// blocked reports whether no claim of a cell that failed is known to be wrong.
func (c *Cell) blocked() bool {
	has := func(blocked bool) bool {
		return slices.ContainsFunc(c.Claims, func(cl Claim) bool {
			return cl.Outcome.Failed() && (cl.Outcome == Blocked) == blocked
		})
	}
	return has(true) && !has(false)
}
