package format

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// tomlEditor makes changes one after the other, and scans the text again after each. After
// an error it makes no more.
type tomlEditor struct {
	out   []byte
	d     *tomlDoc // of out
	entry []string // the path of the edited entry
	err   error
}

func (d *tomlDoc) edit(entry []string) *tomlEditor {
	return &tomlEditor{out: d.src, d: d, entry: entry}
}

func (t *tomlEditor) do(s splice) {
	if t.err != nil {
		return
	}
	t.out = applied(t.out, s)
	t.d = &tomlDoc{src: t.out, body: t.d.body}
	if err := t.d.scan(); err != nil {
		t.err = fmt.Errorf("%w: %w", errProof, err)
	}
}

// set changes or creates the entry at path.
func (d *tomlDoc) set(path []string, c Change) (Edit, error) {
	if err := d.check(path); err != nil {
		return Edit{}, err
	}
	for _, o := range []Object{c.New, c.Set} {
		if err, bad := tomlData(o).(error); bad {
			return Edit{}, fmt.Errorf("cannot be written in TOML, which has no null: %w", err)
		}
	}
	t := d.edit(path)
	v, found := dig(d.data, path)
	if !found {
		t.add(path, c.New)
		e, err := d.finish(t, path, tomlData(c.New))
		if isBlank(d.src[d.body:]) {
			e.Undo = Undo{Seeded: true, Text: string(d.src[d.body:])}
		}
		return e, err
	}
	if err := checkMerge(d, path, c.Set); err != nil {
		return Edit{}, err
	}
	t.put(path, c.Set, d.data)
	for _, name := range c.Remove {
		t.remove(join(path, name))
	}
	e, err := d.finish(t, path, changed(v.(map[string]any), tomlData(c.Set), c.Remove))
	e.Undo = Undo{Existed: true, Before: d.snapshot(path)}
	return e, err
}

// put sets the value at path, whose table exists; an object is merged into a table. was is
// the data before the edit.
func (t *tomlEditor) put(path []string, v any, was map[string]any) {
	old, found := dig(was, path)
	_, isTable := old.(map[string]any)
	if o, ok := writable(v).(Object); ok && isTable {
		for _, f := range o {
			t.put(join(path, f.Name), f.Value, was)
		}
		return
	}
	if found && same(old, tomlData(v)) {
		return
	}
	if i := t.d.find(path); i >= 0 {
		it := t.d.items[i]
		t.do(splice{it.value, it.end, t.restyle(it, v)})
		return
	}
	t.remove(path)
	t.insert(path, v)
}

// restyle returns a new value for an item, as an array of several lines if the old one is.
func (t *tomlEditor) restyle(it tomlItem, v any) string {
	old := t.out[it.value:it.end]
	list, ok := v.([]string)
	a, isArray := arrayLayoutOf(old)
	if !ok || !isArray || len(list) == 0 {
		return tomlValue(v)
	}
	l := layout{multi: a.multi, arrays: a}
	if !a.multi {
		return tomlIn(l, v, "")
	}
	first := bytes.TrimLeft(old[1:], " \t\r\n")
	l.nl, l.unit = newlineOf(old), lineIndent(old, len(old)-len(first))
	text := tomlIn(l, v, "")
	end := len(text) - len(l.nl) - 1
	closing := l.nl + lineIndent(t.out, it.end-1) + "]"
	if bytes.HasSuffix(bytes.TrimRight(old[:len(old)-1], " \t\r\n"), []byte(",")) {
		closing = "," + closing
	}
	return text[:end] + closing
}

// insert adds a new key to an existing table, in the style in which the table is written.
func (t *tomlEditor) insert(path []string, v any) {
	d, table := t.d, path[:len(path)-1]
	name := tomlKey(path[len(path)-1])
	if i := d.find(table); i >= 0 && d.items[i].table != nil {
		t.do(t.inline(*d.items[i].table, name, v))
		return
	}
	for i, it := range d.items {
		if it.header && !it.array && slices.Equal(it.path, table) {
			t.do(t.line(t.lastUnder(i), "", name, v))
			return
		}
	}
	for i, it := range slices.Backward(d.items) {
		if it.header || !under(it.path, table) || it.base() >= len(table) {
			continue
		}
		prefix := string(t.out[it.start:it.keys[len(table)-it.base()-1].end]) + "."
		if it.parent >= 0 {
			t.do(t.inline(*d.items[it.parent].table, prefix+name, v))
		} else {
			t.do(t.line(i, prefix, name, v))
		}
		return
	}
	for _, it := range d.items {
		if !it.header || !under(it.path, table) {
			continue
		}
		// Only tables below it exist: its own header goes before the first.
		nl, indent := newlineOf(t.out), lineIndent(t.out, it.start)
		at := it.start - len(indent)
		head := "[" + string(t.out[it.keys[0].start:it.keys[len(table)-1].end]) + "]"
		t.do(splice{at, at, indent + head + nl + indent + name + " = " + tomlValue(v) + nl + nl})
		return
	}
	field := Object{{path[len(path)-1], v}}
	if len(table) <= len(t.entry) { // everything in the entry had to be removed
		t.add(table, field)
	} else {
		t.insert(table, field)
	}
}

// lastUnder returns the last key directly under a header, or the header.
func (t *tomlEditor) lastUnder(header int) int {
	last := header
	for i, it := range t.d.items {
		if it.section == header && it.parent < 0 {
			last = i
		}
	}
	return last
}

// line adds a line after that of an item.
func (t *tomlEditor) line(item int, prefix, name string, v any) splice {
	it := t.d.items[item]
	nl, colon := newlineOf(t.out), " = "
	if !it.header {
		colon = string(t.out[it.keys[len(it.keys)-1].end:it.value])
	}
	text := lineIndent(t.out, it.start) + prefix + name + colon + tomlValue(v)
	at := lineEnd(t.out, it.end)
	return splice{at, at, nl + text}
}

// inline adds a member to an inline table.
func (t *tomlEditor) inline(o object, name string, v any) splice {
	l := layoutOf(t.out, o, layout{nl: newlineOf(t.out), unit: "  ", colon: " = ", gap: " ", pad: " "})
	return insert(t.out, o, l, name+l.colon+tomlValue(v))
}

// add creates an entry: in the inline table that contains the others, otherwise as a table
// at the end.
func (t *tomlEditor) add(path []string, entry Object) {
	for n := len(path) - 1; n > 0; n-- {
		if i := t.d.find(path[:n]); i >= 0 && t.d.items[i].table != nil {
			t.do(t.inline(*t.d.items[i].table, tomlKey(path[n]), nest(path, n, entry, nil)))
			return
		}
	}
	nl := newlineOf(t.out)
	text := "[" + tomlPath(path) + "]" + nl
	for _, f := range entry {
		text += tomlKey(f.Name) + " = " + tomlValue(f.Value) + nl
	}
	t.do(t.atEnd(text))
}

// atEnd puts text at the end of the file, preceded by a blank line.
func (t *tomlEditor) atEnd(text string) splice {
	nl, body, end := newlineOf(t.out), t.out[t.d.body:], len(t.out)
	switch {
	case isBlank(body):
		return splice{t.d.body, end, text}
	case body[len(body)-1] != '\n':
		text = nl + nl + text
	case !endsBlank(body):
		text = nl + text
	}
	return splice{end, end, text}
}

// endsBlank reports whether the last line of text, which ends in a newline, is blank.
func endsBlank(text []byte) bool {
	text = bytes.TrimRight(bytes.TrimSuffix(text, []byte("\n")), " \t\r")
	return len(text) == 0 || text[len(text)-1] == '\n'
}

// remove removes everything that the text contains for path.
func (t *tomlEditor) remove(path []string) {
	for _, p := range slices.Backward(t.d.pieces(path)) {
		t.do(t.without(p))
	}
}

// without returns the splice that removes a piece. For a key, its line is removed if no
// comment is left on it. For a header, the lines down to the last key under it are removed,
// and one of the blank lines around them.
func (t *tomlEditor) without(p piece) splice {
	it := t.d.items[p.item]
	if it.parent >= 0 {
		return remove(t.out, *t.d.items[it.parent].table, it.index)
	}
	if !it.header {
		a, b := cut(t.out, p.start, p.end, object{end: -1})
		return splice{a, b, ""}
	}
	start := p.start - len(lineIndent(t.out, p.start))
	end := nextLine(t.out, p.end)
	next := nextLine(t.out, end)
	before := t.out[t.d.body:start]
	switch {
	case !isBlank(t.out[end:next]):
	case len(before) == 0:
		end = next
	case endsBlank(before):
		start = max(bytes.LastIndexByte(t.out[:start-1], '\n')+1, t.d.body)
	}
	return splice{start, end, ""}
}

// snapshot returns the entry at path as a separate text: its keys with their whole path,
// followed by its headers with everything under them.
func (d *tomlDoc) snapshot(path []string) string {
	var keys, sections strings.Builder
	for _, p := range d.pieces(path) {
		it := d.items[p.item]
		if text := d.src[p.value:p.end]; it.header {
			fmt.Fprintf(&sections, "%s\n", text)
		} else {
			fmt.Fprintf(&keys, "%s = %s\n", tomlPath(it.path), text)
		}
	}
	return keys.String() + sections.String()
}

// revert undoes an edit of the entry at path.
func (d *tomlDoc) revert(path []string, u Undo) (Edit, error) {
	if err := d.check(path[:len(path)-1]); err != nil {
		return Edit{}, err
	}
	t := d.edit(path)
	if !u.Existed {
		t.remove(path)
		if u.Seeded && !bytes.Equal(t.out, d.src) && isBlank(t.out[d.body:]) {
			t.do(splice{d.body, len(t.out), u.Text})
		}
		e, err := d.finish(t, path, nil)
		if err == nil && u.Seeded && !isBlank(e.Out[d.body:]) {
			e.Undo = u
		}
		return e, err
	}
	old, err := parseTOML([]byte(u.Before), 0)
	if err != nil {
		return Edit{}, fmt.Errorf("the entry's old text: %w", err)
	}
	v, _ := dig(old.data, path)
	want, ok := v.(map[string]any)
	if !ok {
		return Edit{}, fmt.Errorf("the entry's old text does not hold the entry")
	}
	t.restorePieces(path, old)
	e, err := d.finish(t, path, want)
	if err != nil { // the entry is written in another way now
		t = d.edit(path)
		t.restoreValues(path, want, d.data)
		e, err = d.finish(t, path, want)
	}
	return e, err
}

// restorePieces replaces each of the entry's pieces with its old text.
func (t *tomlEditor) restorePieces(path []string, old *tomlDoc) {
	was := old.pieces(path)
	at := func(all []piece, id string) int {
		return slices.IndexFunc(all, func(p piece) bool { return p.id == id })
	}
	for _, p := range slices.Backward(t.d.pieces(path)) {
		if at(was, p.id) < 0 {
			t.do(t.without(p))
		}
	}
	last := ""
	for _, p := range was {
		it := old.items[p.item]
		text := string(old.src[p.value:p.end])
		now := t.d.pieces(path)
		i := at(now, p.id)
		var s splice
		switch {
		case i >= 0:
			s = splice{now[i].value, now[i].end, text}
		case !it.header:
			t.err = fmt.Errorf("no place for %s", tomlPath(it.path))
		case last == "":
			s = t.atEnd(text + newlineOf(t.out))
		default:
			end, nl := lineEnd(t.out, now[at(now, last)].end), newlineOf(t.out)
			s = splice{end, end, nl + nl + text}
		}
		if t.do(s); t.err != nil {
			return
		}
		if it.header {
			last = p.id
		}
	}
}

// restoreValues gives the entry its old values, however it is written now. was is the data.
func (t *tomlEditor) restoreValues(path []string, want, was map[string]any) {
	v, _ := dig(was, path)
	if have, isTable := v.(map[string]any); isTable {
		t.put(path, want, was)
		t.prune(path, have, want)
		return
	}
	t.remove(path)
	t.add(path, writable(want).(Object))
}

// prune removes what is in the table at path and not in want.
func (t *tomlEditor) prune(path []string, have, want map[string]any) {
	for name, v := range have {
		wanted, ok := want[name]
		inner, isTable := v.(map[string]any)
		keep, wantTable := wanted.(map[string]any)
		switch {
		case !ok:
			t.remove(join(path, name))
		case isTable && wantTable:
			t.prune(join(path, name), inner, keep)
		}
	}
}

// finish parses the edited text and proves it.
func (d *tomlDoc) finish(t *tomlEditor, path []string, want any) (Edit, error) {
	if t.err != nil {
		return Edit{}, t.err
	}
	after, err := parseTOML(t.out, d.body)
	if err != nil {
		return Edit{}, fmt.Errorf("%w: %w", errProof, err)
	}
	if err := proof(d.data, after.data, after, path, want); err != nil {
		return Edit{}, err
	}
	return newEdit(d.src, t.out, want, &Doc{t.out, d.body, after}), nil
}
