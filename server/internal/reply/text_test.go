package reply

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// leastResult is the smallest room that a server can be configured to give a result.
const leastResult = 1000

func TestAViewFitsItsBudget(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range 5000 {
		many = append(many, fmt.Sprintf("line %d", i))
	}
	long := strings.Repeat("é", 25_000)
	for _, c := range []struct {
		name        string
		v           View
		first, last string // of the lines; empty is any
		says        string
	}{
		{"short", View{facts: []Words{"a", "b"}, Lines: []string{"x", "y"}}, "x", "y", "[a, b]\n"},
		{"nothing but facts", View{facts: []Words{"a"}}, "", "", "[a]"},
		{"the last of many", View{facts: []Words{"a"}, Lines: many, More: "start"}, "", "line 4999", "of 5000 lines, more: start]"},
		{"the first of many", View{facts: []Words{"a"}, Lines: many, Head: true}, "line 0", "", "[a, the first "},
		{"the end of a long line", View{Lines: []string{"x" + long}}, "", "", "bytes of a long line left out]"},
		{"the beginning of a long line", View{Lines: []string{"x" + long}, Head: true}, "", "", "bytes of a long line left out]"},
		{"a long line before others", View{Lines: append([]string{long}, many[:10]...)}, "line 0", "line 9", "the last 10 of 11 lines"},
	} {
		for _, most := range []int{leastResult, 30_000} {
			got := c.v.Text(most)
			if len(got) > most {
				t.Errorf("%s: %d bytes, at most %d", c.name, len(got), most)
			}
			if !utf8.ValidString(got) {
				t.Errorf("%s: a character is cut in two", c.name)
			}
			lines := strings.Split(got, "\n")
			if c.first != "" && lines[min(1, len(lines)-1)] != c.first || c.last != "" && lines[len(lines)-1] != c.last {
				t.Errorf("%s in %d: %.60q … %q", c.name, most, got, lines[len(lines)-1])
			}
			if !strings.Contains(got, c.says) && most == leastResult {
				t.Errorf("%s in %d does not say %q: %.200q", c.name, most, c.says, got)
			}
		}
	}
}

// FuzzView: no view is longer than allowed, and every line except a truncated one is
// complete.
func FuzzView(f *testing.F) {
	f.Add("a\nb\nc", "fact", 1200, true)
	f.Add(strings.Repeat("x", 3000), "[%1 exit 0]", 1000, false)
	f.Add("a", "value "+strings.Repeat("é\n", 50_000), 0, true)
	f.Add(strings.Repeat("x", 3000), strings.Repeat("y", 495), 0, true)
	f.Fuzz(func(t *testing.T, text, fact string, most int, head bool) {
		most = leastResult + min(max(most, 0), 100_000)
		v := View{facts: []Words{Words(fact), "another"}, Lines: strings.Split(text, "\n"), Head: head}
		got := v.Text(most)
		header, body, _ := strings.Cut(got, "\n")
		if len(got) > most {
			t.Errorf("%d bytes, at most %d", len(got), most)
		}
		if strings.ContainsAny(header, "\t\r\x1b") {
			t.Errorf("the header is %q", header)
		}
		if !strings.Contains(text, body) {
			t.Errorf("%q is not part of %q", body, text)
		}
	})
}
