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
	if !u.Existed {
		t := d.edit(path)
		if err := t.remove(path); err != nil {
			return Edit{}, err
		}
		if u.Seeded && !bytes.Equal(t.out, d.src) && isBlank(t.out[d.body:]) {
			if err := t.do(splice{d.body, len(t.out), u.Text}); err != nil {
				return Edit{}, err
			}
		}
		e, err := d.finish(t, path, nil)
		if u.Seeded && !isBlank(e.Out[d.body:]) {
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
	// First try the old text, piece by piece; if that does not fit the way the entry is
	// written now, use its old values.
	for _, restore := range []func(*tomlEditor) error{
		func(t *tomlEditor) error { return t.restorePieces(path, old) },
		func(t *tomlEditor) error { return t.restoreValues(path, want, d.data) },
	} {
		t := d.edit(path)
		if err = restore(t); err == nil {
			var e Edit
			if e, err = d.finish(t, path, want); err == nil {
				return e, nil
			}
		}
	}
	return Edit{}, err
}

// restorePieces replaces each of the entry's pieces with its old text.
func (t *tomlEditor) restorePieces(path []string, old *tomlDoc) error {
	was := old.pieces(path)
	for {
		extra := slices.IndexFunc(t.d.pieces(path), func(p piece) bool { return !hasPiece(was, p.id) })
		if extra < 0 {
			break
		}
		if err := t.do(t.without(t.d.pieces(path)[extra])); err != nil {
			return err
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
		i := slices.IndexFunc(now, func(q piece) bool { return q.id == p.id })
		var s splice
		switch {
		case i >= 0 && it.header:
			s = splice{now[i].start, now[i].end, text}
		case i >= 0:
			s = splice{t.d.items[now[i].item].value, now[i].end, text}
		case !it.header:
			return fmt.Errorf("no place for %s", tomlPath(it.path))
		case last == "":
			s = t.atEnd(text + newlineOf(t.out))
		default:
			i := slices.IndexFunc(now, func(q piece) bool { return q.id == last })
			at, nl := lineEnd(t.out, now[i].end), newlineOf(t.out)
			s = splice{at, at, nl + nl + text}
		}
		if s.text != string(t.out[s.start:s.end]) {
			if err := t.do(s); err != nil {
				return err
			}
		}
		if it.header {
			last = p.id
		}
	}
	return nil
}

func hasPiece(all []piece, id string) bool {
	return slices.ContainsFunc(all, func(p piece) bool { return p.id == id })
}

// restoreValues gives the entry its old values, however it is written now.
func (t *tomlEditor) restoreValues(path []string, want, now map[string]any) error {
	v, _ := dig(now, path)
	if have, isTable := v.(map[string]any); isTable {
		if err := t.put(path, want, now); err != nil {
			return err
		}
		return t.prune(path, have, want)
	}
	if err := t.remove(path); err != nil {
		return err
	}
	return t.add(path, writable(want).(Object))
}

// prune removes what is in the table at path and not in want.
func (t *tomlEditor) prune(path []string, have, want map[string]any) error {
	for name, v := range have {
		wanted, ok := want[name]
		if !ok {
			if err := t.remove(join(path, name)); err != nil {
				return err
			}
			continue
		}
		have, isTable := v.(map[string]any)
		want, wantTable := wanted.(map[string]any)
		if isTable && wantTable {
			if err := t.prune(join(path, name), have, want); err != nil {
				return err
			}
		}
	}
	return nil
}
