package format

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
	"go.yaml.in/yaml/v3"
)

// fixtures calls add with each sample config and its kind.
func fixtures(t testing.TB, add func(name string, kind Kind, text []byte)) {
	root := "../testdata/configs"
	n := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		kind := JSON
		switch client, _, _ := strings.Cut(strings.TrimPrefix(filepath.ToSlash(path), root+"/"), "/"); strings.Split(client, ".")[0] {
		case "codex", "grok":
			kind = TOML
		case "goose", "cn":
			kind = YAML
		case "gemini", "qwen":
			kind = JSONComments
		case "opencode", "pi", "vscode", "zed", "amp", "kilo", "auggie":
			kind = JSONC
		case "", "README":
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil {
			n++
			add(strings.TrimPrefix(filepath.ToSlash(path), root+"/"), kind, text)
		}
		return err
	})
	if err != nil || n == 0 {
		t.Fatalf("no sample configs: %v", err)
	}
}

func FuzzJSON(f *testing.F) {
	fixtures(f, func(_ string, kind Kind, text []byte) {
		if kind < TOML {
			for _, container := range []string{"mcpServers", "projects/home/mcpServers", "amp.mcpServers", "servers"} {
				f.Add(byte(kind), text, container, "tmux", "uv", "K", "url")
			}
		}
	})
	for _, c := range textCases(f, "set-json*.txtar") {
		f.Add(byte(c.kind), []byte(c.before), strings.Join(c.container, "/"), c.entry, "uv", "K", "headers")
	}
	f.Fuzz(func(t *testing.T, kind byte, text []byte, container, name, command, env, gone string) {
		checkEdit(t, Kind(kind%3), text, strings.Split(container, "/"), name, command, env, gone)
	})
}

func FuzzTOML(f *testing.F) {
	fixtures(f, func(_ string, kind Kind, text []byte) {
		if kind == TOML {
			f.Add(text, "mcp_servers", "tmux", "uv", "K", "url")
			f.Add(text, "projects", "/x", "uv", "K", "trust_level")
		}
	})
	for _, c := range textCases(f, "set-toml*.txtar") {
		f.Add([]byte(c.before), strings.Join(c.container, "/"), c.entry, "uv", "B", "url")
	}
	f.Fuzz(func(t *testing.T, text []byte, container, name, command, env, gone string) {
		checkEdit(t, TOML, text, strings.Split(container, "/"), name, command, env, gone)
	})
}

func FuzzYAML(f *testing.F) {
	fixtures(f, func(_ string, kind Kind, text []byte) {
		if kind == YAML {
			f.Add(text, "extensions", "tmux", "uv", "K", "url")
		}
	})
	for _, c := range textCases(f, "set-yaml*.txtar") {
		f.Add([]byte(c.before), c.container[0], c.entry, "uv", "B", "url")
	}
	f.Fuzz(func(t *testing.T, text []byte, container, name, command, env, gone string) {
		checkEdit(t, YAML, text, []string{container}, name, command, env, gone)
	})
}

// checkEdit edits any text in any place, and checks everything that the package promises.
func checkEdit(t *testing.T, kind Kind, text []byte, container []string, name, command, env, gone string) {
	orig := bytes.Clone(text)
	d, err := Parse(kind, text)
	if valid := judge(kind, text); (err == nil) != valid {
		t.Fatalf("%v: Parse says %v, the judge says valid=%v:\n%q", kind, err, valid, text)
	}
	if err != nil {
		checkPlace(t, text, err)
		return
	}
	if gone == "command" || gone == "args" || gone == "env" {
		gone = "url"
	}
	c := Change{
		New:    Object{{"command", command}, {"args", []string{"run", env}}},
		Set:    Object{{"command", command}, {"args", []string{"run", env}}, {"env", Object{{env, command}}}},
		Remove: []string{gone},
		Parent: Object{{"before", []any{}}, {container[len(container)-1], nil}, {"after", Object{}}},
		Seed:   Object{{"$schema", "s"}},
	}
	if env == "" {
		c.Set = c.Set[:2]
	}
	if last := container[len(container)-1]; last == "before" || last == "after" {
		return // the shape has them already
	}
	path := join(container, name)
	was := read(t, kind, text)
	e, err := d.Set(container, name, c)
	if err != nil {
		if errors.Is(err, errProof) {
			t.Fatalf("%v: %q in\n%s", err, path, text)
		}
		if isTypeError(err) {
			checkPlace(t, text, err)
			if _, ok := expect(was, path, c, kind); ok {
				t.Fatalf("refused %q: %v\n%s", path, err, text)
			}
		}
		return
	}
	want, ok := expect(was, path, c, kind)
	if !ok {
		t.Fatalf("not refused: %q in\n%s", path, text)
	}
	if blank := isBlank(bytes.TrimPrefix(text, []byte(BOM))) || kind < TOML && d.tree.(*jsonDoc).empty; blank && kind < TOML {
		want["$schema"] = "s"
		if container[0] == "$schema" {
			want, _ = expect(map[string]any{}, path, c, kind)
		}
	}
	if !bytes.Equal(text, orig) {
		t.Fatalf("Set wrote into the text it was given")
	}
	checkChanged(t, string(text), e)
	if diff := cmp.Diff(want, read(t, kind, e.Out)); diff != "" {
		t.Fatalf("set %q (-want +got):\n%s\nfrom:\n%s\nto:\n%s", path, diff, text, e.Out)
	}

	after, err := Parse(kind, e.Out)
	if err != nil {
		t.Fatal(err)
	}
	found, err := after.Lookup(container, name)
	if err != nil || !found.Found || !Equal(found.Value, e.Value) {
		t.Fatalf("Lookup gives %v, %v, want %v", found, err, e.Value)
	}
	c.Set = c.Set[:2]
	if again, err := after.Set(container, name, c); err != nil || again.Changed() {
		t.Fatalf("the same edit again: %v\n%s\nfrom\n%s", err, again.Out, e.Out)
	}

	// Back, from the text as it is and from one that has changed since.
	back, err := after.Revert(container, name, e.Undo)
	if err != nil {
		t.Fatalf("revert: %v\n%s", err, e.Out)
	}
	if diff := cmp.Diff(was, read(t, kind, back.Out)); diff != "" {
		t.Fatalf("reverted %q (-want +got):\n%s\nfrom:\n%s\nto:\n%s", path, diff, e.Out, back.Out)
	}
	if path[0] == "moved on" {
		return
	}
	moved, err := after.Set([]string{"moved on"}, "x", Change{New: Object{{"y", 1}}})
	if err != nil {
		return // something of that name and of another type is there
	}
	later, err := Parse(kind, moved.Out)
	if err != nil {
		t.Fatal(err)
	}
	back, err = later.Revert(container, name, e.Undo)
	if err != nil {
		t.Fatalf("revert: %v\n%s", err, moved.Out)
	}
	wasThen := withValue(was, []string{"moved on", "x"}, moved.Value)
	is := read(t, kind, back.Out)
	if e.Undo.Seeded && kind < TOML {
		wasThen["$schema"] = is["$schema"]
	}
	if diff := cmp.Diff(wasThen, is); diff != "" {
		t.Fatalf("reverted %q later (-want +got):\n%s\nfrom:\n%s\nto:\n%s", path, diff, moved.Out, back.Out)
	}
}

// judge reports whether other parsers accept a text.
func judge(kind Kind, text []byte) bool {
	body := bytes.TrimPrefix(bytes.Clone(text), []byte(BOM))
	if !isUTF8(text) || bytes.IndexByte(text, 0) >= 0 {
		return false
	}
	switch kind {
	case YAML: // much valid YAML is refused
		_, err := Parse(kind, text)
		return err == nil && yaml.Unmarshal(body, &map[string]any{}) == nil
	case TOML:
		var m map[string]any
		return toml.Unmarshal(body, &m) == nil
	case JSON:
		return isBlank(body) || json.Valid(body) && bytes.TrimLeft(body, " \t\r\n")[0] == '{'
	}
	if lone := bytes.ReplaceAll(body, []byte("\r\n"), nil); bytes.Contains(body, []byte("//")) && bytes.ContainsAny(lone, "\r") {
		// Whether a lone carriage return may be in a line comment is left to the parser.
		_, err := Parse(kind, text)
		return err == nil
	}
	if v, err := hujson.Parse(append(append([]byte("["), body...), "\n]"...)); err == nil {
		if a, ok := v.Value.(*hujson.Array); ok && len(a.Elements) == 0 {
			return true // nothing but comments
		}
	}
	v, err := hujson.Parse(append(body, '\n'))
	if err != nil || v.Value.Kind() != '{' {
		return false
	}
	return kind == JSONC || json.Valid(withoutComments(body))
}

// withoutComments blanks the comments of a valid text.
func withoutComments(text []byte) []byte {
	var out []byte
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '"':
			start := i
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			out = append(out, text[start:i+1]...)
		case bytes.HasPrefix(text[i:], []byte("//")):
			for i < len(text) && text[i] != '\n' {
				i++
			}
		case bytes.HasPrefix(text[i:], []byte("/*")):
			i += 3 + bytes.Index(text[i+2:], []byte("*/"))
		default:
			out = append(out, text[i])
		}
	}
	return out
}

func isUTF8(text []byte) bool { return string(bytes.ToValidUTF8(text, []byte("?"))) == string(text) }

// checkPlace checks that an error's position is in the text.
func checkPlace(t *testing.T, text []byte, err error) {
	line, column := place(err)
	lines := bytes.Split(text, []byte("\n"))
	if line < 1 || line > len(lines) || column < 1 || column > len(lines[line-1])+2 {
		t.Fatalf("%v: there is no such place in\n%q", err, text)
	}
}

// expect returns what a tree should be after a change; false if something of another type
// is in the way.
func expect(tree map[string]any, path []string, c Change, kind Kind) (map[string]any, bool) {
	out := map[string]any{}
	for k, v := range tree {
		out[k] = v
	}
	old, there := tree[path[0]]
	sub, isMap := old.(map[string]any)
	if there && !isMap && (old != nil || len(path) == 1) {
		return nil, false
	}
	if len(path) > 1 {
		if sub == nil && len(path) == 3 && kind < TOML {
			sub = map[string]any{"before": []any{}, "after": map[string]any{}}
			delete(sub, path[1])
		}
		next, ok := expect(sub, path[1:], c, kind)
		out[path[0]] = next
		return out, ok
	}
	if !there {
		out[path[0]] = data(c.New)
		return out, true
	}
	entry := changed(sub, data(c.Set), c.Remove)
	if env, ok := sub["env"]; ok && len(c.Set) == 3 {
		if _, isMap := env.(map[string]any); !isMap && env != nil {
			return nil, false
		}
	}
	out[path[0]] = entry
	return out, true
}
