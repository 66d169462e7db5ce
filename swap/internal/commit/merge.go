package commit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/format"
	"tmuxmcp/swap/internal/configs"
)

// An unswap removes a swap from an entry that was edited since, field by field: a field
// that the swap changed gets its old value, and edits of other fields stay.
type unswap struct {
	set       format.Object // fields to restore
	remove    []string      // fields that the swap added
	members   [][]string    // members of such fields, as paths from the entry
	conflicts []string      // fields changed by both; they are in the above too
}

// newUnswap compares an entry before the swap, as written by the swap, and now.
func newUnswap(was, wrote, now map[string]any) unswap {
	var u unswap
	u.set = u.compare(nil, was, wrote, now)
	return u
}

// compare returns the fields of one level to set, and records the rest.
func (u *unswap) compare(path []string, was, wrote, now map[string]any) format.Object {
	var set format.Object
	names := slices.Sorted(maps.Keys(was))
	names = append(names, slices.Sorted(maps.Keys(wrote))...)
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			continue
		}
		at := append(slices.Clone(path), name)
		old, wasThere := was[name]
		swapped, isThere := wrote[name]
		value, stays := now[name]
		unchanged := wasThere == isThere && format.Equal(old, swapped)
		restored := wasThere == stays && format.Equal(old, value)
		if unchanged || restored {
			continue
		}
		untouched := isThere == stays && format.Equal(swapped, value)
		oldMap, oldOK := old.(map[string]any)
		swappedMap, ok := swapped.(map[string]any)
		valueMap, nowOK := value.(map[string]any)
		if ok && nowOK && (oldOK || !wasThere && !untouched) {
			if more := u.compare(at, oldMap, swappedMap, valueMap); len(more) > 0 {
				set = append(set, format.Field{Name: name, Value: more})
			}
			continue
		}
		if !untouched {
			u.conflicts = append(u.conflicts, strings.Join(at, "."))
		}
		switch {
		case wasThere:
			set = append(set, format.Field{Name: name, Value: writable(old)})
		case stays && len(at) == 1:
			u.remove = append(u.remove, name)
		case stays:
			u.members = append(u.members, at)
		}
	}
	return set
}

// writable returns data in the form that format writes; an object's members are sorted,
// because data has no order.
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

// apply makes the edit.
func (u unswap) apply(d *configs.Document, container []string, server string) ([]byte, error) {
	e, err := d.Doc.Set(container, server, format.Change{Set: u.set, Remove: u.remove})
	if err != nil {
		return nil, err
	}
	entry := append(slices.Clone(container), server)
	for _, at := range u.members {
		doc, err := d.Client.Parse(e.Out)
		if err != nil {
			return nil, err
		}
		last := len(at) - 1
		if e, err = doc.Revert(slices.Concat(entry, at[:last]), at[last], format.Undo{}); err != nil {
			return nil, err
		}
	}
	return e.Out, nil
}

// Mergeable reports whether the entry was edited since, and has an old one to compare.
func (v Since) Mergeable() bool {
	return v.Landed == nil && !v.AsBefore && v.Now != nil && v.rec.Old != nil
}

// merge compares with the newest write of which no field was edited, otherwise with the
// newest. An older one matters if the run that made the newest was killed.
func (v Since) merge() unswap {
	var first *unswap
	for _, w := range slices.Backward(v.rec.Writes) {
		u := newUnswap(v.rec.Old, w.Value, v.Now)
		if len(u.conflicts) == 0 {
			return u
		}
		if first == nil {
			first = &u
		}
	}
	return *first
}

// Conflicts returns the fields that both the swap and the edit of a mergeable entry changed.
func (v Since) Conflicts() []string { return v.merge().conflicts }

// conflict returns an error: why an edited entry is left alone, and what it runs now.
func (v Since) conflict(d *configs.Document, fields []string) error {
	if v.Now == nil {
		return fmt.Errorf("%s: %w; %s", d.Path, errEdited, ForceEdited)
	}
	text := v.Edits()
	switch {
	case v.rec.Old == nil:
		text = "there was none before the swap, so reverting removes it; " + text
	case len(fields) == 0:
		return fmt.Errorf("%s: %w (%s, which the swap has not changed, and would stay); %s", d.Path, errEdited, text, ForceEdited)
	default:
		text += "; the swap and the edit both changed " + strings.Join(fields, ", ")
	}
	last := ""
	for i, entry := range []map[string]any{v.rec.Old, v.rec.Writes[len(v.rec.Writes)-1].Value, v.Now} {
		line := ask.CommandLine(ask.ShowArgs(d.Client.Dialect.Runs(entry)))
		if line != last {
			text += fmt.Sprintf("; %s: %s", []string{"before", "swapped to", "now"}[i], line)
		}
		last = line
	}
	return fmt.Errorf("%s: %w (%s); %s", d.Path, errEdited, text, ForceEdited)
}

// Edits names the fields of an entry that were edited since the newest write.
func (v Since) Edits() string {
	wrote := v.rec.Writes[len(v.rec.Writes)-1].Value
	out := configs.Differing(wrote, v.Now)
	for i, name := range out {
		what := "changed"
		if _, ok := wrote[name]; !ok {
			what = "added"
		} else if _, ok := v.Now[name]; !ok {
			what = "removed"
		}
		out[i] = name + " was " + what
	}
	return strings.Join(out, ", ")
}
