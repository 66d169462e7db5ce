package conform

import (
	"fmt"
	"strings"

	"tmuxmcp/tmux"
)

// versions is a range of tmux versions: alternatives with a comma between them,
// each of which is one bound or several with a space between them, all of which
// must hold: "3.4", ">=3.4 <3.6, 3.7c", "!=3.6a". 3.6a comes after 3.6 and before
// 3.7. A development version, "next-3.8", counts as the release it leads to in
// an order, and as itself alone in "next-3.8" and "!=next-3.8". The zero versions, "",
// is every version.
type versions struct {
	text string
	any  [][]bound
}

type bound struct {
	op string
	v  tmux.Version
}

// parseVersions reads a range.
func parseVersions(s string) (versions, error) {
	r := versions{text: s}
	if strings.TrimSpace(s) == "" {
		return r, nil
	}
	for alternative := range strings.SplitSeq(s, ",") {
		var all []bound
		for _, word := range strings.Fields(alternative) {
			b := bound{op: "="}
			for _, op := range []string{">=", "<=", "!=", ">", "<", "="} {
				if rest, ok := strings.CutPrefix(word, op); ok {
					b.op, word = op, rest
					break
				}
			}
			var err error
			if b.v, err = tmux.ParseVersion(word); err != nil {
				return versions{}, fmt.Errorf("%q: %q is no version: want a range such as \"3.6a\" or \">=3.4 <3.6, 3.7c\"", s, word)
			}
			all = append(all, b)
		}
		if len(all) == 0 {
			return versions{}, fmt.Errorf("%q: nothing between two commas", s)
		}
		r.any = append(r.any, all)
	}
	return r, nil
}

func (r versions) String() string { return r.text }

// Has reports whether the range has the version, as tmux -V prints it. A
// version that cannot be read is in the range of every version alone.
func (r versions) Has(version string) bool {
	if len(r.any) == 0 {
		return true
	}
	v, err := tmux.ParseVersion(version)
	if err != nil {
		return false
	}
	for _, all := range r.any {
		ok := true
		for _, b := range all {
			ok = ok && b.has(v)
		}
		if ok {
			return true
		}
	}
	return false
}

func (b bound) has(v tmux.Version) bool {
	switch b.op {
	case "=":
		return v == b.v
	case "!=":
		return v != b.v
	}
	limit := b.v
	v.Next, limit.Next = false, false
	c := v.Compare(limit)
	switch b.op {
	case ">":
		return c > 0
	case ">=":
		return c >= 0
	case "<":
		return c < 0
	}
	return c <= 0
}

// without is the range without one version.
func (r versions) without(version string) (versions, error) {
	exclusion := "!=" + version
	if len(r.any) == 0 {
		return parseVersions(exclusion)
	}
	var parts []string
	for alternative := range strings.SplitSeq(r.text, ",") {
		parts = append(parts, strings.TrimSpace(alternative)+" "+exclusion)
	}
	return parseVersions(strings.Join(parts, ", "))
}
