package commit

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"

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

// became says what has become of an entry since it was swapped.
type became int

const (
	fileWritten  became = iota + 1 // the file is byte for byte as a write left it
	fileBefore                     // the file is byte for byte as before the swap
	entryWritten                   // the file has changed, and the entry is as a write left it
	entryBefore                    // … as before the swap, which may be absent
	entryEdited                    // … neither
	entryRemoved                   // … absent, although the swap added it or it was there before
)

// A Verdict says what has become of an entry since it was swapped.
type Verdict struct {
	rec    *journal.Record
	client *clients.Client
	became became
	Landed *journal.Write // the write that left the file or the entry as it is; nil: none
	Now    map[string]any // the entry, unless the file decided; nil: there is none

	// [Judge] sets these: other files that have the swap, and whether the only file that has it is
	// one that its client does not read.
	Elsewhere []string
	Unread    bool
}

// AsBefore reports whether the file or the entry is as it was before the swap.
func (v Verdict) AsBefore() bool { return v.became == fileBefore || v.became == entryBefore }

// Edited reports whether the entry is there, and neither as the swap wrote it nor as before.
func (v Verdict) Edited() bool { return v.became == entryEdited }

// whole reports whether the bytes of the file decided, so that the entry was not looked at.
func (v Verdict) whole() bool { return v.became == fileWritten || v.became == fileBefore }

// judgeText judges a file that may no longer parse: its error names the backup.
func judgeText(env configs.Env, r *journal.Record, d *configs.Document) (Verdict, error) {
	if v := judgeFile(r, d); v.whole() {
		return v, nil
	}
	var e format.Entry
	err := d.Parse(env)
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
		return Verdict{}, err
	}
	return judgeEntry(r, d.Client, e), nil
}

// judge judges a file by its bytes and, if they do not decide, by its entry.
func judge(r *journal.Record, d *configs.Document, e format.Entry) Verdict {
	if v := judgeFile(r, d); v.whole() {
		return v
	}
	return judgeEntry(r, d.Client, e)
}

// judgeFile judges a file by its bytes. The verdict is empty if they do not decide.
func judgeFile(r *journal.Record, d *configs.Document) Verdict {
	v := Verdict{rec: r, client: d.Client}
	hash := journal.Hash(d.Text)
	for i := len(r.Writes) - 1; i >= 0; i-- {
		if w := &r.Writes[i]; w.After == hash && w.Undoes(d.Text) {
			v.became, v.Landed = fileWritten, w
			return v
		}
	}
	if hash == r.Before {
		v.became = fileBefore
	}
	return v
}

// judgeEntry judges an entry as data.
func judgeEntry(r *journal.Record, c *clients.Client, e format.Entry) Verdict {
	v := Verdict{rec: r, client: c}
	if e.Found {
		v.Now = e.Value
	}
	for i := len(r.Writes) - 1; i >= 0; i-- {
		if w := &r.Writes[i]; e.Found && c.Dialect.SameEntry(e.Value, w.Value) {
			v.became, v.Landed = entryWritten, w
			return v
		}
	}
	was := r.Action == journal.Replaced
	switch {
	case e.Found == was && (!was || c.Dialect.SameEntry(e.Value, r.Old)):
		v.became = entryBefore
	case v.Now != nil:
		v.became = entryEdited
	default:
		v.became = entryRemoved
	}
	return v
}

// back reports whether a reverted swap is in the config again, as when a client saves what
// it had read before.
func (v Verdict) back() bool {
	return v.Landed != nil && (old(v.rec) == nil || !v.client.Dialect.SameEntry(v.Landed.Value, v.rec.Old))
}

// has reports whether the entry has something of what the swap wrote.
func (v Verdict) has() bool { return v.back() || v.Edited() && traces(v.rec, v.Now) }

// runs reports whether the entry runs what the swap wrote.
func (v Verdict) runs() bool { return v.back() || v.Edited() && holds(v.rec, v.Now) }

// Judge judges the files that have a swap, if they can be read: the one that its client reads now,
// and any others. Of several, the verdict is about one whose entry stops a revert, if there is one;
// an error is about what else would stop it.
func Judge(env configs.Env, c *clients.Client, st *journal.State, r *journal.Record) (v Verdict, err error) {
	places, err := placesOf(env, c, st, r, reads(env), false)
	if err != nil {
		return v, err
	}
	v = places[0].verdict
	edited, planned := false, map[string][]byte{}
	for _, p := range places {
		if p.verdict.became == fileWritten && !c.Dialect.Whole {
			continue // it can be undone
		}
		text, _, err := p.verdict.undo(p.doc, false)
		switch {
		case errors.Is(err, errEdited) && !edited:
			v, edited = p.verdict, true
		case err != nil && !edited:
			return v, err
		}
		planned[p.doc.Target] = text
	}
	for _, p := range places {
		if p.doc.Path != r.Config {
			v.Elsewhere = append(v.Elsewhere, p.doc.Path)
		}
	}
	v.Unread = places[0].doc.Path == r.Target && r.Target != r.Config
	if edited {
		return v, nil
	}
	for _, f := range refusals(env, c, r, places, planned, nil) {
		if !f.Later {
			return v, refusedThen(f)
		}
	}
	return v, nil
}

// Gone reports whether an error of [Judge] is about a file that does not exist or cannot be
// reached.
func Gone(err error) bool { return errors.As(err, &gone{}) }

// first reports whether undoing restores the file as it was before the first swap, leaving
// nothing that the swap created around its entry.
func (v Verdict) first() bool {
	return v.became == fileBefore || v.became == fileWritten && v.Landed.Base == v.rec.Before
}

// exactly is how a swap is undone if the file is byte for byte as before.
const exactly = "exact bytes"

// onlyEntry is how a swap is undone in a file that something else has written to, before or after
// the swap was repeated.
const onlyEntry = "the entry only: the file has changed since"

// undo returns the text without the swap, and how it was obtained.
func (v Verdict) undo(d *configs.Document, force bool) (text []byte, how string, err error) {
	switch v.became {
	case fileWritten:
		how = onlyEntry
		if v.first() {
			how = exactly
		}
		return v.Landed.Undone(d.Text), how, nil
	case fileBefore, entryBefore:
		return d.Text, "already restored", nil
	case entryEdited:
		m := v.merge()
		if len(m.conflicts) > 0 && !force {
			return nil, "", v.conflict(d.Path, m.conflicts)
		}
		if m.gone {
			how = "the entry only, and with it what was edited since: " + v.Edits()
			break
		}
		e := editing{client: v.client, container: v.rec.Container, server: v.rec.Server, text: d.Text}
		v.unnest(&e)
		text, err := m.apply(e)
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", d.Path, err)
		}
		return text, "the swapped fields only, as the entry was edited since: " + v.Edits(), nil
	case entryRemoved:
		if !force {
			return nil, "", v.conflict(d.Path, nil)
		}
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
	return e.Out, cmp.Or(how, onlyEntry), nil
}

// moved undoes the write wherever its bytes are now, if they occur exactly once. The result
// is used if it has the same data as entry, the text with only the entry restored: it then
// also has the old spelling, comments and order, which an entry written in pieces may lose.
func (v Verdict) moved(d *configs.Document, entry []byte) ([]byte, bool) {
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
