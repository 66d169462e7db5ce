package commit

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
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/format"
	"tmuxmcp/swap/internal/configs"
	"tmuxmcp/swap/internal/machine"
	"tmuxmcp/swap/internal/plan"
	"tmuxmcp/swap/journal"
)

// writing is the part of UseLocal under the lock. It reads every config again, plans its edit again
// if it has changed, and backs it up. Then it records all swaps in one write of the state, and
// writes the configs one after the other. A swap that fails is removed from the state again.
type writing struct {
	*Commit
	want *plan.Wanted
}

// An attempt is a change that is about to be written. Its backup is made, and its record is in
// the state that is saved before the first write.
type attempt struct {
	change plan.Change
	prior  *journal.Record // the record of an earlier swap of the entry
	backup string          // of the record
	fresh  bool            // the backup was made for this attempt
}

// An Outcome is the result of a change, of undoing a swap or, without an action, of forgetting a
// record.
type Outcome struct {
	Change plan.Change    // of a write
	Record journal.Record // of an undoing or forgetting
	Action string         // Added, Replaced, Unchanged, Reverted or Failed; of a dry run, what it would be
	Detail string         // how it was done, in a few words
	Backup string         // "" if there is none now
	Diff   string         // of a dry run
	Masked bool           // Diff contains masks
	Err    error          // for Failed; with another action, a reservation about it
}

// fails returns the outcome of a change that was not made.
func fails(c plan.Change, err error) Outcome {
	return Outcome{Change: c, Action: Failed, Err: configs.OnceWritable(err, "run it again")}
}

// Unwritten returns the outcomes of changes that failed or change nothing.
func Unwritten(changes []plan.Change) []Outcome {
	out := make([]Outcome, len(changes))
	for i, c := range changes {
		if out[i] = (Outcome{Change: c, Action: Unchanged}); c.Err != nil {
			out[i] = fails(c, c.Err)
		}
	}
	return out
}

// Write makes the changes, and returns their outcomes. Its error is for what stops all.
func (c *Commit) Write(ctx context.Context, want *plan.Wanted, changes []plan.Change) ([]Outcome, error) {
	w := &writing{c, want}
	out, next, noted := Unwritten(changes), w.State, false
	staged := map[string][]byte{} // what each file will contain, for configs that share a file
	var ready []attempt
	var places []int // of their outcomes
	for i, ch := range changes {
		if ch.Err != nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			out[i] = fails(ch, fmt.Errorf("interrupted before anything was written: %w", err))
			continue
		}
		a, with, err := w.prepare(ch, next, staged)
		switch {
		case err != nil:
			out[i] = fails(ch, err)
		case !a.change.Edit.Changed():
			out[i].Change, noted, next = a.change, noted || with != next, with
		default:
			ready, places, next = append(ready, a), append(places, i), with
			staged[a.change.Doc.Target] = a.change.Edit.Out
		}
	}
	if len(ready) == 0 {
		if noted {
			return out, w.save(next)
		}
		return out, nil
	}
	if err := w.save(next); err != nil {
		for _, a := range ready {
			w.dropFresh(a)
		}
		return nil, configs.OnceWritable(err, "nothing was changed: run it again")
	}
	var targets []string
	for n, a := range ready {
		o := w.writeConfig(ctx, a)
		if out[places[n]] = o; o.Action != Failed {
			targets = append(targets, o.Change.Doc.Target)
		}
	}
	w.identify(targets)
	return out, nil
}

// identify records which files were written. Without it, a revert would take the metadata
// that it finds for the user's choice.
func (w *writing) identify(targets []string) {
	next := w.State.Clone()
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

// save makes next the state on disk. On an error the old one remains.
func (w *writing) save(next *journal.State) error {
	err := w.Journal.Save(next)
	if err == nil {
		w.State = next
		return nil
	}
	if errors.Is(err, atomicfile.ErrNotDurable) {
		if serr := w.Journal.Save(w.State); serr != nil {
			w.State = next
			return fmt.Errorf("%w; nothing was swapped, but records of it may stay: %s removes them", err, w.Words.Undo)
		}
	}
	return err
}

// prepare reads a client's config again, plans the edit again if the config has changed, and
// backs it up. It returns the attempt, and a copy of state with the record of it. If the config
// is as wanted already, there is neither a backup nor a record. staged has the texts that files
// will have by earlier attempts.
func (w *writing) prepare(c plan.Change, state *journal.State, staged map[string][]byte) (attempt, *journal.State, error) {
	now, err := w.reread(c)
	if err != nil {
		return attempt{}, nil, err
	}
	if earlier, ok := staged[now.Target]; ok {
		now.Text = earlier
	}
	if c, err = c.Again(w.Env, w.want, now); err != nil {
		return attempt{}, nil, err
	}
	if !c.Edit.Changed() {
		return attempt{change: c}, w.noteReader(c, state), nil
	}
	if err := now.MayWrite(w.Confirm, c.Force); err != nil {
		return attempt{}, nil, err
	}
	if meta := now.Meta; len(meta.Attrs) > 0 || meta.Owner != nil && *meta.Owner != (atomicfile.Owner{UID: os.Geteuid(), GID: os.Getegid()}) {
		// Find out what cannot be kept before anything is written.
		if err := w.Disk.Keepable(now.Target); err != nil {
			return attempt{}, nil, fmt.Errorf("nothing was changed: %w", err)
		}
	}
	next := state.Clone()
	a, err := w.recordSwap(c, next)
	return a, next, err
}

// ToNote reports whether changes that change nothing still have something to record.
func ToNote(env configs.Env, want *plan.Wanted, changes []plan.Change) bool {
	c, err := Read(env)
	w := &writing{c, want}
	return err == nil && slices.ContainsFunc(changes, func(ch plan.Change) bool {
		return ch.Err == nil && !ch.Edit.Changed() && w.noteReader(ch, c.State) != c.State
	})
}

func readerOf(c plan.Change) journal.Reader {
	return journal.Reader{Client: c.Client.Name, Scope: string(c.Scope), Config: c.Doc.Path}
}

// noteReader adds a client to the record of an entry that another client has swapped and that is as
// wanted already: the client may later replace a link with a file of its own.
func (w *writing) noteReader(c plan.Change, state *journal.State) *journal.State {
	i := state.Find(c.Doc.Target, c.Container, w.want.Name)
	if i < 0 {
		return state
	}
	next := state.Clone()
	r, was := &next.Records[i], next.Records[i]
	if !r.ReadBy(readerOf(c)) && !r.Undone {
		return state
	}
	r.Undone = false // it is in force again
	w.noteAlready(next, r, &was)
	return next
}

// recordSwap adds a client's swap to a state, and makes its backup unless an earlier swap of the
// entry did.
func (w *writing) recordSwap(c plan.Change, next *journal.State) (a attempt, err error) {
	d := c.Doc
	w.restoreRecords(next, d)
	a = attempt{change: c}
	var rec journal.Record
	var base []byte
	needsBackup := !d.Absent() // a file that the swap creates has none
	i := next.Find(d.Target, c.Container, w.want.Name)
	if i >= 0 {
		prior := next.Records[i]
		a.prior = &prior
	}
	switch {
	case i < 0:
		next.Seq++
		rec, base, err = w.first(c, next)
	case isUsers(a.prior, c):
		rec, base = users(c, a.prior), d.Text
	default:
		if rec, base, err = w.extend(c, *a.prior); err != nil {
			break
		}
		by := readerOf(c)
		if needsBackup = !rec.Reverted.IsZero() || w.backupIsGone(c, rec.Backup); needsBackup {
			was := rec.Readers()[0]
			rec.Client, rec.Scope, rec.Config = by.Client, by.Scope, by.Config // beside which it will be
			by = was
		}
		rec.ReadBy(by)
	}
	if err != nil {
		return a, err
	}
	rec.Writes = append(rec.Writes, journal.NewWrite(base, c.Edit.Out, c.Edit.Value))
	rec.Time, rec.Repo, rec.Given = time.Now().UTC().Truncate(time.Second), w.want.Repo, w.want.Given
	rec.By = w.want.By
	rec.Reverted, rec.Undone = time.Time{}, false
	w.noteAlready(next, &rec, a.prior)

	if err := noteMetadata(next, d); err != nil {
		return a, err
	}
	if needsBackup {
		if rec.Backup, err = w.backup(d, c.Client.InFiles(c.Scope), base); err != nil {
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

// restoreRecords brings back the records of reverted swaps that are in a config again, so that the
// new swap continues them. If no record of the file is left, it no longer matters who created it.
func (w *writing) restoreRecords(next *journal.State, d *configs.Document) {
	next.Revive(func(r *journal.Record) bool {
		if r.Target != d.Target {
			return false
		}
		v, err := judgeText(w.Env, r, &configs.Document{Client: d.Client, Path: d.Path, Text: d.Text})
		return err == nil && v.runs() && !covered(next, r, (&place{d, v}).entry())
	})
	if !slices.ContainsFunc(next.Records, func(r journal.Record) bool { return r.Target == d.Target }) {
		delete(next.Files, d.Target)
	}
}

// extend returns the record of an earlier swap of the entry, for one more write, and the
// text as that swap's revert would leave it.
func (w *writing) extend(c plan.Change, rec journal.Record) (_ journal.Record, base []byte, err error) {
	was := judge(&rec, c.Doc, c.Old)
	if base, _, err = was.undo(c.Doc, true); err != nil {
		return rec, nil, err
	}
	rec.Writes = nil
	if was.Landed != nil {
		rec.Writes = []journal.Write{*was.Landed}
	}
	if was.Edited() && rec.Action == journal.Replaced {
		// From now on, the user's edit is part of what a revert restores.
		rec.Old, rec.Undo, err = w.want.Before(c, base)
	}
	return rec, base, err
}

// newRecord returns the record of a change to an entry that no swap has written.
func newRecord(c plan.Change, seq int, server string) journal.Record {
	d := c.Doc
	return journal.Record{
		Seq: seq, Action: c.Action(), Container: c.Container, Server: server, Client: c.Client.Name, Scope: string(c.Scope),
		Config: d.Path, Target: d.Target, Old: c.Old.Value, Undo: c.Edit.Undo, Before: journal.Hash(d.Text),
	}
}

// first returns the record of the first swap of an entry, and the text that it starts from.
func (w *writing) first(c plan.Change, state *journal.State) (rec journal.Record, base []byte, err error) {
	rec = newRecord(c, state.Seq, w.want.Name)
	if base, err = w.continued(c, state, &rec); err != nil {
		return rec, nil, err
	}
	before := map[string][]byte{c.Doc.Target: c.Doc.Text}
	for _, f := range configs.Refusals(w.Env, c.Client, w.want.Repo, w.want.Name, before) {
		rec.Refused = append(rec.Refused, f.Path)
	}
	return rec, base, nil
}

// isUsers reports whether the user edited what a record's swap wrote.
func isUsers(prior *journal.Record, c plan.Change) bool {
	v := judge(prior, c.Doc, c.Old)
	return v.Edited() && v.Conflicts()
}

// users returns the record of a swap whose entry the user has edited since prior: a revert restores
// the user's version.
func users(c plan.Change, prior *journal.Record) journal.Record {
	rec := newRecord(c, prior.Seq, prior.Server)
	rec.Already = prior.Already
	for _, other := range prior.Readers() {
		rec.ReadBy(other)
	}
	return rec
}

// noteAlready adds to a record the other entries in which its clients already read what its newest
// write wrote, if that is the first write or runs something else than the one before. prior is the
// record before that write, if any.
func (w *writing) noteAlready(state *journal.State, rec, prior *journal.Record) {
	c := clients.Lookup(rec.Client)
	wrote := *rec
	wrote.Writes = rec.Writes[len(rec.Writes)-1:]
	if prior != nil && len(prior.Readers()) == len(rec.Readers()) {
		last := prior.Writes[len(prior.Writes)-1].Value
		if slices.Equal(c.Dialect.Runs(last), c.Dialect.Runs(wrote.Writes[0].Value)) {
			return
		}
	}
	own := journal.Entry{Target: rec.Target, Container: rec.Container}
	skip := func(target string, _ []byte) bool { return target == rec.Target && len(c.Scopes) == 1 }
	for _, in := range StillReads(w.Env, state, &wrote, nil, skip) {
		if e := in.Entry(); !e.Same(own) && !rec.Had(e) {
			rec.Already = append(slices.Clip(rec.Already), e)
		}
	}
}

// continued returns the text that a new swap starts from. If the client has replaced the swapped file
// with another one, the entry in that is not the user's: a revert restores the entry before the
// first swap.
func (w *writing) continued(c plan.Change, state *journal.State, rec *journal.Record) (base []byte, err error) {
	for _, r := range state.Records {
		if r.Target == c.Doc.Target || r.Client != rec.Client || r.Config != c.Doc.Path || !r.Same(r.Target, c.Container, rec.Server) {
			continue
		}
		v := judge(&r, c.Doc, c.Old)
		if !v.runs() || v.Edited() && v.Conflicts() {
			continue
		}
		if base, _, err = v.undo(c.Doc, true); err == nil {
			rec.Action, rec.Before = r.Action, journal.Hash(base)
			rec.Old, rec.Undo, err = w.want.Before(c, base)
		}
		return base, err
	}
	return c.Doc.Text, nil
}

// backupIsGone reports whether an earlier swap's backup is missing, and warns about it.
func (w *writing) backupIsGone(c plan.Change, backup string) bool {
	if backup == "" || !machine.Missing(backup) {
		return false
	}
	w.Warn(fmt.Sprintf("%s: the first backup %s does not exist any more; the new one holds the config as revert would leave it", c.Client.Label(c.Scope), backup))
	return true
}

// writeConfig writes an attempt. If another program has saved meanwhile, the edit is planned
// again from the saved text.
func (w *writing) writeConfig(ctx context.Context, a attempt) Outcome {
	for redo := 1; ; redo++ {
		c := a.change
		made, err := w.createOrReplace(ctx, c)
		now := w.readBack(c)
		became := after(err, now, c.Edit.Out, c.Doc.Absent())
		done := Outcome{Change: c, Action: c.Action(), Backup: a.backup, Err: err}
		if c.Doc.Creating() {
			done.Detail = "config created"
		}
		switch became {
		case written:
			undone, herr := w.holds(c, now)
			if herr == nil {
				w.dropPrior(a)
				return done
			}
			if !undone {
				done.Action, done.Err = Failed, errors.Join(done.Err, herr)
				return done
			}
			became, err = savedOver, herr // by a client that had read it before
		case unreadable:
			done.Action, done.Err = Failed, halfSaved(a, cmp.Or(now.err, now.broken), w.Words.Undo)
			return done
		case unknown:
			// The record covers both the new text and the old one.
			lost := fails(c, fmt.Errorf("%w; the file cannot be read back, so the swap stays recorded: %s finishes it", err, w.Words.Undo))
			lost.Backup = a.backup
			return lost
		}
		w.Env = w.Anew()
		backup, werr := w.withdraw(a, made)
		refused := func(err error) Outcome {
			o := fails(c, err)
			o.Backup = backup
			return o
		}
		switch {
		case werr != nil:
			return refused(fmt.Errorf("%w; %w", err, werr))
		case became != savedOver:
			return refused(err)
		case redo == maxRedos:
			return refused(fmt.Errorf("%s: %w", c.Doc.Path, ErrBusy))
		}
		again, next, err := w.prepare(c, w.State, nil)
		if err != nil {
			return refused(err)
		}
		if !again.change.Edit.Changed() {
			return Outcome{Change: again.change, Action: Unchanged, Backup: backup}
		}
		if err := w.save(next); err != nil {
			backup = w.dropFresh(again)
			return refused(err)
		}
		a = again
	}
}

// dropPrior removes the backup of the record that an attempt has replaced.
func (w *writing) dropPrior(a attempt) {
	if p := a.prior; p != nil && a.fresh && p.Backup != "" && p.Backup != a.backup && !machine.Missing(p.Backup) && w.madeBackup(p) {
		if _, err := w.removeBackup(p); err != nil {
			w.Warn(fmt.Sprintf("could not remove the unneeded backup %s: %v", p.Backup, err))
		}
	}
}

// holds returns an error unless the client's own path leads to a config with the entry as it was
// written, or as the client has saved it since. now has the contents of the written file. undone
// is set if its entry is as before.
func (w *writing) holds(c plan.Change, now contents) (undone bool, err error) {
	stays := "the swap stays recorded: " + w.Words.Undo + " undoes what is left of it"
	target, err := configs.Target(c.Doc.Path)
	switch {
	case err != nil:
		return false, fmt.Errorf("%s was swapped, and since then %w; %s", c.Doc.Target, err, stays)
	case target != c.Doc.Target:
		return false, fmt.Errorf("%s was swapped, and since then %s leads to %s; %s", c.Doc.Target, c.Doc.Path, target, stays)
	case bytes.Equal(now.text, c.Edit.Out):
		return false, nil
	}
	doc, err := c.Client.Parse(now.text)
	if err != nil {
		return false, err
	}
	e, err := doc.Lookup(c.Container, w.want.Name)
	d := c.Client.Dialect
	undone = err == nil && e.Found == c.Old.Found && d.SameEntry(e.Value, c.Old.Value)
	if err == nil && e.Found && !undone && slices.Equal(d.Runs(e.Value), d.Runs(c.Edit.Value)) && hasAll(variables(c.Client, e.Value), variables(c.Client, c.Edit.Value)) {
		return false, nil
	}
	undone = undone || err == nil && e.Found && c.Old.Found && slices.Equal(d.Runs(e.Value), d.Runs(c.Old.Value)) &&
		format.Equal(variables(c.Client, e.Value), variables(c.Client, c.Old.Value))
	return undone, fmt.Errorf("%s was swapped, and another program has saved it since without that; %s", c.Doc.Path, stays)
}

func hasAll(object, members map[string]any) bool {
	for name, v := range members {
		if !format.Equal(object[name], v) {
			return false
		}
	}
	return true
}

// createOrReplace creates or replaces a change's config, and returns the directories that it
// made.
func (w *writing) createOrReplace(ctx context.Context, c plan.Change) (made []string, err error) {
	if c.Doc.Creating() {
		return w.create(ctx, c)
	}
	return nil, w.replace(ctx, c.Client, c.Doc.Path, c.Doc.Target, c.Edit.Out, c.Doc.Text, nil)
}

// readBack reads a config after its write.
func (w *writing) readBack(c plan.Change) (now contents) {
	if now.text, _, now.err = w.Disk.Read(c.Doc.Target); now.err == nil && !bytes.Equal(now.text, c.Edit.Out) {
		_, now.broken = c.Client.Parse(now.text)
	}
	return now
}

// withdraw removes an attempt's directories, its record and its backup, in this order: if removing
// the record fails, it still has its backup. It returns the backup that the entry has now.
func (w *writing) withdraw(a attempt, made []string) (backup string, err error) {
	for _, dir := range slices.Backward(made) {
		if err := removeEmpty(w.Disk, dir); err != nil {
			return a.backup, fmt.Errorf("could not remove the new directory: %w (%s does)", err, w.Words.Undo)
		}
	}
	next := w.State.Clone()
	i := next.Find(a.change.Doc.Target, a.change.Container, w.want.Name)
	if a.prior != nil {
		next.Records[i] = *a.prior
	} else {
		next.Records = slices.Delete(next.Records, i, i+1)
	}
	if err := w.Journal.Save(next); errors.Is(err, atomicfile.ErrNotDurable) {
		w.Warn(fmt.Sprintf("%v: after a power failure the record of this swap may be back; %s removes it", err, w.Words.Undo))
	} else if err != nil {
		return a.backup, fmt.Errorf("could not remove the record of the swap: %w (%s finishes it)", err, w.Words.Undo)
	}
	w.State = next
	return w.dropFresh(a), nil
}

// dropFresh removes the backup that was made for an attempt. It returns the backup that is left.
func (w *writing) dropFresh(a attempt) (backup string) {
	if !a.fresh {
		return a.backup
	}
	if err := w.Disk.Remove(a.backup); err != nil {
		w.Warn(fmt.Sprintf("could not remove the unneeded backup %s: %v", a.backup, err))
	}
	return ""
}

// halfSaved returns the error for a config that can no longer be read after it was written. The
// client may be in the middle of a save, so nothing is written over it, and the swap stays recorded.
func halfSaved(a attempt, why error, undo string) error {
	err := fmt.Errorf("%s was swapped, and cannot be read since, as if another program had saved it only in part: %w; "+
		"it was left as it is, and the swap stays recorded: %s undoes it once the file is whole", a.change.Doc.Path, why, undo)
	if a.backup != "" {
		err = fmt.Errorf("%w; as it was before, it is in %s", err, a.backup)
	}
	return err
}
