package report

import (
	_ "embed"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
)

//go:embed junit.xml
var junitSource string

// junitSuite is a suite of JUnit's XML, of which it has what both Jenkins and GitLab read.
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

// WriteJUnit writes the report as JUnit's XML: a suite for each target, a case
// for each claim. What does not apply, was skipped or is known to fail
// is a skipped case whose message says which; a flaky one passes, with what failed in its
// output. A known failure that passes is a failed case of a suite of its own.
func WriteJUnit(w io.Writer, r *Report) error {
	r = printable(r)
	var suites []junitSuite
	for i := range r.Targets {
		s := junitSuite{Name: "tmux " + r.Targets[i].Name, Target: &r.Targets[i]}
		for _, c := range r.results() {
			if c.Tmux == r.Targets[i].Name {
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
	all := junitSuite{Name: "mcp-conform"}
	for _, s := range suites {
		all.Cases = append(all.Cases, s.Cases...)
	}
	funcs := r.pageFuncs()
	funcs["all"], funcs["suites"] = func() junitSuite { return all }, func() []junitSuite { return suites }
	return execute(w, junitSource, funcs, r)
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

func xmlText(s string) (string, error) {
	var b strings.Builder
	err := xml.EscapeText(&b, []byte(s))
	return b.String(), err
}

func cdata(s string) string {
	if s == "" {
		return ""
	}
	return "<![CDATA[" + strings.ReplaceAll(s, "]]>", "]]]]><![CDATA[>") + "]]>"
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
