package commit

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/format"
	"tmuxmcp/swap/internal/configs"
	"tmuxmcp/swap/journal"
)

// A merge undoes a swap in an entry that was edited since: a field that the swap wrote gets its old
// value back, and edits of other fields stay. An entry that the swap added is removed.
type merge struct {
	gone      bool          // the entry is removed
	set       format.Object // fields to restore
	remove    []string      // fields that the swap added
	members   [][]string    // members of such fields, as paths from the entry
	conflicts []conflict    // fields that the swap wrote and that were edited; they are in the above too
}

// A conflict is a field with three values; nil is none.
type conflict struct {
	path            []string
	was, wrote, now any
}

// newMerge merges three versions of an entry: before the swap (nil if there was none), as written,
// newest first, and now. There are two writes if the entry was swapped again; a field that is as
// one of them left it was not edited. How a client's own save spells a field is no edit either.
func newMerge(c *clients.Client, was map[string]any, writes []map[string]any, now map[string]any) merge {
	m := merge{gone: was == nil}
	if m.gone {
		m.conflicts = changedCommand(c, writes, now)
	} else {
		m.set = m.fields(c, nil, was, writes, now)
	}
	return m
}

// changedCommand returns the edited fields of an added entry that determine what it runs. An edit of
// any other field does not keep the entry from being removed.
func changedCommand(c *clients.Client, writes []map[string]any, now map[string]any) (out []conflict) {
	is := c.Dialect.Flat(now)
	for _, name := range append([]string{"command", "args", "env"}, clients.AddressFields()...) {
		same := func(w map[string]any) bool {
			return c.Dialect.SameField(name, c.Dialect.Flat(w)[name], is[name])
		}
		if !slices.ContainsFunc(writes, same) {
			out = append(out, conflict{path: []string{name}, wrote: c.Dialect.Flat(writes[0])[name], now: is[name]})
		}
	}
	return out
}

// fields returns the fields to set on one level, and adds the rest to the merge.
func (m *merge) fields(c *clients.Client, path []string, was map[string]any, writes []map[string]any, now map[string]any) format.Object {
	var set format.Object
	same := func(name string, a, b any) bool {
		if len(path) == 0 {
			return c.Dialect.SameField(name, a, b)
		}
		return format.Equal(a, b)
	}
	all := was
	for _, w := range writes {
		all = format.Merge(all, w)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		at := append(slices.Clone(path), name)
		old, wasThere := was[name]
		value, stays := now[name]
		swap := swapOfField(name, was, writes, func(wrote any) bool { return same(name, wrote, value) })
		if !swap.changed {
			continue
		}
		untouched := swap.untouched
		oldMap, oldOK := old.(map[string]any)
		valueMap, nowOK := value.(map[string]any)
		if swap.objects && (nowOK || !stays) && (oldOK || !wasThere && !untouched) {
			var in merge
			more := in.fields(c, at, oldMap, swap.members, valueMap)
			m.conflicts = append(m.conflicts, in.conflicts...)
			if len(more) > 0 {
				set = append(set, format.Field{Name: name, Value: more})
			}
			if wasThere || len(in.members) < len(valueMap) {
				m.members = append(m.members, in.members...)
				continue
			}
			untouched = true // nothing would be left in it
		}
		if !untouched && !same(name, old, value) {
			m.conflicts = append(m.conflicts, conflict{at, old, writes[0][name], value})
		}
		switch {
		case wasThere:
			set = append(set, format.Field{Name: name, Value: writable(old)})
		case stays && len(at) == 1:
			m.remove = append(m.remove, name)
		case stays:
			m.members = append(m.members, at)
		}
	}
	return set
}

// A fieldSwap is what the writes of a swap did to a field.
type fieldSwap struct {
	changed   bool             // one of them changed it
	untouched bool             // it is as one of them left it
	objects   bool             // each left an object, or left out what was not there before
	members   []map[string]any // of the objects
}

// swapOfField compares a field before a swap with the writes; isNow reports whether a value that was
// written is the one that the field has now.
func swapOfField(name string, was map[string]any, writes []map[string]any, isNow func(wrote any) bool) fieldSwap {
	old, wasThere := was[name]
	f := fieldSwap{objects: true}
	for _, w := range writes {
		wrote, isThere := w[name]
		members, ok := wrote.(map[string]any)
		f.changed = f.changed || wasThere != isThere || !format.Equal(old, wrote)
		f.untouched = f.untouched || isNow(wrote)
		f.objects = f.objects && (ok || !isThere && !wasThere)
		f.members = append(f.members, members)
	}
	return f
}

// writable returns data as package format writes it, with the members of objects sorted.
func writable(v any) any {
	switch v := v.(type) {
	case map[string]any:
		o := format.Object{}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			o = append(o, format.Field{Name: name, Value: writable(v[name])})
		}
		return o
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = writable(x)
		}
		return out
	}
	return v
}

// apply makes the edit in an entry.
func (m merge) apply(e editing) ([]byte, error) {
	e.become(m.set, m.remove)
	entry := append(slices.Clone(e.container), e.server)
	for _, at := range m.members {
		last := len(at) - 1
		if e.client.Kind == format.YAML { // which can edit in one container only
			value, _ := e.value()[at[0]].(map[string]any)
			value = maps.Clone(value)
			delete(value, at[last])
			e.become(nil, at[:1])
			e.become(format.Object{{Name: at[0], Value: writable(value)}}, nil)
			continue
		}
		e.do(func(doc *format.Doc) (format.Edit, error) {
			return doc.Revert(slices.Concat(entry, at[:last]), at[last], format.Undo{})
		})
	}
	return e.text, e.err
}

// An editing edits an entry in several steps.
type editing struct {
	client    *clients.Client
	container []string
	server    string
	text      []byte
	err       error
}

func (e *editing) do(edit func(*format.Doc) (format.Edit, error)) {
	if e.err != nil {
		return
	}
	doc, err := e.client.Parse(e.text)
	if err == nil {
		var done format.Edit
		if done, err = edit(doc); err == nil {
			e.text = done.Out
		}
	}
	e.err = err
}

func (e *editing) value() (value map[string]any) {
	e.do(func(doc *format.Doc) (format.Edit, error) {
		found, err := doc.Lookup(e.container, e.server)
		value = found.Value
		return format.Edit{Out: e.text}, err
	})
	return value
}

// become sets and removes fields. A text or a list that becomes an object, or the other way
// round, is removed first.
func (e *editing) become(set format.Object, remove []string) {
	now := e.value()
	var first []string
	for _, f := range set {
		_, object := f.Value.(format.Object)
		if _, is := now[f.Name].(map[string]any); now[f.Name] != nil && is != object {
			first = append(first, f.Name)
		}
	}
	for _, c := range []format.Change{{Remove: first}, {Set: set, Remove: remove}} {
		if len(c.Set)+len(c.Remove) > 0 {
			e.do(func(doc *format.Doc) (format.Edit, error) { return doc.Set(e.container, e.server, c) })
		}
	}
}

// unnested returns the entry with the members of its inner object as its own fields, if its client
// moved what the swap wrote into that object.
func (v Verdict) unnested() (now map[string]any, is bool) {
	d := v.client.Dialect
	_, nested := v.Now[d.Inner].(map[string]any)
	_, wrote := v.rec.Writes[len(v.rec.Writes)-1].Value[d.Inner].(map[string]any)
	if !nested || wrote {
		return v.Now, false
	}
	now = maps.Clone(d.Flat(v.Now))
	if _, typed := v.Now["type"]; !typed {
		delete(now, "type")
	}
	return now, true
}

// unnest edits the entry accordingly.
func (v Verdict) unnest(e *editing) {
	flat, is := v.unnested()
	if !is {
		return
	}
	var set format.Object
	for _, name := range slices.Sorted(maps.Keys(flat)) {
		if !format.Equal(flat[name], v.Now[name]) {
			set = append(set, format.Field{Name: name, Value: writable(flat[name])})
		}
	}
	remove := []string{v.client.Dialect.Inner}
	if flat[remove[0]] != nil {
		remove = nil
	}
	e.become(set, remove)
}

func (v Verdict) merge() merge {
	var writes []map[string]any
	for _, w := range slices.Backward(v.rec.Writes) {
		writes = append(writes, w.Value)
	}
	now, _ := v.unnested()
	return newMerge(v.client, old(v.rec), writes, now)
}

// old returns a record's entry before the swap; nil if there was none.
func old(r *journal.Record) map[string]any {
	if r.Old == nil && r.Action == journal.Replaced {
		return map[string]any{}
	}
	return r.Old
}

// Conflicts reports whether revert leaves an edited entry as it is.
func (v Verdict) Conflicts() bool { return len(v.merge().conflicts) > 0 }

// conflict returns an error: why an edited entry is left alone, with a line for each value of the
// fields that stop it: before the swap, as written by it, and now.
func (v Verdict) conflict(path string, conflicts []conflict) error {
	if v.Now == nil {
		return fmt.Errorf("%s: %w; %s", path, errEdited, ForceEdited)
	}
	var fields []string
	for _, c := range conflicts {
		fields = append(fields, strings.Join(c.path, "."))
	}
	edits, both := v.Edits(), strings.Join(fields, ", ")
	text := []string{edits}
	gone := old(v.rec) == nil
	switch {
	case gone:
		text = append(text, "there was none before the swap, so reverting removes it")
	case edits != both+" was changed":
		text = append(text, "the swap and the edit both changed "+both)
	}
	add := func(name string, values [3]string) {
		for i, when := range []string{"before", "swapped to", "now"} {
			if i > 0 || !gone {
				text = append(text, name+when+": "+values[i])
			}
		}
	}
	d := v.client.Dialect
	entries := []map[string]any{old(v.rec), v.rec.Writes[len(v.rec.Writes)-1].Value, v.Now}
	var lines [3]string
	for i, entry := range entries {
		lines[i] = ask.CommandLine(ask.ShowArgs(d.Runs(entry)))
	}
	if lines[1] != lines[2] {
		add("", lines)
	}
	for _, c := range conflicts {
		if !v.client.Dialect.OfCommand(c.path[0]) || lines[1] == lines[2] {
			add(strings.Join(c.path, ".")+" ", [3]string{shown(c.path, c.was), shown(c.path, c.wrote), shown(c.path, c.now)})
		}
	}
	return fmt.Errorf("%s: %w; %s\n    %s", path, errEdited, ForceEdited, strings.Join(text, "\n    "))
}

// shown returns the value of a field as messages show it. Members of objects may be secrets.
func shown(path []string, value any) string {
	text, _ := value.(string)
	_, object := value.(map[string]any)
	switch {
	case value == nil:
		return "none"
	case len(path) > 1 || object:
		return format.Masked
	case text != "":
		return ask.ShowArgs([]string{"--" + path[0], text})[1]
	}
	if list, ok := value.([]any); ok {
		words := make([]string, len(list))
		for i, x := range list {
			text, ok := x.(string)
			if !ok {
				return format.Masked
			}
			words[i] = text
		}
		return ask.CommandLine(ask.ShowArgs(words))
	}
	out, err := json.Marshal(value)
	if err != nil {
		return format.Masked
	}
	return string(out)
}

// Edits names the fields of an entry that were edited since the newest write.
func (v Verdict) Edits() string {
	d := v.client.Dialect
	wrote, now := d.Settled(v.rec.Writes[len(v.rec.Writes)-1].Value), d.Settled(v.Now)
	var out []string
	for _, name := range configs.Differing(wrote, now) {
		what := "changed"
		if wrote[name] == nil {
			what = "added"
		} else if now[name] == nil {
			what = "removed"
		}
		out = append(out, name+" was "+what)
	}
	return strings.Join(out, ", ")
}
