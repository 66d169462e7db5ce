package report

import (
	"fmt"
	"slices"
	"strings"
)

// This file says what a wrapper that is not this module's closes of the gaps.

// verdict is what cells of a wrapper that are alike come to, in words, and their targets.
type verdict struct {
	Gap     int
	Text    string
	Targets []string
}

// verdicts returns what the cells of the column come to: for each gap whether it is closed and
// what is not as asked, then its extras that are not true.
func (in Column) verdicts(r *Report) (all []verdict) {
	add := func(c *Cell, text string) {
		i := slices.IndexFunc(all, func(v verdict) bool { return v.Gap == c.Gap && v.Text == text })
		if i < 0 {
			i, all = len(all), append(all, verdict{Gap: c.Gap, Text: text})
		}
		all[i].Targets = append(all[i].Targets, c.Tmux)
	}
	for _, g := range r.Gaps {
		for i := range r.Cells {
			if c := &r.Cells[i]; c.Gap == g.Number && in.has(c) {
				add(c, c.answer())
			}
		}
		for i := range r.Cells {
			c := &r.Cells[i]
			for _, cl := range c.Claims {
				if c.Gap == g.Number && in.has(c) && cl.untrue() && !cl.Asked {
					add(c, extra+string(cl.Outcome)+": "+cl.Text)
				}
			}
		}
	}
	return all
}

// untrue reports whether it is known that a claim does not hold of a wrapper.
func (cl *Claim) untrue() bool { return cl.Outcome.Failed() || cl.Outcome == Outcome(NotOffered) }

// extra is how what is said of an extra begins.
const extra = "extra, "

// What a cell comes to that closes the gap, or is for other versions.
const (
	closed  = "closed"
	notHere = "not for this tmux"
)

// answer returns in words whether a gap is closed, and why not.
func (c *Cell) answer() string {
	word := string(c.came())
	switch c.came() {
	case Pass, Flaky:
		return closed
	case NotApplicable:
		return notHere
	case Skip, Errored:
		return "not known: " + c.Reason
	case Fail:
		word = string(Open)
		for _, cl := range c.Claims {
			if cl.Asked && cl.Outcome.Failed() {
				word = string(cl.Outcome)
				break
			}
		}
	case seenBlocked:
		word = string(Blocked)
	}
	var whys []string
	for _, cl := range c.Claims {
		if why := place.ReplaceAllString(cl.Why, ""); cl.Asked && cl.untrue() && !slices.Contains(whys, why) {
			whys = append(whys, why)
		}
	}
	return strings.TrimSuffix(word+": "+strings.Join(whys, "; "), ": ")
}

// extras returns how many extras are true of the column wherever they apply, "Extras: 3 of 15", or
// "" if none is counted apart.
func (in Column) extras(r *Report) string {
	good := map[[2]any]bool{}
	for i := range r.Cells {
		c := &r.Cells[i]
		for _, cl := range c.Claims {
			if key := [2]any{c.Gap, cl.Text}; in.has(c) && !c.counts(&cl) && !(cl.Outcome.skipped() && cl.Outcome != Outcome(NotOffered)) {
				was, seen := good[key]
				good[key] = (was || !seen) && !cl.untrue()
			}
		}
	}
	n := 0
	for _, is := range good {
		if is {
			n++
		}
	}
	if len(good) == 0 {
		return ""
	}
	return fmt.Sprintf("Extras: %d of %d", n, len(good))
}
