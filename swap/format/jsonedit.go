package format

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"github.com/tidwall/sjson"
)

// raw is JSON text to be written unchanged.
type raw string

// set changes or creates the entry at path.
func (d *jsonDoc) set(path []string, c Change) (Edit, error) {
	w, err := d.walk(path)
	if err != nil {
		return Edit{}, err
	}
	if !w.complete(path) {
		return d.add(w, path, c.New, c)
	}
	entry, ok := d.open(w.at)
	if !ok {
		return Edit{}, d.typeError(path, w.at)
	}
	if err := d.checkMerge(entry, c.Set, path); err != nil {
		return Edit{}, err
	}
	before := d.src[w.at.start:w.at.end]
	value, _ := decode(before).(map[string]any)
	text, err := setFields(slices.Clone(before), d.layout(w.levels), c.Set)
	if err != nil {
		return Edit{}, err
	}
	for _, name := range c.Remove {
		for {
			o, err := parseObject(text)
			if err != nil {
				return Edit{}, err
			}
			k := o.last(name)
			if k < 0 {
				break
			}
			text = applied(text, remove(text, o, k))
		}
	}
	e, err := d.finish(splice{w.at.start, w.at.end, string(text)}, path, changed(value, data(c.Set), c.Remove))
	e.Undo = Undo{Existed: true, Before: string(before)}
	return e, err
}

// add creates the entry at path and everything missing above. value is an Object or raw.
func (d *jsonDoc) add(w way, path []string, value any, c Change) (Edit, error) {
	if d.empty {
		root := append(slices.Clone(c.Seed), Field{path[0], nest(path, 0, value, c.Parent)})
		text := render(root, d.layout(nil), "")
		nl := newlineOf(d.src)
		at, _ := lastComment(d.src, d.body, len(d.src), false)
		s := splice{at, len(d.src), text + nl}
		if at > d.body {
			s.text = nl + s.text
		}
		e, err := d.finish(s, nil, data(root))
		e.Value = entryIn(e.Value, path)
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
		if o, ok := d.open(holder.members[k]); ok && len(o.members) > 0 {
			model = layoutOf(d.src, o, l)
			model.nl, model.unit = l.nl, l.unit
			break
		}
	}
	indent := l.indent
	if !l.multi {
		indent = l.close
	}
	text := render(inner, model, indent)
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
	e.Value = entryIn(e.Value, path[i+1:])
	e.Undo = u
	return e, err
}

func entryIn(node map[string]any, path []string) map[string]any {
	v, _ := dig(node, path)
	entry, _ := v.(map[string]any)
	return entry
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
		if !w.complete(path) {
			return d.add(w, path, raw(u.Before), Change{})
		}
		return d.finish(splice{w.at.start, w.at.end, u.Before}, path, decode([]byte(u.Before)))
	}
	first := u.From
	if len(u.Made) == 0 {
		first = len(path)
	}
	if first+len(u.Made) != len(path) || first == 0 && !u.Seeded {
		return Edit{}, fmt.Errorf("the record of the edit does not fit its path")
	}
	if !w.complete(path) {
		return Edit{Out: d.src, Undo: u}, nil
	}
	// at is the level of the outermost object to be removed, or of the entry.
	at := len(path) - 1
	for at >= first && d.holdsOnly(w.levels[at], path[at], u.Made[at-first]) {
		at--
	}
	if at < 0 {
		ed := newEditor(d.src)
		ed.apply(splice{d.body, len(d.src), u.Text})
		return ed.edit()
	}
	level := w.levels[at]
	if at == first-1 && u.Holder != "" {
		k := level.last(path[at])
		if u.Holder[0] != '{' {
			return d.finish(splice{level.members[k].start, level.members[k].end, u.Holder}, path[:at+1], nil)
		}
		if len(level.members) == 1 {
			return d.drop(splice{level.start, level.end, u.Holder}, path[:at+1])
		}
	}
	e, err := d.drop(remove(d.src, level, level.last(path[at])), path[:at+1])
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

// checkMerge refuses to merge an object into a value that is not an object.
func (d *jsonDoc) checkMerge(o object, fields Object, path []string) error {
	for _, f := range fields {
		sub, isObject := f.Value.(Object)
		k := o.last(f.Name)
		if !isObject || k < 0 || d.src[o.members[k].start] == 'n' {
			continue
		}
		inner, ok := d.open(o.members[k])
		if !ok {
			return d.typeError(append(slices.Clone(path), f.Name), o.members[k])
		}
		if err := d.checkMerge(inner, sub, append(slices.Clone(path), f.Name)); err != nil {
			return err
		}
	}
	return nil
}

// setFields sets fields in the text of an object.
func setFields(text []byte, outer layout, fields Object) ([]byte, error) {
	for _, f := range fields {
		o, err := parseObject(text)
		if err != nil {
			return nil, err
		}
		l := layoutOf(text, o, outer)
		indent := l.indent
		if !l.multi {
			indent = l.close
		}
		k := o.last(f.Name)
		if k < 0 {
			text = applied(text, insert(text, o, l, quote(f.Name)+l.colon+render(f.Value, l, indent)))
			continue
		}
		m := o.members[k]
		old := text[m.start:m.end]
		if sub, ok := f.Value.(Object); ok && old[0] == '{' {
			inner, err := setFields(slices.Clone(old), l, sub)
			if err != nil {
				return nil, err
			}
			text = applied(text, splice{m.start, m.end, string(inner)})
			continue
		}
		if same(decode(old), data(f.Value)) {
			continue
		}
		if a, ok := arrayLayoutOf(old); ok {
			l.arrays = a
			l.multi = l.multi || a.multi
		}
		if text, err = replace(text, o, k, render(f.Value, l, indent)); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// simpleName matches what sjson takes only as a name: not a path, index, pattern or escape.
var simpleName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// replace replaces the value of member k. It uses sjson where that can be trusted: in
// strict JSON, with a plain name that is spelled without escapes and occurs once.
func replace(text []byte, o object, k int, value string) ([]byte, error) {
	m := o.members[k]
	once := 0
	for _, x := range o.members {
		if x.name == m.name {
			once++
		}
	}
	if once == 1 && simpleName.MatchString(m.name) && string(text[m.nameStart:m.key]) == `"`+m.name+`"` && json.Valid(text) {
		return sjson.SetRawBytes(text, m.name, []byte(value))
	}
	return applied(text, splice{m.start, m.end, value}), nil
}

// parseObject parses the text of one object.
func parseObject(text []byte) (object, error) {
	v, err := parseTree(text, 0)
	if err != nil || text[0] != '{' {
		return object{}, fmt.Errorf("inside the entry: %w", errProof)
	}
	return treeObject(v, 0), nil
}

func applied(text []byte, s splice) []byte {
	return slices.Concat(text[:s.start], []byte(s.text), text[s.end:])
}

// finish applies a splice and proves that the value at path is now the intended one, and
// that every other value is unchanged.
func (d *jsonDoc) finish(s splice, path []string, want any) (Edit, error) {
	e, after, err := d.applied(s, path)
	if err != nil || !e.changed {
		if v, ok := d.get(path); err == nil && (!ok || !same(v, want)) {
			err = fmt.Errorf("no change: %w", errProof)
		}
		e.Value, _ = want.(map[string]any)
		return e, err
	}
	got, ok := after.get(path)
	if !ok || !same(got, want) {
		return Edit{}, fmt.Errorf("the new value: %w", errProof)
	}
	e.Value, _ = got.(map[string]any)
	return e, nil
}

// drop applies a splice and proves that nothing is at path any more, and that every other
// value is unchanged.
func (d *jsonDoc) drop(s splice, path []string) (Edit, error) {
	e, after, err := d.applied(s, path)
	if err != nil {
		return Edit{}, err
	}
	if w, err := after.walk(path); err == nil && w.complete(path) {
		// Before it there was a second one with the same name.
		more, err := after.drop(remove(after.src, w.levels[len(path)-1], w.index), path)
		if err != nil {
			return Edit{}, err
		}
		ed := newEditor(d.src)
		ed.apply(splice{e.Start, e.OldEnd, string(e.Out[e.Start:e.NewEnd])})
		ed.apply(splice{more.Start, more.OldEnd, string(more.Out[more.Start:more.NewEnd])})
		return ed.edit()
	}
	return e, nil
}

// applied applies a splice, parses the result and proves that all other members along path
// are byte for byte the same.
func (d *jsonDoc) applied(s splice, path []string) (Edit, *jsonDoc, error) {
	ed := newEditor(d.src)
	ed.apply(s)
	e, err := ed.edit()
	if err != nil || !e.changed {
		return e, d, err
	}
	after, err := parseJSON(d.kind, e.Out, d.body)
	if err != nil {
		return Edit{}, nil, fmt.Errorf("%w: %w", errProof, err)
	}
	if len(path) == 0 {
		return e, after, nil
	}
	was, err := d.walk(path)
	if err != nil {
		return Edit{}, nil, err
	}
	is, err := after.walk(path)
	if err != nil {
		return Edit{}, nil, fmt.Errorf("%w: %w", errProof, err)
	}
	for i := range min(len(was.levels), len(is.levels)) {
		if !sameOthers(d.src, was.levels[i], e.Out, is.levels[i], path[i]) {
			return Edit{}, nil, fmt.Errorf("beside the entry: %w", errProof)
		}
	}
	return e, after, nil
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
