package conform

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tmuxmcp/conform/report"
)

// docs/wrappers.md has a row for each of the 14 gaps on each tmux, and nothing of the machine on
// which it was made.
func TestWrappersAreCurrent(t *testing.T) {
	raw, err := os.ReadFile("../docs/wrappers.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(raw)
	gaps, err := LoadSuites("670")
	if err != nil {
		t.Fatal(err)
	}
	const generate = "run: mcp-conform --layer api --tmux … --api … --format wrappers -o docs/wrappers.md"
	tables := regexp.MustCompile(`(?m)^## tmux .*$`).FindAllStringIndex(page, -1)
	if len(tables) == 0 {
		t.Fatalf("no table; %s", generate)
	}
	for _, at := range tables {
		table, _, _ := strings.Cut(page[at[1]:], "\n## ")
		for _, g := range gaps {
			if !strings.Contains(table, fmt.Sprintf("\n| %d | %s |", g.Number, report.MarkdownText(g.Title))) {
				t.Errorf("%s: no row of gap %d; %s", page[at[0]:at[1]], g.Number, generate)
			}
		}
	}
	// The page lists no extra that no script has.
	claims := map[string][]string{} // what each gap's begin with, by its number
	for _, g := range gaps {
		for _, cl := range g.Claims(report.APILayer, "") {
			number := strconv.Itoa(g.Number)
			claims[number] = append(claims[number], report.MarkdownText(cl.Text))
		}
	}
	for _, list := range strings.Split(page, "\nExtras, which")[1:] {
		list, _, _ := strings.Cut(list, "\n## ")
		for _, m := range regexp.MustCompile(`(?m)^- ([0-9]+): [a-z ]+: (.*)$`).FindAllStringSubmatch(list, -1) {
			if !slices.ContainsFunc(claims[m[1]], func(text string) bool { return strings.HasPrefix(m[2], text) }) {
				t.Errorf("gap %s has no extra %q; %s", m[1], m[2], generate)
			}
		}
	}
	if path := regexp.MustCompile(`/(tmp|opt|root|work|home)/`).FindString(page); path != "" {
		t.Errorf("it has a path of a machine: %s", path)
	}
}
