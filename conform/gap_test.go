package conform

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"tmuxmcp/fixtures"
)

// The gaps that the command carries are the 14 of the issue, each with a script
// for the layers there are.
func TestShippedGaps(t *testing.T) {
	gaps, err := LoadGaps(fixtures.Gaps())
	if err != nil {
		t.Fatal(err)
	}
	if len(gaps) != 14 {
		t.Errorf("%d gaps, want 14", len(gaps))
	}
	for i, g := range gaps {
		if g.Number != i+1 {
			t.Errorf("gap %d is missing", i+1)
		}
		for name, text := range map[string]string{"title": g.Title, "cluster": g.Cluster, "claim": g.Claim, "truth": g.Truth, "source": g.Source} {
			if text == "" {
				t.Errorf("%s has no %s", g.Name, name)
			}
		}
		for _, l := range allLayers {
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
		if n := strings.Count(string(g.section(TmuxLayer)), "\nclaim ") + strings.Count(string(g.section(TmuxLayer)), "] claim "); claims != n {
			t.Errorf("%s: %d of %d claims have a rule", g.Name, claims, n)
		}
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
	if got := string(g.script(APILayer)); got != strings.Repeat("\n", 10)+"stop\n-- more --\nx\n" {
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
