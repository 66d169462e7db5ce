package conform

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tmuxmcp/conform/report"
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
		heading := fmt.Sprintf("### <a id=\"gap-%d\"></a>", g.Number)
		want = append(want, heading)
		_, section, ok := strings.Cut(page, heading)
		if !ok {
			t.Errorf("%s is missing; %s", g.Name, generate)
			continue
		}
		section, _, _ = strings.Cut(section, "\n### ")
		for _, text := range []string{g.Title, g.Claim, g.Truth, g.Since, g.Wrappers, g.Source} {
			if !strings.Contains(section, report.MarkdownText(text)) {
				t.Errorf("%s: not up to date: it lacks %q; %s", g.Name, text, generate)
			}
		}
		for _, r := range g.Rules() {
			if r.Layer == report.TmuxLayer && r.Claim != "" && !strings.Contains(section, "| "+report.MarkdownText(r.Claim)+" |") {
				t.Errorf("%s: not up to date: it lacks the claim %q; %s", g.Name, r.Claim, generate)
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
