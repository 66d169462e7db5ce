package format

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An edit taken back from a text that has changed since: only the edit goes.
func TestRevertLater(t *testing.T) {
	for _, c := range []struct {
		name      string
		kind      Kind
		container string
		change    string
		before    string
		// later is what others have made of the text after the edit.
		later string
		want  string
	}{
		{
			"a replaced entry in a text that was laid out anew", JSON, "mcpServers", "local",
			`{"mcpServers":{"srv":{"command":"old"}}}`,
			"{\n  \"mcpServers\": {\n    \"srv\": {\n      \"args\": [\"run\", \"x\"],\n      \"command\": \"uv\"\n    },\n    \"mine\": {}\n  },\n  \"n\": 1\n}",
			"{\n  \"mcpServers\": {\n    \"srv\": {\"command\":\"old\"},\n    \"mine\": {}\n  },\n  \"n\": 1\n}",
		},
		{
			"an added entry among new ones", JSON, "mcpServers", "local",
			`{"mcpServers":{"a":{}}}`,
			"{\n  \"mcpServers\": {\n    \"a\": {},\n    \"srv\": {},\n    \"b\": {}\n  }\n}\n",
			"{\n  \"mcpServers\": {\n    \"a\": {},\n    \"b\": {}\n  }\n}\n",
		},
		{
			"an added entry that is the last now", JSONC, "mcpServers", "local",
			`{"mcpServers":{"a":{}}}`,
			"{\n  \"mcpServers\": {\n    \"a\": {}, // a\n    // s\n    \"srv\": {} // t\n  },\n}\n",
			"{\n  \"mcpServers\": {\n    \"a\": {} // a\n    // s\n    // t\n  },\n}\n",
		},
		{
			"an added entry on one line, first, middle and last", JSON, "m", "local",
			`{}`,
			`{"m": {"srv": {}, "a": 1}}`,
			`{"m": {"a": 1}}`,
		},
		{
			"a container that was made and is empty goes", JSON, "mcpServers", "local",
			"{\n  \"n\": 1\n}",
			"{\n  \"n\": 2,\n  \"mcpServers\": {\n    \"srv\": {}\n  },\n  \"z\": 3\n}",
			"{\n  \"n\": 2,\n  \"z\": 3\n}",
		},
		{
			"a container that was made and holds more stays", JSON, "mcpServers", "local",
			`{"n":1}`,
			`{"n":1,"mcpServers":{"srv":{},"a":{}}}`,
			`{"n":1,"mcpServers":{"a":{}}}`,
		},
		{
			"a container that was there and empty stays", JSON, "mcpServers", "local",
			`{"mcpServers": { }, "n": 1}`,
			`{"mcpServers": {"srv": {}}, "n": 2}`,
			`{"mcpServers": { }, "n": 2}`,
		},
		{
			"a container that was null is null again", JSON, "mcpServers", "local",
			`{"mcpServers": null, "n": 1}`,
			`{"mcpServers": {"srv": {}}, "n": 2}`,
			`{"mcpServers": null, "n": 2}`,
		},
		{
			"a container that was null and holds more now stays", JSON, "mcpServers", "local",
			`{"mcpServers": null}`,
			`{"mcpServers": {"srv": {}, "a": {}}}`,
			`{"mcpServers": {"a": {}}}`,
		},
		{
			"a project node that nobody used goes", JSON, "projects,/srv/x,mcpServers", "claude",
			"{\n  \"projects\": {\n    \"/y\": {}\n  }\n}",
			"{\n  \"projects\": {\n    \"/y\": {},\n    \"/srv/x\": {\"env\": {}, \"mcpServers\": {\"srv\": {}}, \"allowedTools\": [], \"mcpContextUris\": []}\n  },\n  \"n\": 1\n}",
			"{\n  \"projects\": {\n    \"/y\": {}\n  },\n  \"n\": 1\n}",
		},
		{
			"a project node that was used since stays, without the container", JSON, "projects,/srv/x,mcpServers", "claude",
			`{"projects":{"/y":{}}}`,
			`{"projects":{"/y":{},"/srv/x":{"allowedTools":["Bash"],"mcpContextUris":[],"mcpServers":{"srv":{}},"env":{}}}}`,
			`{"projects":{"/y":{},"/srv/x":{"allowedTools":["Bash"],"mcpContextUris":[],"env":{}}}}`,
		},
		{
			"projects that were made go with their only node", JSON, "projects,/srv/x,mcpServers", "claude",
			`{"n":1}`,
			`{"n":2,"projects":{"/srv/x":{"allowedTools":[],"mcpContextUris":[],"mcpServers":{"srv":{}},"env":{}}}}`,
			`{"n":2}`,
		},
		{
			"a seeded file that holds nothing else is empty again", JSONC, "mcp", "opencode",
			" \n",
			`{"$schema": "https://opencode.ai/config.json", "mcp": {"srv": {}}}`,
			" \n",
		},
		{
			"a seeded file that holds more stays", JSONC, "mcp", "opencode",
			"",
			"{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"mcp\": {\n    \"srv\": {}\n  },\n  \"theme\": \"x\"\n}\n",
			"{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"theme\": \"x\"\n}\n",
		},
		{
			"an added entry that somebody removed", JSON, "mcpServers", "local",
			`{"mcpServers":{}}`, `{"mcpServers":{"a":{}}}`, `{"mcpServers":{"a":{}}}`,
		},
		{
			"a replaced entry that somebody removed, with its container", JSON, "mcpServers", "local",
			`{"mcpServers":{"srv":{"command" : "old"}},"n":1}`, `{"n":1}`, `{"n":1,"mcpServers":{"srv":{"command" : "old"}}}`,
		},
		{
			"a replaced entry that is no object any more", JSON, "mcpServers", "local",
			`{"mcpServers":{"srv":{"command":"old"}}}`, `{"mcpServers":{"srv":"off"},"n":1}`, `{"mcpServers":{"srv":{"command":"old"}},"n":1}`,
		},
		{
			"an added entry that is there twice now", JSON, "mcpServers", "local",
			`{"mcpServers":{}}`, `{"mcpServers":{"srv":{"a":1},"b":{},"srv":{"a":2}}}`, `{"mcpServers":{"b":{}}}`,
		},
		{
			"TOML: a replaced entry, and new tables around it", TOML, "m", "local",
			"[m.srv]\n# why\ncommand = 'old' # c\nurl = \"u\" # d\nargs = [\n  \"a\", # e\n]\n# end\n",
			"[new]\nx = 1\n\n[m.srv]\n# why\ncommand = \"uv\" # c\n# d\nargs = [\n  \"run\",\n  \"x\"\n]\n# end\n\n[other]\ny = 2\n",
			"[new]\nx = 1\n\n[m.srv]\n# why\ncommand = 'old' # c\nurl = \"u\" # d\nargs = [\n  \"a\", # e\n]\n# end\n\n[other]\ny = 2\n",
		},
		{
			"TOML: a replaced entry that is written in another way now", TOML, "m", "env",
			"[m.srv]\ncommand = 'old'\ntimeout = 1.0\nwhen = 1979-05-27\n[m.srv.env]\nA = '1'\n",
			"m = { srv = { command = \"uv\", timeout = 1.0, when = 1979-05-27, env = { A = \"1\", B = \"3\", \"C.d\" = \"\" } } }\nz = 1\n",
			"m = { srv = { command = \"old\", timeout = 1.0, when = 1979-05-27, env = { A = \"1\" } } }\nz = 1\n",
		},
		{
			"TOML: an added table, and one behind it", TOML, "m", "local",
			"a = 1\n",
			"a = 1\n\n[m.srv]\ncommand = \"uv\"\nargs = [\"run\", \"x\"]\n\n# about z\n[z]\nb = 2\n",
			"a = 1\n\n# about z\n[z]\nb = 2\n",
		},
		{
			"TOML: an added table that was given a sub-table", TOML, "m", "local",
			"a = 1\n",
			"a = 1\n\n[m.srv]\ncommand = \"uv\"\n\n[z]\n\n[m.srv.tools.x]\ny = 1\n\n[last]\n",
			"a = 1\n\n[z]\n\n[last]\n",
		},
		{
			"TOML: a removed sub-table comes back", TOML, "m", "local",
			"[m.srv]\nurl = 'u'\n\n[m.srv.headers] # h\nA = 'b' # c\n\n[z]\n",
			"[m.srv]\ncommand = \"uv\"\nargs = [\"run\", \"x\"]\n\n[z]\nnew = 1\n",
			"[m.srv]\nurl = 'u'\n\n[m.srv.headers] # h\nA = 'b' # c\n\n[z]\nnew = 1\n",
		},
		{
			"TOML: a replaced entry that somebody removed", TOML, "m", "local",
			"[m.srv]\ncommand = 'old' # c\n[m.srv.env]\nA = '1'\n", "[z]\nx = 1\n",
			"[z]\nx = 1\n\n[m.srv]\ncommand = 'old' # c\n\n[m.srv.env]\nA = '1'\n",
		},
		{
			"TOML: dotted keys that somebody removed come back as a table", TOML, "m", "env",
			"[m]\nsrv.command = 'old'\nsrv.when = 07:32:00\nsrv.list = [[1, 2.0], [{ a = true }]]\nsrv.x.\"y z\" = nan\n", "[z]\nx = 1\n",
			"[z]\nx = 1\n\n[m.srv]\ncommand = \"old\"\nlist = [[1, 2.0], [{ a = true }]]\nwhen = 07:32:00\nx = { \"y z\" = nan }\n",
		},
		{
			"TOML: a field that became a table, and new ones", TOML, "m", "local",
			"m.srv = { command = 'old', cwd = { a = 1 } }\n",
			"[m.srv]\nargs = []\ncwd = 5\n\n[m.srv.command]\nx = 1\n\n[m.srv.tools]\n\n[z]\n",
			"[m.srv]\ncwd = { a = 1 }\ncommand = \"old\"\n\n[z]\n",
		},
		{
			"TOML: an added entry in an inline map", TOML, "m", "local",
			"m = { a = 1 }\n", "m = { srv = { command = \"uv\" }, a = 1, b = 2 }\n", "m = { a = 1, b = 2 }\n",
		},
		{
			"TOML: an entry that is no table any more", TOML, "m", "local",
			"[m.srv]\ncommand = 'old'\n", "[m]\nsrv = 'off'\na = 1\n", "[m]\na = 1\n\n[m.srv]\ncommand = 'old'\n",
		},
		{
			"TOML: a header that was made above a sub-table", TOML, "m", "local",
			"a = 1\n\n[m.srv.env]\nA = '1'\n",
			"a = 2\n\n[m.srv]\ncommand = \"uv\"\nargs = [\"run\", \"x\"]\n\n[m.srv.env]\nA = '1'\n",
			"a = 2\n\n[m.srv.env]\nA = '1'\n",
		},
		{
			"TOML: dotted keys", TOML, "m", "local",
			"m.srv.url = 'u'\nm.a.b = 1\n",
			"m.a.b = 1\nm.srv.command = \"uv\"\nm.srv.args = [\"run\", \"x\"]\n[z]\n",
			"m.a.b = 1\nm.srv.url = \"u\"\n[z]\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			container := strings.Split(c.container, ",")
			e := set(t, c.kind, c.before, container, "srv", changes[c.change])
			back := revert(t, c.kind, c.later, container, "srv", e.Undo)
			if diff := cmp.Diff(c.want, string(back.Out)); diff != "" {
				t.Errorf("(-want +got):\n%s\nundo: %+v", diff, e.Undo)
			}
			if back.Changed() == (c.later == string(back.Out)) {
				t.Errorf("Changed() is %v", back.Changed())
			}
			if !bytes.Equal(splicedBack([]byte(c.later), back), []byte(c.later)) {
				t.Errorf("the range does not lead back")
			}
		})
	}
}

func set(t *testing.T, kind Kind, text string, container []string, name string, c Change) Edit {
	t.Helper()
	d, err := Parse(kind, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	e, err := d.Set(container, name, c)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func revert(t *testing.T, kind Kind, text string, container []string, name string, u Undo) Edit {
	t.Helper()
	d, err := Parse(kind, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	e, err := d.Revert(container, name, u)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

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
			e := set(t, kind, out, container, name, changes["local"])
			out, undos = string(e.Out), append(undos, e.Undo)
		}
		for _, order := range [][]int{{2, 1, 0}, {0, 1, 2}, {1, 2, 0}, {0, 2, 1}, {1, 0, 2}, {2, 0, 1}} {
			back := out
			undos := slices.Clone(undos)
			for _, i := range order {
				e := revert(t, kind, back, container, names[i], undos[i])
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
			e := set(t, c.kind, text, strings.Split(x.container, ","), x.name, changes["claude"])
			text, undos[i] = string(e.Out), e.Undo
		}
		for _, order := range orders(len(c.entries)) {
			undos, back := slices.Clone(undos), text
			for _, i := range order {
				container := strings.Split(c.entries[i].container, ",")
				e := revert(t, c.kind, back, container, c.entries[i].name, undos[i])
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
		d, err := Parse(c.kind, []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		if e, err := d.Revert([]string{"m"}, "srv", c.u); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s, %+v: %v, want an error that says %q\n%s", c.text, c.u, err, c.says, e.Out)
		}
	}
}
