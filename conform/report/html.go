package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"
)

//go:embed report.html
var htmlSource string

var htmlTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"join":  func(list []string) string { return strings.Join(list, ", ") },
	"show":  func(s string) string { return strings.TrimRight(s, "\n") },
	"layer": func(l Layer) string { return layerQuestions[l] },
	"seen":  func(e Evidence) htmlEvidence { return htmlEvidence{Evidence: e} },
	"web":   isWebLink,
}).Parse(htmlSource))

// WriteHTML writes the report as one page that needs nothing else, scripts
// neither: the outcome, the failures, the matrix, each cell of which opens to
// its commands and their output, and the claims that tmux refutes.
func WriteHTML(w io.Writer, r *Report) error {
	var b bytes.Buffer
	if err := htmlTemplate.Execute(&b, htmlPage{printable(r)}); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// htmlPage is the template's data.
type htmlPage struct{ *Report }

// htmlCell is the result of a gap on a target.
type htmlCell struct {
	Gap    GapInfo
	Target Target
	Layers []htmlLayer
}

// htmlLayer is one layer's part of it; Cell is nil when the gap has no script for
// that layer.
type htmlLayer struct {
	Name Layer
	Cell *Cell
}

// htmlEvidence is a piece of evidence, which may be what went wrong.
type htmlEvidence struct {
	Evidence
	Wrong bool
}

// Seen is the evidence of the cell; of one that failed the last is what failed.
func (l htmlLayer) Seen() []htmlEvidence {
	var seen []htmlEvidence
	for i, e := range l.Cell.Evidence {
		seen = append(seen, htmlEvidence{e, l.Cell.Status.Bad() && i == len(l.Cell.Evidence)-1})
	}
	return seen
}

func (p htmlPage) Row(g GapInfo) []htmlCell {
	var row []htmlCell
	for _, t := range p.Targets {
		cell := htmlCell{Gap: g, Target: t}
		for _, l := range p.Report.Layers {
			cell.Layers = append(cell.Layers, htmlLayer{l, p.Report.Cell(g.Number, t.Name, l)})
		}
		row = append(row, cell)
	}
	return row
}

// Empty reports whether the gap has no cell for the target at all.
func (c htmlCell) Empty() bool {
	return !slices.ContainsFunc(c.Layers, func(l htmlLayer) bool { return l.Cell != nil })
}

// Words are the outcomes, for who does not see the glyphs.
func (c htmlCell) Words() string {
	words := fmt.Sprintf("Gap %d, tmux %s", c.Gap.Number, c.Target.Name)
	for _, l := range c.Layers {
		if l.Cell != nil {
			words += fmt.Sprintf(", %s %s", l.Name, l.Cell.Look().Meaning)
		}
	}
	return words
}

// htmlTotal is how many gaps are as they should be in a column.
type htmlTotal struct {
	Layer       Layer
	Good, Total int
}

// Totals count the gaps that apply to a target: those whose claim was judged as
// expected, and those that are closed.
func (p htmlPage) Totals(t Target) []htmlTotal {
	var totals []htmlTotal
	for _, l := range p.Report.Layers {
		total := htmlTotal{Layer: l}
		for _, c := range p.Cells {
			if c.Tmux == t.Name && c.Layer == l && c.Status != NotApplicable {
				total.Total++
				if c.Status == Pass || c.Status == Flaky {
					total.Good++
				}
			}
		}
		totals = append(totals, total)
	}
	return totals
}

// CellID is where a cell is in the page; a link to it opens it.
func (p htmlPage) CellID(gap int, tmux string, l Layer) string {
	return fmt.Sprintf("gap-%d-%s-%s", gap, tmux, l)
}

// Many reports whether there are more targets than a phone has room for.
func (p htmlPage) Many() bool { return len(p.Targets) > 3 }

func (p htmlPage) Answer(l Layer) []string { return p.answer(l) }
func (p htmlPage) Sections() []section     { return p.sections() }
func (p htmlPage) Parts() []part           { return p.parts() }

// OnlyIssue reports whether all scripts are gaps of the issue.
func (p htmlPage) OnlyIssue() bool {
	return p.Scripts == "" && (len(p.Suites) == 0 || len(p.Suites) == 1 && p.Suites[0].Name == suites[0].Name)
}
func (p htmlPage) Width() int { return len(p.Targets) + 1 }

func (p htmlPage) Failures() []group             { return p.failures(false) }
func (p htmlPage) GapOf(number int) GapInfo      { return p.Gap(number) }
func (p htmlPage) Where(targets []string) string { return strings.Trim(p.where(targets), " ()") }
func (p htmlPage) Date() string {
	if p.Started.IsZero() {
		return ""
	}
	return p.Started.UTC().Format(time.RFC1123)
}

func (p htmlPage) Legend() []look   { return p.seenLooks() }
func (p htmlPage) Refuted() []group { return p.refutations() }
