package conform

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// docs/findings.md has every script that is carried, with its words, and no other; and
// nothing of the machine on which it was made.
func TestFindingsAreCurrent(t *testing.T) {
	raw, err := os.ReadFile("../docs/findings.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(raw)
	gaps, err := LoadSuites(AllSuites)
	if err != nil {
		t.Fatal(err)
	}
	const generate = "run: mcp-conform --suite all --layer tmux --tmux … --format findings -o docs/findings.md"
	var want []string
	for _, g := range gaps {
		heading := "### <a id=\"" + anchor(g.GapInfo) + "\"></a>"
		want = append(want, heading)
		_, section, ok := strings.Cut(page, heading)
		if !ok {
			t.Errorf("%s is missing; %s", g.Name, generate)
			continue
		}
		section, _, _ = strings.Cut(section, "\n### ")
		for _, text := range []string{g.Title, g.Claim, g.Truth, g.Since, g.Wrappers, g.Source} {
			if !strings.Contains(section, mdText(text)) {
				t.Errorf("%s: not up to date: it lacks %q; %s", g.Name, text, generate)
			}
		}
		for _, r := range g.Rules() {
			if _, text, ok := strings.Cut(r.Text, ": "); ok && !r.NotApplicable && !strings.Contains(section, "| "+mdText(text)+" |") {
				t.Errorf("%s: not up to date: it lacks the claim %q; %s", g.Name, text, generate)
			}
		}
	}
	got := regexp.MustCompile(`### <a id="[^"]*"></a>`).FindAllString(page, -1)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sections: %s", diff)
	}
	if path := regexp.MustCompile(`/(tmp|opt|root|work|usr|home)/`).FindString(page); path != "" {
		t.Errorf("it has a path of a machine: %s", path)
	}
}

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
	if err := WriteFindings(&b, r); err != nil {
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
	var buf bytes.Buffer
	if err := WriteDiffMarkdown(&buf, Compare(a, b)); err != nil {
		t.Fatal(err)
	}
	want := "## ❌ mcp-conform: 1 worse, 1 new, 1 the same\n\n### Worse\n\n- gap 1, layer api, tmux old (): pass → fail: why\n\n" +
		"<details><summary>tmux 3.9&lt;b&gt; added: 1 pass</summary>\n\n- gap 1, layer api, tmux 3.9&lt;b&gt; (): pass\n\n</details>\n\n"
	if diff := cmp.Diff(want, buf.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
