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

// short is the length of the longest name that another resembles only by one mistake: by two, every
// word of three letters resembles many others.
const short = 4

// word returns a name without the dashes of a flag.
func word(name string) string { return strings.TrimLeft(name, "-") }

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
		d := Mistakes(name, lower)
		contains := strings.Contains(lower, name) || strings.Contains(name, lower)
		if contains {
			d = min(d, 2)
		}
		most := max(2, len(n)/3)
		if min(len(word(name)), len(word(n))) <= short {
			most = 1
		}
		if contains || d <= most {
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

// Mistakes returns how many letters must be inserted, removed, changed or swapped with the next to
// turn a into b.
func Mistakes(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1) // for a without its last two letters, and one
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			change := row[j]
			if a[i] != b[j] {
				change++
			}
			next[j+1] = min(change, next[j]+1, row[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
