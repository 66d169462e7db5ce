package script

import (
	"fmt"
	"testing"

	"tmuxmcp/conform/internal/child"
	"tmuxmcp/conform/report"
)

// What comes of a script by how it ended, whatever ended it.
func TestEnding(t *testing.T) {
	ev := report.Evidence{Command: "tmux x", Expected: "success", Actual: "nothing"}
	end := func(outcome report.Outcome, why string) *ending { return &ending{outcome, "x:3: ", why, ev} }
	status := func(s report.Status, why string) *ending { return &ending{outcome: report.Outcome(s), why: why} }
	one := []report.Claim{{Text: "a", Verdict: report.Refuted, Expected: report.Refuted}, {Text: "b", Verdict: report.Confirmed}}
	for _, tt := range []struct {
		name       string
		end, wrong *ending
		claims     []report.Claim
		seen       int
		layer      report.Layer
		want       string // status, verdict, reason, how many claims and pieces of evidence
	}{
		{"at its end", nil, nil, one, 0, report.TmuxLayer, "pass refuted : 2, 1"},
		{"at its end, of another layer", nil, nil, nil, 0, report.APILayer, "pass  : 0, 1"},
		{"without a claim", nil, nil, nil, 0, report.TmuxLayer, "error  the script ended without a claim: 0, 1"},
		{"with something seen", nil, nil, one, 1, report.TmuxLayer, "error refuted the script says what it saw, and not of which claim: 2, 1"},
		{"as it is open", end(report.Open, "no"), nil, one[:1], 1, report.TmuxLayer, "fail refuted x:3: no: 2, 2"},
		{"with a wrong claim", nil, end(report.Open, "other"), one, 1, report.TmuxLayer, "fail refuted x:3: other: 2, 2"},
		{"with a wrong claim, and a crash", end(report.Crashed, "died"), end(report.Open, "other"), one, 0, report.TmuxLayer, "fail refuted x:3: other: 3, 3"},
		{"with a wrong claim, and nothing more for it", status(report.NotApplicable, "old"), end(report.Open, "other"), one, 0, report.TmuxLayer, "fail refuted x:3: other: 2, 2"},
		{"with a wrong claim, and a fault", &ending{outcome: report.Outcome(report.Errored), where: "x:4: ", why: "usage"}, end(report.Open, "other"), one, 0, report.TmuxLayer, "error refuted x:4: usage: 2, 1"},
		{"as nothing is offered", end(report.Outcome(report.NotOffered), "no tool"), nil, nil, 0, report.MCPLayer, "not offered  no tool: 1, 2"},
		{"as it is not for this", status(report.NotApplicable, "old"), nil, nil, 0, report.TmuxLayer, "n/a n/a old: 0, 1"},
		{"as it lacks something", &ending{outcome: report.Outcome(report.NotApplicable), why: "it needs x", evidence: ev}, nil, nil, 0, report.TmuxLayer, "n/a n/a it needs x: 0, 2"},
		{"as it is skipped", status(report.Skip, "no terminal"), nil, one[:1], 0, report.TmuxLayer, "skip refuted no terminal: 1, 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &script{req: child.Request{Layer: tt.layer}, wrong: tt.wrong, claims: tt.claims, seen: make([]observation, tt.seen), evidence: []report.Evidence{ev}}
			c := s.cell(tt.end)
			if got := fmt.Sprintf("%s %s %s: %d, %d", c.Status, c.Verdict, c.Reason, len(c.Claims), len(c.Evidence)); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}
