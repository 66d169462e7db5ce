package server

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"

	"tmuxmcp/server/internal/params"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/tool"
)

var update = flag.Bool("update", false, "write the snapshots and docs/tools.md anew")

// The tools of libtmux-mcp, with their tiers. A tool in this table must have the same tier
// here. TestHintsAreWhatWasObserved checks the hints.
var reference = []struct {
	tier  Tier
	names string
}{
	{Readonly, "call_readonly_tools_batch list_sessions list_servers get_server_info list_windows get_session_info list_panes get_window_info " +
		"capture_pane capture_since snapshot_pane get_pane_info find_pane_by_position search_panes display_message wait_for_text " +
		"show_option show_environment show_hooks show_hook show_buffer"},
	{Mutating, "rename_session select_window rename_window select_layout resize_window move_window resize_pane select_pane set_pane_title " +
		"exit_copy_mode set_option set_environment wait_for_channel signal_channel delete_buffer"},
	{Mutating, "create_session create_window split_window swap_pane enter_copy_mode"},
	{Mutating, "send_keys send_keys_batch run_command paste_text pipe_pane load_buffer paste_buffer"},
	{Mutating, "respawn_pane clear_pane"},
	{Destructive, "kill_server kill_session kill_window kill_pane"},
	{Mutating, "call_mutating_tools_batch"},
	{Destructive, "call_destructive_tools_batch"},
}

func TestTiersAreThoseOfTheReference(t *testing.T) {
	t.Parallel()
	want := map[string]Tier{}
	for _, r := range reference {
		for _, name := range strings.Fields(r.names) {
			want[name] = r.tier
		}
	}
	if len(want) != 56 {
		t.Errorf("the reference has %d tools, want 56", len(want))
	}
	for _, d := range allTools(t) {
		if tier, ok := want[d.Name]; ok && tier != d.Kind.Tier || d.Kind.ReadOnly != (d.Kind.Tier == Readonly) {
			t.Errorf("%s is %+v, want the tier %s", d.Name, d.Kind, tier)
		}
	}
}

func TestDeclarationsAreWhole(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, d := range allTools(t) {
		if seen[d.Name] {
			t.Errorf("%s is declared twice", d.Name)
		}
		seen[d.Name] = true
		if d.Title == "" || d.Desc == "" || d.Kind.Tier == "" || !slices.Contains(tool.Toolsets()[1:], d.Set) {
			t.Errorf("%s lacks a title, a description, a kind or a toolset", d.Name)
		}
		names := params.Names(d.In)
		exempt := d.Set == tool.Batch || d.Name == "list_servers" || strings.HasSuffix(d.Name, "_prompts") || d.Name == "get_prompt"
		if slices.Contains(names, "socket_name") == exempt {
			t.Errorf("%s has the parameters %v: socket_name is wrong", d.Name, names)
		}
		// The Inspector warns of them, and some clients drop the tool.
		if strings.Contains(string(params.InputSchema(d.In, nil)), `"type":[`) {
			t.Errorf("%s: the input schema has a list of types: %s", d.Name, params.InputSchema(d.In, nil))
		}
	}
}

// eachObject visits the struct of a tool's arguments and those in it, with their schemas.
func eachObject(t *testing.T, in reflect.Type, visit func(fields []params.Field, schema map[string]any)) {
	t.Helper()
	var schema map[string]any
	if err := json.Unmarshal(params.InputSchema(in, nil), &schema); err != nil {
		t.Fatal(err)
	}
	var walk func(in reflect.Type, schema map[string]any)
	walk = func(in reflect.Type, schema map[string]any) {
		properties, isObject := schema["properties"].(map[string]any)
		if !isObject {
			return
		}
		fields := params.FieldsOf(in)
		visit(fields, schema)
		for _, f := range fields {
			property, listed := properties[f.Name].(map[string]any)
			of := params.Elem(f.Type)
			if items, ok := property["items"].(map[string]any); ok && of.Kind() == reflect.Slice {
				property, of = items, of.Elem()
			}
			if listed {
				walk(of, property)
			}
		}
	}
	walk(in, schema)
}

// takes reports whether a schema allows a type.
func takes(schema map[string]any, name string) bool {
	alternatives, _ := schema["anyOf"].([]any)
	return schema["type"] == name || slices.ContainsFunc(alternatives, func(a any) bool { return a.(map[string]any)["type"] == name })
}

// TestSchemasAllowWhatIsTaken: clients check arguments against the schema, so it allows what a
// description promises, and does not forbid an argument that it leaves out. That one is
// documented.
func TestSchemasAllowWhatIsTaken(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "docs", "tools.md"))
	if err != nil {
		t.Fatal(err)
	}
	promised, unlisted := 0, 0
	for _, d := range allTools(t) {
		_, section, found := strings.Cut(string(page), "\n### "+d.Name+"\n")
		if section, _, _ = strings.Cut(section, "\n### "); !found && !d.Retired && d.Set != "" && !strings.HasSuffix(d.Name, "_prompts") && d.Name != "get_prompt" {
			t.Errorf("%s is not in docs/tools.md", d.Name)
		}
		eachObject(t, d.In, func(fields []params.Field, schema map[string]any) {
			for _, f := range fields {
				property, listed := schema["properties"].(map[string]any)[f.Name].(map[string]any)
				for phrase, name := range map[string]string{"or a list": "array", "or an object": "object", "or a text": "string"} {
					if listed && strings.Contains(f.Desc, phrase) {
						if promised++; !takes(property, name) {
							t.Errorf("%s: %s promises %q, and its schema is %v", d.Name, f.Name, phrase, property)
						}
					}
				}
				if !f.Unlisted {
					continue
				}
				if unlisted++; listed || schema["additionalProperties"] != nil {
					t.Errorf("%s: the schema forbids %s, or lists it: %v", d.Name, f.Name, schema)
				}
				if !strings.Contains(section, "`"+f.Name+"`") {
					t.Errorf("%s: docs/tools.md does not have %s", d.Name, f.Name)
				}
			}
		})
	}
	if promised < 2 || unlisted < 40 {
		t.Errorf("found %d promises and %d arguments that are not listed", promised, unlisted)
	}
}

// TestListsSayOfWhat: the first line of a list is made from the name of the rows' type.
func TestListsSayOfWhat(t *testing.T) {
	t.Parallel()
	said := map[string]string{}
	for _, d := range allTools(t) {
		if reply.IsList(d.Out) {
			said[d.Name] = reflect.Zero(d.Out).Interface().(interface{ View() reply.View }).View().Text(1000)
		}
	}
	want := map[string]string{
		"list_sessions": "[0 sessions]", "list_servers": "[0 servers]", "list_clients": "[0 clients]", "list_windows": "[0 windows]",
		"list_panes": "[0 panes]", "list_jobs": "[0 jobs]",
	}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("(-want +said)\n%s", diff)
	}
}

// TestDescriptionsAreFound searches the tools as clients do that load them on demand: by
// words, of which the rarer ones count more. The query is what an agent that has not seen
// the list would ask for.
func TestDescriptionsAreFound(t *testing.T) {
	t.Parallel()
	has := func(text, word string) bool {
		return regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(word)).MatchString(strings.ReplaceAll(text, "_", " "))
	}
	text, err := os.ReadFile(filepath.Join("testdata", "queries.txt"))
	if err != nil {
		t.Fatal(err)
	}
	all, tool := allTools(t), ""
	for line := range strings.Lines(string(text)) {
		query, found := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "\t")
		if !found {
			tool = query
			continue
		}
		query, first := strings.CutSuffix(query, " !")
		score := map[string]float64{}
		for word := range strings.FieldsSeq(query) {
			var with []string
			for _, d := range all {
				if has(d.Name+" "+d.Title+" "+d.Desc, word) {
					with = append(with, d.Name)
				}
			}
			for _, name := range with {
				score[name] += math.Log(1 + float64(len(all))/float64(len(with)))
			}
		}
		better := 0
		var before []string
		for name, s := range score {
			if s > score[tool] || first && s == score[tool] && name != tool {
				better++
				before = append(before, name)
			}
		}
		if score[tool] == 0 || better >= 2 || first && better > 0 {
			slices.Sort(before)
			t.Errorf("%d tools are found before %s for %q: %s", better, tool, query, before)
		}
	}
}

// TestListIsShort: a model reads the whole list, and pays for it.
func TestListIsShort(t *testing.T) {
	t.Parallel()
	const (
		mostInput, mostAll, mostCore = 40_000, 82_000, 12_000
		perTool                      = 1700
	)
	var input, all, core int
	for _, d := range allTools(t) {
		if d.Retired {
			continue
		}
		tool := definitionOf(*d)
		raw, err := params.Marshal(map[string]any{"name": d.Name, "description": d.Desc, "inputSchema": tool.RawInputSchema})
		if err != nil {
			t.Fatal(err)
		}
		input += len(raw)
		all += len(raw) + len(tool.RawOutputSchema) + len(`,"outputSchema":`)
		if d.Core {
			core += len(raw)
		}
		if len(raw) > perTool {
			t.Errorf("%s takes %d bytes of the list, want at most %d: shorten a desc or leave one out, see package params", d.Name, len(raw), perTool)
		}
	}
	t.Logf("%d tools: %d bytes of names, descriptions and inputs, %d with outputs, %d in core", len(allTools(t)), input, all, core)
	if input > mostInput || all > mostAll || core > mostCore {
		t.Errorf("the list has %d bytes (at most %d), %d with outputs (%d), %d in core (%d): shorten a desc or leave one out, see package params", input, mostInput, all, mostAll, core, mostCore)
	}
}

// definitionOf returns what clients see of a tool, without the server's own defaults.
func definitionOf(t tool.Tool) mcp.Tool {
	t.Defaults = nil
	return t.Definition(Readonly, reply.ResultsJSON)
}

func TestSchemasAreThoseOfTheSnapshots(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("testdata", "tools")
	kept := map[string]bool{}
	for _, d := range allTools(t) {
		raw, err := json.Marshal(definitionOf(*d))
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := json.Indent(&b, raw, "", "  "); err != nil {
			t.Fatal(err)
		}
		b.WriteByte('\n')
		kept[d.Name+".json"] = true
		checkFile(t, filepath.Join(dir, d.Name+".json"), b.String())
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if kept[e.Name()] {
			continue
		}
		if *update {
			os.Remove(filepath.Join(dir, e.Name()))
		} else {
			t.Errorf("%s is the snapshot of a tool that is gone", e.Name())
		}
	}
}

// checkFile compares a file with its expected content, or writes that with -update.
func checkFile(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Errorf("%v (go test ./server -update writes it)", err)
		return
	}
	if diff := cmp.Diff(want, string(have)); diff != "" {
		t.Errorf("%s is stale; go test ./server -update writes it (-want +have):\n%s", path, diff)
	}
}

func TestInstructionsFit(t *testing.T) {
	t.Parallel()
	for _, tier := range []Tier{Readonly, Mutating, Destructive} {
		for _, c := range []Caller{{}, {Pane: "%1"}, {Pane: "%1", Socket: "/tmp/tmux-0/default"}, {Pane: "%12345", Socket: "/tmp/" + strings.Repeat("é", 2000)}} {
			text := instructionsFor(Config{Tier: tier, Caller: c})
			if len(text) > maxInstructions {
				t.Errorf("%s, %v: %d bytes", tier, c, len(text))
			}
			for token, want := range map[string]bool{"read-only": tier == Readonly, "You run in pane": c.Pane != "", string(c.Pane): true} {
				if strings.Contains(text, token) != want {
					t.Errorf("%s, %v: has %q is %t", tier, c, token, !want)
				}
			}
		}
	}
	if len(baseInstructions) > 720 {
		t.Errorf("%d bytes are the same for everybody", len(baseInstructions))
	}
	first := baseInstructions[:firstBytes]
	for _, d := range allTools(t) {
		if d.AlwaysLoad != strings.Contains(first, d.Name) {
			t.Errorf("%s is always loaded is %t; the first %d bytes are %q", d.Name, d.AlwaysLoad, firstBytes, first)
		}
	}
}
