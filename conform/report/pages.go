package report

import (
	"bytes"
	_ "embed"
	"html/template"
	"io"
	"slices"
	"strings"
	text "text/template"
)

//go:embed report.html
var htmlSource string

// WriteHTML writes the report as one page that needs nothing else, scripts
// neither: the outcome, the failures, the matrix, each cell of which opens to
// its commands and their output, and the claims that tmux refutes.
func WriteHTML(w io.Writer, r *Report) error {
	r = printable(r)
	page, err := template.New("report").Funcs(r.pageFuncs()).Parse(htmlSource)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := page.Execute(&b, r); err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}

// pageFuncs are what the templates ask besides the fields of a report, which is
// printable.
func (r *Report) pageFuncs() map[string]any {
	type evidence struct {
		Evidence
		Wrong bool // it is what went wrong
	}
	return map[string]any{
		"answer": r.answer, "cell": r.Cell, "cells": r.cells, "claims": r.claimsOn, "gap": r.Gap, "legend": r.seenLooks,
		"onlyIssue": r.onlyIssue, "parts": r.parts, "refuted": r.refutations, "sections": r.sections, "total": r.total,
		"failures": func() []group { return r.failures(false) },
		"where":    func(targets []string) string { return strings.Trim(r.where(targets), " ()") },

		"results": func(g GapInfo) []result {
			return slices.DeleteFunc(r.results(), func(c result) bool { return c.Gap != g.Number })
		},

		"add":      sum,
		"brief":    func(script string) bool { return len(script) < 4*maxEvidence },
		"cdata":    cdata,
		"clip":     func(s string) string { return Clip(strings.TrimRight(s, "\n"), maxEvidence) },
		"code":     mdCode,
		"evidence": func(e Evidence, wrong bool) evidence { return evidence{e, wrong} },
		"fields":   Evidence.fields,
		"link":     mdLink,
		"question": func(l Layer) string { return layerQuestions[l] },
		"seconds":  seconds,
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

// execute writes a page that is no HTML, of a report or a comparison.
func execute(w io.Writer, source string, funcs map[string]any, of any) error {
	page, err := text.New("report").Funcs(funcs).Parse(source)
	if err != nil {
		return err
	}
	return page.Execute(w, of)
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
