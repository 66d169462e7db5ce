package conform

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"tmuxmcp/conform/report"
	"tmuxmcp/internal/nearest"
)

// Tool is what the scripts of layer mcp use of a tool: names of parameters, and paths in its
// results, where "#" is each element of an array.
type Tool struct {
	Gaps               []int
	Parameters, Fields map[string]bool
}

var (
	toolCall = regexp.MustCompile(`^(.*)\bmcp (?:-wrong )?([a-z_]+)(?: '(.*)')?\s*$`)
	notTool  = regexp.MustCompile(`^([\[!].* )?(tmux|api|control|wait-until .*) `)
	// fieldPath is a path, or a name in a pattern for the output.
	fieldPath = regexp.MustCompile(`(?:\bjson|\bsave \S+) ('?[a-z]\S*)|"([a-z_]+)": `)
	element   = regexp.MustCompile(`\.([0-9]+|#\([^)]*\))`)
	queried   = regexp.MustCompile(`^(.*#)\(([a-z_]+).*$`)
)

// Tools are the tools that the scripts of gaps call, by their names in scripts.
func Tools(gaps []*Gap) map[string]*Tool {
	tools := map[string]*Tool{}
	for _, g := range gaps {
		t := &Tool{Fields: map[string]bool{}} // whose result is the last output
		for line := range strings.Lines(string(g.section(report.MCPLayer))) {
			if m := toolCall.FindStringSubmatch(line); m != nil {
				if t = tools[m[2]]; t == nil {
					t = &Tool{Parameters: map[string]bool{}, Fields: map[string]bool{}}
				}
				tools[m[2]], line = t, m[1]
				t.Gaps = slices.Compact(append(t.Gaps, g.Number))
				for name := range gjson.Parse(m[3]).Map() {
					t.Parameters[name] = true
				}
			} else if notTool.MatchString(line) {
				t = &Tool{Fields: map[string]bool{}}
			}
			for _, m := range fieldPath.FindAllStringSubmatch(line, -1) {
				path := strings.ReplaceAll(m[1]+m[2], "'", "")
				t.Fields[element.ReplaceAllString(path, ".#")] = true
				if queried.MatchString(path) {
					t.Fields[queried.ReplaceAllString(path, "$1.$2")] = true
				}
			}
		}
	}
	return tools
}

// misnamed says what a dialect names that neither scripts nor the server have.
func (d *Dialect) misnamed(tools map[string]*Tool, o offer) (found []string) {
	check := func(of, what, name string, names []string) {
		if !slices.Contains(names, name) {
			found = append(found, fmt.Sprintf("dialect %s: tools.%s: %s %s%s", d.Name, of, what, name, nearest.Meant(name, names)))
		}
	}
	for _, of := range slices.Sorted(maps.Keys(d.Tools)) {
		t, theirs := d.Tools[of], of
		if t.Name != nil {
			theirs = *t.Name
		}
		check(of, "no script uses a tool", of, slices.Sorted(maps.Keys(tools)))
		if theirs != "" {
			check(of, "the server has no tool", theirs, slices.Sorted(maps.Keys(o)))
		}
		for _, p := range slices.Sorted(maps.Keys(t.Parameters)) {
			if tools[of] != nil {
				check(of, "no script uses a parameter", p, slices.Sorted(maps.Keys(tools[of].Parameters)))
			}
			if to := t.Parameters[p]; o[theirs] != nil && to != "" {
				check(of, "the server's "+theirs+" has no parameter", to, o[theirs])
			}
		}
	}
	return found
}
