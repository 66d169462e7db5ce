package format

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscale/hujson"

	"tmuxmcp/internal/test/testtool"
)

// largeConfig returns a file like that of a heavy user of Claude Code: most of it is
// history.
func largeConfig(size int) []byte {
	const (
		prompt  = `{"display": "why does \"make\" fail? é\nlorem ipsum, lorem ipsum", "pastedContents": {}}`
		servers = "{\n        \"tmux\": {\n          \"type\": \"stdio\",\n          \"command\": \"uvx\"\n        }\n      }"
	)
	history := strings.Repeat(prompt+",\n        ", 99) + prompt
	var projects []string
	for i := range size / len(history) {
		projects = append(projects, fmt.Sprintf("    \"/home/ada/src/p%d\": {\n      \"history\": [\n        %s\n      ],\n      \"mcpServers\": %s\n    }", i, history, servers))
	}
	return []byte("{\n  \"numStartups\": 900,\n  \"projects\": {\n" + strings.Join(projects, ",\n") + "\n  },\n  \"userID\": \"x\"\n}")
}

var claudeProject = []string{"projects", "/home/ada/src/p7", "mcpServers"}

// BenchmarkLarge does everything in this package that one swap in a file of 26 MB takes:
// parse, look up, set. A swap must feel immediate, so it takes a small multiple of the time
// in which encoding/json checks the text.
func BenchmarkLarge(b *testing.B) {
	src := largeConfig(26 << 20)
	b.Run("check", func(b *testing.B) {
		b.SetBytes(int64(len(src)))
		for b.Loop() {
			if !json.Valid(src) {
				b.Fatal("the sample is not JSON")
			}
		}
	})
	for _, c := range []struct {
		name      string
		container []string
	}{
		{"change", claudeProject},
		{"add", []string{"projects", "/home/ada/new", "mcpServers"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				swap(b, src, c.container)
			}
		})
	}
	b.Run("revert", func(b *testing.B) {
		e := swap(b, src, claudeProject)
		b.SetBytes(int64(len(src)))
		for b.Loop() {
			revert(b, parse(b, JSON, string(e.Out)), claudeProject, "tmux", e.Undo)
		}
	})
}

// swap does everything in this package that a swap takes.
func swap(t testing.TB, src []byte, container []string) Edit {
	d := parse(t, JSON, string(src))
	if _, err := d.Lookup(container, "tmux"); err != nil {
		t.Fatal(err)
	}
	return set(t, d, container, "tmux", changes["claude"])
}

func TestLargeIsReverted(t *testing.T) {
	src := largeConfig(testtool.Size(6, 26) << 20)
	e := swap(t, src, claudeProject)
	if back := revert(t, parse(t, JSON, string(e.Out)), claudeProject, "tmux", e.Undo); !bytes.Equal(back.Out, src) {
		t.Error("revert does not give the first bytes")
	}
}

// The scanner and hujson agree.
func TestScannerAgreesWithHujson(t *testing.T) {
	check := func(name string, kind Kind, text []byte) {
		d, err := Parse(kind, text)
		if err != nil || d.tree.(*jsonDoc).empty {
			return
		}
		v, err := hujson.Parse(append(bytes.Clone(text[d.body:]), '\n'))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		compareTree(t, name, d, &v)
	}
	fixtures(t, func(name string, kind Kind, text []byte) {
		if kind < TOML {
			check(name, kind, text)
		}
	})
	for _, c := range textCases(t, "set-json*.txtar") {
		check(c.name, c.kind, []byte(c.before))
	}
	for i := range 1000 {
		g := &grammar{choices: choices(i), kind: kinds[i%3]}
		text := g.space() + g.object(5) + g.space()
		check(text, g.kind, []byte(text))
	}
}

func compareTree(t *testing.T, name string, d *Doc, v *hujson.Value) {
	obj, isObject := v.Value.(*hujson.Object)
	if !isObject {
		return
	}
	base := d.body
	want := object{start: base + v.StartOffset, end: base + v.EndOffset}
	for i := range obj.Members {
		n, x := &obj.Members[i].Name, &obj.Members[i].Value
		m := member{
			name:      unquote(n.Value.(hujson.Literal)),
			nameStart: base + n.StartOffset, key: base + n.EndOffset,
			start: base + x.StartOffset, end: base + x.EndOffset,
			comma: -1,
		}
		// If there is no trailing comma, hujson gives the space before a closing brace to
		// the object, and a nil AfterExtra to the last value.
		if i < len(obj.Members)-1 || x.AfterExtra != nil {
			m.comma = m.end + len(x.AfterExtra)
		}
		want.members = append(want.members, m)
		compareTree(t, name, d, x)
	}
	if diff := cmp.Diff(want, scanObject(d.src, want.start), cmp.AllowUnexported(object{}, member{})); diff != "" {
		t.Fatalf("%s: (-hujson +scanner):\n%s", name, diff)
	}
}
