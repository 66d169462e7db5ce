package paneprog

import (
	_ "embed" // the grammar
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

//go:embed grammar.txt
var grammarText string

// alternative is one of those of a rule.
type alternative struct {
	weight int
	text   string
}

var grammar = func() map[string][]alternative {
	rules := map[string][]alternative{}
	rule := ""
	for line := range strings.SplitSeq(strings.ReplaceAll(grammarText, `\e`, `\x1b`), "\n") {
		weight, text, isAlternative := strings.Cut(line, "\t")
		n, err := strconv.Atoi(weight)
		switch {
		case line == "" || line[0] == '#':
		case !isAlternative:
			rule = line
		case err != nil:
			panic("paneprog: no weight in " + line)
		default:
			rules[rule] = append(rules[rule], alternative{n, text})
		}
	}
	return rules
}()

// Kinds are the kinds of [Realistic] output.
var Kinds = strings.Split("plain sgr progress tabs wide apt spinner git npm cargo pytest clear prompt pager top wget docker", " ")

// Generate returns a random program. Some are what users see every day, some are as brutal
// as a terminal allows, most are in between.
func Generate(r *rand.Rand) Program {
	p, g := begin(r, "program")
	// What the program is about.
	weights := map[string]int{"look": 18, "lines": 8, "line": 6, "real": 3, "shell": 3, "alternate": 3, "draw": 4, "erase": 2, "mode": 2, "user": 3, "raw": 1}
	for range 1 + r.IntN(3) {
		weights[pick(r, "lines", "line", "real", "shell", "alternate", "draw", "erase", "mode", "user", "user", "raw")] += r.IntN(16)
	}
	for range r.IntN(5) {
		delete(weights, pick(r, "real", "shell", "alternate", "draw", "erase", "mode", "user", "raw"))
	}
	if r.IntN(8) == 0 {
		p.Steps = g.steps("lines")
	}
	p.Steps = append(p.Steps, Look)
	for range 8 + r.IntN(50) {
		p.Steps = append(p.Steps, g.steps(g.topic(weights))...)
	}
	p.Steps = append(p.Steps, Look)
	return p
}

// GeneratePlain returns a program in which nothing is lost or overwritten: it prints lines,
// prompts and progress bars far from the end of the history.
func GeneratePlain(r *rand.Rand) Program {
	p, g := begin(r, "plain.pane")
	p.Steps = []Step{Look}
	for range 5 + r.IntN(30) {
		p.Steps = append(p.Steps, g.steps("plain")...)
	}
	p.Steps = append(p.Steps, Look)
	return p
}

// Size returns a random size of a pane, usually an ordinary one.
func Size(r *rand.Rand) (columns, rows int) {
	fmt.Sscan(gen{Rand: r}.expand("size"), &columns, &rows)
	return columns, rows
}

// GenerateOutput returns a program that only writes, in a pane of the given size. It may be
// cut off in the middle of anything.
func GenerateOutput(r *rand.Rand, columns, rows int) Program {
	g := gen{r, columns, rows}
	p := Program{Columns: columns, Rows: rows, History: 60_000, Above: r.IntN(rows)}
	weights := map[string]int{"lines": 2, "line": 8, "real": 4, "alternate": 1, "draw": 6, "erase": 1, "mode": 3, "raw": 1}
	for range r.IntN(7) {
		delete(weights, pick(r, "real", "alternate", "draw", "erase", "mode", "raw"))
	}
	for range 1 + r.IntN(16) {
		for _, s := range g.steps(g.topic(weights)) {
			if s.A = min(s.A, 120); s.writes() {
				p.Steps = append(p.Steps, s)
			}
		}
	}
	if r.IntN(6) == 0 && len(p.Steps) > 0 {
		last := &p.Steps[len(p.Steps)-1]
		last.Text = last.Text[:r.IntN(len(last.Text)+1)]
	}
	return p
}

// Realistic returns steps that write what programs of a kind do, in a pane of that size.
func Realistic(r *rand.Rand, kind string, columns, rows int) (steps []Step) {
	text, err := strconv.Unquote(`"` + gen{r, columns, rows}.expand("real."+kind) + `"`)
	if err != nil {
		panic("paneprog: " + kind + ": " + err.Error())
	}
	for _, part := range strings.SplitAfter(text, "\r") { // what happens to the pane happens in between
		steps = append(steps, Out(part))
	}
	return steps
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// gen generates parts of programs for a pane of about this size.
type gen struct {
	*rand.Rand
	columns, rows int
}

// begin returns a program without steps, and what generates them.
func begin(r *rand.Rand, rule string) (Program, gen) {
	p, err := Parse(gen{Rand: r}.expand(rule))
	if err != nil {
		panic(err)
	}
	return p, gen{r, p.Columns, p.Rows}
}

func (g gen) topic(weights map[string]int) string {
	var topics []alternative
	for name, weight := range weights {
		topics = append(topics, alternative{weight, name})
	}
	slices.SortFunc(topics, func(a, b alternative) int { return strings.Compare(a.text, b.text) })
	return g.choose(topics)
}

// steps returns the steps that a rule stands for.
func (g gen) steps(rule string) []Step {
	steps, err := parseSteps(g.expand(rule))
	if err != nil {
		panic(err)
	}
	return steps
}

func (g gen) choose(from []alternative) string {
	total := 0
	for _, a := range from {
		total += a.weight
	}
	at := g.IntN(total)
	for _, a := range from {
		if at -= a.weight; at < 0 {
			return a.text
		}
	}
	panic("paneprog: weights that do not add up")
}

var (
	reference = regexp.MustCompile(`<[^<>]*>`)
	bound     = regexp.MustCompile(`^(\d*)([CRB]?)([+-]\d+)?$`)
)

// expand returns an alternative of a rule, with everything in it chosen.
func (g gen) expand(rule string) string {
	if rule == "byte" {
		return fmt.Sprintf(`\x%02x`, g.byte())
	}
	return reference.ReplaceAllStringFunc(g.choose(grammar[rule]), func(ref string) string {
		ref = ref[1 : len(ref)-1]
		name, times, repeated := strings.Cut(ref, "*")
		switch {
		case strings.Contains(ref, "|"):
			return pick(g.Rand, strings.Split(ref, "|")...)
		case repeated:
			var b strings.Builder
			for range g.number(times) {
				b.WriteString(g.expand(name))
			}
			return b.String()
		case 'a' <= ref[0] && ref[0] <= 'z':
			return g.expand(name)
		}
		return strconv.Itoa(g.number(ref))
	})
}

// number returns one of the numbers in a range, which is not below 0.
func (g gen) number(text string) int {
	first, last, isRange := strings.Cut(text, "..")
	low := g.bound(first)
	if !isRange {
		return low
	}
	return low + g.IntN(max(1, g.bound(last)-low+1))
}

// bound returns a number that may depend on the size of the pane.
func (g gen) bound(text string) int {
	m := bound.FindStringSubmatch(text)
	n, err := strconv.Atoi(m[1])
	if err != nil {
		n = 1
	}
	switch m[2] {
	case "C":
		n *= g.columns
	case "R":
		n *= g.rows
	case "B":
		n *= max(1, min(g.columns-20, 40)/2)
	}
	more, _ := strconv.Atoi(m[3])
	return max(0, n+more)
}

// byte returns a byte that neither begins a template nor looks like a word.
func (g gen) byte() byte {
	for {
		if c := byte(g.IntN(256)); c != '{' && !('A' <= c && c <= 'Z') {
			return c
		}
	}
}
