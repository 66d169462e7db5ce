package gap

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A line is read as testscript reads it: the command is behind the conditions and the !, and
// quotes are taken off it.
func TestLines(t *testing.T) {
	for text, want := range map[string]string{
		"tmux list-panes -a":                 "tmux [tmux list-panes -a] false []",
		"  ! tmux a":                         "tmux [tmux a] true []",
		"[tmux:3.4] ! 'mcp' a '{\"b\": 1}'":  "mcp ['mcp' a '{\"b\": 1}'] true [[tmux:3.4]]",
		"['stdout:a b'] [!ok] saw x 'a # b'": "saw [saw x 'a # b'] false [['stdout:a b'] [!ok]]",
		"exec sleep 1 & # later":             "exec [exec sleep 1 & # later] false []",
		"exec sleep 1 &":                     "exec [exec sleep 1 &] false [] background",
		"exec sleep 1 &name& ":               "exec [exec sleep 1 &name&] false [] background",
		"# tmux a":                           " [] false []",
		"[ok] # tmux a":                      " [] false [[ok]]",
		"\t":                                 " [] false []",
	} {
		l := Lines("\n" + text + "\n-- tmux --\ntmux b")
		if len(l) != 2 || l[1].Number != 2 || l[1].Before+l[1].Behind != text {
			t.Errorf("%q: %+v", text, l)
			continue
		}
		got := fmt.Sprint(l[1].Command, " ", l[1].Words, " ", l[1].Negated, " ", l[1].Conditions)
		if l[1].Background {
			got += " background"
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// lineWord is a word of a line, with its quotes, or a comment.
var lineWord = regexp.MustCompile(`#[^\n]*|([^\s'#]|'[^']*')+`)

func FuzzWords(f *testing.F) {
	for _, line := range []string{"", "a", "a  b\tc", "a'b c'd e", "'a", "a'b c#d 'e'", "a#b", "#", "é 'ü' '", "''", "a\rb\fc"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if strings.Contains(line, "\n") {
			t.Skip("two lines")
		}
		var want [][2]int
		for _, w := range lineWord.FindAllStringIndex(line, -1) {
			want = append(want, [2]int{w[0], w[1]})
		}
		if got := words(line); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	})
}

// BenchmarkWords reads all lines of a script by hand, and with the expression that says the same.
func BenchmarkWords(b *testing.B) {
	gaps, err := LoadSuites(AllSuites)
	if err != nil {
		b.Fatal(err)
	}
	var lines []string
	for _, g := range gaps {
		lines = append(lines, strings.Split(string(g.Text), "\n")...)
	}
	b.Run("by hand", func(b *testing.B) {
		for b.Loop() {
			for _, line := range lines {
				words(line)
			}
		}
	})
	b.Run("expression", func(b *testing.B) {
		for b.Loop() {
			for _, line := range lines {
				lineWord.FindAllStringIndex(line, -1)
			}
		}
	})
}
