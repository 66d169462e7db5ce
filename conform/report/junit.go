package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
)

// The elements of JUnit's XML that both Jenkins and GitLab read.
type (
	junitSuites struct {
		XMLName xml.Name `xml:"testsuites"`
		junitCounts
		Suites []junitSuite `xml:"testsuite"`
	}
	junitCounts struct {
		Name     string `xml:"name,attr"`
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Errors   int    `xml:"errors,attr"`
		Skipped  int    `xml:"skipped,attr"`
		Time     string `xml:"time,attr"`
	}
	junitSuite struct {
		junitCounts
		Timestamp  string           `xml:"timestamp,attr"`
		Properties *junitProperties `xml:"properties"`
		Cases      []junitCase      `xml:"testcase"`
		ms         int64
	}
	junitProperties struct {
		List []junitProperty `xml:"property"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Time    string        `xml:"time,attr"`
		Skipped *junitSkipped `xml:"skipped"`
		Failure *junitFailure `xml:"failure"`
		Error   *junitFailure `xml:"error"`
		Out     *junitText    `xml:"system-out"`
	}
	junitSkipped struct {
		Message string `xml:"message,attr"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",cdata"`
	}
	junitText struct {
		Text string `xml:",cdata"`
	}
)

// WriteJUnit writes the report as JUnit's XML: a suite for each target, a case
// for each claim. What does not apply, was skipped or is known to fail
// is a skipped case whose message says which; a flaky one passes, with what failed in its
// output. A known failure that passes is a failed case of a suite of its own.
func WriteJUnit(w io.Writer, r *Report) error {
	r = printable(r)
	all := junitSuites{junitCounts: junitCounts{Name: "mcp-conform"}}
	for _, t := range r.Targets {
		s := junitSuite{junitCounts: junitCounts{Name: "tmux " + t.Name}, Properties: &junitProperties{[]junitProperty{{"tmux.version", t.Version}, {"tmux.path", t.Path}}}}
		for i := range r.Cells {
			if c := &r.Cells[i]; c.Tmux == t.Name {
				for k := range c.Claims {
					s.add(r.junitCase(c, &c.Claims[k]), c.DurationMS/int64(len(c.Claims)))
				}
			}
		}
		all.add(r, s)
	}
	if len(r.Stale) > 0 || r.Interrupted {
		s := junitSuite{junitCounts: junitCounts{Name: "run"}}
		for _, e := range r.Stale {
			s.add(junitCase{
				Class: "run.expectations", Name: fmt.Sprintf("known failure of %s (%s)", e.Claim, e.Entry), Time: seconds(0),
				Failure: &junitFailure{Message: "stale: it passes with tmux " + strings.Join(e.Tmux, ", "), Type: "stale", Text: e.Known.String()},
			}, 0)
		}
		if r.Interrupted {
			s.add(junitCase{Class: "run", Name: "runs to the end", Time: seconds(0), Error: &junitFailure{Message: "interrupted", Type: "interrupted"}}, 0)
		}
		all.add(r, s)
	}
	all.Time = seconds(r.DurationMS)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (all *junitSuites) add(r *Report, s junitSuite) {
	s.Time, s.Timestamp = seconds(s.ms), r.Started.UTC().Format("2006-01-02T15:04:05")
	all.Tests += s.Tests
	all.Failures += s.Failures
	all.Errors += s.Errors
	all.Skipped += s.Skipped
	all.Suites = append(all.Suites, s)
}

func (s *junitSuite) add(c junitCase, ms int64) {
	s.Tests++
	s.ms += ms
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

func (r *Report) junitCase(c *Cell, cl *Claim) junitCase {
	g := r.Gap(c.Gap)
	// Readers group by what stands before the last dot, which a version has too.
	j := junitCase{
		Class: "tmux-" + strings.ReplaceAll(c.Tmux, ".", "_") + "." + string(c.Layer),
		Name:  fmt.Sprintf("%02d %s", g.Number, g.Title),
		Time:  seconds(c.DurationMS / int64(len(c.Claims))),
	}
	if cl.Text != WholeClaim {
		j.Name += ": " + cl.Text
	}
	if details := c.details(); details != "" && cl.Number == c.Claims[0].Number {
		j.Out = &junitText{details}
	}
	failure := &junitFailure{c.why(cl), string(cl.Outcome), c.last(cl).String()}
	switch {
	case cl.Known != nil:
		j.Skipped = &junitSkipped{"known failure: " + cl.Known.String() + ": " + c.why(cl)}
	case cl.Outcome.Failed():
		j.Failure = failure
	case cl.Outcome == Outcome(Errored):
		j.Error = failure
	case cl.Outcome.skipped():
		j.Skipped = &junitSkipped{strings.TrimSuffix(string(cl.Outcome)+": "+c.why(cl), ": ")}
	}
	return j
}

func seconds(ms int64) string { return fmt.Sprintf("%.3f", float64(ms)/1000) }

type field struct{ name, text string }

// fields are those that have a text.
func (e Evidence) fields() []field {
	all := []field{{"command", e.Command}, {"expected", e.Expected}, {"actual", e.Actual}}
	return slices.DeleteFunc(all, func(f field) bool { return f.text == "" })
}

// String formats the evidence for reading.
func (e Evidence) String() string {
	var b strings.Builder
	for _, f := range e.fields() {
		fmt.Fprintf(&b, "%-8s  %s\n", f.name, strings.ReplaceAll(strings.TrimRight(f.text, "\n"), "\n", "\n          "))
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
