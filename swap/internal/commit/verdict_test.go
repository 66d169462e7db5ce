package commit

import (
	"errors"
	"testing"

	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/format"
	"tmuxmcp/swap/internal/configs"
	"tmuxmcp/swap/journal"
)

// What has become of an entry, by the bytes of its file or else by its data, and what undoing
// makes of each: the edit of a user is never overwritten without force.
func TestVerdict(t *testing.T) {
	t.Parallel()
	const (
		none   = `{"mcpServers": {}}`
		was    = `{"mcpServers": {"s": {"command": "old"}}}`
		wrote  = `{"mcpServers": {"s": {"command": "new"}}}`
		again  = `{"mcpServers": {"s": {"command": "newer"}}}`
		edited = `{"mcpServers": {"s": {"command": "other"}}}`
	)
	more := func(text string) string { return `{"a": 1, ` + text[1:] } // that of another program
	client := clients.Lookup("cursor")
	read := func(text string) *configs.Document {
		d := &configs.Document{Client: client, Path: "config", Text: []byte(text)}
		if err := d.Parse(configs.Env{}); err != nil {
			t.Fatal(err)
		}
		return d
	}
	container := client.Scopes[clients.ScopeUser][0]
	value := func(text string) map[string]any {
		return lookup(t, read(text), container).Value
	}
	how := map[became]string{
		fileWritten: "exact bytes", fileBefore: "already restored", entryBefore: "already restored",
		entryWritten: "the entry only: the file has changed since",
	}
	for _, c := range []struct {
		name   string
		before string
		writes []string
		now    string
		became became
		landed int    // the number of the write; 0: none
		undone string // "": it is left alone
	}{
		{"as written", was, []string{wrote}, wrote, fileWritten, 1, was},
		{"as written twice", was, []string{wrote, again}, again, fileWritten, 2, was},
		{"as the first of two writes left it", was, []string{wrote, again}, wrote, fileWritten, 1, was},
		{"as added", none, []string{wrote}, wrote, fileWritten, 1, none},
		{"never written", was, []string{wrote}, was, fileBefore, 0, was},
		{"not yet added", none, []string{wrote}, none, fileBefore, 0, none},
		{"written, beside a change", was, []string{wrote}, more(wrote), entryWritten, 1, more(was)},
		{"written twice, beside a change", was, []string{wrote, again}, more(again), entryWritten, 2, more(was)},
		{"the first write, beside a change", was, []string{wrote, again}, more(wrote), entryWritten, 1, more(was)},
		{"the same written twice, beside a change", was, []string{wrote, wrote}, more(wrote), entryWritten, 2, more(was)},
		{"added, beside a change", none, []string{wrote}, more(wrote), entryWritten, 1, more(none)},
		{"put back, beside a change", was, []string{wrote}, more(was), entryBefore, 0, more(was)},
		{"removed as before, beside a change", none, []string{wrote}, more(none), entryBefore, 0, more(none)},
		{"edited", was, []string{wrote}, edited, entryEdited, 0, ""},
		{"edited after it was added", none, []string{wrote}, edited, entryEdited, 0, ""},
		{"removed", was, []string{wrote}, none, entryRemoved, 0, ""},
	} {
		rec := &journal.Record{Action: journal.Added, Container: container, Server: "s", Before: journal.Hash([]byte(c.before))}
		if rec.Old = value(c.before); rec.Old != nil {
			rec.Action = journal.Replaced
		}
		from := read(c.before)
		e, err := from.Doc.Set(container, "s", client.Change([]string{"new"}, nil, lookup(t, from, container), nil))
		if err != nil {
			t.Fatal(err)
		}
		rec.Undo = e.Undo
		for _, w := range c.writes {
			rec.Writes = append(rec.Writes, journal.NewWrite([]byte(c.before), []byte(w), value(w)))
		}
		d := read(c.now)
		v := judge(rec, d, lookup(t, d, container))
		landed := 0
		for i := range rec.Writes {
			if v.Landed == &rec.Writes[i] {
				landed = i + 1
			}
		}
		if v.became != c.became || landed != c.landed {
			t.Errorf("%s: became %d by write %d, want %d by %d", c.name, v.became, landed, c.became, c.landed)
		}
		text, by, err := v.undo(d, false)
		if string(text) != c.undone || by != how[v.became] || (err != nil) != (c.undone == "") || err != nil && !errors.Is(err, errEdited) {
			t.Errorf("%s: undone, %s\n%s\nwant\n%s\n%v", c.name, by, text, c.undone, err)
		}
		if text, _, err := v.undo(d, true); err != nil || c.undone != "" && string(text) != c.undone {
			t.Errorf("%s: undone with force\n%s\nwant\n%s\n%v", c.name, text, c.undone, err)
		}
	}
}

func lookup(t *testing.T, d *configs.Document, container []string) format.Entry {
	t.Helper()
	e, err := d.Doc.Lookup(container, "s")
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// A file that has the hash of a write, but of which the write cannot be undone, is judged by its
// entry.
func TestVerdictOfForgedWrite(t *testing.T) {
	t.Parallel()
	client := clients.Lookup("cursor")
	container := client.Scopes[clients.ScopeUser][0]
	d := &configs.Document{Client: client, Path: "config", Text: []byte(`{"mcpServers": {"s": {"command": "new"}}}`)}
	if err := d.Parse(configs.Env{}); err != nil {
		t.Fatal(err)
	}
	e := lookup(t, d, container)
	w := journal.NewWrite([]byte(`{}`), d.Text, e.Value)
	w.Was = []byte("x")
	v := judge(&journal.Record{Action: journal.Added, Container: container, Server: "s", Writes: []journal.Write{w}}, d, e)
	if v.became != entryWritten || v.whole() {
		t.Errorf("became %d", v.became)
	}
}

// How a swap was undone, of one file and of two.
func TestDescribe(t *testing.T) {
	t.Parallel()
	r := &journal.Record{Config: "/link", Target: "/real"}
	for want, paths := range map[string][]string{
		"how":                                   {"/link"},
		"in /real, which was swapped: how":      {"/real"},
		"in /moved: how":                        {"/moved"},
		"how; in /real, which was swapped: how": {"/link", "/real"},
		"in /moved: how; in /other: how; how":   {"/moved", "/other", "/link"},
	} {
		var undoings []*undoing
		for _, path := range paths {
			undoings = append(undoings, &undoing{place: &place{doc: &configs.Document{Path: path}}, how: "how"})
		}
		if got := describe(r, undoings); got != want {
			t.Errorf("%s: %q, want %q", paths, got, want)
		}
	}
}
