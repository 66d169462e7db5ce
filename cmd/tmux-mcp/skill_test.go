package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"tmuxmcp/server"
)

// mostSkill is what the skill may cost whoever reads it, in bytes.
const mostSkill = 8200

// skill returns what tmux-mcp skill prints.
func skill(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "tmux-mcp", "skill").Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestSkillFormat: the skill is what the Agent Skills format asks for.
func TestSkillFormat(t *testing.T) {
	text := skill(t)
	if len(text) > mostSkill {
		t.Errorf("the skill has %d bytes, and may have %d", len(text), mostSkill)
	}
	matter, body, ok := strings.Cut(strings.TrimPrefix(text, "---\n"), "\n---\n")
	if !ok || !strings.HasPrefix(text, "---\n") || strings.Count(body, "\n") > 500 {
		t.Errorf("no frontmatter, or too many lines:\n%s", text)
	}
	var fields map[string]string
	if err := yaml.Unmarshal([]byte(matter), &fields); err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(fields)); !slices.Equal(got, []string{"description", "name"}) {
		t.Errorf("the frontmatter has %q", got)
	}
	if fields["name"] != "tmux" { // as its directory
		t.Errorf("the name is %q", fields["name"])
	}
	if d := fields["description"]; len(d) > 1024 || !strings.Contains(d, " Use ") || strings.ContainsAny(d, "<>") {
		t.Errorf("the description, of %d bytes, must say when to use it, without tags: %s", len(d), d)
	}
}

// An asked is a call that a job's script, or the skill, makes.
type asked struct {
	tool string
	args any
}

// shape returns the tool and the names of all parameters, also those within lists, and the tools
// of a batch.
func (a asked) shape() string {
	names := map[string]bool{}
	var tools []string
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case map[string]any:
			if tool, ok := v["tool"].(string); ok {
				tools = append(tools, tool)
			}
			for name, value := range v {
				names[at+name] = true
				walk(at+name+".", value)
			}
		case []any:
			for _, value := range v {
				walk(at, value)
			}
		}
	}
	walk("", a.args)
	return fmt.Sprint(a.tool, tools, slices.Sorted(maps.Keys(names)))
}

func shapes(calls []asked) string {
	var all []string
	for _, c := range calls {
		all = append(all, c.shape())
	}
	return strings.Join(all, "\n")
}

func parseCall(t *testing.T, tool, args string) asked {
	t.Helper()
	a := asked{tool: tool}
	if err := json.Unmarshal([]byte(args), &a.args); err != nil {
		t.Errorf("%s %s: %v", tool, args, err)
	}
	return a
}

// recipes returns the calls of the skill's blocks.
func recipes(t *testing.T) (all [][]asked) {
	t.Helper()
	for _, block := range regexp.MustCompile(`(?m)(?:^    .*\n)+`).FindAllString(skill(t), -1) {
		var calls []asked
		for line := range strings.Lines(block) {
			tool, args, _ := strings.Cut(strings.TrimSpace(line), " ")
			calls = append(calls, parseCall(t, tool, args))
		}
		all = append(all, calls)
	}
	return all
}

// scriptCalls returns the calls of a job's script.
func scriptCalls(t *testing.T, file string) (calls []asked) {
	t.Helper()
	text := readFile(t, file)
	script, _, _ := strings.Cut(text, "\n-- ")
	_, script, _ = strings.Cut(script, "\nplay\n")
	for _, m := range regexp.MustCompile(`(?m)^call (?:-missed )?(\S+) (.*)$`).FindAllStringSubmatch(script, -1) {
		// The quotes are testscript's, around what has blanks in a word of JSON.
		args := strings.NewReplacer("''", "'", "'", "").Replace(m[2])
		if name, ok := strings.CutPrefix(m[2], "@"); ok {
			_, args, _ = strings.Cut(text, "\n-- "+name+" --\n")
			args, _, _ = strings.Cut(args, "\n-- ")
		}
		calls = append(calls, parseCall(t, m[1], args))
	}
	return calls
}

// TestSkillHasTheJobs: the skill has the calls of each job, as its script makes them, and no
// others.
func TestSkillHasTheJobs(t *testing.T) {
	left := map[string]string{}
	for _, calls := range recipes(t) {
		left[shapes(calls)] = calls[0].tool
	}
	known := maps.Clone(left)
	for _, file := range jobFiles(t) {
		want := shapes(scriptCalls(t, file))
		if known[want] == "" {
			t.Errorf("the skill has not the calls of %s:\n%s", file, want)
		}
		delete(left, want)
	}
	for calls := range left {
		t.Errorf("the skill has what is no job:\n%s", calls)
	}
}

// TestSkillCallsAreRight: the tools that a client sees by default take each call of the skill.
func TestSkillCallsAreRight(t *testing.T) {
	cfg, _, err := server.FromEnv(nil)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Tmux, err = os.Executable(); err != nil { // any program: no tool is called
		t.Fatal(err)
	}
	s, err := server.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	known := map[string]*jsonschema.Schema{}
	for _, tool := range s.Tools() {
		text, err := json.Marshal(tool)
		if err != nil {
			t.Fatal(err)
		}
		var listed struct{ InputSchema any }
		if err := json.Unmarshal(text, &listed); err != nil {
			t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource("input.json", listed.InputSchema); err != nil {
			t.Fatal(err)
		}
		if known[tool.Name], err = c.Compile("input.json"); err != nil {
			t.Fatal(err)
		}
	}
	var check func(a asked)
	check = func(a asked) {
		schema := known[a.tool]
		if schema == nil {
			t.Errorf("no tool %s", a.tool)
			return
		}
		if err := schema.Validate(a.args); err != nil {
			t.Errorf("%s %v: %v", a.tool, a.args, err)
		}
		operations, _ := a.args.(map[string]any)["operations"].([]any)
		for _, o := range operations {
			o, _ := o.(map[string]any)
			if tool, ok := o["tool"].(string); ok {
				check(asked{tool, o["arguments"]})
			} else { // of send_keys_batch
				check(asked{"send_keys", any(o)})
			}
		}
	}
	for _, calls := range recipes(t) {
		for _, a := range calls {
			check(a)
		}
	}
}
