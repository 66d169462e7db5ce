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
//   - findings: what the run found out about tmux, as a page for people who write wrappers. It
//     has nothing that was not observed in the run.
var Formats = []string{"text", "json", "junit", "tap", "markdown", "html", "findings"}

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

// pageFuncs are what the templates ask besides the fields of a report, which is
// printable.
func (r *Report) pageFuncs(style Style) map[string]any {
	type evidence struct {
		Evidence
		Wrong bool // it is what went wrong
	}
	t := newTextReport(r, style)
	return map[string]any{
		// Of the report.
		"answer": r.answer, "cell": r.Cell, "cells": r.cells, "claims": r.claimsOn, "gap": r.Gap, "legend": r.seenLooks,
		"onlyIssue": r.onlyIssue, "parts": r.parts, "refuted": r.refutations, "sections": r.sections, "target": r.target,
		"total":     r.total,
		"failures":  func() []group { return r.failures(false) },
		"reproduce": func(g group) string { return g.reproduce(r) },
		"where":     func(targets []string) string { return strings.Trim(r.where(targets), " ()") },
		"kept":      func() *Cell { return first(r.Cells, func(c *Cell) bool { return c.Dir != "" }) },
		"results": func(g GapInfo) []result {
			return slices.DeleteFunc(r.results(), func(c result) bool { return c.Gap != g.Number })
		},

		// Of text.
		"arrows": t.arrows, "color": t.color, "glyph": t.glyph, "glyphs": t.legend, "matrix": t.matrix, "quoted": t.quoted,
		"letter": func(l Layer) string { return layers[l].letter },
		"wrap":   t.wrap,

		// Of JUnit.
		"cases": r.cases, "counts": r.counts, "seconds": seconds, "took": took,

		"add":      sum,
		"brief":    func(script string) bool { return len(script) < 4*maxEvidence },
		"cdata":    cdata,
		"clip":     func(s string) string { return Clip(strings.TrimRight(s, "\n"), maxEvidence) },
		"code":     mdCode,
		"evidence": func(e Evidence, wrong bool) evidence { return evidence{e, wrong} },
		"fields":   Evidence.fields,
		"link":     mdLink,
		"question": func(l Layer) string { return layers[l].question },
		"show":     func(s string) string { return strings.TrimRight(s, "\n") },
		"tap":      tapText,
		"text":     MarkdownText,
		"web":      isWebLink,
		"xml":      xmlText,
		"yaml":     yamlString,
	}
}

func sum(numbers ...int) (n int) {
	for _, m := range numbers {
		n += m
	}
	return n
}

// cells are those of a gap on a target, in the order of layers.
func (r *Report) cells(gap int, target string) (found []*Cell) {
	for _, l := range r.Layers {
		if c := r.Cell(gap, target, l); c != nil {
			found = append(found, c)
		}
	}
	return found
}

// total counts the gaps that apply to a target, and those of them whose claim was judged as
// expected, or that are closed.
func (r *Report) total(target string, l Layer) (n struct{ Good, All int }) {
	for _, c := range r.Cells {
		if c.Tmux == target && c.Layer == l && c.Status != NotApplicable {
			n.All++
			if c.Status == Pass || c.Status == Flaky {
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

// mdLink is a link to a page of the web; anything else is shown as text.
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

// mdCode is a text in a fence that nothing in it ends.
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

// tapText is a text on one line, in which nothing begins a directive.
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
