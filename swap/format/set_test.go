package format

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
	"go.yaml.in/yaml/v3"
)

// What the cases of testdata change.
var changes = map[string]Change{
	"local": {
		New:    Object{{"command", "uv"}, {"args", []string{"run", "x"}}},
		Set:    Object{{"command", "uv"}, {"args", []string{"run", "x"}}},
		Remove: []string{"url", "headers", "bearer_token_env_var"},
	},
	"claude": {
		New:    Object{{"type", "stdio"}, {"command", "uv"}, {"args", []string{}}, {"env", Object{}}},
		Set:    Object{{"command", "uv"}, {"args", []string{}}},
		Parent: Object{{"allowedTools", []string{}}, {"mcpContextUris", []any{}}, {"mcpServers", nil}, {"env", Object{}}},
	},
	"opencode": {
		New:  Object{{"type", "local"}, {"command", []string{"uv", "run"}}},
		Set:  Object{{"command", []string{"uv", "run"}}},
		Seed: Object{{"$schema", "https://opencode.ai/config.json"}},
	},
	"grok": {
		New: Object{{"command", "uv"}, {"args", []string{"run", `C:\x "y"`}}, {"enabled", true}, {"env", Object{{"A", "1"}, {"b.c", ""}}}},
	},
	"env": {
		Set: Object{{"command", "uv"}, {"env", Object{{"B", "3"}, {"C.d", "a=\"b\""}}}},
	},
	"types": {
		Set: Object{{"", "\x00\n\r\t\b\\<&>"}, {"i", -5}, {"l", int64(1) << 62}, {"n", json.Number("1e3")}, {"t", true}, {"a", []any{"x", 1, []any{}, Object{}}}, {"o", Object{{"p", Object{{"q", false}}}}}},
	},
	"odd": {
		Set: Object{{"a.b", "A"}, {":c", "B"}, {"*", "C"}, {"0", "D"}, {"-1", "E"}, {"@this", "F"}, {"x|y", "G"}, {"é", json.Number("1.0")}, {"#", nil}},
	},
}

// item returns the object of a list that has a name, or nil.
func item(list any, name string) any {
	items, _ := list.([]any)
	for _, x := range items {
		if m, ok := x.(map[string]any); ok && m["name"] == name {
			return x
		}
	}
	return nil
}

// others returns a tree without the entry at path.
func others(tree map[string]any, path []string) map[string]any {
	if len(path) != 3 || path[1] != List {
		return withValue(tree, path, nil)
	}
	items, _ := tree[path[0]].([]any)
	return withValue(tree, path[:1], slices.DeleteFunc(slices.Clone(items), func(x any) bool {
		m, ok := x.(map[string]any)
		return ok && m["name"] == path[2]
	}))
}

func TestSet(t *testing.T) {
	for _, c := range textCases(t, "set-*.txtar") {
		t.Run(c.kind.String()+"/"+c.name, c.testSet)
	}
}

func (c textCase) testSet(t *testing.T) {
	src := []byte(c.before)
	d := parse(t, c.kind, c.before)
	was, err := d.Lookup(c.container, c.entry)
	if err != nil {
		t.Fatal(err)
	}
	e := set(t, d, c.container, c.entry, c.change)
	if diff := cmp.Diff(c.after, string(e.Out)); diff != "" {
		t.Errorf("the new text (-want +got):\n%s", diff)
	}
	checkChanged(t, c.before, e)

	// Another parser reads what was set, and everything else as before.
	fields := data(c.change.Set)
	switch c.kind { // those that have other numbers
	case TOML:
		fields = tomlData(c.change.Set)
	case YAML:
		fields = yamlData(c.change.Set)
	}
	wanted := data(c.change.New)
	if was.Found {
		wanted = changed(was.Value, fields, c.change.Remove)
	}
	path := join(c.container, c.entry)
	tree := read(t, c.kind, e.Out)
	got, _ := dig(tree, path)
	if c.container[len(c.container)-1] == List {
		wanted = changed(wanted.(map[string]any), map[string]any{"name": c.entry}, nil)
		got = item(tree[c.container[0]], c.entry)
	}
	if diff := cmp.Diff(any(wanted), got); diff != "" {
		t.Errorf("the entry as another parser reads it (-want +got):\n%s", diff)
	}
	if !Equal(e.Value, got) {
		t.Errorf("Edit.Value is %v, want %v", e.Value, got)
	}
	if old := read(t, c.kind, src); was.Found {
		if diff := cmp.Diff(others(old, path), others(tree, path)); diff != "" {
			t.Errorf("beside the entry (-was +is):\n%s", diff)
		}
	}

	// A second time changes nothing.
	d2 := parse(t, c.kind, string(e.Out))
	again := set(t, d2, c.container, c.entry, c.change)
	if was.Found && (again.Changed() || !bytes.Equal(again.Out, e.Out)) {
		t.Errorf("the same edit again changed\n%s\nto\n%s", e.Out, again.Out)
	}

	// The way back, with an Undo that went through a journal.
	journal, err := json.Marshal(e.Undo)
	if err != nil {
		t.Fatal(err)
	}
	var u Undo
	if err := json.Unmarshal(journal, &u); err != nil {
		t.Fatal(err)
	}
	back := revert(t, d2, c.container, c.entry, u)
	if diff := cmp.Diff(c.reverted, string(back.Out)); diff != "" {
		t.Errorf("reverted (-want +got):\n%s", diff)
	}
}

// An edit undone in a text that has changed since: only the edit is removed.
func TestRevertLater(t *testing.T) {
	for _, c := range textCases(t, "revert-*.txtar") {
		t.Run(c.kind.String()+"/"+c.name, func(t *testing.T) {
			e := set(t, parse(t, c.kind, c.before), c.container, c.entry, c.change)
			back := revert(t, parse(t, c.kind, c.later), c.container, c.entry, e.Undo)
			if diff := cmp.Diff(c.after, string(back.Out)); diff != "" {
				t.Errorf("(-want +got):\n%s\nundo: %+v", diff, e.Undo)
			}
			checkChanged(t, c.later, back)
		})
	}
}

func parse(t testing.TB, kind Kind, text string) *Doc {
	t.Helper()
	d, err := Parse(kind, []byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return d
}

func set(t testing.TB, d *Doc, container []string, name string, c Change) Edit {
	t.Helper()
	e, err := d.Set(container, name, c)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func revert(t testing.TB, d *Doc, container []string, name string, u Undo) Edit {
	t.Helper()
	e, err := d.Revert(container, name, u)
	if err != nil {
		t.Fatalf("revert: %v (undo %+v)", err, u)
	}
	return e
}

// checkChanged checks that an edit says whether it changed this text.
func checkChanged(t testing.TB, was string, e Edit) {
	t.Helper()
	if e.Changed() == (was == string(e.Out)) {
		t.Errorf("Changed() is %v", e.Changed())
	}
}

// read reads a text with a parser from which the package does not take ranges.
func read(t testing.TB, kind Kind, text []byte) map[string]any {
	t.Helper()
	text = bytes.TrimPrefix(bytes.Clone(text), []byte(BOM))
	tree := map[string]any{}
	if kind == TOML {
		if err := toml.Unmarshal(text, &tree); err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
		return data(tree).(map[string]any)
	}
	if kind == YAML {
		if err := yaml.Unmarshal(text, &tree); err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
		return data(tree).(map[string]any)
	}
	if kind != JSON && !isBlank(text) {
		std, err := hujson.Standardize(append(text, '\n'))
		if err != nil {
			if d, err := Parse(kind, text); err == nil && d.tree.(*jsonDoc).empty {
				return tree
			}
			t.Fatalf("%v:\n%s", err, text)
		}
		text = std
	}
	if isBlank(text) {
		return tree
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&tree); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	return tree
}
