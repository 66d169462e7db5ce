package commit

import (
	"errors"
	"strings"
	"testing"

	"tmuxmcp/internal/test/cases"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/format"
	"tmuxmcp/swap/internal/configs"
	"tmuxmcp/swap/journal"
)

// An entry that was edited since its swap, in every spelling: what the swap wrote is undone, what
// the edit changed stays, and nothing else moves. If both have changed a field, the entry is left
// alone without force, and the message shows the three values.
func TestMerge(t *testing.T) {
	for _, c := range cases.Load(t, "testdata/merge.txtar", "client", "conflicts", "says", "edits", "landed") {
		t.Run(c.Name, func(t *testing.T) {
			client := clients.Lookup(c.One("client"))
			container := client.Scopes[clients.ScopeUser][0]
			read := func(text string) *configs.Document {
				t.Helper()
				d := &configs.Document{Client: client, Path: "config", Text: []byte(text)}
				if err := d.Parse(configs.Env{}); err != nil {
					t.Fatal(err)
				}
				return d
			}
			value := func(text string) map[string]any {
				t.Helper()
				e, err := read(text).Doc.Lookup(container, "s")
				if err != nil || !e.Found {
					t.Fatalf("%s: %v", text, err)
				}
				return e.Value
			}
			rec := &journal.Record{
				Action: journal.Added, Container: container, Server: "s",
				Writes: []journal.Write{{Value: value(c.Texts["wrote"])}},
			}
			if again, ok := c.Texts["wrote again"]; ok {
				rec.Writes = append(rec.Writes, journal.Write{Value: value(again)})
			}
			if was, ok := c.Texts["was"]; ok {
				d := read(was)
				e, err := d.Doc.Lookup(container, "s")
				if err != nil {
					t.Fatal(err)
				}
				rec.Action, rec.Old = journal.Replaced, e.Value
				if len(rec.Old) == 0 {
					rec.Old = nil // as the journal keeps it
				}
				rec.Undo = format.Undo{Existed: true, Before: was[e.Start:e.End]}
			}
			d := read(c.Texts["now"])
			e, err := d.Doc.Lookup(container, "s")
			if err != nil {
				t.Fatal(err)
			}
			v := judge(rec, d, e)
			if landed := c.One("landed") != ""; landed != (v.Landed != nil) || landed == v.Edited() {
				t.Fatalf("as the swap wrote it: %v, edited: %v", v.Landed, v.Edited())
			}
			var conflicts []string
			if v.Edited() {
				for _, f := range v.merge().conflicts {
					conflicts = append(conflicts, strings.Join(f.path, "."))
				}
				if got := v.Edits(); got != c.One("edits") {
					t.Errorf("edits: %q, want %q", got, c.One("edits"))
				}
			}
			if got := strings.Join(conflicts, " "); got != c.One("conflicts") {
				t.Errorf("conflicts in %q, want %q", got, c.One("conflicts"))
			}
			text, _, err := v.undo(d, false)
			if len(conflicts) == 0 {
				if err != nil || string(text) != c.Texts["reverted"] {
					t.Errorf("got\n%s\nwant\n%s\n%v", text, c.Texts["reverted"], err)
				}
				return
			}
			if !errors.Is(err, errEdited) || !strings.Contains(strings.ReplaceAll(err.Error(), "\n    ", "; "), c.One("says")) || c.One("says") == "" {
				t.Errorf("without force: %v", err)
			}
			if text, _, err = v.undo(d, true); err != nil || string(text) != c.Texts["reverted"] {
				t.Errorf("with force: got\n%s\nwant\n%s\n%v", text, c.Texts["reverted"], err)
			}
		})
	}
}

// What an entry runs of a swap: its command or address or, if that was not swapped, all the
// variables that were set.
func TestHolds(t *testing.T) {
	type entry = map[string]any
	cursor := func(command string, env ...string) entry {
		vars := entry{}
		for i := 0; i < len(env); i += 2 {
			vars[env[i]] = env[i+1]
		}
		return entry{"command": command, "env": vars}
	}
	url := entry{"url": "http://127.0.0.1:1/mcp"}
	for _, c := range []struct {
		name            string
		was, wrote, now entry
		want            bool
	}{
		{"as written", cursor("a"), cursor("b"), cursor("b"), true},
		{"with an edit", cursor("a"), cursor("b"), entry{"command": "b", "trust": true}, true},
		{"as before", cursor("a"), cursor("b"), cursor("a"), false},
		{"another command", cursor("a"), cursor("b"), cursor("c"), false},
		{"other arguments", cursor("a"), cursor("b"), entry{"command": "b", "args": []any{"x"}}, false},
		{"no command", cursor("a"), cursor("b"), entry{"trust": true}, false},
		{"nothing", cursor("a"), cursor("b"), nil, false},
		{"added", nil, cursor("b"), cursor("b"), true},
		{"an address", cursor("a"), url, url, true},
		{"another address", cursor("a"), url, entry{"url": "http://c"}, false},
		{"a variable", cursor("a"), cursor("a", "K", "v"), cursor("a", "K", "v", "U", "u"), true},
		{"a variable of another value", cursor("a"), cursor("a", "K", "v"), cursor("a", "K", "w"), false},
		{"one variable of two", cursor("a"), cursor("a", "K", "v", "L", "w"), cursor("a", "K", "v"), false},
		{"only a variable that was there", cursor("a", "A", "1"), cursor("a", "A", "1", "K", "v"), cursor("a", "A", "1"), false},
		{"a variable beside one that was there", cursor("a", "A", "1"), cursor("a", "A", "1", "K", "v"), cursor("a", "A", "2", "K", "v"), true},
		{"nothing swapped", cursor("a"), cursor("a"), cursor("a"), false},
	} {
		rec := &journal.Record{Client: "cursor", Old: c.was, Writes: []journal.Write{{Value: c.wrote}}}
		if got := holds(rec, c.now); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// What an edited entry still has of a swap. A program that any entry may run is no trace, unless
// the swap wrote nothing else.
func TestTraces(t *testing.T) {
	type entry = map[string]any
	run := func(command string, args ...any) entry { return entry{"command": command, "args": args} }
	for _, c := range []struct {
		name            string
		was, wrote, now entry
		want            bool
	}{
		{"another argument", run("sh"), run("uv", "--directory", "/r", "run", "s"), run("uv", "--directory", "/r", "run", "s", "-v"), true},
		{"another program", run("sh"), run("uv", "--directory", "/r", "run", "s"), run("cat", "--directory", "/r", "run", "s"), true},
		{"another checkout", run("sh"), run("uv", "--directory", "/r", "run", "s"), run("uv", "--directory", "/other", "run", "s"), false},
		{"all arguments, without a path", run("sh"), run("go", "run", "x"), run("cat", "run", "x"), true},
		{"the arguments from before", run("sh", "run", "x"), run("go", "run", "x"), run("cat", "run", "x"), false},
		{"a program without a path", run("sh"), run("good-mcp"), run("good-mcp", "-v"), true},
		{"the program from before", run("sh"), run("sh", "x"), run("sh", "y"), false},
		{"a path", run("sh"), run("/r/s"), run("/r/s", "-v"), true},
		{"a path from before", run("/r/s"), run("/r/s", "-v"), run("/r/s", "-w"), false},
		{"an address", run("sh"), entry{"url": "http://a/mcp"}, entry{"url": "http://a/mcp", "x": 1}, true},
		{"another address", run("sh"), entry{"url": "http://a/mcp"}, entry{"url": "http://b/mcp"}, false},
		{"a variable", run("sh"), entry{"command": "/r/s", "env": entry{"K": "v"}}, entry{"command": "cat", "env": entry{"K": "v"}}, true},
		{"another value", run("sh"), entry{"command": "/r/s", "env": entry{"K": "v"}}, entry{"command": "cat", "env": entry{"K": "w"}}, false},
		{"nothing", run("sh"), run("/r/s"), nil, false},
	} {
		rec := &journal.Record{Client: "cursor", Old: c.was, Writes: []journal.Write{{Value: c.wrote}}}
		if got := traces(rec, c.now); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
