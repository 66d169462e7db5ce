package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The page says what changed from target to target, and what was not seen is not in it.
func TestWriteFindings(t *testing.T) {
	claim := func(v Verdict, why string) []Claim {
		return []Claim{{Text: "it works", Verdict: v, Expected: v, Why: why}}
	}
	r := &Report{
		Layers: []Layer{TmuxLayer}, Targets: []Target{{Name: "3.6"}, {Name: "3.7"}, {Name: "3.8"}},
		Gaps: []GapInfo{{Number: 101, Title: "work", Claim: "c"}, {Number: 102, Title: "none", Claim: "n"}},
		Cells: []Cell{
			{Gap: 101, Layer: TmuxLayer, Tmux: "3.6", Status: Pass, Claims: claim(Confirmed, "fine")},
			{Gap: 101, Layer: TmuxLayer, Tmux: "3.7", Status: Pass, Claims: claim(Refuted, "it dies")},
			{Gap: 101, Layer: TmuxLayer, Tmux: "3.8", Status: Pass, Claims: claim(Confirmed, "fine")},
			{Gap: 102, Layer: TmuxLayer, Tmux: "3.8", Status: NotApplicable},
		},
	}
	var b bytes.Buffer
	if err := Write(&b, "findings", settled(r), Style{}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	for _, want := range []string{
		"### 3.7, after 3.6", "- [101](#gap-101) it works: **does not hold: it dies**",
		"### 3.8, after 3.7", "- [101](#gap-101) it works: **holds now**",
		"| it works | 3.6, 3.8 | 3.7: it dies |", "Not for any of these versions.",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("no line %q in\n%s", want, b.String())
		}
	}
}

// A pull request that adds a tmux shows that collapsed, and what got worse first.
func TestDiffMarkdown(t *testing.T) {
	a, b := resultsReport("PP"), resultsReport("FP")
	b.Targets = append(b.Targets, Target{Name: "3.9<b>", Version: "3.9"})
	b.Cells = append(b.Cells, Cell{Gap: 1, Layer: APILayer, Tmux: "3.9<b>", Transport: "exec", Status: Pass})
	settled(b)
	var buf bytes.Buffer
	if err := WriteDiff(&buf, "markdown", Compare(a, b), Style{}); err != nil {
		t.Fatal(err)
	}
	want := "## ❌ mcp-conform: 1 worse, 1 new, 1 the same\n\n### Worse\n\n- 1/api/1, tmux old (): true → open: why\n\n" +
		"<details><summary>tmux 3.9&lt;b&gt; added: 1 true</summary>\n\n- 1/api/1, tmux 3.9&lt;b&gt; (): true\n\n</details>\n\n"
	if diff := cmp.Diff(want, buf.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
