package server_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/tidwall/gjson"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/server"
	"tmuxmcp/tmux"
)

// reference is testdata/libtmux-mcp.json: facts about the tools of libtmux-mcp, read from one
// version of it, and in what tmux-mcp differs. docs/from-libtmux-mcp.md is made from it.
type reference struct {
	Variables   []string
	Differences []struct {
		Tools   string   // for the page
		Differs []string // differences as the test writes them; * stands for anything
		What    string
		Why     string
	}
	// Rows are results that several tools have: the type of each property, by its path.
	Rows  map[string]map[string]string
	Tools map[string]referenceTool
}

type referenceTool struct {
	// Takes are the parameters: a type, the allowed values in parentheses, and the default
	// after "="; or the default is null if the type ends with "?".
	Takes map[string]string
	// Returns is a name of Rows, in brackets for a list of them, or an object like one of them.
	Returns json.RawMessage
	Before  *struct {
		Tool string
		Args json.RawMessage
	}
	Calls   []json.RawMessage // calls that succeed there
	Answers []struct {        // what calls answer: the JSON type at a path
		Args       json.RawMessage
		Path, Type string
	}
	Errors []struct {
		Args json.RawMessage
		Kind string // or "" for any error
	}
}

// errorKinds are the types of our errors, by the kinds of theirs.
var errorKinds = map[string][]string{
	"argument": {"ValidationError"},
	"missing":  {"ObjectNotFound", "PaneNotFound"},
}

func readReference(t *testing.T) (ref reference) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "libtmux-mcp.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &ref); err != nil {
		t.Fatal(err)
	}
	return ref
}

// returned returns the types of the properties that a tool of libtmux-mcp returns, by path.
func (ref reference) returned(t *testing.T, tool referenceTool) map[string]string {
	t.Helper()
	var name string
	var own map[string]string
	if json.Unmarshal(tool.Returns, &own) == nil {
		return own
	}
	if err := json.Unmarshal(tool.Returns, &name); err != nil {
		t.Fatal(err)
	}
	row, list := strings.CutPrefix(strings.TrimSuffix(name, "]"), "[")
	if ref.Rows[row] == nil {
		t.Fatalf("there are no rows %s", row)
	}
	if !list {
		return ref.Rows[row]
	}
	own = map[string]string{}
	for path, typ := range ref.Rows[row] {
		own["result[]."+path] = typ
	}
	return own
}

// TestLibtmuxMCPCalls: who comes from libtmux-mcp notices nothing but the differences that
// are documented. Each of its parameters is allowed by the schema and taken in a call, with its
// values and its default; each result has its properties; and what was an error is one, of
// the same kind. A documented difference that is gone fails the test.
func TestLibtmuxMCPCalls(t *testing.T) {
	t.Parallel()
	ref := readReference(t)
	cfg := configFor(testserver.New(t))
	listed := map[string]map[string]map[string]any{}
	for _, tool := range serve(t, cfg).definitions() {
		listed[tool.Name] = map[string]map[string]any{"in": tool.InputSchema, "out": tool.OutputSchema}
	}
	found := make(chan string, 10_000)
	var played atomic.Int64
	t.Run("tools", func(t *testing.T) {
		for _, name := range slices.Sorted(maps.Keys(ref.Tools)) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				differs := func(format string, args ...any) { found <- name + " " + fmt.Sprintf(format, args...) }
				schemas, ok := listed[name]
				if !ok {
					differs("absent")
					return
				}
				theirs := ref.Tools[name]
				compareInput(theirs, schemas["in"], differs)
				compareOutput(ref.returned(t, theirs), schemas["out"], differs)
				playReference(t, name, theirs, schemas["in"], differs)
				played.Add(1)
			})
		}
	})
	close(found)
	documented := map[string]int{}
	for difference := range found {
		known := false
		for _, d := range ref.Differences {
			for _, pattern := range d.Differs {
				if regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + "$").MatchString(difference) {
					documented[pattern]++
					known = true
				}
			}
		}
		if !known {
			t.Errorf("not documented: %s", difference)
		}
	}
	for _, d := range ref.Differences {
		for _, pattern := range d.Differs {
			if documented[pattern] == 0 && played.Load() == int64(len(ref.Tools)) { // not if -run chose some
				t.Errorf("documented, and not so: %s", pattern)
			}
		}
	}
	if len(ref.Tools) != 56 {
		t.Errorf("there are %d tools", len(ref.Tools))
	}
}

// definitions returns the tools with their whole schemas.
func (p *peer) definitions() []struct {
	Name                      string
	InputSchema, OutputSchema map[string]any
} {
	p.t.Helper()
	var list struct {
		Tools []struct {
			Name                      string
			InputSchema, OutputSchema map[string]any
		}
	}
	if err := json.Unmarshal(p.request("tools/list", struct{}{}).Result, &list); err != nil || len(list.Tools) == 0 {
		p.t.Fatalf("tools/list: %v, %d tools", err, len(list.Tools))
	}
	return list.Tools
}

var parameterType = regexp.MustCompile(`^([^ ?]+)(\?)?(?: \((.*)\))?(?: = (.*))?$`)

// compareInput compares parameters with a schema. An argument that the schema does not list is
// left to the calls.
func compareInput(theirs referenceTool, schema map[string]any, differs func(string, ...any)) {
	properties := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	for _, name := range slices.Sorted(maps.Keys(theirs.Takes)) {
		m := parameterType.FindStringSubmatch(theirs.Takes[name])
		typ, optional, values, def := m[1], m[2] != "" || m[4] != "", m[3], m[4]
		if optional && slices.Contains(required, any(name)) {
			differs("requires %s", name)
		}
		ours, ok := properties[name].(map[string]any)
		if !ok {
			continue
		}
		types := typesOf(ours)
		for one := range strings.SplitSeq(typ, "|") {
			if !slices.Contains(types, one) && !(one == "integer" && slices.Contains(types, "number")) {
				differs("takes no %s for %s", one, name)
			}
		}
		if enum, ok := ours["enum"].([]any); ok {
			for value := range strings.SplitSeq(values, ", ") {
				if !slices.Contains(enum, any(value)) {
					differs("takes no %s for %s", value, name)
				}
			}
		}
		// What is false, empty or absent by default is not written down.
		described, _ := ours["description"].(string)
		set, _ := json.Marshal(ours["default"])
		switch {
		case string(set) == def, string(set) == "null" && slices.Contains([]string{"false", "0", `""`}, def):
		case string(set) == "null" && def != "" && regexp.MustCompile(`default:? `+regexp.QuoteMeta(def)+`\b`).MatchString(described):
		case optional && !(string(set) == "null" && def == ""):
			differs("default of %s", name)
		}
	}
}

// typesOf returns the types that a schema allows; a list of texts is "[string]".
func typesOf(schema map[string]any) (types []string) {
	alternatives, _ := schema["anyOf"].([]any)
	for _, a := range append(alternatives, schema) {
		one := a.(map[string]any)
		names, _ := one["type"].([]any)
		if name, ok := one["type"].(string); ok {
			names = []any{name}
		}
		for _, name := range names {
			if items, ok := one["items"].(map[string]any); ok && name == "array" {
				name = fmt.Sprintf("[%s]", cmp.Or(strings.Join(typesOf(items), "|"), "any"))
			}
			types = append(types, name.(string))
		}
	}
	return types
}

// compareOutput compares the properties of results with a schema.
func compareOutput(theirs map[string]string, schema map[string]any, differs func(string, ...any)) {
	for _, path := range slices.Sorted(maps.Keys(theirs)) {
		at, ok := schema, true
		for step := range strings.SplitSeq(path, ".") {
			step, inList := strings.CutSuffix(step, "[]")
			properties, _ := at["properties"].(map[string]any)
			if at, ok = properties[step].(map[string]any); !ok {
				break
			}
			if inList {
				at, _ = at["items"].(map[string]any)
			}
		}
		if !ok {
			differs("returns no %s", path)
			continue
		}
		types := typesOf(at)
		for one := range strings.SplitSeq(strings.TrimSuffix(theirs[path], "?"), "|") {
			anything := len(types) == 0 || one == "any" || strings.HasPrefix(one, "[") && slices.Contains(types, "[any]")
			if !anything && !slices.Contains(types, one) {
				differs("returns %s as %s", path, strings.Join(types, " or "))
			}
		}
	}
}

// playReference makes the calls of a tool, each on a tmux server of its own for errors, and the
// others in turn.
func playReference(t *testing.T, name string, theirs referenceTool, schema map[string]any, differs func(string, ...any)) {
	srv := testserver.New(t)
	run := func(args ...string) { testserver.Run(t, srv, args[0], args[1:]...) }
	run("new-session", "-d", "-s", "a", "-x", "80", "-y", "24", "cat")
	run("split-window", "-d", "-t", "a", "cat")
	run("new-session", "-d", "-s", "b", "-x", "80", "-y", "24", shellStart(t, "sh"))
	run("new-window", "-d", "-t", "a", "cat")
	waitPrompt(t, srv, "%2")
	tmpdir, err := os.MkdirTemp("", "tt") // short: it has the path of a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(tmpdir) })
	named := filepath.Join(tmpdir, filepath.Base(tmux.SocketDir(nil)))
	if err := os.Mkdir(named, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(srv.SocketPath(), filepath.Join(named, "named")); err != nil {
		t.Fatal(err)
	}
	cfg := configFor(srv)
	cfg.Env = append(cfg.Env, "TMUX=", "TMUX_PANE=", "TMUX_TMPDIR="+tmpdir)
	p := serve(t, cfg)
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("in.json", schema); err != nil {
		t.Fatal(err)
	}
	allowed, err := compiler.Compile("in.json")
	if err != nil {
		t.Fatal(err)
	}
	values := strings.NewReplacer("$SOCKET", srv.SocketPath(), "$NAME", "named", "$HOME", t.TempDir(),
		"$BUFFER", ok[struct {
			Name string `json:"buffer_name"`
		}](p, "load_buffer", `{"content":"text"}`).Name,
		"$CURSOR", ok[struct{ Cursor string }](p, "capture_since", `{"pane_id":"%0"}`).Cursor)
	if theirs.Before != nil {
		ok[any](p, theirs.Before.Tool, string(theirs.Before.Args))
	}
	for _, e := range theirs.Errors {
		args := values.Replace(string(e.Args))
		res := p.tool(name, args)
		kind, _ := res.Meta["error_type"].(string)
		switch {
		case !res.IsError:
			differs("succeeds with %s", e.Args)
		case e.Kind != "" && !slices.Contains(errorKinds[e.Kind], kind):
			differs("is %s with %s", kind, e.Args)
		}
	}
	for _, a := range theirs.Answers {
		at := gjson.GetBytes(p.tool(name, string(a.Args)).Structured, a.Path)
		if typ := strings.ToLower(at.Type.String()); typ != a.Type {
			differs("answers %s as %s", a.Path, typ)
		}
	}
	taken := map[string]bool{}
	for _, call := range theirs.Calls {
		args := values.Replace(string(call))
		var given map[string]any
		if err := json.Unmarshal([]byte(args), &given); err != nil {
			t.Fatal(err)
		}
		if err := allowed.Validate(any(given)); err != nil {
			differs("has a schema against %s", call)
		}
		if res := p.tool(name, args); res.IsError {
			differs("fails with %s", call)
			t.Logf("%s: %s", call, res.text())
			continue
		}
		for parameter := range given {
			taken[parameter] = true
		}
	}
	for parameter := range theirs.Takes {
		if !taken[parameter] {
			differs("takes no %s", parameter)
		}
	}
}

// TestVariablesOfLibtmuxMCP: each variable that libtmux-mcp reads is read or refused by name.
func TestVariablesOfLibtmuxMCP(t *testing.T) {
	t.Parallel()
	known := server.Environment(0)
	for _, name := range readReference(t).Variables {
		if !regexp.MustCompile(`(?m)^(.*, )?` + name + `(, |$)`).MatchString(known) {
			t.Errorf("%s is not read", name)
		}
	}
}
