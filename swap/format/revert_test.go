package format

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An addition is an entry that inAnyOrder makes in a container.
type addition struct{ container, name string }

func (a addition) path() []string { return strings.Split(a.container, ",") }

// inAnyOrder creates entries in a text, one after the other, and calls check with the text
// after they were undone, in each possible order.
func inAnyOrder(t *testing.T, kind Kind, text string, c Change, additions []addition, check func(order []int, back string)) {
	t.Helper()
	made := make([]Undo, len(additions))
	for i, a := range additions {
		e := set(t, parse(t, kind, text), a.path(), a.name, c)
		text, made[i] = string(e.Out), e.Undo
	}
	for _, order := range orders(len(additions)) {
		undos, back := slices.Clone(made), text
		for _, i := range order {
			e := revert(t, parse(t, kind, back), additions[i].path(), additions[i].name, undos[i])
			back = string(e.Out)
			for k, a := range additions {
				undos[k] = undos[k].Inherit(a.path(), e.Undo, additions[i].path())
			}
		}
		check(order, back)
	}
}

// Three edits of each sample config, undone in every order: newest first gives the original
// bytes, any other order the original values.
func TestRevertInAnyOrder(t *testing.T) {
	fixtures(t, func(file string, kind Kind, text []byte) {
		container := "mcpServers"
		switch {
		case kind == TOML:
			container = "mcp_servers"
		case strings.HasPrefix(file, "cn/"):
			container += "," + List
		case kind == YAML:
			container = "extensions"
		case strings.HasPrefix(file, "claude"):
			container = "projects,/home/ada/src/new,mcpServers"
		}
		additions := []addition{{container, "tmux"}, {container, "odd \"n.a.m.e\""}, {container, "z"}}
		exact := bytes.HasSuffix(text, []byte("\n")) || kind != TOML // a new table completes the last line
		exact = exact && !strings.HasPrefix(file, "codex.dotted/")   // a removed dotted key comes back in another line
		inAnyOrder(t, kind, string(text), changes["local"], additions, func(order []int, back string) {
			if diff := cmp.Diff(read(t, kind, text), read(t, kind, []byte(back))); diff != "" {
				t.Errorf("%s, order %v (-want +got):\n%s", file, order, diff)
			}
			if exact && slices.Equal(order, []int{2, 1, 0}) && back != string(text) {
				t.Errorf("%s, newest first (-want +got):\n%s", file, cmp.Diff(string(text), back))
			}
		})
	})
}

// What was created for several entries is removed with the last of them, whichever that is.
func TestInherit(t *testing.T) {
	const inA, inB = "projects,/a,mcpServers", "projects,/b,mcpServers"
	for _, c := range []struct {
		kind      Kind
		text      string
		additions []addition
	}{
		{JSON, `{}`, []addition{{inA, "x"}, {inB, "x"}, {inA, "y"}, {"mcpServers", "x"}}},
		{JSON, ``, []addition{{inA, "x"}, {inB, "x"}, {"mcpServers", "x"}}},
		{JSON, `{"projects": null}`, []addition{{inA, "x"}, {inB, "x"}}},
		{JSON, `{"projects": {"/a": null}, "n": 1}`, []addition{{inA, "x"}, {inA, "y"}, {inB, "x"}}},
		{YAML, "", []addition{{"m", "x"}, {"m", "y"}}},
		{YAML, "# c", []addition{{"m," + List, "x"}, {"m," + List, "y"}}},
		{YAML, "{}\n", []addition{{"m", "x"}, {"m", "y"}}},
		{YAML, "a: 1\nm:\nb: 2", []addition{{"m", "x"}, {"m", "y"}}},
		{YAML, "m:  [ ] # c\n", []addition{{"m," + List, "x"}, {"m," + List, "y"}}},
		{YAML, "a: 1", []addition{{"m," + List, "x"}, {"m," + List, "y"}}},
		{TOML, "\n", []addition{{"m", "x"}, {"m", "y"}}},
		{TOML, "[m.x]\ncommand = 'old'\n", []addition{{"m", "x"}, {"m", "y"}}},
	} {
		inAnyOrder(t, c.kind, c.text, changes["claude"], c.additions, func(order []int, back string) {
			if back != c.text {
				t.Errorf("%q, order %v, gives %q", c.text, order, back)
			}
		})
	}
}

// orders returns all permutations of n.
func orders(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var all [][]int
	for _, o := range orders(n - 1) {
		for i := range n {
			all = append(all, slices.Insert(slices.Clone(o), i, n-1))
		}
	}
	return all
}

// A damaged record, or one of another text, causes an error and not a panic.
func TestRevertRefuses(t *testing.T) {
	for _, c := range []struct {
		kind Kind
		text string
		u    Undo
		says string
	}{
		{JSON, `{"m": {"srv": {}}}`, Undo{Existed: true, Before: `{"a": 1,}`}, "not JSON"},
		{JSON, `{"m": {"srv": {}}}`, Undo{Existed: true, Before: "\xff"}, "UTF-8"},
		{JSONC, `{"m": {"srv": {}}}`, Undo{Existed: true, Before: `{}, "x": {`}, ""},
		{JSONC, `{"m": {"srv": {}}}`, Undo{Existed: true}, ""},
		{JSON, `{"m": {"srv": {}}}`, Undo{Made: []map[string]any{{}, {}, {}}}, "does not fit"},
		{JSON, `{"m": {"srv": {}}}`, Undo{Made: []map[string]any{{}, {}}}, "does not fit"},
		{JSON, `{"m": {"srv": {}}}`, Undo{Made: []map[string]any{{}}, From: -1}, "does not fit"},
		{JSON, `{"m": []}`, Undo{}, "not an object"},
		{YAML, "m: {srv: {}}", Undo{}, "braces"},
		{YAML, "m:\n  srv:\n    a: 1", Undo{Existed: true, Before: "srv: ["}, "old text"},
		{YAML, "m:\n  srv:\n    a: 1", Undo{Existed: true, Before: "  x: {}"}, "does not hold"},
		{YAML, "m:\n  srv:\n    a: 1", Undo{Existed: true, Before: "  srv: {}\n  x: {}"}, "does not hold"},
		{YAML, "m:\n  srv:\n    a: 1", Undo{Made: []map[string]any{{}, {}}}, "does not fit"},
		{YAML, "m: []", Undo{}, "not a mapping"},
		{TOML, "[m.srv]\n", Undo{Existed: true, Before: "[m.srv"}, "old text"},
		{TOML, "[m.srv]\n", Undo{Existed: true, Before: "[m]\nsrv = 1"}, "does not hold"},
		{TOML, "[m.srv]\n", Undo{Existed: true}, "does not hold"},
		{TOML, "m = 1\n", Undo{}, "not a table"},
	} {
		if e, err := parse(t, c.kind, c.text).Revert([]string{"m"}, "srv", c.u); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s, %+v: %v, want an error that says %q\n%s", c.text, c.u, err, c.says, e.Out)
		}
	}
}
