package report

import (
	"fmt"
	"slices"
	"strings"
)

// junitSuite is a suite of JUnit's XML.
type junitSuite struct {
	Name   string
	Target *Target
	Cases  []junitCase
}

type junitCase struct {
	Class, Name string
	MS          int64
	// Kind is failure, error or skipped, with what follows; empty for one that passes.
	Kind, Message, Type, Text string
	Out                       string
}

// Count is how many cases are of a kind.
func (s junitSuite) Count(kind string) (n int) {
	for _, c := range s.Cases {
		if c.Kind == kind {
			n++
		}
	}
	return n
}

// MS is how long the cases took.
func (s junitSuite) MS() (ms int64) {
	for _, c := range s.Cases {
		ms += c.MS
	}
	return ms
}

// junit returns the suites, the first of which has the cases of all.
func (r *Report) junit() []junitSuite {
	suites := []junitSuite{{Name: "mcp-conform"}}
	for i, target := range r.Targets {
		s := junitSuite{Name: "tmux " + target.Name, Target: &r.Targets[i]}
		for _, c := range r.results() {
			if c.Tmux == target.Name {
				s.Cases = append(s.Cases, c.junit(r.Gap(c.Gap)))
			}
		}
		suites = append(suites, s)
	}
	run := junitSuite{Name: "run"}
	for _, e := range r.Stale {
		run.Cases = append(run.Cases, junitCase{
			Class: "run.expectations", Name: fmt.Sprintf("known failure of %s (%s)", e.Claim, e.Entry), Kind: "failure",
			Message: "stale: it does not fail with tmux " + strings.Join(e.Tmux, ", "), Type: "stale", Text: e.Known.String(),
		})
	}
	if r.Interrupted {
		run.Cases = append(run.Cases, junitCase{
			Class: "run", Name: "runs to the end", Kind: "error", Message: "interrupted", Type: "interrupted",
		})
	}
	if run.Cases != nil {
		suites = append(suites, run)
	}
	for _, s := range suites[1:] {
		suites[0].Cases = append(suites[0].Cases, s.Cases...)
	}
	return suites
}

func (c result) junit(g GapInfo) junitCase {
	// Readers group by what stands before the last dot, which a version has too.
	j := junitCase{
		Class: "tmux-" + strings.ReplaceAll(c.Tmux, ".", "_") + "." + string(c.Layer),
		Name:  fmt.Sprintf("%02d %s%s", g.Number, g.Title, c.Says()),
		MS:    c.DurationMS / int64(len(c.Claims)),
	}
	if c.Claim == &c.Claims[0] {
		j.Out = c.details()
	}
	switch {
	case c.Claim.Known != nil:
		j.Kind, j.Message = "skipped", "known failure: "+c.Claim.Known.String()+": "+c.Why()
	case c.Failed():
		j.Kind, j.Message, j.Type, j.Text = "failure", c.Why(), string(c.Claim.Outcome), c.Wrong().String()
		if c.Claim.Outcome == Outcome(Errored) {
			j.Kind = "error"
		}
	case c.Skipped() != "":
		j.Kind, j.Message = "skipped", c.Skipped()
	}
	return j
}

// field is a part of evidence.
type field struct{ Name, Text string }

// fields are those that have a text.
func (e Evidence) fields() []field {
	all := []field{{"command", e.Command}, {"expected", e.Expected}, {"actual", e.Actual}}
	return slices.DeleteFunc(all, func(f field) bool { return f.Text == "" })
}

// String formats the evidence for reading.
func (e Evidence) String() string {
	var b strings.Builder
	for _, f := range e.fields() {
		fmt.Fprintf(&b, "%-8s  %s\n", f.Name, strings.ReplaceAll(strings.TrimRight(f.Text, "\n"), "\n", "\n          "))
	}
	return b.String()
}

// details returns everything a cell has besides its reason: the outcome of its
// claims and all of its evidence.
func (c *Cell) details() string {
	var parts []string
	for _, cl := range c.Claims {
		if cl.Text == WholeClaim {
			continue
		}
		parts = append(parts, fmt.Sprintf("%s: %s\n          %s\n", cl.Outcome, cl.Text, cl.Why))
	}
	for i, a := range c.Earlier {
		text := fmt.Sprintf("attempt %d: %s: %s\n", i+1, a.Status, a.Reason)
		if len(a.Evidence) > 0 {
			text += a.Evidence[len(a.Evidence)-1].String()
		}
		parts = append(parts, text)
	}
	for _, e := range c.Evidence {
		parts = append(parts, e.String())
	}
	return strings.Join(parts, "\n")
}
