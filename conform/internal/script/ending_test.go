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
	end := func(kind Kind, why string) *Verdict { return &Verdict{kind, 3, why, ev} }
	plain := func(kind Kind, why string) *Verdict { return &Verdict{Kind: kind, Why: why} }
	one := []report.Claim{{Text: "a", Verdict: report.Refuted, Expected: report.Refuted}, {Text: "b", Verdict: report.Confirmed}}
	for _, tt := range []struct {
		name       string
		end, wrong *Verdict
		claims     []report.Claim
		seen       int
		layer      report.Layer
		want       string // status, verdict, reason, how many claims and pieces of evidence
	}{
		{"at its end", nil, nil, one, 0, report.TmuxLayer, "pass refuted : 2, 1"},
		{"at its end, of another layer", nil, nil, nil, 0, report.APILayer, "pass  : 0, 1"},
		{"without a claim", nil, nil, nil, 0, report.TmuxLayer, "error  the script ended without a claim: 0, 1"},
		{"with something seen", nil, nil, one, 1, report.TmuxLayer, "error refuted the script says what it saw, and not of which claim: 2, 1"},
		{"as it is open", end(Failed, "no"), nil, one[:1], 1, report.TmuxLayer, "fail refuted x:3: no: 2, 2"},
		{"with a wrong claim", nil, end(Failed, "other"), one, 1, report.TmuxLayer, "fail refuted x:3: other: 2, 2"},
		{"with a wrong claim, and a crash", end(Crashed, "died"), end(Failed, "other"), one, 0, report.TmuxLayer, "fail refuted x:3: other: 3, 3"},
		{"with a wrong claim, and nothing more for it", plain(NotApplicable, "old"), end(Failed, "other"), one, 0, report.TmuxLayer, "fail refuted x:3: other: 2, 2"},
		{"with a wrong claim, and a fault", &Verdict{Kind: Errored, Line: 4, Why: "usage"}, end(Failed, "other"), one, 0, report.TmuxLayer, "error refuted x:4: usage: 2, 1"},
		{"as nothing is offered", end(NotOffered, "no tool"), nil, nil, 0, report.MCPLayer, "not offered  no tool: 1, 2"},
		{"as it is not for this", plain(NotApplicable, "old"), nil, nil, 0, report.TmuxLayer, "n/a n/a old: 0, 1"},
		{"as it lacks something", &Verdict{Kind: NotApplicable, Why: "it needs x", Evidence: ev}, nil, nil, 0, report.TmuxLayer, "n/a n/a it needs x: 0, 2"},
		{"as it is skipped", plain(Skipped, "no terminal"), nil, one[:1], 0, report.TmuxLayer, "skip refuted no terminal: 1, 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			seen := claims{make([]observation, tt.seen), tt.claims, []report.Evidence{ev}}
			c := seen.cell(child.Request{Layer: tt.layer, File: "dir/x"}, tt.end, tt.wrong)
			if got := fmt.Sprintf("%s %s %s: %d, %d", c.Status, c.Verdict, c.Reason, len(c.Claims), len(c.Evidence)); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}
