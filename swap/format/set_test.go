package format

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
)

// A setCase is one edit with the exact text that it gives.
type setCase struct {
	name      string
	kind      Kind
	container string // joined with commas
	entry     string
	change    string // a key of changes
	// Texts, in the notation of unnote.
	in, want string
	// back is what Revert makes of want, if that is not in.
	back string
}

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

// unnote turns the notation of the tables into bytes: ^M before a newline is a carriage
// return, ^BOM a byte order mark, and a text that ends in $$ has no final newline.
func unnote(s string) []byte {
	s = strings.NewReplacer("^M\n", "\r\n", "^BOM", bom).Replace(s)
	return []byte(strings.TrimSuffix(s, "$$\n"))
}

func jsonCases() []setCase { return slices.Concat(jsonAddCases, jsoncAddCases, jsonChangeCases) }

func tomlCases() []setCase { return slices.Concat(tomlAddCases, tomlChangeCases) }

func TestSet(t *testing.T) {
	for _, c := range slices.Concat(jsonCases(), tomlCases()) {
		t.Run(c.kind.String()+"/"+c.name, func(t *testing.T) { c.run(t) })
	}
}

func (c setCase) run(t *testing.T) {
	src, container := unnote(c.in), strings.Split(c.container, ",")
	orig := bytes.Clone(src)
	d, err := Parse(c.kind, src)
	if err != nil {
		t.Fatal(err)
	}
	was, err := d.Lookup(container, c.entry)
	if err != nil {
		t.Fatal(err)
	}
	e, err := d.Set(container, c.entry, changes[c.change])
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(src, orig) {
		t.Errorf("Set wrote into the text it was given:\n%s", src)
	}
	if diff := cmp.Diff(string(unnote(c.want)), string(e.Out)); diff != "" {
		t.Errorf("the new text (-want +got):\n%s", diff)
	}
	if !bytes.Equal(splicedBack(src, e), src) {
		t.Errorf("the range [%d:%d]→[%d:%d] does not lead back", e.Start, e.OldEnd, e.Start, e.NewEnd)
	}

	// Another parser reads what was set, and the rest as before.
	change := changes[c.change]
	set := data(change.Set)
	if c.kind == TOML { // which has other numbers
		set = tomlData(change.Set)
	}
	wanted := data(change.New)
	if was.Found {
		wanted = changed(was.Value, set, change.Remove)
	}
	path := join(container, c.entry)
	tree := read(t, c.kind, e.Out)
	got, _ := dig(tree, path)
	if diff := cmp.Diff(any(wanted), got); diff != "" {
		t.Errorf("the entry as another parser reads it (-want +got):\n%s", diff)
	}
	if !Equal(e.Value, got) {
		t.Errorf("Edit.Value is %v, want %v", e.Value, got)
	}
	if old := read(t, c.kind, src); was.Found {
		if diff := cmp.Diff(withValue(old, path, nil), withValue(tree, path, nil)); diff != "" {
			t.Errorf("beside the entry (-was +is):\n%s", diff)
		}
	}

	// A second time changes nothing.
	d2, err := Parse(c.kind, e.Out)
	if err != nil {
		t.Fatal(err)
	}
	again, err := d2.Set(container, c.entry, changes[c.change])
	if err != nil {
		t.Fatal(err)
	}
	if was.Found && (again.Changed() || !bytes.Equal(again.Out, e.Out)) {
		t.Errorf("the same edit again changed\n%s\nto\n%s", e.Out, again.Out)
	}
	if e.Changed() == bytes.Equal(src, e.Out) {
		t.Errorf("Changed() is %v", e.Changed())
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
	back, err := d2.Revert(container, c.entry, u)
	if err != nil {
		t.Fatalf("revert: %v (undo %s)", err, journal)
	}
	wantBack := c.back
	if wantBack == "" {
		wantBack = c.in
	}
	if diff := cmp.Diff(string(unnote(wantBack)), string(back.Out)); diff != "" {
		t.Errorf("reverted (-want +got):\n%s", diff)
	}
}

// splicedBack makes the old text of the new one and the range.
func splicedBack(src []byte, e Edit) []byte {
	if !e.Changed() {
		return e.Out
	}
	return []byte(string(e.Out[:e.Start]) + string(src[e.Start:e.OldEnd]) + string(e.Out[e.NewEnd:]))
}

// read reads a text with a parser that the package does not take its ranges from.
func read(t testing.TB, kind Kind, text []byte) map[string]any {
	t.Helper()
	text = bytes.TrimPrefix(bytes.Clone(text), []byte(bom))
	tree := map[string]any{}
	if kind == TOML {
		if err := toml.Unmarshal(text, &tree); err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
		return plain(tree).(map[string]any)
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
