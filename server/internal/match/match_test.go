package match

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"tmuxmcp/internal/test/testtool"
)

// TestIndexesAreThoseOfEachLine: to look for a part of the pattern in the whole text first
// finds the same lines as to match each of them.
func TestIndexesAreThoseOfEachLine(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	several := func(most int, one func() string) string {
		var b strings.Builder
		for range 1 + r.IntN(most) {
			b.WriteString(one())
		}
		return b.String()
	}
	letter := func() string {
		return pick("a", "B", "k", "K", "s", "S", "\u017f", "\u212a", "\u00df", "\u00e9", "\u00c9", "\u5b57", "`", "@", "{", "[", "*", " ", "  ", "\t", ".", "$", "\xff", "\ufffd", "0")
	}
	plain := func() string {
		return several(3, func() string { return pick("a", "b", "B", "k", "s", "é", " ", "@") })
	}
	var regex func(deep int) string
	regex = func(deep int) string {
		if deep == 0 {
			return plain()
		}
		return several(3, func() string {
			sub := regex(deep - 1)
			return pick(sub, plain(), "("+sub+")", "(?i:"+sub+")", "(?-i:"+sub+")", "(?:"+sub+")+", "(?:"+sub+")*", "(?:"+sub+")?", "(?:"+sub+"){2}", "(?:"+sub+"){0,2}",
				"(?:"+sub+"|"+plain()+")", "["+pick("a", "k", "^a", "é")+"]", ".", "^", "$", `\b`, `\s`, `\x{fffd}`, `\x0a`)
		})
	}
	found, all := 0, 0
	for range testtool.Size(30_000, 300_000) {
		text := several(12, func() string {
			if r.IntN(4) == 0 {
				return "\n"
			}
			return letter()
		})
		isRegex := r.IntN(2) == 0
		pattern := several(4, letter)
		if isRegex {
			pattern = regex(2)
		}
		m, err := New("pattern", strings.ToValidUTF8(pattern, "x"), isRegex, r.IntN(2) == 0)
		if err != nil {
			continue
		}
		var want []int
		for i, line := range strings.Split(strings.TrimRight(text, " \n"), "\n") {
			if m.match(strings.TrimRight(line, " ")) && strings.Trim(text, " \n") != "" {
				want = append(want, i)
			}
		}
		look := Search{Most: time.Minute}
		got, err := look.Indexes(context.Background(), m, []byte(text))
		any, _ := look.Any(context.Background(), m, []byte(text))
		if err != nil || !slices.Equal(got, want) || any != (len(want) > 0) {
			t.Fatalf("%q (regex %t, part %q) in %q: lines %d, any %t, %v; each line by itself: %d", pattern, isRegex, m.part, text, got, any, err, want)
		}
		if all++; len(want) > 0 {
			found++
		}
	}
	if found < all/20 || found > all*19/20 {
		t.Errorf("%d of %d patterns are found: the test tries little", found, all)
	}
}
