package swap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/swap/format"
	"tmuxmcp/swap/journal"
)

// applying is one run of UseLocal under the lock: every config is read again
// and backed up, then all swaps are recorded in one write of the state, then
// the configs are written one after the other. A swap that fails is taken out
// of the state again.
type applying struct {
	*Swapper
	use   *use
	state *journal.State // as it is on the disk
}

func (s *Swapper) applyAll(ctx context.Context, u *use, jobs []*job) error {
	unlock, err := s.Journal.Lock(ctx, s.waiting)
	if err != nil {
		return err
	}
	defer unlock()
	st, err := s.Journal.Load()
	if err != nil {
		return err
	}
	s.sweep(st)

	a := &applying{Swapper: s, use: u, state: st}
	next := st.Clone()
	staged := map[string][]byte{} // what each file will hold, for configs that are one file
	var ready []*job
	for _, j := range jobs {
		if j.result.Outcome != "" {
			continue
		}
		if err := ctx.Err(); err != nil {
			j.fail(fmt.Errorf("interrupted before anything was written: %w", err))
		} else if err := a.stage(j, next, staged); err != nil {
			j.fail(err)
		} else if j.edit.Changed() {
			ready = append(ready, j)
		}
	}
	if len(ready) == 0 {
		return nil
	}
	if err := a.record(next); err != nil {
		for _, j := range ready {
			a.dropFresh(j)
		}
		return err
	}
	for _, j := range ready {
		if err := a.put(ctx, j); err != nil {
			j.fail(err)
		}
	}
	return nil
}

func (s *Swapper) waiting(path string) {
	s.Warn("waiting for another mcp-swap to finish (it holds " + path + ")")
}

// record makes next the state on the disk. On an error the old one is.
func (a *applying) record(next *journal.State) error {
	err := a.Journal.Save(next)
	if err == nil {
		a.state = next
		return nil
	}
	if errors.Is(err, atomicfile.ErrNotDurable) {
		if serr := a.Journal.Save(a.state); serr != nil && !errors.Is(serr, atomicfile.ErrNotDurable) {
			a.state = next
			return fmt.Errorf("%w; nothing was swapped, but records of it stay: mcp-swap revert removes them", err)
		}
	}
	return err
}

// stage reads a job's config again, plans the edit anew if the config has
// changed, backs it up and puts the swap into next.
func (a *applying) stage(j *job, next *journal.State, staged map[string][]byte) error {
	target, err := targetOf(j.doc.config)
	if err != nil {
		return err
	}
	text, info, err := a.Disk.Read(target)
	if err != nil {
		return err
	}
	if earlier, ok := staged[target]; ok {
		text = earlier
	}
	if target != j.doc.target || !bytes.Equal(text, j.doc.text) {
		doc := &document{client: j.client, config: j.doc.config, target: target, text: text}
		if err := doc.parse(); err != nil {
			return err
		}
		if err := a.use.plan(j, doc); err != nil {
			return err
		}
	}
	j.doc.info = info
	if !j.edit.Changed() {
		return nil
	}
	if err := a.enter(j, next); err != nil {
		return err
	}
	staged[target] = j.edit.Out
	return nil
}

// enter puts a job's swap into a state, and makes its backup, unless an
// earlier swap of the entry has made it.
func (a *applying) enter(j *job, next *journal.State) error {
	d := j.doc
	rec := journal.Record{
		Seq: next.Seq + 1, Action: j.action(), Container: j.container, Server: a.use.server,
		Config: d.config, Target: d.target, Old: j.old.Value, Undo: j.edit.Undo,
	}
	base := d.text
	i := next.Find(d.target, j.container, a.use.server)
	if i >= 0 {
		rec = next.Records[i]
		prior := rec
		j.prior = &prior
		was := judge(&prior, d, j.old)
		var err error
		if base, _, err = was.undo(d, true); err != nil {
			return err
		}
		rec.Writes = nil
		if was.landed != nil {
			rec.Writes = []journal.Write{*was.landed}
		}
	}
	w := journal.NewWrite(base, j.edit.Out, j.edit.Value)
	rec.Writes = append(rec.Writes, w)
	if i < 0 {
		rec.Before = w.Base
	}
	rec.Time, rec.Repo = time.Now().UTC().Truncate(time.Second), a.use.repo
	rec.Client, rec.Scope = j.client.Name, string(j.scope)

	needed := rec.Backup == ""
	if !needed {
		if _, err := os.Lstat(rec.Backup); errors.Is(err, fs.ErrNotExist) {
			a.Warn(fmt.Sprintf("%s: the first backup %s has gone; the new one holds the config as revert would leave it", j.result.Label, rec.Backup))
			needed = true
		}
	}
	if needed {
		var err error
		if rec.Backup, err = a.backup(d, base); err != nil {
			return err
		}
		j.fresh = rec.Backup
	}
	j.result.Backup = rec.Backup
	if i >= 0 {
		next.Records[i] = rec
	} else {
		next.Seq++
		next.Records = append(next.Records, rec)
	}
	return nil
}

// put writes a staged edit. If another program has saved meanwhile, the edit
// is made anew from what it has saved.
func (a *applying) put(ctx context.Context, j *job) error {
	for redo := 1; ; redo++ {
		err := a.write(ctx, j.client, j.doc.config, j.doc.target, j.edit.Out, j.doc.text)
		if err == nil {
			err = a.landed(j)
		}
		if err == nil {
			j.result.Outcome = j.action()
			return nil
		}
		now, _, rerr := a.Disk.Read(j.doc.target)
		if rerr != nil {
			// Whether the new text is there or the old one: the record covers both.
			return fmt.Errorf("%w; what the file holds now cannot be told, so the swap stays recorded: mcp-swap revert finishes it", err)
		}
		if bytes.Equal(now, j.edit.Out) {
			// The new text is in place and stays; the record is true.
			j.result.Outcome, j.result.Err = j.action(), err
			return nil
		}
		if werr := a.withdraw(j); werr != nil {
			return fmt.Errorf("%w; %w", err, werr)
		}
		if !errors.Is(err, atomicfile.ErrChanged) {
			return err
		}
		if redo == maxRedos {
			return fmt.Errorf("%s: %w", j.doc.config, errBusy)
		}
		next := a.state.Clone()
		if err := a.stage(j, next, map[string][]byte{}); err != nil {
			return err
		}
		if !j.edit.Changed() {
			return nil
		}
		if err := a.record(next); err != nil {
			a.dropFresh(j)
			return err
		}
	}
}

// withdraw takes a job's swap out of the state, then its backup away. The
// record goes first: should that fail, it still has its backup.
func (a *applying) withdraw(j *job) error {
	next := a.state.Clone()
	i := next.Find(j.doc.target, j.container, a.use.server)
	if j.prior != nil {
		next.Records[i] = *j.prior
	} else {
		next.Records = slices.Delete(next.Records, i, i+1)
	}
	if err := a.Journal.Save(next); err != nil && !errors.Is(err, atomicfile.ErrNotDurable) {
		return fmt.Errorf("the record of the swap could not be taken back: %w (mcp-swap revert finishes it)", err)
	}
	a.state = next
	a.dropFresh(j)
	j.prior = nil
	return nil
}

func (a *applying) dropFresh(j *job) {
	if j.fresh == "" {
		return
	}
	if err := a.Disk.Remove(j.fresh); err != nil {
		a.Warn(fmt.Sprintf("backup %s is not needed and could not be removed: %v", j.fresh, err))
	}
	j.fresh, j.result.Backup = "", ""
}

// landed looks at what a write left. What a client has saved on top of it
// since is fine, as long as it is whole.
func (s *Swapper) landed(j *job) error {
	text, _, err := s.Disk.Read(j.doc.target)
	if err == nil && !bytes.Equal(text, j.edit.Out) {
		_, err = format.Parse(j.client.Kind, text)
	}
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%s cannot be read back after the write: %w", j.doc.config, err)
	if rerr := s.Disk.Replace(j.doc.target, j.doc.text, nil, 0o600); rerr != nil {
		return fmt.Errorf("%w; and its old text could not be put back: %w", err, rerr)
	}
	return fmt.Errorf("%w; its old text was put back", err)
}
