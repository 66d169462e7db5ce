package commit

import (
	"bytes"
	"errors"
	"fmt"
	"maps"

	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/format"
	"tmuxmcp/swap/internal/configs"
	"tmuxmcp/swap/internal/machine"
	"tmuxmcp/swap/journal"
)

// errEdited is wrapped if an entry was edited since it was swapped.
var errEdited = errors.New("the entry was edited or removed since it was swapped, so it was left as it is")

// ForceEdited is what to do about an entry that was edited.
const ForceEdited = "use --force to put back what the swap changed"

// Since is what has become of an entry since it was swapped.
type Since struct {
	rec      *journal.Record
	Landed   *journal.Write // the write that is in the file, if any
	exact    bool           // the file is as left by that write
	base     []byte         // what it was before, if exact
	AsBefore bool           // the file or the entry is as it was before the swap
	whole    bool           // judged by the whole file, not by the entry
	Now      map[string]any // the entry, if judged; nil: there is none
}

// judgeText judges a file that may no longer parse: its error names the backup.
func judgeText(r *journal.Record, d *configs.Document) (Since, error) {
	if v := judgeBytes(r, d.Text); v.whole {
		return v, nil
	}
	var e format.Entry
	err := d.Parse()
	if err == nil {
		if e, err = d.Doc.Lookup(r.Container, r.Server); err != nil {
			err = fmt.Errorf("%s: %w", d.Path, err)
		}
	}
	if err != nil && r.Backup != "" && !machine.Missing(r.Backup) {
		again := "run revert again"
		if r.By != "" {
			again = "do this again"
		}
		err = fmt.Errorf("%w; repair it and %s: as it was before the swap it is in %s", err, again, r.Backup)
	}
	if err != nil {
		return Since{}, err
	}
	return compare(r, d, e), nil
}

func judgeBytes(r *journal.Record, text []byte) Since {
	v := Since{rec: r}
	hash := journal.Hash(text)
	for i := len(r.Writes) - 1; i >= 0; i-- {
		w := &r.Writes[i]
		if w.After != hash {
			continue
		}
		if base, ok := w.Undo(text); ok {
			v.Landed, v.exact, v.whole, v.base = w, true, true, base
			return v
		}
	}
	v.AsBefore = hash == r.Before
	v.whole = v.AsBefore
	return v
}

// compare compares hashes first, then the entry as data.
func compare(r *journal.Record, d *configs.Document, e format.Entry) Since {
	v := judgeBytes(r, d.Text)
	if v.whole {
		return v
	}
	if e.Found {
		v.Now = e.Value
	}
	for i := len(r.Writes) - 1; i >= 0; i-- {
		if w := &r.Writes[i]; e.Found && sameEntry(e.Value, w.Value) {
			v.Landed = w
			return v
		}
	}
	v.AsBefore = e.Found == (r.Action == journal.Replaced) && (!e.Found || sameEntry(e.Value, r.Old))
	return v
}

// sameEntry reports whether two entries are equal. A list of arguments or variables that is empty
// is as none, since codex leaves it out when it saves.
func sameEntry(a, b map[string]any) bool {
	return format.Equal(withoutEmpty(a), withoutEmpty(b))
}

func withoutEmpty(entry map[string]any) map[string]any {
	entry = maps.Clone(entry)
	for _, field := range []string{"args", "env"} {
		switch v := entry[field].(type) {
		case []any:
			if len(v) == 0 {
				delete(entry, field)
			}
		case map[string]any:
			if len(v) == 0 {
				delete(entry, field)
			}
		}
	}
	return entry
}

// back reports whether a reverted swap is in the config again, as when a client saves what
// it had read before.
func (v Since) back() bool {
	return v.Landed != nil && !format.Equal(v.Landed.Value, v.rec.Old)
}

// IsBack reads the config of a reverted swap, and reports whether the swap is back.
func IsBack(env configs.Env, r *journal.Record) bool {
	c := clients.Lookup(r.Client)
	if c == nil || machine.Missing(r.Target) {
		return false
	}
	if target, err := configs.Target(r.Target); err == nil && target != r.Target {
		return false // a link was made since: no client has saved the swap there
	}
	v, _, err := CompareNow(env, c, r)
	if err != nil {
		env.Warn(fmt.Sprintf("%s: cannot see whether its config has the swap of %q: %v", label(r), r.Server, err))
		return false
	}
	return v.back()
}

// CompareNow judges the current file of a swap, if it can be read.
func CompareNow(env configs.Env, c *clients.Client, r *journal.Record) (v Since, read bool, err error) {
	d := &configs.Document{Client: c, Path: r.Config}
	if d.Target, err = configs.Target(r.Target); err != nil {
		return v, false, err
	}
	if d.Text, d.Info, err = env.Disk.Read(d.Target); err != nil {
		return v, false, err
	}
	v, err = judgeText(r, d)
	return v, true, err
}

// label returns a client of a record as output names it.
func label(r *journal.Record) string {
	if c := clients.Lookup(r.Client); c != nil {
		return c.Label(clients.Scope(r.Scope))
	}
	return r.Client
}

// first reports whether undoing restores the file as it was before the first swap, leaving
// nothing that the swap created around its entry.
func (v Since) first() bool {
	return v.whole && (v.AsBefore || v.Landed.Base == v.rec.Before)
}

// undo returns the text without the swap, and how it was obtained.
func (v Since) undo(d *configs.Document, force bool) (text []byte, how string, err error) {
	switch {
	case v.exact:
		return v.base, "exact bytes", nil
	case v.AsBefore:
		return d.Text, "already restored", nil
	case v.Mergeable():
		u := v.merge()
		if !force {
			return nil, "", v.conflict(d, u.conflicts)
		}
		text, err := u.apply(d, v.rec.Container, v.rec.Server)
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", d.Path, err)
		}
		return text, "the swapped fields only: the entry was edited since", nil
	case v.Landed == nil && !force:
		return nil, "", v.conflict(d, nil)
	}
	e, err := d.Doc.Revert(v.rec.Container, v.rec.Server, v.rec.Undo)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", d.Path, err)
	}
	if v.Landed != nil {
		if text, ok := v.moved(d, e.Out); ok {
			e.Out = text
		}
	}
	return e.Out, "the entry only: the file has changed since", nil
}

// moved undoes the write wherever its bytes are now, if they occur exactly once. The result
// is used if it has the same data as entry, the text with only the entry restored: it then
// also has the old spelling, comments and order, which an entry written in pieces may lose.
func (v Since) moved(d *configs.Document, entry []byte) ([]byte, bool) {
	was, is := v.Landed.Was, v.Landed.Is
	if crlf := d.Doc.CRLF(v.rec.Container, v.rec.Server); crlf != v.rec.Undo.CRLF {
		was, is = format.WithCRLF(was, crlf), format.WithCRLF(is, crlf)
	}
	if len(is) == 0 || bytes.Count(d.Text, is) != 1 {
		return nil, false
	}
	text := bytes.Replace(d.Text, is, was, 1)
	if bytes.Equal(text, entry) {
		return nil, false
	}
	var data [2]any
	for i, t := range [][]byte{text, entry} {
		doc, err := d.Client.Parse(t)
		if err != nil {
			return nil, false
		}
		var ok bool
		if data[i], ok = doc.Get(); !ok {
			return nil, false
		}
	}
	return text, format.Equal(data[0], data[1])
}

// inheritContainers hands the containers that a swap created to the other swaps of its file,
// when it is undone and they stay. The containers stay while another entry is in them, and must
// be removed with that one.
func inheritContainers(records []journal.Record, r *journal.Record) {
	for i := range records {
		heir := &records[i]
		if heir.Target == r.Target && !heir.Same(r.Target, r.Container, r.Server) {
			heir.Undo = heir.Undo.Inherit(heir.Container, r.Undo, r.Container)
		}
	}
}
