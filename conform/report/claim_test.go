package report

import (
	"fmt"
	"strings"
	"testing"
)

// Every claim of a script has an outcome, whatever becomes of the script; a cell without a status
// gets the one that its claims have.
func TestSettle(t *testing.T) {
	claim := func(text string, verdict, expected Verdict) Claim {
		return Claim{Text: text, Verdict: verdict, Expected: expected}
	}
	a, openA, c := claim("a", Confirmed, Confirmed), claim("a", Confirmed, Refuted), claim("c", Refuted, Refuted)
	na := Outcome(NotApplicable)
	three := []Claim{{Number: 1, Text: "a", Asked: true}, {Number: 2, Text: "b", Outcome: na, Asked: true}, {Number: 3, Text: "c", Asked: true}}
	extra := []Claim{{Number: 1, Text: "a"}, {Number: 2, Text: "c", Asked: true}}
	end := Claim{Outcome: Blocked, Why: "x", Evidence: &Evidence{Actual: "evidence of x"}}
	left, none := Claim{Outcome: Outcome(Skip), Why: "y"}, Claim{Outcome: Outcome(NotOffered), Why: "z"}
	for _, tt := range []struct {
		name string
		all  []Claim
		cell Cell
		want string // its status, and the claims
	}{
		{"passes", three, Cell{Status: Pass, Claims: []Claim{a, c}}, "pass: 1 true, 2 n/a, 3 refuted"},
		{"comes to no more", three, Cell{Status: Pass, Claims: []Claim{a}}, "pass: 1 true, 2 n/a, 3 n/a"},
		{"comes to the last first", three, Cell{Status: Pass, Claims: []Claim{c, a}}, "pass: 1 true, 2 n/a, 3 refuted"},
		{"says another verdict", three, Cell{Status: Fail, Claims: []Claim{openA, c}}, "fail: 1 open, 2 n/a, 3 refuted"},
		{"fails before the first", three, Cell{Status: Fail, Claims: []Claim{end}}, "fail: 1 blocked (x), 2 n/a, 3 not reached"},
		{"fails before another", three, Cell{Status: Fail, Claims: []Claim{a, end}}, "fail: 1 true, 2 n/a, 3 blocked (x)"},
		{"fails behind the last", three, Cell{Status: Fail, Claims: []Claim{a, c, end}}, "fail: 1 true, 2 n/a, 3 blocked (x)"},
		{"fails behind the last for this version", three[:2], Cell{Status: Fail, Claims: []Claim{a, end}}, "fail: 1 blocked (x), 2 n/a"},
		{"fails behind one that is open", three[:2], Cell{Status: Fail, Claims: []Claim{openA, end}}, "fail: 1 open, 2 n/a"},
		{"fails, for another version", three[1:2], Cell{Status: Fail, Claims: []Claim{end}}, "fail: 2 blocked (x)"},
		{"has a claim that nobody knew", three[:1], Cell{Status: Pass, Claims: []Claim{a, claim("z", Refuted, Refuted)}}, "pass: 1 true, 2 refuted"},
		{"is skipped", three, Cell{Status: Skip, Reason: "why"}, "skip why: 1 skip (why), 2 n/a, 3 skip (why)"},
		{"is an error", three, Cell{Status: Errored, Reason: "why", Claims: []Claim{a}}, "error why: 1 true, 2 n/a, 3 error (why)"},
		{"has none and passes", nil, Cell{Status: Pass}, "pass: 1 true"},
		{"has none and fails", nil, Cell{Status: Fail, Claims: []Claim{end}}, "fail: 1 blocked (x)"},
		{"has none and is skipped", nil, Cell{Status: Skip, Reason: "why"}, "skip why: 1 skip (why)"},
		{"has claims that nobody knew", nil, Cell{Status: Pass, Claims: []Claim{a, claim("b", Refuted, Refuted)}}, "pass: 1 true, 2 refuted"},

		{"all parts pass", three, Cell{Claims: []Claim{a, c}}, "pass: 1 true, 2 n/a, 3 refuted"},
		{"a part passes, and others do not apply", three, Cell{Claims: []Claim{a}}, "pass: 1 true, 2 n/a, 3 n/a"},
		{"no part applies", three, Cell{}, "n/a nothing that the gap asks for applies to this version: 1 n/a, 2 n/a, 3 n/a"},
		{"there are no parts", nil, Cell{}, "n/a nothing that the gap asks for applies to this version: 1 n/a"},
		{"a part fails", three, Cell{Claims: []Claim{openA, c}}, "fail: 1 open, 2 n/a, 3 refuted"},
		{"a part fails behind one that does", three, Cell{Claims: []Claim{openA, end}}, "fail: 1 open, 2 n/a, 3 blocked (x)"},
		{"the parts end in a failure", three, Cell{Claims: []Claim{end}}, "fail x, evidence of x: 1 blocked (x), 2 n/a, 3 not reached"},
		{"the parts end in a failure behind the last", three, Cell{Claims: []Claim{a, c, end}}, "fail x, evidence of x: 1 true, 2 n/a, 3 blocked (x)"},
		{"the other parts are skipped", three, Cell{Claims: []Claim{a, left}}, "pass: 1 true, 2 n/a, 3 skip (y)"},
		{"all parts are skipped", append(three, Claim{Number: 4, Text: "d", Asked: true}), Cell{Claims: []Claim{left}}, "pass: 1 skip (y), 2 n/a, 3 skip (y), 4 skip (y)"},
		{"no part is offered", three, Cell{Claims: []Claim{none}}, "not offered z: 1 not offered (z), 2 n/a, 3 not offered (z)"},
		{"an extra fails, of a wrapper", extra, Cell{Layer: APILayer, Claims: []Claim{openA, c}}, "pass: 1 open, 2 refuted"},
		{"an extra fails, of this module", extra, Cell{Layer: APILayer, Transport: "exec", Claims: []Claim{openA, c}}, "fail: 1 open, 2 refuted"},
		{"there are extras only", extra[:1], Cell{Layer: APILayer, Claims: []Claim{a}}, "error the script has extras, and no claim: 1 true"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.cell.Settle(tt.all)
			got := strings.TrimRight(string(tt.cell.Status)+" "+tt.cell.Reason, " ")
			for _, e := range tt.cell.Evidence {
				got += ", " + e.Actual
			}
			var claims []string
			for _, cl := range tt.cell.Claims {
				text := fmt.Sprintf("%d %s", cl.Number, cl.Outcome)
				if cl.Why != "" {
					text += " (" + cl.Why + ")"
				}
				claims = append(claims, text)
			}
			if got += ": " + strings.Join(claims, ", "); got != tt.want {
				t.Errorf("\n%s, want\n%s", got, tt.want)
			}
		})
	}
}
