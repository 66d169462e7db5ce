package report

import (
	"slices"
	"strings"
)

// This file divides a run into the tests of TAP and JUnit.

// tapTest is a test of TAP: one claim, or the tests of a wrapper or a gap.
type tapTest struct {
	Number int
	Name   string
	Indent string
	Result *result
	Tests  []*tapTest
}

// OK returns "ok", or "not ok" if an unexpected failure is among the results.
func (t *tapTest) OK() string {
	if t.Result != nil && t.Result.Unexpected() || slices.ContainsFunc(t.Tests, func(o *tapTest) bool { return o.OK() != "ok" }) {
		return "not ok"
	}
	return "ok"
}

// add adds a test below another.
func (t *tapTest) add(o *tapTest) *tapTest {
	o.Number, o.Indent = len(t.Tests)+1, t.Indent+"    "
	t.Tests = append(t.Tests, o)
	return o
}

// tests returns the tests of a gap: one for each claim on each target, grouped by wrapper except for
// this module's. It returns nil if the run has no script of the gap.
func (r *Report) tests(g GapInfo) *tapTest {
	all, wrappers := &tapTest{}, map[string]*tapTest{}
	for _, c := range r.results() {
		if c.Gap != g.Number {
			continue
		}
		below := all
		if wrapper := c.wrapper(); wrapper != "" {
			if wrappers[wrapper] == nil {
				wrappers[wrapper] = all.add(&tapTest{Name: wrapper})
			}
			below = wrappers[wrapper]
		}
		below.add(&tapTest{Result: &c})
	}
	if all.Tests == nil {
		return nil
	}
	return all
}

// junitSuite is a suite of JUnit's XML: what one target did, or one wrapper on it.
type junitSuite struct {
	Target
	Wrapper string
	Cases   []result
}

// Title returns the name of the suite.
func (s junitSuite) Title() string {
	return strings.TrimSuffix("tmux "+s.Name+", "+s.Wrapper, ", ")
}

// suites returns the suites of JUnit's XML: for each target one for tmux and this module, then one
// for each wrapper.
func (r *Report) suites() (all []junitSuite) {
	for _, t := range r.Targets {
		of := []junitSuite{{Target: t}}
		for _, c := range r.cases(t.Name) {
			i := slices.IndexFunc(of, func(s junitSuite) bool { return s.Wrapper == c.wrapper() })
			if i < 0 {
				i, of = len(of), append(of, junitSuite{Target: t, Wrapper: c.wrapper()})
			}
			of[i].Cases = append(of[i].Cases, c)
		}
		all = append(all, of...)
	}
	return all
}

// wrapper returns the name of a cell's wrapper; empty for this module's, and on other layers.
func (c *Cell) wrapper() string {
	if c.API == BuiltIn {
		return ""
	}
	return c.API
}
