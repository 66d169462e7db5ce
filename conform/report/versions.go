package report

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tmuxmcp/tmux"
)

// Versions is a range of tmux versions: alternatives with a comma between them,
// each of which is one bound or several with a space between them, all of which
// must hold: "3.4", ">=3.4 <3.6, 3.7c", "!=3.6a". 3.6a comes after 3.6 and before
// 3.7. A development version, "next-3.8", counts as the release it leads to in
// an order, and as itself alone in "next-3.8" and "!=next-3.8". The zero Versions, "",
// is every version.
type Versions struct{ any [][]bound }

type bound struct {
	op string
	v  tmux.Version
}

var boundForm = regexp.MustCompile(`^([<>!]=|[<>=])?(.*)$`)

// ParseVersions reads a range of versions, as in ">=3.4 <3.6, 3.7c".
func ParseVersions(s string) (Versions, error) {
	var r Versions
	if strings.TrimSpace(s) == "" {
		return r, nil
	}
	for alternative := range strings.SplitSeq(s, ",") {
		var all []bound
		for _, word := range strings.Fields(alternative) {
			m := boundForm.FindStringSubmatch(word)
			b := bound{op: cmp.Or(m[1], "=")}
			var err error
			if b.v, err = tmux.ParseVersion(m[2]); err != nil {
				return Versions{}, fmt.Errorf("%q: %q is no version: want a range such as \"3.6a\" or \">=3.4 <3.6, 3.7c\"", s, m[2])
			}
			all = append(all, b)
		}
		if len(all) == 0 {
			return Versions{}, fmt.Errorf("%q: nothing between two commas", s)
		}
		r.any = append(r.any, all)
	}
	return r, nil
}

// Has reports whether the range has the version, as tmux -V prints it. A
// version that cannot be read is in the range of every version alone.
func (r Versions) Has(version string) bool {
	if len(r.any) == 0 {
		return true
	}
	v, err := tmux.ParseVersion(version)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(r.any, func(all []bound) bool {
		return !slices.ContainsFunc(all, func(b bound) bool { return !b.has(v) })
	})
}

func (b bound) has(v tmux.Version) bool {
	if b.op == "=" || b.op == "!=" {
		return (v == b.v) == (b.op == "=")
	}
	limit := b.v
	v.Next, limit.Next = false, false
	c := v.Compare(limit)
	return c == 0 && strings.HasSuffix(b.op, "=") || c < 0 && b.op[0] == '<' || c > 0 && b.op[0] == '>'
}
