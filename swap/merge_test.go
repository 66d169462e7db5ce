package swap

import (
	"errors"
	"strings"
	"testing"

	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/format"
	"tmuxmcp/swap/journal"
)

// An entry that was edited since its swap, in every spelling: what the swap changed
// goes, what the edit changed stays, and nothing else moves.
func TestUnswapFields(t *testing.T) {
	for name, c := range map[string]struct {
		client               string
		was, wrote, now, out string
		conflicts            string
	}{
		"inline env": {"codex",
			"[mcp_servers]\ns = { command = \"a\", env = { A = \"1\" } }\n",
			"[mcp_servers]\ns = { command = \"b\", env = { A = \"1\", K = \"v\" } }\n",
			"# top\n[mcp_servers]\ns = { command = \"b\", env = { A = \"1\", K = \"v\", U = \"u\" }, n = 1 }\n",
			"# top\n[mcp_servers]\ns = { command = \"a\", env = { A = \"1\", U = \"u\" }, n = 1 }\n", ""},
		"dotted env": {"codex",
			"mcp_servers.s.command = \"a\"\n",
			"mcp_servers.s.command = \"b\"\nmcp_servers.s.env.K = \"v\"\n",
			"mcp_servers.s.command = \"b\"\nmcp_servers.s.env.K = \"v\"\nmcp_servers.s.n = 1\n",
			"mcp_servers.s.command = \"a\"\nmcp_servers.s.n = 1\n", ""},
		"remote": {"cursor",
			`{"mcpServers":{"s":{"url":"u","headers":{"B":"2","A":"1"}}}}`,
			`{"mcpServers":{"s":{"command":"b","args":[]}}}`,
			`{"mcpServers":{"s":{"command":"b","args":[],"n":1.0}}}`,
			`{"mcpServers":{"s":{"n":1.0,"headers":{"A":"1","B":"2"},"url":"u"}}}`, ""},
		"edit put back by hand": {"cursor",
			`{"mcpServers":{"s":{"command":"a","args":["x"]}}}`,
			`{"mcpServers":{"s":{"command":"b","args":["y"]}}}`,
			`{"mcpServers":{"s":{"command":"a","args":["y"]}}}`,
			`{"mcpServers":{"s":{"command":"a","args":["x"]}}}`, ""},
		"variable changed by both": {"cursor",
			`{"mcpServers":{"s":{"command":"a","env":{"K":"1"}}}}`,
			`{"mcpServers":{"s":{"command":"b","env":{"K":"2"}}}}`,
			`{"mcpServers":{"s":{"command":"b","env":{"K":"3"},"n":1}}}`,
			`{"mcpServers":{"s":{"command":"a","env":{"K":"1"},"n":1}}}`, "env.K"},
		"field removed": {"cursor",
			`{"mcpServers":{"s":{"command":"a","args":["x"]}}}`,
			`{"mcpServers":{"s":{"command":"b","args":["y"]}}}`,
			`{"mcpServers":{"s":{"command":"b"}}}`,
			`{"mcpServers":{"s":{"command":"a","args":["x"]}}}`, "args"},
	} {
		t.Run(name, func(t *testing.T) {
			client := clients.Lookup(c.client)
			container := client.Scopes[clients.ScopeUser][0]
			read := func(text string) *document {
				t.Helper()
				d := &document{client: client, config: "config", text: []byte(text)}
				if err := d.parse(); err != nil {
					t.Fatal(err)
				}
				return d
			}
			value := func(text string) map[string]any {
				t.Helper()
				e, err := read(text).doc.Lookup(container, "s")
				if err != nil || !e.Found {
					t.Fatalf("%s: %v", text, err)
				}
				return e.Value
			}
			rec := &journal.Record{
				Action: Replaced, Container: container, Server: "s", Old: value(c.was),
				Undo:   format.Undo{Existed: true},
				Writes: []journal.Write{{Value: value(c.wrote)}},
			}
			d := read(c.now)
			e, err := d.doc.Lookup(container, "s")
			if err != nil {
				t.Fatal(err)
			}
			v := judge(rec, d, e)
			if !v.mergeable() {
				t.Fatalf("not taken for an edited entry: %+v", v)
			}
			if _, _, err = v.undo(d, false); !errors.Is(err, errEdited) {
				t.Errorf("without force: %v", err)
			}
			if got := strings.Join(v.merge().conflicts, " "); got != c.conflicts {
				t.Errorf("conflicts in %q, want %q", got, c.conflicts)
			}
			text, _, err := v.undo(d, true)
			if err != nil || string(text) != c.out {
				t.Errorf("got\n%s\nwant\n%s\n%v", text, c.out, err)
			}
		})
	}
}
