package report

import (
	"fmt"
	"strings"
	"testing"
)

// Every claim of a script has an outcome, whatever becomes of the script.
func TestSettle(t *testing.T) {
	claim := func(text string, verdict, expected Verdict) Claim {
		return Claim{Text: text, Verdict: verdict, Expected: expected}
	}
	na := Outcome(NotApplicable)
	three := []Claim{{Number: 1, Text: "a"}, {Number: 2, Text: "b", Outcome: na}, {Number: 3, Text: "c"}}
	end := Claim{Outcome: Blocked, Why: "set-up: x"}
	for _, tt := range []struct {
		name string
		all  []Claim
		cell Cell
		want string
	}{
		{"passes", three, Cell{Status: Pass, Claims: []Claim{claim("a", Confirmed, Confirmed), claim("c", Refuted, Refuted)}}, "1 true, 2 n/a, 3 refuted"},
		{"comes to no more", three, Cell{Status: Pass, Claims: []Claim{claim("a", Confirmed, Confirmed)}}, "1 true, 2 n/a, 3 n/a"},
		{"says another verdict", three, Cell{Status: Fail, Claims: []Claim{claim("a", Confirmed, Refuted), claim("c", Refuted, Refuted)}}, "1 open, 2 n/a, 3 refuted"},
		{"fails before the first", three, Cell{Status: Fail, Claims: []Claim{end}}, "1 blocked, 2 n/a, 3 not reached"},
		{"fails before another", three, Cell{Status: Fail, Claims: []Claim{claim("a", Confirmed, Confirmed), end}}, "1 true, 2 n/a, 3 blocked"},
		{"fails behind the last", three[:2], Cell{Status: Fail, Claims: []Claim{claim("a", Confirmed, Confirmed), end}}, "1 blocked, 2 n/a"},
		{"fails behind one that is open", three[:2], Cell{Status: Fail, Claims: []Claim{claim("a", Confirmed, Refuted), end}}, "1 open, 2 n/a"},
		{"fails, for another version", three[1:2], Cell{Status: Fail, Claims: []Claim{end}}, "2 blocked"},
		{"has a claim that nobody knew", three[:1], Cell{Status: Pass, Claims: []Claim{claim("a", Confirmed, Confirmed), claim("z", Refuted, Refuted)}}, "1 true, 2 refuted"},
		{"is skipped", three, Cell{Status: Skip}, "1 skip, 2 n/a, 3 skip"},
		{"is an error", three, Cell{Status: Errored, Claims: []Claim{claim("a", Confirmed, Confirmed)}}, "1 true, 2 n/a, 3 error"},
		{"has none and passes", nil, Cell{Status: Pass}, "1 true"},
		{"has none and fails", nil, Cell{Status: Fail, Claims: []Claim{end}}, "1 blocked"},
		{"has claims that nobody knew", nil, Cell{Status: Pass, Claims: []Claim{claim("a", Confirmed, Confirmed), claim("b", Refuted, Refuted)}}, "1 true, 2 refuted"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for range 2 { // once more changes nothing
				tt.cell.Settle(tt.all)
				var got []string
				for _, cl := range tt.cell.Claims {
					got = append(got, fmt.Sprintf("%d %s", cl.Number, cl.Outcome))
				}
				if strings.Join(got, ", ") != tt.want {
					t.Errorf("%q, want %s", got, tt.want)
				}
			}
		})
	}
}
