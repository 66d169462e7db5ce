package report

import (
	"embed"
	"encoding/xml"
	"fmt"
	html "html/template"
	"io"
	"slices"
	"strings"
	text "text/template"
	"unicode/utf8"
)

// Formats are the ways to write a report. Each but json is a template below; what they are
// for, and what limits them:
//
//   - text: for people at a terminal.
//   - json: everything. The tags of [Report] name its fields.
//   - junit: a suite for each target, a case for each claim. What does not apply, was skipped
//     or is known to fail is a skipped case whose message says which; a flaky one passes, with
//     what failed in its output. A known failure that passes is a failed case of a suite of its
//     own. It has what both Jenkins and GitLab read.
//   - tap: version 14, a test for each gap, with a subtest for each claim on each target.
//   - markdown: for a page such as GitHub's summary of a step. Long evidence is cut, and
//     failures that would make the page larger than [maxMarkdown] are left out; both are said
//     where it happens.
//   - html: one page that needs nothing else, scripts neither.
//   - wrappers: which of the wrappers of layer api closes which gap, and since which of its
//     versions, as a page. It has no command of an adapter, which may have paths of a machine.
//   - findings: what the run found out about tmux, as a page for people who write wrappers. It
//     has nothing that was not observed in the run.
var Formats = []string{"text", "json", "junit", "tap", "markdown", "html", "findings", "wrappers"}

//go:embed templates
var templates embed.FS

// maxMarkdown is the most that a page of markdown has, in bytes. GitHub allows 1 MiB for a
// step's summary; some of that is left for other programs. maxEvidence is the most that it
// has of one text of evidence.
const (
	maxMarkdown = 1<<20 - 64<<10
	maxEvidence = 4 << 10
)

// Write writes a report in one of [Formats]. Only text has a style.
func Write(w io.Writer, format string, r *Report, style Style) error {
	if format == "json" {
		return EncodeJSON(w, r)
	}
	r = printable(r)
	funcs, failures := r.pageFuncs(style), r.failures(false)
	shown := len(failures)
	funcs["shown"] = func() []group { return failures[:shown] }
	funcs["more"] = func() int { return len(failures) - shown }
	page, err := execute(format, funcs, r)
	for err == nil && format == "markdown" && len(page) > maxMarkdown && shown > 0 {
		shown = min(shown-1, shown*maxMarkdown/len(page))
		page, err = execute(format, funcs, r)
	}
	return writePage(w, format, page, err)
}

// WriteDiff writes what changed between two reports as text, json or markdown: what got worse
// first. In markdown, for a comment on a pull request, what is of targets that one of the runs
// lacks is collapsed.
func WriteDiff(w io.Writer, format string, d *Diff, style Style) error {
	if format == "json" {
		return EncodeJSON(w, d)
	}
	d = printable(d)
	funcs := (&Report{}).pageFuncs(style)
	funcs["parts"] = d.parts
	page, err := execute("diff-"+format, funcs, d)
	return writePage(w, format, page, err)
}

// execute makes a page of a template.
func execute(name string, funcs map[string]any, of any) (string, error) {
	source, err := templates.ReadFile("templates/" + name + ".tmpl")
	if err != nil {
		return "", err
	}
	var page interface{ Execute(io.Writer, any) error }
	if name == "html" {
		page, err = html.New(name).Funcs(funcs).Parse(string(source))
	} else {
		page, err = text.New(name).Funcs(funcs).Parse(string(source))
	}
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = page.Execute(&b, of)
	return b.String(), err
}

func writePage(w io.Writer, format, page string, err error) error {
	const note = "\n\n(The rest is left out: it would be too large.)\n"
	if format == "markdown" && len(page) > maxMarkdown {
		page = strings.ToValidUTF8(page[:maxMarkdown-len(note)], "") + note
	}
	if err == nil {
		_, err = io.WriteString(w, page)
	}
	return err
}

// pageFuncs returns the functions of the templates. The report must be printable.
func (r *Report) pageFuncs(style Style) map[string]any {
	type evidence struct {
		Evidence
		Wrong bool // it is what went wrong
	}
	t := newTextReport(r, style)
	return map[string]any{
		// Of the report.
		"alike": r.alikeBefore, "anchor": (*Cell).anchor, "answer": func(in Column) []string { return in.answer(r) }, "cell": r.Cell, "cells": r.cells, "claims": r.claimsOn, "columns": r.Columns, "families": r.families, "gap": r.Gap, "legend": r.seenLooks,
		"onlyIssue": r.onlyIssue, "parts": r.parts, "refuted": r.refutations, "sections": r.sections, "target": r.target,
		"total":     r.total,
		"failures":  func() []group { return r.failures(false) },
		"reproduce": func(g group) string { return g.reproduce(r) },
		"worst":     func(cells []*Cell) []*Cell { return before(cells, func(c *Cell) bool { return c.Status.Bad() }) },
		"where":     func(targets []string) string { return strings.Trim(r.where(targets), " ()") },
		"kept":      func() *Cell { return first(r.Cells, func(c *Cell) bool { return c.Dir != "" }) },

		// Of text.
		"arrows": t.arrows, "color": t.color, "glyph": t.glyph, "glyphs": t.legend, "lettered": func() bool { return len(r.APIs) <= manyAPIs }, "matrix": t.matrix, "quoted": t.quoted,
		"wrap": t.wrap, "wrongFirst": func(claims []Claim) []Claim { return before(claims, func(c Claim) bool { return c.Outcome.Failed() }) },

		// Of JUnit.
		"cases": r.cases, "suites": r.suites, "tests": r.tests, "counts": r.counts, "seconds": seconds, "took": took,

		"add":      sum,
		"brief":    func(script string) bool { return len(script) < 4*maxEvidence },
		"cdata":    cdata,
		"clip":     func(s string) string { return Clip(strings.TrimRight(s, "\n"), maxEvidence) },
		"code":     mdCode,
		"evidence": func(e Evidence, wrong bool) evidence { return evidence{e, wrong} },
		"fields":   Evidence.fields,
		"link":     mdLink,
		"sentence": func(s string) string { return strings.ToUpper(s[:1]) + s[1:] },
		"show":     htmlText,
		"tap":      tapText,
		"text":     MarkdownText,
		"web":      isWebLink,
		"xml":      xmlText,
		"yaml":     yamlString,
	}
}

// htmlText escapes text for a place between tags, where quotes mean nothing.
func htmlText(s string) html.HTML {
	return html.HTML(strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(strings.TrimRight(s, "\n")))
}

// alikeBefore returns the first cell of a script that shows the same as a later one, except for
// numbers: a page has it once. It is nil where the cell is the first.
func (r *Report) alikeBefore(c *Cell) *Cell {
	shows := func(c *Cell) string {
		text := fmt.Sprint(c.Status, c.Reason, c.Known)
		for _, cl := range c.Claims {
			text += fmt.Sprint(cl.Outcome, cl.Why, cl.Known)
		}
		for _, e := range c.Evidence {
			text += e.alike()
		}
		return reasonOf(text)
	}
	if len(c.Earlier) > 0 {
		return nil
	}
	same := first(r.Cells, func(o *Cell) bool {
		return o.Gap == c.Gap && o.Layer == c.Layer && o.API == c.API && (o == c || len(o.Earlier) == 0 && shows(o) == shows(c))
	})
	if same == c {
		return nil
	}
	return same
}

func sum(numbers ...int) (n int) {
	for _, m := range numbers {
		n += m
	}
	return n
}

// cells returns the cells of a gap on a target, in the order of layers.
func (r *Report) cells(gap int, target string) (found []*Cell) {
	for _, in := range r.Columns() {
		if c := r.Cell(gap, target, in); c != nil {
			found = append(found, c)
		}
	}
	return found
}

// before returns all, those first for which is returns true.
func before[T any](all []T, is func(T) bool) []T {
	isNot := func(one T) bool { return !is(one) }
	return slices.Concat(slices.DeleteFunc(slices.Clone(all), isNot), slices.DeleteFunc(slices.Clone(all), is))
}

// total counts the gaps that apply to a target, and how many of these are closed or have the
// expected verdict.
func (r *Report) total(target string, in Column) (n struct{ Good, All int }) {
	for i := range r.Cells {
		if c := &r.Cells[i]; c.Tmux == target && in.has(c) && c.Status != NotApplicable {
			n.All++
			if is := c.seen(); is == Pass || is == Flaky || is == seenRefuted {
				n.Good++
			}
		}
	}
	return n
}

// onlyIssue reports whether all scripts are gaps of the issue.
func (r *Report) onlyIssue() bool {
	return r.Scripts == "" && (len(r.Suites) == 0 || len(r.Suites) == 1 && r.Suites[0].Name == suites[0].Name)
}

// mdSpecial are the bytes that mean something within a line of markdown or of the
// HTML in it.
var mdSpecial = strings.NewReplacer(
	"&", "&amp;", "<", "&lt;", ">", "&gt;", "@", "&#64;", "$", "&#36;", `\`, `\\`, "|", `\|`, "`", "\\`",
	"*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "~", `\~`, "#", `\#`)

// MarkdownText quotes a text so that markdown shows it as it is, on one line.
func MarkdownText(s string) string {
	return mdSpecial.Replace(Clip(strings.Join(strings.Fields(s), " "), maxEvidence))
}

// mdLink returns a link to a page of the web. It returns anything else as text.
func mdLink(link string) string {
	switch {
	case link == "":
		return ""
	case isWebLink(link) && !strings.ContainsAny(link, "<> \n\t"):
		return " (<" + link + ">)"
	}
	return " (" + MarkdownText(link) + ")"
}

func isWebLink(link string) bool {
	return strings.HasPrefix(link, "https://") || strings.HasPrefix(link, "http://")
}

// mdCode returns a text in a fence that nothing in it ends.
func mdCode(language, s string) string {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + language + "\n" + strings.TrimRight(s, "\n") + "\n" + fence + "\n"
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

// tapText returns a text on one line, in which nothing begins a directive.
func tapText(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return strings.NewReplacer(`\`, `\\`, `#`, `\#`).Replace(s)
}

// yamlString quotes a printable text so that every YAML reader has it back.
func yamlString(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(s) + `"`
}

// Clip keeps the two ends of a long text and says how much it took out.
func Clip(s string, most int) string {
	if len(s) > most {
		s = strings.ToValidUTF8(s, "\ufffd")
	}
	if len(s) <= most {
		return s
	}
	head, tail := most*3/4, len(s)-most/4
	for !utf8.RuneStart(s[head]) {
		head--
	}
	for !utf8.RuneStart(s[tail]) {
		tail++
	}
	return fmt.Sprintf("%s … (%d bytes left out) … %s", s[:head], tail-head, s[tail:])
}

// cases returns the cases of JUnit's XML for a target, or for all targets if the name is empty:
// one for each claim.
func (r *Report) cases(target string) []result {
	return slices.DeleteFunc(r.results(), func(c result) bool { return target != "" && c.Tmux != target })
}

// Class returns the case's classname. Readers group cases by the part before its last dot, so
// the dots of a version are replaced.
func (c result) Class() string {
	plain := strings.NewReplacer(".", "_", " ", "_")
	return "tmux-" + plain.Replace(c.Tmux) + "." + plain.Replace(strings.ReplaceAll(c.Place(), ", ", "-"))
}

// Kind returns failure, error or skipped, or an empty text for a case that passes.
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

// Message returns the reason for the kind.
func (c result) Message() string {
	switch {
	case c.Claim.Known != nil:
		return "known failure: " + c.Claim.Known.String() + ": " + c.Why()
	case c.Failed():
		return c.Why()
	}
	return c.Skipped()
}

// MS returns the claim's share of the time that its cell took.
func (c result) MS() int64 { return c.DurationMS / int64(len(c.Claims)) }

// Out returns the details of the cell for its first claim, and "" for the others.
func (c result) Out() string {
	if c.Claim != &c.Claims[0] {
		return ""
	}
	return c.details()
}

// took returns how long the cases took.
func took(cases []result) string {
	var ms int64
	for _, c := range cases {
		ms += c.MS()
	}
	return seconds(ms)
}

// counts returns the attributes of a suite with these cases. If run is set, they include what
// is about the whole run: known failures that pass, and an interruption.
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

// fields returns the parts that have a text.
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
