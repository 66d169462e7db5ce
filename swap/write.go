package swap

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/swap/format"
	"tmuxmcp/swap/internal/configs"
	"tmuxmcp/swap/internal/machine"
	"tmuxmcp/swap/journal"
)

// writing is the part of UseLocal under the lock. Every config is read again, its edit is
// planned again if the config has changed, and it is backed up; then all swaps are recorded
// in one write of the state; then the configs are written one after the other. A swap that
// fails is removed from the state again.
type writing struct {
	*Swapper
	use   *use
	state *journal.State // as it is on the disk
}

func (s *Swapper) write(ctx context.Context, u *use, changes []*change) error {
	st, unlock, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	w := &writing{Swapper: s, use: u, state: st}
	next := st.Clone()
	staged := map[string][]byte{} // what each file will contain, for configs that share a file
	var ready []*change
	for _, c := range changes {
		if c.result.Outcome != "" {
			continue
		}
		if err := ctx.Err(); err != nil {
			c.fail(fmt.Errorf("interrupted before anything was written: %w", err))
		} else if err := w.stage(c, next, staged); err != nil {
			c.fail(err)
		} else if c.edit.Changed() {
			ready = append(ready, c)
		}
	}
	if len(ready) == 0 {
		return nil
	}
	if err := w.record(next); err != nil {
		for _, c := range ready {
			w.dropFresh(c)
		}
		return err
	}
	for _, c := range ready {
		if err := w.put(ctx, c); err != nil {
			c.fail(err)
		}
	}
	w.identify(ready)
	return nil
}

// identify records which files were written. Without it, a revert would take the metadata
// that it finds for the user's choice.
func (w *writing) identify(changes []*change) {
	next := w.state.Clone()
	noted := false
	for _, c := range changes {
		if f, ok := next.Files[c.doc.Target]; ok && f.ID == "" && c.result.Outcome != Failed {
			f.ID = atomicfile.ID(c.doc.Target)
			next.Files[c.doc.Target] = f
			noted = noted || f.ID != ""
		}
	}
	if !noted {
		return
	}
	if err := w.Journal.Save(next); err != nil {
		w.Warn(fmt.Sprintf("could not record which files were written: %v", err))
	}
}

func (s *Swapper) waiting(path string) {
	s.Warn("waiting for another mcp-swap to finish (it holds " + path + ")")
}

// record makes next the state on disk. On an error the old one remains.
func (w *writing) record(next *journal.State) error {
	err := w.Journal.Save(next)
	if err == nil {
		w.state = next
		return nil
	}
	if errors.Is(err, atomicfile.ErrNotDurable) {
		if serr := w.Journal.Save(w.state); serr != nil {
			w.state = next
			return fmt.Errorf("%w; nothing was swapped, but records of it may stay: mcp-swap revert removes them", err)
		}
	}
	return err
}

// stage reads a client's config again, plans the edit again if the config has changed,
// backs it up and puts the swap into next.
func (w *writing) stage(c *change, next *journal.State, staged map[string][]byte) error {
	now, err := w.reread(c)
	if err != nil {
		return err
	}
	target, meta := now.Target, now.Meta
	if earlier, ok := staged[target]; ok {
		now.Text = earlier
	}
	if target != c.doc.Target || !bytes.Equal(now.Text, c.doc.Text) {
		if err := now.Parse(); err != nil {
			return err
		}
		c.doc = now
		if err := w.use.edit(c); err != nil {
			return err
		}
	}
	c.doc.Info, c.doc.Meta, c.doc.Dirs = now.Info, meta, now.Dirs
	if !c.edit.Changed() {
		return nil
	}
	if err := c.doc.MayWrite(w.Confirm, c.force); err != nil {
		return err
	}
	if len(meta.Attrs) > 0 || meta.Owner != nil && *meta.Owner != (atomicfile.Owner{UID: os.Geteuid(), GID: os.Getegid()}) {
		// Find out what cannot be kept before anything is written.
		if err := w.Disk.Keepable(target); err != nil {
			return fmt.Errorf("nothing was changed: %w", err)
		}
	}
	if err := w.enter(c, next); err != nil {
		return err
	}
	staged[target] = c.edit.Out
	return nil
}

// enter puts a client's swap into a state, and makes its backup, unless an earlier swap of
// the entry has made it.
func (w *writing) enter(c *change, next *journal.State) error {
	d := c.doc
	w.revive(next, d)
	rec := journal.Record{
		Action: c.action(), Container: c.container, Server: w.use.server,
		Config: d.Path, Target: d.Target, Old: c.old.Value, Undo: c.edit.Undo, Before: journal.Hash(d.Text),
	}
	base, needsBackup := d.Text, !d.Absent() // a file that the swap creates has none
	i := next.Find(d.Target, c.container, w.use.server)
	if i < 0 {
		next.Seq++
		rec.Seq = next.Seq
	} else {
		prior := next.Records[i]
		c.prior = &prior
		var err error
		if rec, base, err = w.extend(c, prior); err != nil {
			return err
		}
		needsBackup = !prior.Reverted.IsZero() || w.backupIsGone(c, prior.Backup)
	}
	rec.Writes = append(rec.Writes, journal.NewWrite(base, c.edit.Out, c.edit.Value))
	rec.Time, rec.Repo, rec.Given = time.Now().UTC().Truncate(time.Second), w.use.repo, w.use.given
	rec.Client, rec.Scope, rec.Reverted = c.client.Name, string(c.scope), time.Time{}

	if err := note(next, d); err != nil {
		return err
	}
	if needsBackup {
		var err error
		if rec.Backup, err = w.backup(d, c.client.InFiles(c.scope), base); err != nil {
			return err
		}
		c.fresh, rec.Saved = rec.Backup, journal.Hash(base)
	}
	c.result.Backup = rec.Backup
	if i < 0 {
		next.Records = append(next.Records, rec)
	} else {
		next.Records[i] = rec
	}
	return nil
}

// revive brings back the records of reverted swaps that are in a config again, so that one
// is swapped again, and not anew. Of a file without any, it no longer matters who made it.
func (w *writing) revive(next *journal.State, d *configs.Document) {
	next.Revive(func(r *journal.Record) bool {
		if r.Target != d.Target {
			return false
		}
		v, err := judgeText(r, &configs.Document{Client: d.Client, Path: d.Path, Text: d.Text})
		return err == nil && v.back()
	})
	if !slices.ContainsFunc(next.Records, func(r journal.Record) bool { return r.Target == d.Target }) {
		delete(next.Files, d.Target)
	}
}

// extend returns the record of an earlier swap of the entry, for one more write, and the
// text as that swap's revert would leave it.
func (w *writing) extend(c *change, rec journal.Record) (_ journal.Record, base []byte, err error) {
	was := judge(&rec, c.doc, c.old)
	if base, _, err = was.undo(c.doc, true); err != nil {
		return rec, nil, err
	}
	rec.Writes = nil
	if was.landed != nil {
		rec.Writes = []journal.Write{*was.landed}
	}
	if was.mergeable() {
		// From now on, the user's edit is part of what a revert restores.
		rec.Old, rec.Undo, err = w.use.before(c, base)
	}
	return rec, base, err
}

// backupIsGone reports whether an earlier swap's backup has gone, and warns about it.
func (w *writing) backupIsGone(c *change, backup string) bool {
	if backup == "" || !machine.Missing(backup) {
		return false
	}
	w.Warn(fmt.Sprintf("%s: the first backup %s does not exist any more; the new one holds the config as revert would leave it", c.result.Label, backup))
	return true
}

// before returns the entry in a text, and what undoes its swap.
func (u *use) before(c *change, text []byte) (map[string]any, format.Undo, error) {
	doc, err := c.client.Parse(text)
	if err != nil {
		return nil, format.Undo{}, err
	}
	old, err := doc.Lookup(c.container, u.server)
	if err != nil {
		return nil, format.Undo{}, err
	}
	e, err := doc.Set(c.container, u.server, u.change(c, old))
	return old.Value, e.Undo, err
}

// put writes a staged edit. If another program has saved meanwhile, the edit is planned
// again from the saved text.
func (w *writing) put(ctx context.Context, c *change) error {
	for redo := 1; ; redo++ {
		err := w.writeConfig(ctx, c)
		now := w.readBack(c)
		became := after(err, now, c.edit.Out, c.doc.Absent())
		switch became {
		case unknown:
			// The record covers both the new text and the old one.
			return fmt.Errorf("%w; the file cannot be read back, so the swap stays recorded: mcp-swap revert finishes it", err)
		case written, unreadable:
			c.result.Outcome, c.result.Err = c.action(), err
			if c.doc.Creating() {
				c.result.Detail = "config created"
			}
			if became == unreadable {
				return w.halfSaved(c, cmp.Or(now.err, now.broken))
			}
			return nil
		}
		if werr := w.withdraw(c); werr != nil {
			return fmt.Errorf("%w; %w", err, werr)
		}
		if became != savedOver {
			return err
		}
		if redo == maxRedos {
			return fmt.Errorf("%s: %w", c.doc.Path, errBusy)
		}
		next := w.state.Clone()
		if err := w.stage(c, next, map[string][]byte{}); err != nil {
			return err
		}
		if !c.edit.Changed() {
			return nil
		}
		if err := w.record(next); err != nil {
			w.dropFresh(c)
			return err
		}
	}
}

// writeConfig creates or replaces a change's config.
func (w *writing) writeConfig(ctx context.Context, c *change) error {
	if c.doc.Creating() {
		return w.create(ctx, c)
	}
	return w.replace(ctx, c.client, c.doc.Path, c.doc.Target, c.edit.Out, c.doc.Text, nil)
}

// readBack reads a config after its write.
func (w *writing) readBack(c *change) (now reading) {
	if now.text, _, now.err = w.Disk.Read(c.doc.Target); now.err == nil {
		_, now.broken = c.client.Parse(now.text)
	}
	return now
}

// withdraw removes a client's swap from the state, then its backup. The record goes first:
// if that fails, it still has its backup.
func (w *writing) withdraw(c *change) error {
	for _, dir := range slices.Backward(c.made) {
		if err := removeEmpty(w.Disk, dir); err != nil {
			return fmt.Errorf("could not remove the new directory: %w (mcp-swap revert does)", err)
		}
	}
	c.made = nil
	next := w.state.Clone()
	i := next.Find(c.doc.Target, c.container, w.use.server)
	if c.prior != nil {
		next.Records[i] = *c.prior
	} else {
		next.Records = slices.Delete(next.Records, i, i+1)
	}
	if err := w.Journal.Save(next); errors.Is(err, atomicfile.ErrNotDurable) {
		w.Warn(fmt.Sprintf("%v: after a power failure the record of this swap may be back; mcp-swap revert removes it", err))
	} else if err != nil {
		return fmt.Errorf("could not remove the record of the swap: %w (mcp-swap revert finishes it)", err)
	}
	w.state = next
	w.dropFresh(c)
	c.prior = nil
	return nil
}

func (w *writing) dropFresh(c *change) {
	if c.fresh == "" {
		return
	}
	if err := w.Disk.Remove(c.fresh); err != nil {
		w.Warn(fmt.Sprintf("could not remove the unneeded backup %s: %v", c.fresh, err))
	}
	c.fresh, c.result.Backup = "", ""
}

// halfSaved returns the error about a config that cannot be read since it was written. The
// client may be in the middle of a save, so nothing is written over it, and the swap stays
// recorded.
func (w *writing) halfSaved(c *change, why error) error {
	err := fmt.Errorf("%s was swapped, and cannot be read since, as if another program had saved it only in part: %w; "+
		"it was left as it is, and the swap stays recorded: mcp-swap revert undoes it once the file is whole", c.doc.Path, why)
	if c.result.Backup != "" {
		err = fmt.Errorf("%w; as it was before, it is in %s", err, c.result.Backup)
	}
	return err
}
