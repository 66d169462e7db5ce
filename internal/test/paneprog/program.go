// Package paneprog generates random programs for a tmux pane: what the program in the pane
// writes, what its user does to it, and when somebody looks at it. Tests use it to compare
// what this module says about a pane with the pane itself.
//
// A [Program] has a short textual form, which [Parse] reads, so that a failed program can
// be run again, and [Shrink] makes it as short as possible. [Generate] makes programs from
// what terminals and tmux can do, independently of what is tested.
//
// # Text
//
// The text of a step is what the pane's program writes, in Go's quotes. {w} in it is a new
// word, which the program writes nowhere else, and {x*80} is 80 times x. Words are upper
// case, and a generated program writes nothing else in upper case, so that no character set
// changes them and no other text creates one.
package paneprog

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A Program is what happens to one pane.
type Program struct {
	Columns, Rows int
	History       int  // tmux's history-limit
	NoAlternate   bool // the option alternate-screen is off
	NoScrollClear bool // the option scroll-on-clear, where tmux has it, is off
	Above         int  // lines already on the screen, for programs that only write
	Steps         []Step
}

// A Step is one thing that happens to the pane. See ops.
type Step struct {
	Op   string
	A, B int // depends on Op
	Text string
}

// ops are the names of steps, and how many numbers each has.
//
//	out N "text"   the program writes the text N times, with new words each time
//	raw N "text"   likewise, but in one piece, with no look into what it consists of
//	look           somebody looks
//	size W H       resize-window
//	clear          clear-history
//	reset          send-keys -R
//	copy, uncopy   copy mode on and off
//	scroll N       copy mode scrolls up by N lines, or down by -N
//	respawn        respawn-pane -k
//	split N        another pane in the window: right of it if N is odd, else below
//	unsplit        the other panes of the window are killed
//	zoom           resize-pane -Z
//	break          break-pane: to a window of its own, if it shares one
//	join N         the pane goes beside the pane of another window, as split does
//	swap           swap-pane with a pane of another window
//	attach W H     a client attaches, and the window gets its size
//	detach         the client goes
//
// Before them come the fields of the Program.
var ops = map[string]int{
	"pane": 2, "history": 1, "noalternate": 0, "noscrollclear": 0, "above": 1,
	"out": 1, "raw": 1, "look": 0, "size": 2, "clear": 0, "reset": 0, "copy": 0, "uncopy": 0, "scroll": 1, "respawn": 0,
	"split": 1, "unsplit": 0, "zoom": 0, "break": 0, "join": 1, "swap": 0, "attach": 2, "detach": 0,
}

func (s Step) writes() bool { return s.Op == "out" || s.Op == "raw" }

// Out returns a step that writes text.
func Out(text string) Step { return Step{Op: "out", A: 1, Text: text} }

// Look is a step at which somebody looks.
var Look = Step{Op: "look"}

// String returns the program in the form that [Parse] reads. It has no single quotes.
func (p Program) String() string { return stepsText(p.all()) }

// all returns the program's fields and steps as steps.
func (p Program) all() []Step {
	all := []Step{{Op: "pane", A: p.Columns, B: p.Rows}, {Op: "history", A: p.History}}
	if p.NoAlternate {
		all = append(all, Step{Op: "noalternate"})
	}
	if p.NoScrollClear {
		all = append(all, Step{Op: "noscrollclear"})
	}
	if p.Above != 0 {
		all = append(all, Step{Op: "above", A: p.Above})
	}
	return append(all, p.Steps...)
}

func stepsText(steps []Step) string {
	texts := make([]string, len(steps))
	for i, s := range steps {
		texts[i] = s.String()
	}
	return strings.Join(texts, "; ")
}

// String returns the step as it appears in a program.
func (s Step) String() string {
	text := s.Op
	for _, n := range []int{s.A, s.B}[:ops[s.Op]] {
		text += " " + strconv.Itoa(n)
	}
	if s.writes() {
		text += " " + strings.ReplaceAll(strconv.Quote(s.Text), "'", `\x27`)
	}
	return text
}

// Parse reads a program in the form of [Program.String].
func Parse(text string) (Program, error) {
	steps, err := parseSteps(text)
	if err != nil {
		return Program{}, err
	}
	return programOf(steps)
}

// programOf returns the program of which [Program.all] returns these steps.
func programOf(all []Step) (p Program, err error) {
	for _, s := range all {
		switch s.Op {
		case "pane":
			p.Columns, p.Rows = s.A, s.B
		case "history":
			p.History = s.A
		case "noalternate":
			p.NoAlternate = true
		case "noscrollclear":
			p.NoScrollClear = true
		case "above":
			p.Above = s.A
		default:
			p.Steps = append(p.Steps, s)
		}
	}
	if p.Columns < 1 || p.Rows < 1 || p.History < 0 || p.Above < 0 {
		err = fmt.Errorf("the program %q does not begin with pane COLUMNS ROWS", p)
	}
	return p, err
}

var stepForm = regexp.MustCompile(`^([a-z]+)((?: -?\d+)*)(?: ("(?:[^"\\]|\\.)*"))?(?:; *|$)`)

// parseSteps parses steps with a semicolon after each.
func parseSteps(text string) (steps []Step, err error) {
	for text != "" {
		m := stepForm.FindStringSubmatch(text)
		if m == nil {
			return nil, fmt.Errorf("%q begins with no step", text)
		}
		s, numbers := Step{Op: m[1]}, strings.Fields(m[2])
		if n, known := ops[s.Op]; !known || len(numbers) != n || s.writes() != (m[3] != "") {
			return nil, fmt.Errorf("%q is no step", m[0])
		}
		for i, number := range numbers {
			if *[]*int{&s.A, &s.B}[i], err = strconv.Atoi(number); err != nil {
				return nil, err
			}
		}
		if s.writes() {
			if s.Text, err = strconv.Unquote(m[3]); err != nil {
				return nil, fmt.Errorf("step %s: %w", m[0], err)
			}
		}
		steps, text = append(steps, s), text[len(m[0]):]
	}
	return steps, nil
}

var templates = regexp.MustCompile(`\{(w|[^{}*]+\*[0-9]+)\}`)

// status matches requests for the terminal's status, which only [Pane.Write] makes.
var status = regexp.MustCompile("5[0-9;:\x00-\x1a\x1c-\x1f]*n")

// Expand returns what steps write, with a word from next for each {w}.
func Expand(next func() string, steps ...Step) string {
	var b strings.Builder
	for _, s := range steps {
		if s.writes() {
			for range s.A {
				b.WriteString(expand(s.Text, next))
			}
		}
	}
	return status.ReplaceAllStringFunc(b.String(), func(s string) string { return s[:len(s)-1] + "m" })
}

func expand(text string, next func() string) string {
	return templates.ReplaceAllStringFunc(text, func(s string) string {
		if s == "{w}" {
			return next()
		}
		unit, count, _ := strings.Cut(s[1:len(s)-1], "*")
		n, _ := strconv.Atoi(count)
		return strings.Repeat(unit, min(n, 100_000))
	})
}

// base is the radix of the number in a word. Its digits go up to J, so the K that begins a
// word is not one of them.
const base = 20

// Word returns the word with a number.
func Word(n int) string {
	digits := strings.ToUpper(strconv.FormatInt(int64(n*base+check(n)), base))
	return "K" + strings.Repeat("0", 6-len(digits)) + digits
}

func check(n int) int { return int(uint32(n)*2654435761>>20) % base }

var words = regexp.MustCompile(`K[0-9A-J]{6}`)

// Words returns the numbers below limit of the words in a text, in order.
func Words(text string, limit int) (found []int) {
	for _, w := range words.FindAllString(text, -1) {
		n, _ := strconv.ParseInt(w[1:], base, 64)
		if n, sum := int(n)/base, int(n)%base; n < limit && sum == check(n) {
			found = append(found, n)
		}
	}
	return found
}
