// Package nearest finds the names that a mistyped one may have meant.
package nearest

import (
	"cmp"
	"slices"
	"strings"
)

// Meant asks whether a mistyped name is one of those that resemble it, as in "; did you mean
// list_panes?". It is empty if there are none.
func Meant(name string, names []string) string {
	switch near := Names(name, names); len(near) {
	case 0:
		return ""
	case 1:
		return "; did you mean " + near[0] + "?"
	default:
		last := len(near) - 1
		return "; did you mean " + strings.Join(near[:last], ", ") + " or " + near[last] + "?"
	}
}

// longest is the length of the longest name that counts as mistyped.
const longest = 100

// Names returns up to three names that resemble a mistyped one, ignoring case, the most similar
// first.
func Names(name string, names []string) []string {
	if len(name) > longest {
		return nil
	}
	type scored struct {
		name  string
		score int
	}
	var found []scored
	name = strings.ToLower(name)
	for _, n := range names {
		lower := strings.ToLower(n)
		d := distance(name, lower)
		if strings.Contains(lower, name) || strings.Contains(name, lower) {
			d = min(d, 2)
		}
		if d <= 2 || d*3 <= len(n) {
			found = append(found, scored{n, d})
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int { return cmp.Compare(a.score, b.score) })
	var near []string
	for _, f := range found[:min(3, len(found))] {
		near = append(near, f.name)
	}
	return near
}

// distance returns how many letters must be inserted, removed or changed to turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		prev := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := prev
			if a[i] != b[j] {
				change++
			}
			prev = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
