package conform

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"tmuxmcp/conform/report"
)

// The command carries the 14 gaps of the issue, each with a script for every layer
// there is, and other suites, each with numbers of its own.
func TestShippedGaps(t *testing.T) {
	gaps, err := LoadSuites(AllSuites)
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[int]string{}
	for i, g := range gaps {
		texts := map[string]string{"title": g.Title, "claim": g.Claim, "truth": g.Truth, "source": g.Source, "since": g.Since, "wrappers": g.Wrappers}
		first := 100 * slices.IndexFunc(report.Suites(), func(s report.Suite) bool { return s.Name == g.Suite })
		layers := []report.Layer{report.TmuxLayer}
		if g.Suite == "670" {
			delete(texts, "since")
			delete(texts, "wrappers")
			texts["cluster"] = g.Cluster
			layers = report.Layers()
			if g.Number != i+1 {
				t.Errorf("gap %d is missing", i+1)
			}
		}
		if g.Number <= first || g.Number > first+99 {
			t.Errorf("%s: want a number between %d and %d for suite %s", g.Name, first+1, first+99, g.Suite)
		}
		if other := numbers[g.Number]; other != "" {
			t.Errorf("%s and %s have the same number", g.Name, other)
		}
		numbers[g.Number] = g.Name
		for name, text := range texts {
			if text == "" {
				t.Errorf("%s has no %s", g.Name, name)
			}
		}
		for _, l := range layers {
			if g.section(l) == nil {
				t.Errorf("%s has no script for layer %s", g.Name, l)
			}
		}
		claims := 0
		for _, r := range g.Rules() {
			if !r.NotApplicable {
				claims++
			}
		}
		if n := strings.Count(string(g.section(report.TmuxLayer)), "\nclaim ") + strings.Count(string(g.section(report.TmuxLayer)), "] claim "); claims != n {
			t.Errorf("%s: %d of %d claims have a rule", g.Name, claims, n)
		}
	}
	if n := len(gaps); numbers[14] == "" || numbers[15] != "" || n < 14+16 {
		t.Errorf("%d scripts, want 14 in suite 670 and at least 16 in the others", n)
	}
	if _, err := LoadSuites("releases", "qouting"); err == nil || err.Error() != `unknown suite "qouting": want 670, releases, quoting, agents, control or all` {
		t.Errorf("%v", err)
	}
}

// What a condition's versions are in words.
func TestRules(t *testing.T) {
	g := gap(t, "[!tmux:3.4] na 'too old'\n[tmux:3.4] [!tmux:3.6] claim refuted 'a'\n['tmux:>=3.7 <3.7c'] claim confirmed 'b'\n['!tmux:=3.7'] claim confirmed 'c'\nclaim confirmed 'd'\n")
	var got []string
	for _, r := range g.Rules() {
		got = append(got, r.Versions+": "+r.Text)
	}
	want := []string{"before 3.4: too old", "from 3.4, before 3.6: refuted: a", ">=3.7 <3.7c: confirmed: b", "not 3.7: confirmed: c", ": confirmed: d"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

func TestParseGap(t *testing.T) {
	const good = "# gap: a title\n# claim: one\n#   two\n#\n# truth: three\n-- tmux --\nstop\n-- more --\nx\n-- api --\nstop\n"
	g, err := parseGap("dir/07-a-name.txtar", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%d %s|%s|%s|%s|%v", g.Number, g.Name, g.Title, g.Claim, g.Truth, g.Layers()); got != "7 07-a-name|a title|one two|three|[tmux api]" {
		t.Error(got)
	}
	// The script is at the same lines as in the file.
	if got := string(g.script(report.APILayer)); got != strings.Repeat("\n", 10)+"stop\n-- more --\nx\n" {
		t.Errorf("%q", got)
	}
	for _, tt := range []struct{ file, text, want string }{
		{"name.txtar", good, "the name of a gap is a number and words"},
		{"07-a.txtar", "# gap: a\n# claims: b\n-- tmux --\n", "07-a.txtar:2: not a field"},
		{"07-a.txtar", "tmux kill-server\n-- tmux --\n", "07-a.txtar:1: not a field"},
		{"07-a.txtar", "# gap: a\n-- tmux --\n", `lacks "# gap:" or "# claim:"`},
		{"07-a.txtar", "# gap: a\n# claim: b\n", "no script"},
		{"07-a.txtar", "# gap: a\n# claim: b\n-- tmx --\n", "no script"},
		{"07-a.txtar", "", "lacks"},
	} {
		if _, err := parseGap(tt.file, []byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %s", tt.text, err, tt.want)
		}
	}
	for name, fsys := range map[string]fstest.MapFS{
		"both gap 7": {"07-a.txtar": {Data: []byte(good)}, "7-b.txtar": {Data: []byte(good)}},
		"no gaps":    {"readme": {}},
	} {
		if _, err := LoadGaps(fsys); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %s", err, name)
		}
	}
}
