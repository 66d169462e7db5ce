package format

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tidwall/sjson"

	"tmuxmcp/internal/lazy"
)

// set changes or creates the entry at path.
func (d *jsonDoc) set(path []string, c Change) (Edit, error) {
	w, err := d.walk(path)
	if err != nil {
		return Edit{}, err
	}
	if !w.whole {
		return d.add(w, path, c.New, c)
	}
	before := d.src[w.at.start:w.at.end]
	value, ok := decode(before).(map[string]any)
	if !ok {
		return Edit{}, d.typeError(path, w.at.start, w.at.end)
	}
	if err := checkMerge(d, path, c.Set); err != nil {
		return Edit{}, err
	}
	text := setFields(slices.Clone(before), d.layout(w.levels), c.Set)
	for _, name := range c.Remove {
		text = removeAll(text, 0, name)
	}
	e, err := d.finish(splice{w.at.start, w.at.end, string(text)}, path, changed(value, data(c.Set), c.Remove))
	e.Undo = Undo{Existed: true, Before: string(before)}
	return e, err
}

// add creates the entry at path and everything missing above. value is an Object or raw.
func (d *jsonDoc) add(w way, path []string, value any, c Change) (Edit, error) {
	entry, _ := data(value).(map[string]any)
	if d.empty {
		root := append(slices.Clone(c.Seed), Field{path[0], nest(path, 0, value, c.Parent)})
		text := jsonWriter(d.layout(nil)).value(root, "")
		nl := newlineOf(d.src)
		at, _ := lastComment(d.src, d.body, len(d.src), false)
		s := splice{at, len(d.src), text + nl}
		if at > d.body {
			s.text = nl + s.text
		}
		e, err := d.finish(s, nil, data(root))
		e.Value = entry
		e.Undo = Undo{Seeded: true, Text: string(d.src[d.body:]), Made: append([]map[string]any{data(c.Seed).(map[string]any)}, made(path, 0, c.Parent)...)}
		return e, err
	}
	i := len(w.levels) - 1
	holder := w.levels[i]
	inner := nest(path, i, value, c.Parent)
	u := Undo{Made: made(path, i, c.Parent), From: i + 1}
	l := d.layout(w.levels)
	model := l
	for k := len(holder.members) - 1; k >= 0; k-- {
		if o, ok := d.open(holder.members[k].start); ok && len(o.members) > 0 {
			model = layoutOf(d.src, o, l)
			model.nl, model.unit = l.nl, l.unit
			break
		}
	}
	text := jsonWriter(model).value(inner, l.base())
	var s splice
	if w.found { // null
		u.Holder = string(d.src[w.at.start:w.at.end])
		s = splice{w.at.start, w.at.end, text}
	} else {
		if len(holder.members) == 0 {
			u.Holder = string(d.src[holder.start:holder.end])
		}
		s = insert(d.src, holder, l, quote(path[i])+l.colon+text)
	}
	e, err := d.finish(s, path[:i+1], data(inner))
	e.Value = entry
	e.Undo = u
	return e, err
}

// nest wraps a value in the objects between the i-th name of path and the entry.
func nest(path []string, i int, value any, parent Object) any {
	for k := len(path) - 1; k > i; k-- {
		if parent == nil || k != len(path)-2 {
			value = Object{{path[k], value}}
			continue
		}
		shape := slices.Clone(parent)
		at := slices.IndexFunc(shape, func(f Field) bool { return f.Name == path[k] })
		if at < 0 {
			at = len(shape)
			shape = append(shape, Field{Name: path[k]})
		}
		shape[at].Value = value
		value = shape
	}
	return value
}

// made lists what nest gives each object in addition to the path to the entry.
func made(path []string, i int, parent Object) []map[string]any {
	var all []map[string]any
	for k := i + 1; k < len(path); k++ {
		m := map[string]any{}
		if k == len(path)-2 {
			m = data(parent).(map[string]any)
			delete(m, path[k])
		}
		all = append(all, m)
	}
	return all
}

// revert undoes an edit of the entry at path.
func (d *jsonDoc) revert(path []string, u Undo) (Edit, error) {
	w, err := d.walk(path)
	if err != nil {
		return Edit{}, err
	}
	if u.Existed {
		if err := checkValue(u.Before); err != nil {
			return Edit{}, err
		}
		if !json.Valid([]byte(u.Before)) && d.kind == JSON {
			return Edit{}, fmt.Errorf("the entry's old text is not JSON")
		}
		if !w.whole {
			return d.add(w, path, raw(u.Before), Change{})
		}
		return d.finish(splice{w.at.start, w.at.end, u.Before}, path, decode([]byte(u.Before)))
	}
	first := len(path) - len(u.Made)
	if !w.whole {
		return Edit{Out: d.src, Undo: u}, nil
	}
	// at is the level of the outermost object to be removed, or of the entry.
	at := len(path) - 1
	for at >= first && d.holdsOnly(w.levels[at], path[at], u.Made[at-first]) {
		at--
	}
	if at < 0 {
		return newEdit(d.src, applied(d.src, splice{d.body, len(d.src), u.Text}), nil, nil), nil
	}
	level, path := w.levels[at], path[:at+1]
	if at == first-1 && u.Holder != "" {
		if m := level.members[level.last(path[at])]; u.Holder[0] != '{' {
			return d.finish(splice{m.start, m.end, u.Holder}, path, nil)
		}
		if len(level.members) == 1 {
			return d.finish(splice{level.start, level.end, u.Holder}, path, gone{})
		}
	}
	rest := removeAll(d.src, level.start, path[at])
	e, err := d.finish(splice{0, len(d.src), string(rest)}, path, gone{})
	if at >= first {
		u.Made = u.Made[:at-first+1]
		e.Undo = u
	}
	return e, err
}

// holdsOnly reports whether rest equals an object's members without the named one.
func (d *jsonDoc) holdsOnly(o object, name string, rest map[string]any) bool {
	have := map[string]any{}
	for _, m := range o.members {
		if m.name != name {
			have[m.name] = decode(d.src[m.start:m.end])
		}
	}
	return Equal(have, rest)
}

// layout returns the layout of the last of a chain of objects that starts at the root.
func (d *jsonDoc) layout(levels []object) layout {
	l := layout{nl: newlineOf(d.src), unit: "  ", multi: true, colon: ": ", gap: " ", arrays: arrayLayout{multi: true, gap: " "}}
	for i, o := range levels {
		if l = layoutOf(d.src, o, l); i == 0 && len(o.members) == 0 {
			l.indent, l.close = l.unit, ""
		}
	}
	return l
}

func setFields(text []byte, outer layout, fields Object) []byte {
	for _, f := range fields {
		o := scanObject(text, 0)
		l := layoutOf(text, o, outer)
		k := o.last(f.Name)
		if k < 0 {
			text = applied(text, insert(text, o, l, quote(f.Name)+l.colon+jsonWriter(l).value(f.Value, l.base())))
			continue
		}
		old := text[o.members[k].start:o.members[k].end]
		if sub, ok := f.Value.(Object); ok && old[0] == '{' {
			text = replace(text, o, k, setFields(slices.Clone(old), l, sub))
			continue
		}
		if same(decode(old), data(f.Value)) {
			continue
		}
		inner := l
		if a, ok := arrayLayoutOf(old); ok {
			inner.arrays = a
			inner.multi = l.multi || a.multi
		}
		text = replace(text, o, k, []byte(jsonWriter(inner).value(f.Value, l.base())))
	}
	return text
}

// simpleName matches what sjson takes only as a name: not a path, index, pattern or escape.
var simpleName = lazy.Regexp(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// replace replaces the value of member k. It uses sjson where that can be trusted: in
// strict JSON, with a plain name that is spelled without escapes and occurs once.
func replace(text []byte, o object, k int, value []byte) []byte {
	m := o.members[k]
	once := o.last(m.name) == slices.IndexFunc(o.members, func(x member) bool { return x.name == m.name })
	if once && simpleName().MatchString(m.name) && string(text[m.nameStart:m.key]) == `"`+m.name+`"` && json.Valid(text) {
		if out, err := sjson.SetRawBytes(text, m.name, value); err == nil {
			return out
		}
	}
	return applied(text, splice{m.start, m.end, string(value)})
}

// removeAll removes all members of a name from the object that starts at offset start.
func removeAll(text []byte, start int, name string) []byte {
	for {
		o := scanObject(text, start)
		k := o.last(name)
		if k < 0 {
			return text
		}
		text = applied(text, remove(text, o, k))
	}
}

// gone is the value that finish expects if there should be none.
type gone struct{}

// finish applies a splice and proves that the value at path is now the intended one, and
// that all other members along path are byte for byte the same.
func (d *jsonDoc) finish(s splice, path []string, want any) (Edit, error) {
	out, after := applied(d.src, s), d
	if !bytes.Equal(out, d.src) {
		var err error
		if after, err = parseJSON(d.kind, out, d.body); err != nil {
			return Edit{}, fmt.Errorf("%w: %w", errProof, err)
		}
	}
	e := newEdit(d.src, out, want, &Doc{out, d.body, after})
	got, ok := after.get(path)
	if ok == (want == gone{}) || ok && !same(got, want) {
		return Edit{}, fmt.Errorf("the new value: %w", errProof)
	}
	was, err := d.walk(path)
	if err != nil {
		return Edit{}, err
	}
	is, err := after.walk(path)
	if err != nil {
		return Edit{}, fmt.Errorf("%w: %w", errProof, err)
	}
	for i := range min(len(was.levels), len(is.levels)) {
		if !sameOthers(d.src, was.levels[i], e.Out, is.levels[i], path[i]) {
			return Edit{}, fmt.Errorf("beside the entry: %w", errProof)
		}
	}
	return e, nil
}

// sameOthers reports whether two objects have the same members, except those named name.
func sameOthers(a []byte, was object, b []byte, is object, name string) bool {
	others := func(o object) []member {
		return slices.DeleteFunc(slices.Clone(o.members), func(m member) bool { return m.name == name })
	}
	return slices.EqualFunc(others(was), others(is), func(m, n member) bool {
		return bytes.Equal(a[m.nameStart:m.key], b[n.nameStart:n.key]) && bytes.Equal(a[m.start:m.end], b[n.start:n.end])
	})
}
