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
	"errors"
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

// An arg is what a step has besides its name.
type arg int

const (
	noArg    arg = iota
	countArg     // A
	sizeArg      // A columns and B rows
	textArg      // Text, A times
)

// ops are the names of steps.
//
//	out N "text"   the program writes the text N times, with new words each time
//	raw N "text"   likewise, but in one piece, with no look into what it consists of
//	look           somebody looks
//	size WxH       resize-window
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
//	attach WxH     a client attaches, and the window gets its size
//	detach         the client goes
var ops = map[string]arg{
	"out": textArg, "raw": textArg, "look": noArg, "size": sizeArg, "clear": noArg, "reset": noArg,
	"copy": noArg, "uncopy": noArg, "scroll": countArg, "respawn": noArg, "split": countArg, "unsplit": noArg,
	"zoom": noArg, "break": noArg, "join": countArg, "swap": noArg, "attach": sizeArg, "detach": noArg,
}

// Out returns a step that writes text.
func Out(text string) Step { return Step{Op: "out", A: 1, Text: text} }

// Look is a step at which somebody looks.
var Look = Step{Op: "look"}

// String returns the program in the form that [Parse] reads. It has no single quotes.
func (p Program) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%dx%d h%d", p.Columns, p.Rows, p.History)
	if p.NoAlternate {
		b.WriteString(" noalternate")
	}
	if p.NoScrollClear {
		b.WriteString(" noscrollclear")
	}
	if p.Above != 0 {
		fmt.Fprintf(&b, " above%d", p.Above)
	}
	for _, s := range p.Steps {
		b.WriteString("; " + s.String())
	}
	return b.String()
}

// String returns the step as it appears in a program.
func (s Step) String() string {
	switch ops[s.Op] {
	case countArg:
		return fmt.Sprintf("%s %d", s.Op, s.A)
	case sizeArg:
		return fmt.Sprintf("%s %dx%d", s.Op, s.A, s.B)
	case textArg:
		text := strings.ReplaceAll(strconv.Quote(s.Text), "'", `\x27`)
		if s.A == 1 {
			return s.Op + " " + text
		}
		return fmt.Sprintf("%s %d %s", s.Op, s.A, text)
	}
	return s.Op
}

// Parse reads a program in the form of [Program.String].
func Parse(text string) (Program, error) {
	var p Program
	head, rest, _ := strings.Cut(text, ";")
	fields := strings.Fields(head)
	if len(fields) < 2 {
		return p, fmt.Errorf("the program %q does not begin with COLUMNSxROWS hLIMIT", text)
	}
	var err error
	if p.Columns, p.Rows, err = parseSize(fields[0]); err != nil {
		return p, err
	}
	if p.History, err = strconv.Atoi(strings.TrimPrefix(fields[1], "h")); err != nil || fields[1][0] != 'h' {
		return p, fmt.Errorf("%q is no history limit such as h50", fields[1])
	}
	for _, f := range fields[2:] {
		switch n, above := strings.CutPrefix(f, "above"); {
		case f == "noalternate":
			p.NoAlternate = true
		case f == "noscrollclear":
			p.NoScrollClear = true
		case above:
			if p.Above, err = strconv.Atoi(n); err != nil || p.Above < 1 {
				return p, fmt.Errorf("%q is no number of lines such as above3", f)
			}
		default:
			return p, fmt.Errorf("unknown option %q", f)
		}
	}
	for rest = strings.TrimSpace(rest); rest != ""; {
		var s Step
		if s, rest, err = parseStep(rest); err != nil {
			return p, err
		}
		p.Steps = append(p.Steps, s)
	}
	return p, nil
}

func parseSize(text string) (columns, rows int, err error) {
	c, r, ok := strings.Cut(text, "x")
	columns, err1 := strconv.Atoi(c)
	rows, err2 := strconv.Atoi(r)
	if !ok || errors.Join(err1, err2) != nil || columns < 1 || rows < 1 {
		return 0, 0, fmt.Errorf("%q is no size such as 80x24", text)
	}
	return columns, rows, nil
}

// parseStep parses one step and the semicolon after it.
func parseStep(text string) (s Step, rest string, err error) {
	args := text
	if i := strings.IndexAny(text, " ;"); i >= 0 {
		s.Op, args = text[:i], strings.TrimLeft(text[i:], " ")
	} else {
		s.Op, args = text, ""
	}
	kind, ok := ops[s.Op]
	if !ok {
		return s, "", fmt.Errorf("unknown step %q", s.Op)
	}
	word := args
	if i := strings.IndexAny(args, " ;"); i >= 0 {
		word = args[:i]
	}
	switch kind {
	case noArg:
		word = ""
	case countArg:
		s.A, err = strconv.Atoi(word)
	case sizeArg:
		s.A, s.B, err = parseSize(word)
	case textArg:
		s.A = 1
		if !strings.HasPrefix(args, `"`) {
			s.A, err = strconv.Atoi(word)
			args = strings.TrimLeft(args[len(word):], " ")
		}
		if err == nil {
			if word, err = strconv.QuotedPrefix(args); err == nil {
				s.Text, err = strconv.Unquote(word)
			}
		}
	}
	if err != nil {
		return s, "", fmt.Errorf("step %q: %w", text, err)
	}
	rest, after := strings.CutPrefix(strings.TrimSpace(args[len(word):]), ";")
	if !after && rest != "" {
		return s, "", fmt.Errorf("step %q goes on with %q", s, rest)
	}
	return s, strings.TrimSpace(rest), nil
}

var templates = regexp.MustCompile(`\{(w|[^{}*]+\*[0-9]+)\}`)

// status matches requests for the terminal's status, which only [Pane.Write] makes.
var status = regexp.MustCompile("5[0-9;:\x00-\x1a\x1c-\x1f]*n")

// Expand returns what steps write, with a word from next for each {w}.
func Expand(next func() string, steps ...Step) string {
	var b strings.Builder
	for _, s := range steps {
		if ops[s.Op] == textArg {
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

// digits are the characters of words, except K, which begins one.
const digits = "0123456789ABCDEFGHIJLMOPQRSTUVWX"

// Word returns the word with a number.
func Word(n int) string {
	w := []byte("K00000")
	for i, rest := 4, n; i > 0; i-- {
		w[i] = digits[rest%len(digits)]
		rest /= len(digits)
	}
	w[5] = digits[check(n)]
	return string(w)
}

func check(n int) int { return int(uint32(n)*2654435761>>20) % len(digits) }

// Words returns the numbers below limit of the words in a text, in order.
func Words(text string, limit int) []int {
	var found []int
	for {
		at := strings.IndexByte(text, 'K')
		if at < 0 || len(text) < at+6 {
			return found
		}
		w, n := text[at+1:at+6], 0
		text = text[at+1:]
		for _, c := range []byte(w) {
			d := strings.IndexByte(digits, c)
			if d < 0 {
				n = limit * len(digits)
				break
			}
			n = n*len(digits) + d
		}
		if n, sum := n/len(digits), n%len(digits); n < limit && sum == check(n) {
			found = append(found, n)
			text = text[5:]
		}
	}
}
