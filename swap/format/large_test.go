package format

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
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
	src := largeConfig(26 << 20)
	e := swap(t, src, claudeProject)
	if back := revert(t, parse(t, JSON, string(e.Out)), claudeProject, "tmux", e.Undo); !bytes.Equal(back.Out, src) {
		t.Error("revert does not give the first bytes")
	}
}

// The scanner for large texts and hujson agree.
func TestScannerAgreesWithHujson(t *testing.T) {
	check := func(name string, text []byte) {
		if isBlank(bytes.TrimPrefix(text, []byte(BOM))) {
			return
		}
		small, err := Parse(JSON, text)
		if err != nil {
			return
		}
		defer func(limit int) { treeLimit = limit }(treeLimit)
		treeLimit = 0
		large, err := Parse(JSON, text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		s, l := small.tree.(*jsonDoc), large.tree.(*jsonDoc)
		compareTrees(t, name, s, l, s.root, l.root)
	}
	fixtures(t, func(name string, kind Kind, text []byte) {
		if kind == JSON {
			check(name, text)
		}
	})
	for _, c := range textCases(t, "set-json*.txtar") {
		check(c.name, []byte(c.before))
	}
	for i := range 500 {
		g := &grammar{choices: choices(i), kind: JSON}
		text := g.space() + g.object(5) + g.space()
		check(text, []byte(text))
	}
}

func compareTrees(t *testing.T, name string, a, b *jsonDoc, m, n member) {
	o, ok := a.open(m)
	p, also := b.open(n)
	if ok != also {
		t.Fatalf("%s: one sees an object at %d", name, m.start)
	}
	if !ok {
		return
	}
	strip := func(o object) object {
		ms := make([]member, len(o.members))
		for i, m := range o.members {
			m.node = nil
			ms[i] = m
		}
		o.members = ms
		return o
	}
	if diff := cmp.Diff(strip(o), strip(p), cmp.AllowUnexported(object{}, member{}), cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s: (-hujson +scanner):\n%s", name, diff)
	}
	for i := range o.members {
		compareTrees(t, name, a, b, o.members[i], p.members[i])
	}
}
