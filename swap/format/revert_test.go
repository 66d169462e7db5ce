package format

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Three edits of each sample config, taken back in every order: newest first gives the
// first bytes, any other order the first values.
func TestRevertInAnyOrder(t *testing.T) {
	names := []string{"tmux", "odd \"n.a.m.e\"", "z"}
	fixtures(t, func(file string, kind Kind, text []byte) {
		container := []string{"mcpServers"}
		switch {
		case kind == TOML:
			container = []string{"mcp_servers"}
		case strings.HasPrefix(file, "claude"):
			container = []string{"projects", "/home/ada/src/new", "mcpServers"}
		}
		var undos []Undo
		out := string(text)
		for _, name := range names {
			e := set(t, parse(t, kind, out), container, name, changes["local"])
			out, undos = string(e.Out), append(undos, e.Undo)
		}
		for _, order := range orders(3) {
			back := out
			undos := slices.Clone(undos)
			for _, i := range order {
				e := revert(t, parse(t, kind, back), container, names[i], undos[i])
				back = string(e.Out)
				for k := range undos {
					undos[k] = undos[k].Inherit(container, e.Undo, container)
				}
			}
			if diff := cmp.Diff(read(t, kind, text), read(t, kind, []byte(back))); diff != "" {
				t.Errorf("%s, order %v (-want +got):\n%s", file, order, diff)
			}
			exact := bytes.HasSuffix(text, []byte("\n")) || kind != TOML // a new table completes the last line
			exact = exact && !strings.HasPrefix(file, "codex.dotted/")   // a removed dotted key comes back in another line
			if exact && slices.Equal(order, []int{2, 1, 0}) && back != string(text) {
				t.Errorf("%s, newest first (-want +got):\n%s", file, cmp.Diff(string(text), back))
			}
		}
	})
}

// What was made for several entries goes with the last of them, whichever that is.
func TestInherit(t *testing.T) {
	type entry struct{ container, name string }
	for _, c := range []struct {
		kind    Kind
		text    string
		entries []entry
	}{
		{JSON, `{}`, []entry{{"projects,/a,mcpServers", "x"}, {"projects,/b,mcpServers", "x"}, {"projects,/a,mcpServers", "y"}, {"mcpServers", "x"}}},
		{JSON, ``, []entry{{"projects,/a,mcpServers", "x"}, {"projects,/b,mcpServers", "x"}, {"mcpServers", "x"}}},
		{JSON, `{"projects": null}`, []entry{{"projects,/a,mcpServers", "x"}, {"projects,/b,mcpServers", "x"}}},
		{JSON, `{"projects": {"/a": null}, "n": 1}`, []entry{{"projects,/a,mcpServers", "x"}, {"projects,/a,mcpServers", "y"}, {"projects,/b,mcpServers", "x"}}},
		{TOML, "\n", []entry{{"m", "x"}, {"m", "y"}}},
		{TOML, "[m.x]\ncommand = 'old'\n", []entry{{"m", "x"}, {"m", "y"}}},
	} {
		undos := make([]Undo, len(c.entries))
		text := c.text
		for i, x := range c.entries {
			e := set(t, parse(t, c.kind, text), strings.Split(x.container, ","), x.name, changes["claude"])
			text, undos[i] = string(e.Out), e.Undo
		}
		for _, order := range orders(len(c.entries)) {
			undos, back := slices.Clone(undos), text
			for _, i := range order {
				container := strings.Split(c.entries[i].container, ",")
				e := revert(t, parse(t, c.kind, back), container, c.entries[i].name, undos[i])
				back = string(e.Out)
				for k, x := range c.entries {
					undos[k] = undos[k].Inherit(strings.Split(x.container, ","), e.Undo, container)
				}
			}
			if back != c.text {
				t.Errorf("%q, order %v, gives %q", c.text, order, back)
			}
		}
	}
}

// orders are all permutations of n.
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

// A record that was damaged, or belongs to another text, is an error and not a panic.
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
