package report

import (
	"slices"
	"strings"
)

// Suite describes a set of scripts that belong together. The number of a script
// is unique among all suites, and stays the same for ever.
type Suite struct {
	Name  string `json:"name"`
	About string `json:"about"`
}

// suites are in the order of reports. The numbers of a suite's scripts begin at 1,
// 101, 201 and so on.
var suites = []Suite{
	{"670", "the 14 gaps of libtmux issue #670"},
	{"releases", "what changed between tmux releases and breaks wrappers"},
	{"quoting", "what becomes of text on its way into tmux and back"},
	{"agents", "what agent CLIs ask of tmux"},
	{"control", "control mode, as wrappers use it"},
}

// Suites are the suites that the program carries.
func Suites() []Suite { return slices.Clone(suites) }

// part is a suite in a report, or all scripts where there is one suite or none.
type part struct {
	Suite
	Gaps []GapInfo
}

// parts divide the report by suites. A single part has no name: there is no need
// to say which one it is.
func (r *Report) parts() []part {
	if len(r.Suites) < 2 {
		return []part{{Gaps: r.Gaps}}
	}
	var all []part
	for _, s := range r.Suites {
		gaps := slices.DeleteFunc(slices.Clone(r.Gaps), func(g GapInfo) bool { return g.Suite != s.Name })
		all = append(all, part{s, gaps})
	}
	return all
}

// Idle reports in a line of what nothing was tested, as none of its scripts applies to a
// target. It is empty if there is no such suite, and for a shard, which is a part.
func (r *Report) Idle() string {
	var found []string
	for _, p := range r.parts() {
		name := "these scripts"
		if p.Name != "" {
			name = "suite " + p.Name
		} else if len(r.Suites) == 1 {
			name = "suite " + r.Suites[0].Name
		}
		applies, any := false, false
		for _, c := range r.Cells {
			if slices.ContainsFunc(p.Gaps, func(g GapInfo) bool { return g.Number == c.Gap }) {
				any, applies = true, applies || c.Status != NotApplicable
			}
		}
		if any && !applies {
			found = append(found, name)
		}
	}
	if len(found) == 0 || r.Shard != "" {
		return ""
	}
	return "nothing was tested of " + strings.Join(found, ", ") + ": no script of it in this run applies to these tmux programs"
}
