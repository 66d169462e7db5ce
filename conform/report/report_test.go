package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sampleReport returns a report with a cell of each kind.
func sampleReport() *Report {
	return settled(&Report{
		Program: &Program{Version: "1.2.3", Commit: "0123456789ab"}, Machine: &Machine{OS: "linux", Arch: "amd64", Kernel: "6.1"},
		Version: FormatVersion, DurationMS: 1234, Layers: []Layer{TmuxLayer, APILayer},
		Targets: []Target{
			{Name: "3.3a", Version: "3.3a", Path: "/usr/bin/tmux", Spec: "system"},
			{Name: "head", Version: "next-3.8", Path: "/opt/tmux", Spec: "head=/opt/tmux"},
		},
		Gaps: []GapInfo{
			{Number: 3, Name: "03-zoom", Title: "zoom flag", Claim: "there is one"},
			{Number: 12, Name: "12-run", Title: "a gap whose title is much longer than it ought to be, so that it is cut", Claim: "runs"},
		},
		Cells: []Cell{
			{Gap: 3, Layer: TmuxLayer, Tmux: "3.3a", Transport: "exec", Status: Pass, Verdict: Refuted, Claims: []Claim{{Text: "a claim", Verdict: Refuted, Expected: Refuted, Why: "it does not"}}},
			{Gap: 3, Layer: APILayer, Tmux: "3.3a", Transport: "exec", Status: Fail, Reason: "03-zoom.txtar:12: no match in stdout", Evidence: []Evidence{{"api show @0", "json zoomed true", "zoomed is false\nat line 2\x1b[2J"}}},
			{Gap: 3, Layer: TmuxLayer, Tmux: "head", Transport: "exec", Status: Pass, Verdict: Confirmed},
			{Gap: 3, Layer: APILayer, Tmux: "head", Transport: "exec", Status: Fail, Reason: "03-zoom.txtar:12: no match in stdout", Evidence: []Evidence{{"api show @0", "json zoomed true", "<&>"}}},
			{Gap: 12, Layer: TmuxLayer, Tmux: "3.3a", Transport: "exec", Status: NotApplicable, Verdict: NoVerdict, Reason: "run-shell -E came with tmux 3.6"},
			{Gap: 12, Layer: APILayer, Tmux: "3.3a", Transport: "exec", Status: Skip, Reason: "not today"},
			{Gap: 12, Layer: TmuxLayer, Tmux: "head", Transport: "exec", Status: Errored, Reason: "no such command"},
			{Gap: 12, Layer: APILayer, Tmux: "head", Transport: "exec", Status: Flaky, Reason: "failed once"},
		},
	})
}

// settled gives all cells claims.
func settled(r *Report) *Report {
	for i := range r.Cells {
		settle(&r.Cells[i])
	}
	return r
}

// settle gives a cell that failed the claim that did.
func settle(c *Cell) {
	if c.Status == Fail && len(c.Claims) == 0 {
		end := Claim{Outcome: Open, Why: place.ReplaceAllString(c.Reason, "")}
		if len(c.Evidence) > 0 {
			end.Evidence = &c.Evidence[len(c.Evidence)-1]
		}
		c.Claims = []Claim{end}
	}
	c.Settle(nil)
}

// What a layer's cells come to.
func TestAnswer(t *testing.T) {
	r := sampleReport()
	for l, want := range map[Layer]string{
		TmuxLayer: "as documented in 1 of 2 scripts; tmux refutes, in whole or in part: 3; not as expected: 12 (head)",
		APILayer:  "0 of 2 gaps are closed on every tmux; not closed: 3; not known: 12",
	} {
		if got := (Column{Layer: l}).answerFor(r, r.Gaps); got != want {
			t.Errorf("%s: %q, want %q", l, got, want)
		}
	}
	for i := range r.Cells {
		r.Cells[i].Status, r.Cells[i].Verdict, r.Cells[i].Claims = Pass, "", nil
		r.Cells[i].Settle(nil)
	}
	if got, want := (Column{Layer: APILayer}).answerFor(r, r.Gaps), "all 2 gaps are closed on every tmux"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Scripts that apply to no target are reported, and no claim of theirs is called
// true.
func TestAppliesNowhere(t *testing.T) {
	r := sampleReport()
	r.Suites, r.Gaps[0].Suite, r.Gaps[1].Suite = suites[:2], "670", "releases"
	for i := range r.Cells {
		r.Cells[i].Status, r.Cells[i].Verdict, r.Cells[i].Known = Pass, Confirmed, nil
	}
	if got := r.Idle(); got != "" {
		t.Errorf("%q, and everything applies", got)
	}
	for i := range r.Cells {
		if c := &r.Cells[i]; c.Gap == r.Gaps[1].Number {
			c.Status, c.Verdict = NotApplicable, NoVerdict
		}
	}
	if got, want := r.Idle(), "nothing was tested of suite releases: no script of it in this run applies to these tmux programs"; got != want || !strings.Contains(r.Summary(), want) {
		t.Errorf("%q in %q, want %q", got, r.Summary(), want)
	}
	want := []string{"670: as documented in 1 of 1 script", "releases: no script applies; for no tmux here: 12"}
	if got := (Column{Layer: TmuxLayer}).answer(r); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A claim's evidence is what its verdict rests on.
func TestEvidenceOf(t *testing.T) {
	c := Cell{Evidence: []Evidence{{"a", "refuted by: it is red", "1"}, {"b", "confirmed by: it is red", "2"}, {"c", "refuted by: red", "3"}, {"d", "refuted by: and green", "4"}}}
	got := result{&c, &Claim{Verdict: Refuted, Why: "it is red; and green"}}.Seen()
	if diff := cmp.Diff([]Evidence{c.Evidence[0], c.Evidence[3]}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// In every style, only lines of evidence may be wider than the terminal, so that
// they can be copied verbatim.
func TestTextWidth(t *testing.T) {
	r := sampleReport()
	for i := range 20 {
		target := Target{Name: strings.Repeat("x", i+1), Version: "3.6a", Path: "/x"}
		r.Targets = append(r.Targets, target)
		r.Cells = append(r.Cells, Cell{Gap: 3, Layer: TmuxLayer, Tmux: target.Name, Status: Pass})
	}
	for _, style := range []Style{{}, {Unicode: true}, {Width: 60}, {Width: 120, Color: true}} {
		var buf bytes.Buffer
		if err := Write(&buf, "text", r, style); err != nil {
			t.Fatal(err)
		}
		width := style.Width
		if width == 0 {
			width = 80
		}
		for line := range strings.Lines(buf.String()) {
			line = strings.TrimSuffix(line, "\n")
			if n := len([]rune(sgr.ReplaceAllString(line, ""))); n > width {
				t.Errorf("style %+v: %d columns: %s", style, n, line)
			}
		}
		if !style.Color && strings.Contains(buf.String(), "\x1b") {
			t.Errorf("style %+v: escape sequences in plain text", style)
		}
		if !style.Unicode && !style.Color {
			if i := strings.IndexFunc(buf.String(), func(r rune) bool { return r > '~' }); i >= 0 {
				t.Errorf("style %+v: not ASCII: %s", style, buf.String()[i:min(i+40, buf.Len())])
			}
		}
	}
}

// A report is the same when it has been JSON.
func TestJSON(t *testing.T) {
	var buf bytes.Buffer
	if err := Write(&buf, "json", sampleReport(), Style{}); err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(buf.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if err := Write(&again, "json", &back, Style{}); err != nil || again.String() != buf.String() {
		t.Errorf("%v: written again:\n%s\nwant:\n%s", err, again.String(), buf.String())
	}
	for _, want := range []string{`"version": 1`, `"status": "n/a"`, `"verdict": "refuted"`, `"duration_ms": `, `"transport": "exec"`, `"actual": "<&>"`} {
		if !strings.Contains(buf.String(), want) {
			t.Errorf("no %s in:\n%s", want, buf.String())
		}
	}
}

// Long evidence keeps its beginning, which has the message, and its end.
func TestEvidenceKeepsBothEnds(t *testing.T) {
	var lines []string
	for i := range 40 {
		lines = append(lines, fmt.Sprintf("line %d", i))
	}
	got := (&textReport{}).quoted("actual", strings.Join(lines, "\n"))
	for _, want := range []string{"line 0\n", "… 28 more lines\n", "line 39\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
}

var sgr = regexp.MustCompile(`\x1b\[[0-9;]*m`)
