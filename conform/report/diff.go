package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// ReadJSON reads a report that [WriteJSON] has written.
func ReadJSON(r io.Reader) (*Report, error) {
	var report Report
	if err := json.NewDecoder(r).Decode(&report); err != nil {
		return nil, fmt.Errorf("not a report: %w", err)
	}
	if report.Version != FormatVersion {
		return nil, fmt.Errorf("not a report of version %d: its version is %d", FormatVersion, report.Version)
	}
	return &report, nil
}

// What a [CellChange] is.
const (
	Worse   = "worse"   // it fails now, is flaky now, or is not run any more
	Better  = "better"  // the other way round
	Changed = "changed" // neither: another verdict, or no longer for this version
	New     = "new"     // a cell that was not there
	Gone    = "gone"    // a cell that is not there any more
)

// Diff is what changed between two runs.
type Diff struct {
	Version int `json:"version"`
	// Targets pairs the targets that are compared: those with the same name and, if
	// each run has exactly one target that the other lacks, these two.
	Targets []TargetPair `json:"targets"`
	Changes []CellChange `json:"changes"`
	// Same is the number of cells that did not change.
	Same int `json:"same"`
}

// TargetPair is a target in both runs; a name is empty where there is none.
type TargetPair struct {
	A        string `json:"a"`
	B        string `json:"b"`
	VersionA string `json:"version_a"`
	VersionB string `json:"version_b"`
}

func (p TargetPair) String() string {
	switch {
	case p.A == p.B && p.VersionA == p.VersionB || p.B == "":
		return p.A
	case p.A == p.B:
		return fmt.Sprintf("%s (%s → %s)", p.A, p.VersionA, p.VersionB)
	case p.A == "":
		return p.B
	}
	return p.A + " → " + p.B
}

// CellChange is a cell that came out otherwise, or is in one of the runs only.
type CellChange struct {
	Change string     `json:"change"`
	Gap    int        `json:"gap"`
	Title  string     `json:"title"`
	Layer  Layer      `json:"layer"`
	Tmux   TargetPair `json:"tmux"`
	// Transport is how the second run reached tmux, or the only run that has the cell.
	Transport string `json:"transport"`
	// From and To are the outcomes, "pass, refuted"; empty where there is no cell.
	From string `json:"from"`
	To   string `json:"to"`
	// Reason is why the second outcome is not a pass.
	Reason string `json:"reason,omitempty"`
}

// Worse reports whether something got worse: a cell did, or a new one fails.
func (d *Diff) Worse() bool {
	return slices.ContainsFunc(d.Changes, func(c CellChange) bool { return c.Change == Worse })
}

// Compare returns what changed from run a to run b.
func Compare(a, b *Report) *Diff {
	d := &Diff{Version: FormatVersion, Targets: pairTargets(a, b), Changes: []CellChange{}}
	for _, p := range d.Targets {
		for i := range b.Cells {
			to := &b.Cells[i]
			if to.Tmux != p.B {
				continue
			}
			from := a.like(to, p.A)
			c := newChange(b, to, p)
			c.To, c.Reason = to.outcome(), to.Reason
			switch {
			case from == nil && to.Unexpected():
				c.Change = Worse
			case from == nil:
				c.Change = New
			default:
				c.From = from.outcome()
				c.Change = changeOf(from, to)
			}
			if c.Change == "" {
				d.Same++
				continue
			}
			d.Changes = append(d.Changes, c)
		}
		for i := range a.Cells {
			from := &a.Cells[i]
			if from.Tmux == p.A && b.like(from, p.B) == nil {
				c := newChange(a, from, p)
				c.Change, c.From = Gone, from.outcome()
				d.Changes = append(d.Changes, c)
			}
		}
	}
	order := []string{Worse, Better, Changed, New, Gone}
	slices.SortStableFunc(d.Changes, func(x, y CellChange) int {
		if n := slices.Index(order, x.Change) - slices.Index(order, y.Change); n != 0 {
			return n
		}
		return x.Gap - y.Gap
	})
	return d
}

func newChange(r *Report, c *Cell, p TargetPair) CellChange {
	return CellChange{Gap: c.Gap, Title: r.Gap(c.Gap).Title, Layer: c.Layer, Tmux: p, Transport: c.Transport}
}

// like is the cell of the report that has another's gap and layer: a run reaches
// tmux in one way, and two runs that differ in it are compared all the same.
func (r *Report) like(c *Cell, target string) *Cell {
	if target == "" {
		return nil
	}
	return r.Cell(c.Gap, target, c.Layer)
}

func (c *Cell) outcome() string {
	s := string(c.Status)
	if c.Known != nil {
		s += ", known"
	}
	if c.Verdict == Confirmed || c.Verdict == Refuted {
		s += ", " + string(c.Verdict)
	}
	return s
}

// badness orders outcomes; those that are as good as each other have the same.
func (c *Cell) badness() int {
	switch c.Status {
	case Pass, NotApplicable:
		return 0
	case Flaky:
		return 1
	case Skip, NotOffered:
		return 2
	}
	if c.Known != nil {
		return 3
	}
	return 4
}

func changeOf(from, to *Cell) string {
	switch {
	case to.badness() > from.badness():
		return Worse
	case to.badness() < from.badness():
		return Better
	case from.outcome() != to.outcome():
		return Changed
	}
	return ""
}

func pairTargets(a, b *Report) []TargetPair {
	var pairs []TargetPair
	var onlyA []Target
	onlyB := slices.Clone(b.Targets)
	for _, t := range a.Targets {
		i := slices.IndexFunc(onlyB, func(o Target) bool { return o.Name == t.Name })
		if i < 0 {
			onlyA = append(onlyA, t)
			continue
		}
		pairs = append(pairs, TargetPair{t.Name, t.Name, t.Version, onlyB[i].Version})
		onlyB = slices.Delete(onlyB, i, i+1)
	}
	if len(onlyA) == 1 && len(onlyB) == 1 {
		return append(pairs, TargetPair{onlyA[0].Name, onlyB[0].Name, onlyA[0].Version, onlyB[0].Version})
	}
	for _, t := range onlyA {
		pairs = append(pairs, TargetPair{A: t.Name, VersionA: t.Version})
	}
	for _, t := range onlyB {
		pairs = append(pairs, TargetPair{B: t.Name, VersionB: t.Version})
	}
	return pairs
}
