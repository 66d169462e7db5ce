package report

import (
	"fmt"
	"slices"
	"strings"
)

// family is a wrapper with its versions in a report, the oldest first.
type family struct {
	Name, Language, URL string
	Versions            []Column
	Gaps                []familyGap
}

// familyGap is how the versions of a wrapper do on a gap.
type familyGap struct {
	GapInfo
	// Since is the version from which on it is closed, or closed in part, in words.
	Since string
	// Open lists what is still open in the newest version, with the targets.
	Open []verdict
	// Extras are the extras that are not true of the newest version.
	Extras []verdict
}

// families returns the wrappers of layer api, each with all its versions.
func (r *Report) families() (all []*family) {
	for _, in := range r.Columns() {
		a := apiOf(r, in.API)
		if a == nil {
			continue
		}
		f := family{Name: a.label()}
		if a.Name != BuiltIn {
			f.Name = a.bare()
		}
		if d := a.Described; d != nil {
			f.Language, f.URL = d.Language, d.URL
		}
		i := slices.IndexFunc(all, func(o *family) bool { return o.Name == f.Name })
		if i < 0 {
			i, all = len(all), append(all, &f)
		}
		all[i].Versions = append(all[i].Versions, in)
	}
	for _, f := range all {
		slices.SortStableFunc(f.Versions, func(x, y Column) int {
			return compareVersions(apiOf(r, x.API).version(), apiOf(r, y.API).version())
		})
		newest := f.Versions[len(f.Versions)-1].verdicts(r)
		for _, g := range r.Gaps {
			fg := familyGap{GapInfo: g, Since: f.since(r, g)}
			for _, v := range newest {
				switch {
				case v.Gap != g.Number || v.Text == closed || v.Text == notHere:
				case strings.HasPrefix(v.Text, extra):
					v.Text = strings.TrimPrefix(v.Text, extra)
					fg.Extras = append(fg.Extras, v)
				default:
					fg.Open = append(fg.Open, v)
				}
			}
			f.Gaps = append(f.Gaps, fg)
		}
	}
	return all
}

// since returns from which version on a gap is closed on every target, or in part, in words.
func (f *family) since(r *Report, g GapInfo) string {
	from := func(least func(rank int) bool) string {
		version := ""
		for _, in := range slices.Backward(f.Versions) {
			rank, on := in.worst(r, g)
			if len(on) == 0 || !least(rank) {
				break
			}
			version = apiOf(r, in.API).version()
		}
		return version
	}
	whole := from(func(rank int) bool { return rank <= good })
	part := from(func(rank int) bool { return rank <= good || rank == partly })
	switch {
	case whole == "" && part == "":
		return "no"
	case whole == "":
		return "in part, since " + part
	case whole == part:
		return "since " + whole
	}
	return fmt.Sprintf("since %s; in part since %s", whole, part)
}
