package paneprog

import (
	"strconv"
	"strings"
)

// Shrink returns a program that still fails and that no single cut makes shorter. It leaves
// out steps, halves counts and sizes, and shortens texts. It calls fails, which runs a
// program in a fresh pane, at most budget times.
func Shrink(p Program, budget int, fails func(Program) bool) Program {
	try := func(q Program) bool {
		if budget <= 0 {
			return false
		}
		budget--
		if !fails(q) {
			return false
		}
		p = q
		return true
	}
	for before := ""; before != p.String() && budget > 0; {
		before = p.String()
		for size := len(p.Steps) / 2; size > 0; size /= 2 {
			for at := 0; at+size <= len(p.Steps); {
				if !try(p.with(at, size)) {
					at += max(1, size/2)
				}
			}
		}
		for i := range p.Steps {
			for again := true; again; {
				again = false
				for _, s := range p.Steps[i].shorter() {
					if again = try(p.with(i, 1, s)); again {
						break
					}
				}
			}
		}
		for _, change := range []func(*Program){
			func(p *Program) { p.NoAlternate = false },
			func(p *Program) { p.NoScrollClear = false },
			func(p *Program) { p.Above = 0 },
			func(p *Program) { p.Above /= 2 },
			func(p *Program) { p.Columns = 80 },
			func(p *Program) { p.Rows = 24 },
			func(p *Program) { p.Rows = 5 },
			func(p *Program) { p.Columns = 20 },
			func(p *Program) { p.History = 2000 },
			func(p *Program) { p.History = 50 },
		} {
			q := p
			change(&q)
			if q.String() != p.String() && q.cost() < p.cost() {
				try(q)
			}
		}
	}
	return p
}

// cost orders settings: plain ones are cheap.
func (p Program) cost() int {
	cost := len(p.Steps) + p.Above
	for _, odd := range []bool{p.NoAlternate, p.NoScrollClear, p.Columns != 80, p.Rows != 24, p.History != 2000} {
		if odd {
			cost += 1000
		}
	}
	return cost + p.Columns + p.Rows
}

// with returns the program with n of its steps replaced by steps.
func (p Program) with(at, n int, steps ...Step) Program {
	all := append([]Step(nil), p.Steps[:at]...)
	p.Steps = append(append(all, steps...), p.Steps[at+n:]...)
	return p
}

// shorter returns simpler steps than this one, the simplest first.
func (s Step) shorter() []Step {
	var list []Step
	add := func(a, b int, text string) {
		if a < s.A || b < s.B || len(text) < len(s.Text) || text < s.Text {
			list = append(list, Step{s.Op, a, b, text})
		}
	}
	switch ops[s.Op] {
	case countArg:
		add(s.A/2, 0, "")
	case sizeArg:
		// Ordinary sizes reveal more than the smallest ones.
		for _, c := range []int{80, 20, 10} {
			add(c, s.B, "")
		}
		for _, r := range []int{24, 10, 5} {
			add(s.A, r, "")
		}
	case textArg:
		for _, n := range smaller(s.A) {
			add(n, 0, s.Text)
		}
		parts := pieces(s.Text)
		for size := len(parts); size > 0; size /= 2 {
			for at := 0; at+size <= len(parts); at += size {
				add(s.A, 0, strings.Join(parts[:at], "")+strings.Join(parts[at+size:], ""))
			}
		}
		for i, part := range parts {
			unit, count, ok := strings.Cut(strings.TrimSuffix(part, "}"), "*")
			if n, err := strconv.Atoi(count); ok && err == nil && templates.MatchString(part) {
				for _, n := range smaller(n) {
					parts[i] = unit + "*" + strconv.Itoa(n) + "}"
					add(s.A, 0, strings.Join(parts, ""))
				}
				parts[i] = part
			}
		}
	}
	return list
}

// smaller returns positive numbers below n.
func smaller(n int) []int {
	var list []int
	for _, m := range []int{1, n / 2, n * 3 / 4, n - 1} {
		if m > 0 && m < n && (len(list) == 0 || list[len(list)-1] < m) {
			list = append(list, m)
		}
	}
	return list
}

// pieces splits a text into templates, sequences and runs of other characters.
func pieces(text string) []string {
	var list []string
	flush := func(s string) {
		for _, a := range Atoms(s) {
			if a.Class == Text && !strings.Contains(a.Bytes, "\x1b") {
				list = append(list, strings.SplitAfter(a.Bytes, " ")...)
				continue
			}
			list = append(list, a.Bytes)
		}
	}
	at := 0
	for _, m := range templates.FindAllStringIndex(text, -1) {
		flush(text[at:m[0]])
		list = append(list, text[m[0]:m[1]])
		at = m[1]
	}
	flush(text[at:])
	return list
}
