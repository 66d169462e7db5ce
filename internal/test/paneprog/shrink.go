package paneprog

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Shrink returns a program that still fails and that no single cut makes shorter. It leaves
// out steps and parts of texts, and makes numbers smaller. It calls fails, which runs a
// program in a fresh pane, at most budget times.
func Shrink(p Program, budget int, fails func(Program) bool) Program {
	steps := p.all()
	try := func(steps []Step) bool {
		q, err := programOf(steps)
		if err != nil || budget <= 0 {
			return false
		}
		if budget--; !fails(q) {
			return false
		}
		p = q
		return true
	}
	for before := ""; before != stepsText(steps) && budget > 0; {
		before = stepsText(steps)
		steps = cut(steps, try)
		for i := range steps {
			// with reports whether the program still fails with another step, and keeps that.
			with := func(s Step) bool {
				all := slices.Clone(steps)
				all[i] = s
				if !try(all) {
					return false
				}
				steps = all
				return true
			}
			for _, of := range []func(*Step) *int{func(s *Step) *int { return &s.A }, func(s *Step) *int { return &s.B }} {
				lower(*of(&steps[i]), steps[i].Op, func(n int) bool {
					s := steps[i]
					*of(&s) = n
					return with(s)
				})
			}
			withText := func(pieces []string) bool {
				s := steps[i]
				s.Text = strings.Join(pieces, "")
				return with(s)
			}
			pieces := cut(piece.FindAllString(steps[i].Text, -1), withText)
			for j, p := range pieces {
				unit, count, _ := strings.Cut(strings.TrimSuffix(p, "}"), "*")
				n, err := strconv.Atoi(count)
				if err != nil || !templates.MatchString(p) {
					continue
				}
				lower(n, "", func(n int) bool {
					fewer := slices.Clone(pieces)
					fewer[j] = unit + "*" + strconv.Itoa(n) + "}"
					if !withText(fewer) {
						return false
					}
					pieces = fewer
					return true
				})
			}
		}
	}
	return p
}

// piece matches a template, a sequence, or text up to a blank.
var piece = regexp.MustCompile(`(?s)` + templates.String() + `|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_k].*?(?:\x1b\\|\x07)|\x1b[ -/]*[0-~]|[^\x00-\x20{]+ ?|.`)

// cut leaves out parts of a list, the largest first, as long as good accepts the rest.
func cut[T any](list []T, good func([]T) bool) []T {
	for size := len(list); size > 0; size /= 2 {
		for at := 0; at+size <= len(list); {
			if rest := slices.Concat(list[:at], list[at+size:]); good(rest) {
				list = rest
			} else {
				at += size
			}
		}
	}
	return list
}

// lower tries smaller positive numbers as long as good accepts one. Sizes are ordinary ones,
// which reveal more than the smallest.
func lower(n int, op string, good func(int) bool) {
	for again := true; again; {
		again = false
		list := []int{1, n / 2, n * 3 / 4, n - 1}
		if ops[op] == 2 {
			list = []int{5, 10, 20, 24, 80}
		}
		for _, m := range list {
			if 0 < m && m < n && good(m) {
				n, again = m, true
				break
			}
		}
	}
}
