package report

import (
	"fmt"
	"slices"
	"strings"
)

// cases are the cases of JUnit's XML for a target, or for all where it has no name: one for
// each claim.
func (r *Report) cases(target string) []result {
	return slices.DeleteFunc(r.results(), func(c result) bool { return target != "" && c.Tmux != target })
}

// Class is what a case is of. Readers group by what stands before the last dot, which a
// version has too.
func (c result) Class() string {
	return "tmux-" + strings.ReplaceAll(c.Tmux, ".", "_") + "." + string(c.Layer)
}

// Kind is what came of a case: failure, error or skipped; empty for one that passes.
func (c result) Kind() string {
	switch {
	case c.Claim.Known != nil, !c.Failed() && c.Skipped() != "":
		return "skipped"
	case c.Claim.Outcome == Outcome(Errored):
		return "error"
	case c.Failed():
		return "failure"
	}
	return ""
}

// Message is why.
func (c result) Message() string {
	switch {
	case c.Claim.Known != nil:
		return "known failure: " + c.Claim.Known.String() + ": " + c.Why()
	case c.Failed():
		return c.Why()
	}
	return c.Skipped()
}

// MS is the claim's share of the time, and Out what there is to say of the cell, which its
// first claim does.
func (c result) MS() int64 { return c.DurationMS / int64(len(c.Claims)) }

func (c result) Out() string {
	if c.Claim != &c.Claims[0] {
		return ""
	}
	return c.details()
}

// took is how long the cases took.
func took(cases []result) string {
	var ms int64
	for _, c := range cases {
		ms += c.MS()
	}
	return seconds(ms)
}

// counts are the attributes of a suite with these cases, and perhaps those about the run: a
// known failure that passes, and that it was interrupted.
func (r *Report) counts(name string, cases []result, run bool) (string, error) {
	tests, n := len(cases), map[string]int{}
	for _, c := range cases {
		n[c.Kind()]++
	}
	if run {
		tests, n["failure"] = tests+len(r.Stale), n["failure"]+len(r.Stale)
		if r.Interrupted {
			tests, n["error"] = tests+1, n["error"]+1
		}
	}
	name, err := xmlText(name)
	return fmt.Sprintf(`name="%s" tests="%d" failures="%d" errors="%d" skipped="%d"`, name, tests, n["failure"], n["error"], n["skipped"]), err
}

func seconds(ms int64) string { return fmt.Sprintf("%.3f", float64(ms)/1000) }

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
