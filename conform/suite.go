package conform

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"tmuxmcp/conform/report"
	"tmuxmcp/fixtures"
)

// AllSuites is the name that stands for all of them.
const AllSuites = "all"

// LoadSuites reads the scripts of the suites with these names.
func LoadSuites(names ...string) ([]*Gap, error) {
	var gaps []*Gap
	var valid []string
	for _, s := range report.Suites() {
		valid = append(valid, s.Name)
		if !slices.Contains(names, s.Name) && !slices.Contains(names, AllSuites) {
			continue
		}
		var files fs.FS = fixtures.Gaps()
		if s.Name != report.Suites()[0].Name {
			files = fixtures.Suite(s.Name)
		}
		more, err := LoadGaps(files)
		if err != nil {
			return nil, fmt.Errorf("suite %s: %w", s.Name, err)
		}
		for _, g := range more {
			g.Suite = s.Name
		}
		gaps = append(gaps, more...)
	}
	for _, name := range names {
		if name != AllSuites && !slices.Contains(valid, name) {
			return nil, fmt.Errorf("unknown suite %q: want %s or %s", name, strings.Join(valid, ", "), AllSuites)
		}
	}
	return gaps, nil
}

// ClaimsOf are how many claims each of these gaps has for a layer.
func ClaimsOf(gaps []*Gap) map[int]map[report.Layer]int {
	claims := map[int]map[report.Layer]int{}
	for _, g := range gaps {
		claims[g.Number] = map[report.Layer]int{}
		for _, l := range g.Layers() {
			claims[g.Number][l] = max(1, len(g.claims(l, "")))
		}
	}
	return claims
}

// suitesOf are the suites of these scripts. Scripts of a user's own are in none.
func suitesOf(gaps []*Gap) []report.Suite {
	return slices.DeleteFunc(report.Suites(), func(s report.Suite) bool {
		return !slices.ContainsFunc(gaps, func(g *Gap) bool { return g.Suite == s.Name })
	})
}
