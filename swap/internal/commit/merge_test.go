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

// An entry that was edited since its swap, in every spelling: what the swap changed is
// undone, what the edit changed stays, and nothing else moves.
func TestUnswapFields(t *testing.T) {
	for _, c := range cases.Load(t, "testdata/merge.txtar", "client", "conflicts") {
		t.Run(c.Name, func(t *testing.T) {
			client := clients.Lookup(c.One("client"))
			container := client.Scopes[clients.ScopeUser][0]
			read := func(text string) *configs.Document {
				t.Helper()
				d := &configs.Document{Client: client, Path: "config", Text: []byte(text)}
				if err := d.Parse(); err != nil {
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
				Action: journal.Replaced, Container: container, Server: "s", Old: value(c.Texts["was"]),
				Undo:   format.Undo{Existed: true},
				Writes: []journal.Write{{Value: value(c.Texts["wrote"])}},
			}
			d := read(c.Texts["now"])
			e, err := d.Doc.Lookup(container, "s")
			if err != nil {
				t.Fatal(err)
			}
			v := compare(rec, d, e)
			if !v.Mergeable() {
				t.Fatalf("not taken for an edited entry: %+v", v)
			}
			if _, _, err = v.undo(d, false); !errors.Is(err, errEdited) {
				t.Errorf("without force: %v", err)
			}
			if got := strings.Join(v.merge().conflicts, " "); got != c.One("conflicts") {
				t.Errorf("conflicts in %q, want %q", got, c.One("conflicts"))
			}
			text, _, err := v.undo(d, true)
			if err != nil || string(text) != c.Texts["reverted"] {
				t.Errorf("got\n%s\nwant\n%s\n%v", text, c.Texts["reverted"], err)
			}
		})
	}
}
