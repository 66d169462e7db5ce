package swap

import (
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

// An attempt is a change that is about to be written: its record is in the state, and its
// backup is made.
type attempt struct {
	change change
	prior  *journal.Record // the record of an earlier swap of the entry
	backup string          // of the record
	fresh  bool            // the backup was made for this attempt
}

// An outcome is what became of a change.
type outcome struct {
	change change
	action string // Added, Replaced, Unchanged or Failed
	detail string
	backup string
	err    error // for Failed; with another action, a reservation about it
}

// fails returns the outcome of a change that was not made.
func fails(c change, err error) outcome {
	return outcome{change: c, action: Failed, err: configs.OnceWritable(err, "run use-local again")}
}

// unwritten returns the outcomes of changes of which nothing is written: they failed, or
// change nothing.
func unwritten(changes []change) []outcome {
	out := make([]outcome, len(changes))
	for i, c := range changes {
		if out[i] = (outcome{change: c, action: Unchanged}); c.err != nil {
			out[i] = fails(c, c.err)
		}
	}
	return out
}

// write makes the changes, and returns their outcomes. Its error is for what stops all.
func (s *Swapper) write(ctx context.Context, u *use, changes []change) ([]outcome, error) {
	st, unlock, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	w := &writing{Swapper: s, use: u, state: st}
	out, next := unwritten(changes), st
	staged := map[string][]byte{} // what each file will contain, for configs that share a file
	var ready []attempt
	var places []int // of their outcomes
	for i, c := range changes {
		if c.err != nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			out[i] = fails(c, fmt.Errorf("interrupted before anything was written: %w", err))
			continue
		}
		a, with, err := w.stage(c, next, staged)
		switch {
		case err != nil:
			out[i] = fails(c, err)
		case !a.change.edit.Changed():
			out[i].change = a.change
		default:
			ready, places, next = append(ready, a), append(places, i), with
			staged[a.change.doc.Target] = a.change.edit.Out
		}
	}
	if len(ready) == 0 {
		return out, nil
	}
	if err := w.save(next); err != nil {
		for _, a := range ready {
			w.dropFresh(a)
		}
		return nil, err
	}
	var targets []string
	for n, a := range ready {
		o := w.put(ctx, a)
		if out[places[n]] = o; o.action != Failed {
			targets = append(targets, o.change.doc.Target)
		}
	}
	w.identify(targets)
	return out, nil
}

// identify records which files were written. Without it, a revert would take the metadata
// that it finds for the user's choice.
func (w *writing) identify(targets []string) {
	next := w.state.Clone()
	noted := false
	for _, target := range targets {
		if f, ok := next.Files[target]; ok && f.ID == "" {
			f.ID = atomicfile.ID(target)
			next.Files[target] = f
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

// save makes next the state on disk. On an error the old one remains.
func (w *writing) save(next *journal.State) error {
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

// stage reads a client's config again, plans the edit again if the config has changed, and
// backs it up. It returns what is to be written and state with the record of it; if the
// config is as wanted, there is neither backup nor record. staged has the texts that files
// will have by earlier attempts.
func (w *writing) stage(c change, state *journal.State, staged map[string][]byte) (attempt, *journal.State, error) {
	now, err := w.reread(c)
	if err != nil {
		return attempt{}, nil, err
	}
	if earlier, ok := staged[now.Target]; ok {
		now.Text = earlier
	}
	if c, err = c.again(w.use, now); err != nil {
		return attempt{}, nil, err
	}
	if !c.edit.Changed() {
		return attempt{change: c}, state, nil
	}
	if err := now.MayWrite(w.Confirm, c.force); err != nil {
		return attempt{}, nil, err
	}
	if meta := now.Meta; len(meta.Attrs) > 0 || meta.Owner != nil && *meta.Owner != (atomicfile.Owner{UID: os.Geteuid(), GID: os.Getegid()}) {
		// Find out what cannot be kept before anything is written.
		if err := w.Disk.Keepable(now.Target); err != nil {
			return attempt{}, nil, fmt.Errorf("nothing was changed: %w", err)
		}
	}
	next := state.Clone()
	a, err := w.enter(c, next)
	return a, next, err
}

// enter puts a client's swap into a state, and makes its backup, unless an earlier swap of
// the entry has made it.
func (w *writing) enter(c change, next *journal.State) (a attempt, err error) {
	d := c.doc
	w.revive(next, d)
	a = attempt{change: c}
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
		a.prior = &prior
		if rec, base, err = w.extend(c, prior); err != nil {
			return a, err
		}
		needsBackup = !prior.Reverted.IsZero() || w.backupIsGone(c, prior.Backup)
	}
	rec.Writes = append(rec.Writes, journal.NewWrite(base, c.edit.Out, c.edit.Value))
	rec.Time, rec.Repo, rec.Given = time.Now().UTC().Truncate(time.Second), w.use.repo, w.use.given
	rec.Client, rec.Scope, rec.Reverted = c.client.Name, string(c.scope), time.Time{}

	if err := note(next, d); err != nil {
		return a, err
	}
	if needsBackup {
		if rec.Backup, err = w.backup(d, c.client.InFiles(c.scope), base); err != nil {
			return a, err
		}
		a.fresh, rec.Saved = true, journal.Hash(base)
	}
	a.backup = rec.Backup
	if i < 0 {
		next.Records = append(next.Records, rec)
	} else {
		next.Records[i] = rec
	}
	return a, nil
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
func (w *writing) extend(c change, rec journal.Record) (_ journal.Record, base []byte, err error) {
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
func (w *writing) backupIsGone(c change, backup string) bool {
	if backup == "" || !machine.Missing(backup) {
		return false
	}
	w.Warn(fmt.Sprintf("%s: the first backup %s does not exist any more; the new one holds the config as revert would leave it", c.client.Label(c.scope), backup))
	return true
}

// before returns the entry in a text, and what undoes its swap.
func (u *use) before(c change, text []byte) (map[string]any, format.Undo, error) {
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

// put writes an attempt. If another program has saved meanwhile, the edit is planned again
// from the saved text.
func (w *writing) put(ctx context.Context, a attempt) outcome {
	for redo := 1; ; redo++ {
		c := a.change
		made, err := w.writeConfig(ctx, c)
		now := w.readBack(c)
		became := after(err, now, c.edit.Out, c.doc.Absent())
		done := outcome{change: c, action: c.action(), backup: a.backup, err: err}
		if c.doc.Creating() {
			done.detail = "config created"
		}
		switch became {
		case written:
			return done
		case unreadable:
			done.action, done.err = Failed, halfSaved(a, cmp.Or(now.err, now.broken))
			return done
		case unknown:
			// The record covers both the new text and the old one.
			failed := fails(c, fmt.Errorf("%w; the file cannot be read back, so the swap stays recorded: mcp-swap revert finishes it", err))
			failed.backup = a.backup
			return failed
		}
		backup, werr := w.withdraw(a, made)
		failed := func(err error) outcome {
			o := fails(c, err)
			o.backup = backup
			return o
		}
		switch {
		case werr != nil:
			return failed(fmt.Errorf("%w; %w", err, werr))
		case became != savedOver:
			return failed(err)
		case redo == maxRedos:
			return failed(fmt.Errorf("%s: %w", c.doc.Path, errBusy))
		}
		again, next, err := w.stage(c, w.state, nil)
		if err != nil {
			return failed(err)
		}
		if !again.change.edit.Changed() {
			return outcome{change: again.change, action: Unchanged, backup: backup}
		}
		if err := w.save(next); err != nil {
			backup = w.dropFresh(again)
			return failed(err)
		}
		a = again
	}
}

// writeConfig creates or replaces a change's config, and returns the directories that it made.
func (w *writing) writeConfig(ctx context.Context, c change) (made []string, err error) {
	if c.doc.Creating() {
		return w.create(ctx, c)
	}
	return nil, w.replace(ctx, c.client, c.doc.Path, c.doc.Target, c.edit.Out, c.doc.Text, nil)
}

// readBack reads a config after its write.
func (w *writing) readBack(c change) (now reading) {
	if now.text, _, now.err = w.Disk.Read(c.doc.Target); now.err == nil {
		_, now.broken = c.client.Parse(now.text)
	}
	return now
}

// withdraw removes an attempt's directories, its record from the state, and then its backup.
// The record goes before the backup: if that fails, it still has it. It returns the backup
// that the entry has now.
func (w *writing) withdraw(a attempt, made []string) (backup string, err error) {
	for _, dir := range slices.Backward(made) {
		if err := removeEmpty(w.Disk, dir); err != nil {
			return a.backup, fmt.Errorf("could not remove the new directory: %w (mcp-swap revert does)", err)
		}
	}
	next := w.state.Clone()
	i := next.Find(a.change.doc.Target, a.change.container, w.use.server)
	if a.prior != nil {
		next.Records[i] = *a.prior
	} else {
		next.Records = slices.Delete(next.Records, i, i+1)
	}
	if err := w.Journal.Save(next); errors.Is(err, atomicfile.ErrNotDurable) {
		w.Warn(fmt.Sprintf("%v: after a power failure the record of this swap may be back; mcp-swap revert removes it", err))
	} else if err != nil {
		return a.backup, fmt.Errorf("could not remove the record of the swap: %w (mcp-swap revert finishes it)", err)
	}
	w.state = next
	return w.dropFresh(a), nil
}

// dropFresh removes the backup that was made for an attempt, and returns the one that there is
// without it.
func (w *writing) dropFresh(a attempt) (backup string) {
	if !a.fresh {
		return a.backup
	}
	if err := w.Disk.Remove(a.backup); err != nil {
		w.Warn(fmt.Sprintf("could not remove the unneeded backup %s: %v", a.backup, err))
	}
	return ""
}

// halfSaved returns the error about a config that cannot be read since it was written. The
// client may be in the middle of a save, so nothing is written over it, and the swap stays
// recorded.
func halfSaved(a attempt, why error) error {
	err := fmt.Errorf("%s was swapped, and cannot be read since, as if another program had saved it only in part: %w; "+
		"it was left as it is, and the swap stays recorded: mcp-swap revert undoes it once the file is whole", a.change.doc.Path, why)
	if a.backup != "" {
		err = fmt.Errorf("%w; as it was before, it is in %s", err, a.backup)
	}
	return err
}
