package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// This file identifies a wrapper in another run, and in files of known failures.

// bare returns the wrapper's name without its version, where it is what the wrapper says of
// itself.
func (a API) bare() string {
	if a.Described == nil || a.Name != a.Described.String() {
		return a.Name
	}
	return a.Described.Name
}

// version returns the wrapper's version, or "" if it is not known.
func (a API) version() string {
	if a.Described == nil {
		return ""
	}
	return a.Described.Version
}

// key returns the name by which a wrapper of a run is known in others: without its version,
// unless the run has two of the name.
func (a API) key(r *Report) string {
	same := 0
	for _, o := range r.APIs {
		if o.bare() == a.bare() {
			same++
		}
	}
	if same > 1 {
		return a.Name
	}
	return a.bare()
}

// apiPair is a wrapper in two runs, by its names there. Same is set if it is one wrapper, and not
// two that are compared because each run has no other.
type apiPair struct {
	a, b string
	same bool
}

// pairAPIs pairs the wrappers of two runs by name. If each run then has one left, it pairs these two.
func pairAPIs(a, b *Report) (pairs []apiPair) {
	restA, restB := slices.Clone(a.APIs), slices.Clone(b.APIs)
	for _, is := range []func(x, y API) bool{
		func(x, y API) bool { return x.Name == y.Name },
		func(x, y API) bool { return x.key(a) == y.key(b) },
		func(x, y API) bool { return len(restA) == 1 && len(restB) == 1 },
	} {
		for _, x := range slices.Clone(restA) {
			if j := slices.IndexFunc(restB, func(y API) bool { return is(x, y) }); j >= 0 {
				pairs = append(pairs, apiPair{x.Name, restB[j].Name, x.key(a) == restB[j].key(b) || x.Name == restB[j].Name})
				restA = slices.DeleteFunc(restA, func(o API) bool { return o.Name == x.Name })
				restB = slices.Delete(restB, j, j+1)
			}
		}
	}
	return pairs
}

// noAPI is a name that no wrapper has.
const noAPI = "\x00"

// other returns the name that a result's wrapper has in the other run, which is the first if the
// result is of the second; empty for another layer, and where an old report has no names.
func (d *Diff) other(c result, second bool) string {
	for _, p := range d.apis {
		if second && p.b == c.API {
			return p.a
		}
		if !second && p.a == c.API {
			return p.b
		}
	}
	switch {
	case c.Layer != APILayer, c.API == BuiltIn && d.nameless[second], c.API == "" && d.nameless[second]:
		return ""
	case c.API == "":
		return BuiltIn
	}
	return noAPI
}

// same reports whether both runs asked the same wrapper or server for a result of the second.
func (d *Diff) same(c *result) bool {
	if c.Layer != APILayer {
		return d.sameServer
	}
	return !slices.ContainsFunc(d.apis, func(p apiPair) bool { return p.b == c.API && !p.same })
}

// versionRange is a condition on the version of a wrapper: ">=0.57 <0.60".
type versionRange []string

// parseRange reads a range, and reports whether the text is one.
func parseRange(s string) (r versionRange, ok bool) {
	for _, word := range strings.Fields(s) {
		version := strings.TrimLeft(word, "<>=")
		if op := word[:len(word)-len(version)]; version == "" || !slices.Contains([]string{">=", ">", "<=", "<", "="}, op) {
			return nil, false
		}
		r = append(r, word)
	}
	return r, true
}

// has reports whether a version is in the range. An unknown version is in none.
func (r versionRange) has(version string) bool {
	for _, word := range r {
		bound := strings.TrimLeft(word, "<>=")
		op, n := word[:len(word)-len(bound)], compareVersions(version, bound)
		if version == "" || !(n == 0 && strings.Contains(op, "=") || n < 0 && strings.Contains(op, "<") || n > 0 && strings.Contains(op, ">")) {
			return false
		}
	}
	return true
}

// compareVersions compares versions of numbers with dots between them, in which 1.0rc1 is before
// 1.0.
func compareVersions(a, b string) int {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(as), len(bs)) {
		if n := cmp.Compare(rankOf(as, i), rankOf(bs, i)); n != 0 {
			return n
		}
	}
	return 0
}

// rankOf returns twice the number at a place of a version, one less if it is of a candidate, and
// 0 if there is none.
func rankOf(parts []string, i int) int {
	if i >= len(parts) {
		return 0
	}
	rest := strings.TrimLeft(parts[i], "0123456789")
	n, _ := strconv.Atoi(parts[i][:len(parts[i])-len(rest)])
	if rest != "" {
		return 2*n - 1
	}
	return 2 * n
}
