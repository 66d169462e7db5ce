package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// This file sums up what the cells of a column answer: which gaps are closed, and which are not.

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

// The ranks of cells as answers, from one that says nothing to the worst.
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

// ranks are the ranks of cells, by their look.
var ranks = map[Status]int{
	seenPartly: partly, seenBlocked: blocked, Fail: bad, Errored: bad, Skip: unknown, NotOffered: notOffered,
	NotApplicable: nowhere, seenRefuted: refuted, Pass: good, Flaky: good,
}

func (c *Cell) rank() int { return ranks[c.came()] }

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

// verdict is the answer of one or more equal cells of a wrapper, in words, with their targets.
type verdict struct {
	Gap     int
	Text    string
	Targets []string
}

// verdicts returns the answers of the column: for each gap whether it is closed and what is wrong,
// then the extras that are not true.
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

// extra begins the text about an extra.
const extra = "extra, "

// The answers of cells that need no explanation.
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
