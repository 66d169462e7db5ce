package format

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// snapshot returns the entry at path as a separate text: its keys with their whole path,
// followed by its headers with everything under them.
func (d *tomlDoc) snapshot(path []string) string {
	var keys, sections strings.Builder
	for _, p := range d.pieces(path) {
		it := d.items[p.item]
		if it.header {
			fmt.Fprintf(&sections, "%s\n", d.src[p.start:p.end])
		} else {
			fmt.Fprintf(&keys, "%s = %s\n", tomlPath(it.path), d.src[it.value:it.end])
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
		text := string(old.src[p.start:p.end])
		if !it.header {
			text = string(old.src[it.value:it.end])
		}
		now := t.d.pieces(path)
		i := at(now, p.id)
		var s splice
		switch {
		case i >= 0 && it.header:
			s = splice{now[i].start, now[i].end, text}
		case i >= 0:
			s = splice{t.d.items[now[i].item].value, now[i].end, text}
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
