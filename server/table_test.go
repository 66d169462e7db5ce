package server

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tmuxmcp/server/params"
)

var update = flag.Bool("update", false, "write the snapshots and docs/tools.md anew")

// The table of libtmux-mcp: the tier of each tool there. A tool of this table must
// have the same here. Its hints are what TestHintsAreWhatWasObserved observes.
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
	for _, e := range tools {
		d := e.declared()
		if tier, ok := want[d.name]; ok && tier != d.kind.tier || d.kind.readOnly != (d.kind.tier == Readonly) {
			t.Errorf("%s is %+v, want the tier %s", d.name, d.kind, tier)
		}
	}
}

func TestDeclarationsAreWhole(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, e := range tools {
		d := e.declared()
		if seen[d.name] {
			t.Errorf("%s is declared twice", d.name)
		}
		seen[d.name] = true
		if d.title == "" || d.desc == "" || d.kind.tier == "" || !slices.Contains(Toolsets()[1:], d.set) {
			t.Errorf("%s lacks a title, a description, a kind or a toolset", d.name)
		}
		names := params.Names(d.in)
		exempt := d.set == setBatch || d.name == "list_servers" || strings.HasSuffix(d.name, "_prompts") || d.name == "get_prompt"
		if slices.Contains(names, "socket_name") == exempt {
			t.Errorf("%s has the parameters %v: socket_name is wrong", d.name, names)
		}
		// The Inspector warns of them, and some clients drop the tool.
		if strings.Contains(string(params.InputSchema(d.in, nil)), `"type":[`) {
			t.Errorf("%s: the input schema has a list of types: %s", d.name, params.InputSchema(d.in, nil))
		}
	}
}

// TestDescriptionsAreFound searches the tools as clients do that load them on demand:
// by words, of which the rarer ones count more. The query is what an agent that has
// not seen the list would ask for.
func TestDescriptionsAreFound(t *testing.T) {
	t.Parallel()
	found := func(text, word string) bool {
		return regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(word)).MatchString(strings.ReplaceAll(text, "_", " "))
	}
	for _, q := range []struct{ query, tool string }{
		{"list tmux terminals", "list_panes"},
		{"list tmux windows workspace", "list_windows"},
		{"list tmux sessions", "list_sessions"},
		{"read terminal screen scrollback", "capture_pane"},
		{"new terminal output since last read", "capture_since"},
		{"search text terminals", "search_panes"},
		{"run shell command exit status", "run_command"},
		{"type keys terminal", "send_keys"},
		{"paste multiline text", "paste_text"},
		{"wait until output matches pattern", "wait_for_text"},
		{"split window new pane", "split_window"},
		{"kill session", "kill_session"},
		{"set environment variable", "set_environment"},
		{"terminal screen cursor metadata", "snapshot_pane"},
	} {
		score := map[string]float64{}
		for word := range strings.FieldsSeq(q.query) {
			var with []string
			for _, e := range tools {
				if d := e.declared(); found(d.name+" "+d.title+" "+d.desc, word) {
					with = append(with, d.name)
				}
			}
			for _, name := range with {
				score[name] += math.Log(1 + float64(len(tools))/float64(len(with)))
			}
		}
		better := 0
		for _, s := range score {
			if s > score[q.tool] {
				better++
			}
		}
		if score[q.tool] == 0 || better >= 3 {
			t.Errorf("%d tools are found before %s for %q", better, q.tool, q.query)
		}
	}
}

// TestListIsShort: a model reads the whole list, and pays for it.
func TestListIsShort(t *testing.T) {
	t.Parallel()
	const (
		mostInput, mostAll, mostCore = 36_000, 66_000, 10_000
		perTool                      = mostInput / 58 * 2 // a tool may be twice the average
	)
	var input, all, core int
	for _, e := range tools {
		d := e.declared()
		tool := d.mcpTool(Readonly)
		raw, err := params.Marshal(map[string]any{"name": d.name, "description": d.desc, "inputSchema": tool.RawInputSchema})
		if err != nil {
			t.Fatal(err)
		}
		input += len(raw)
		all += len(raw) + len(tool.RawOutputSchema) + len(`,"outputSchema":`)
		if d.core {
			core += len(raw)
		}
		if len(raw) > perTool {
			t.Errorf("%s takes %d bytes of the list, want at most %d", d.name, len(raw), perTool)
		}
	}
	t.Logf("%d tools: %d bytes of names, descriptions and inputs, %d with outputs, %d in core", len(tools), input, all, core)
	if input > mostInput || all > mostAll || core > mostCore {
		t.Errorf("the list has %d bytes (at most %d), %d with outputs (%d), %d in core (%d)", input, mostInput, all, mostAll, core, mostCore)
	}
}

func TestSchemasAreThoseOfTheSnapshots(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("testdata", "tools")
	kept := map[string]bool{}
	for _, e := range tools {
		d := e.declared()
		raw, err := json.Marshal(d.mcpTool(Readonly))
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := json.Indent(&b, raw, "", "  "); err != nil {
			t.Fatal(err)
		}
		b.WriteByte('\n')
		kept[d.name+".json"] = true
		checkFile(t, filepath.Join(dir, d.name+".json"), b.String())
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

func TestCatalogueIsFresh(t *testing.T) {
	t.Parallel()
	s, err := New(Config{Tmux: "/bin/true", Tier: Destructive})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := s.WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	checkFile(t, filepath.Join("..", "docs", "tools.md"), b.String())

	source, err := os.ReadFile("config.go")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`"(TMUX_MCP_[A-Z_]+)", "([A-Z_]+)"`).FindAllStringSubmatch(string(source), -1)
	for _, m := range names {
		if !strings.Contains(b.String(), "| `"+m[1]+"` | `"+m[2]+"` |") {
			t.Errorf("docs/tools.md does not document %s and %s", m[1], m[2])
		}
	}
	if len(names) < 10 {
		t.Errorf("%d variables found", len(names))
	}
	for op := range filterOps {
		if !strings.Contains(b.String(), "`"+op+"`") {
			t.Errorf("docs/tools.md does not document the operator %s", op)
		}
	}
}

// README lists the tools by name, between two marks.
func TestReadmeListsTheTools(t *testing.T) {
	t.Parallel()
	s, err := New(Config{Tmux: "/bin/true", Tier: Destructive})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("..", "README.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- tools: made by go test ./server -update -->\n", "<!-- end of tools -->\n"
	before, rest, found := strings.Cut(string(text), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatal("README.md has no place for the tools")
	}
	var b strings.Builder
	b.WriteString("\n| toolset | tools |\n|---|---|\n")
	for _, set := range Toolsets()[1:] {
		var names []string
		for _, d := range s.offered() {
			if d.set == set {
				names = append(names, d.name)
			}
		}
		if names != nil {
			fmt.Fprintf(&b, "| %s | %s |\n", set, strings.Join(names, ", "))
		}
	}
	checkFile(t, path, before+begin+b.String()+"\n"+end+after)
}

// checkFile compares a file with what it should be, or writes it with -update.
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
		for _, history := range []bool{true, false} {
			for _, c := range []Caller{{}, {Pane: "%1"}, {Pane: "%1", Socket: "/tmp/tmux-0/default"}, {Pane: "%12345", Socket: "/tmp/" + strings.Repeat("é", 2000)}} {
				s := &Server{cfg: Config{Tier: tier, SuppressHistory: history, Caller: c}}
				text, err := s.instructions()
				if err != nil {
					t.Fatal(err)
				}
				if len(text) > maxInstructions {
					t.Errorf("%s, %v: %d bytes", tier, c, len(text))
				}
				for token, want := range map[string]bool{
					"Safety level: " + string(tier): true, "suppress_history=true": history, "suppress_history=false": !history,
					"Readonly mode:": tier == Readonly, "Agent context": c.Pane != "", "is_caller=true": c.Pane != "", "whoami tool": c.Pane != "",
					string(c.Pane): true,
				} {
					if strings.Contains(text, token) != want {
						t.Errorf("%s, history %t, %v: has %q is %t", tier, history, c, token, !want)
					}
				}
			}
		}
	}
	for _, token := range []string{
		"tmux hierarchy", "pane_id", "Targeted tmux tools accept", "list_servers", "extra_socket_paths", "TRIGGERS:", "ANTI-TRIGGERS:",
		"'%'", "'@'", "'$'", "VS Code", "i3", "Jupyter", "clarifying question", "metadata vs content", "search_panes", "snapshot_pane",
		"capture_since", "display_message", "patterns=null", "stop=", "send_keys_batch", "HOOKS ARE READ-ONLY", "show_hooks",
		"survive process death", "tmux config file", "BUFFERS", "load_buffer", "paste_buffer", "delete_buffer", "BufferRef", "list_buffers", "clipboard history",
	} {
		if !strings.Contains(baseInstructions, token) {
			t.Errorf("the instructions do not say %q", token)
		}
	}
	at := func(s string) int { return strings.Index(baseInstructions, s) }
	if at("run_command") > at("wait_for_channel") || at("wait_for_channel") > at("wait_for_text") {
		t.Error("the ways to wait stand in the wrong order")
	}
}
