package paneprog

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// What a program's text says is the program.
func TestProgramsReadBack(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		var p Program
		switch seed % 3 {
		case 0:
			p = Generate(r)
		case 1:
			p = GeneratePlain(r)
		case 2:
			p = GenerateOutput(r, 80, 24)
		}
		text := p.String()
		back, err := Parse(text)
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		if !reflect.DeepEqual(back, p) {
			t.Fatalf("seed %d: %s\nis read back as\n%s", seed, text, back)
		}
		if strings.ContainsAny(text, "'\n") {
			t.Fatalf("seed %d: %q cannot be put in single quotes", seed, text)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{"", "pane 80", "pane 0 24; history 5", "pane 80 24; history", "pane 80 24; odd", "pane 80 24; above", "pane 80 24 look", "pane 80 24; fly", "pane 80 24; size 3",
		"pane 80 24; out 1 x", `pane 80 24; out "x" 3`, `pane 80 24; out 3`, `pane 80 24; out 1 "\y"`, `pane 80 24; out 1 "x`, "pane 80 24; look 5", "pane 80 24; scroll", "history 5; look"} {
		if p, err := Parse(text); err == nil {
			t.Errorf("%q is read as %s", text, p)
		}
	}
}

// A word is found, whatever is around it, and half of one is none.
func TestWords(t *testing.T) {
	for _, n := range []int{0, 1, 31, 32, 1000, 1<<20 - 1} {
		w := Word(n)
		if got := Words("x"+w+"y K00"+w[4:], n+1); !reflect.DeepEqual(got, []int{n}) {
			t.Errorf("word %d is %q, in which are the words %v", n, w, got)
		}
		if got := Words(w, n); got != nil {
			t.Errorf("word %d is found below %d", n, n)
		}
	}
}

func TestExpandAsksForNothing(t *testing.T) {
	n := 0
	next := func() string { n++; return Word(n - 1) }
	got := Expand(next, Step{Op: "out", A: 2, Text: "{w}{ab*3}\n"}, Look, Step{Op: "raw", A: 1, Text: "\x1b[5"}, Out("n{x}"))
	if want := Word(0) + "ababab\n" + Word(1) + "ababab\n" + "\x1b[5m{x}"; got != want {
		t.Errorf("%q is written, want %q", got, want)
	}
}

// The shortest program is found that still has what fails.
func TestShrink(t *testing.T) {
	for seed := range uint64(50) {
		p := Generate(rand.New(rand.NewPCG(seed, 2)))
		p.Steps = append(p.Steps, Step{Op: "size", A: 100, B: 40}, Step{Op: "out", A: 70, Text: "abc{w}\x1b[2J{x*90}"}, Look)
		fails := func(p Program) bool {
			for i, s := range p.Steps {
				if s.Op == "size" && s.A >= 30 {
					for _, s := range p.Steps[i:] {
						if s.Op == "out" && s.A >= 13 && strings.Contains(s.Text, "\x1b[2J") {
							return true
						}
					}
				}
			}
			return false
		}
		got := Shrink(p, 5000, fails)
		if want := `pane 80 24; history 2000; size 80 5; out 13 "\x1b[2J"`; len(got.Steps) != 2 || got.Steps[0].A > 80 || got.Steps[0].B != 5 || got.Steps[1].A != 13 || got.Steps[1].Text != "\x1b[2J" {
			t.Errorf("seed %d shrinks to %s, want about %s", seed, got, want)
		}
	}
}
