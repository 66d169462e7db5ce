package commit

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/configs"
	"tmuxmcp/swap/internal/machine"
	"tmuxmcp/swap/internal/patch"
	"tmuxmcp/swap/journal"
)

// UndoOptions say how swaps are undone.
type UndoOptions struct {
	DryRun      bool // return diffs and write nothing
	Force       bool // also fields edited since, and read-only configs
	ShowSecrets bool // leave the diffs unmasked
}

// Undo undoes recorded swaps, newest first. A swap that fails keeps its record and does not
// stop the others.
func (c *Commit) Undo(ctx context.Context, records []journal.Record, o UndoOptions) ([]Outcome, error) {
	order := slices.SortedFunc(slices.Values(records), func(a, b journal.Record) int { return b.Seq - a.Seq })
	t := &reverting{Commit: c, opts: o, dry: map[string][]byte{}}
	if err := t.begin(order); err != nil {
		return nil, err
	}
	var out []Outcome
	for _, r := range order {
		done := Outcome{Record: r, Backup: r.Backup}
		client := clients.Lookup(r.Client)
		var err error
		switch {
		case ctx.Err() != nil:
			err = ctx.Err()
		case client == nil:
			err = fmt.Errorf("this version does not know that client; its backup is %s", r.Backup)
		default:
			err = t.revertOne(ctx, client, r, &done)
		}
		if err != nil {
			done.Err = configs.OnceWritable(err, "the swap stays recorded: run "+t.Words.Undo+" again")
			done.Action = cmp.Or(done.Action, Failed)
		}
		out = append(out, done)
	}
	if o.DryRun {
		return out, nil
	}
	return out, t.finish()
}

// reverting is one run of Undo. Its state is what finish saves.
type reverting struct {
	*Commit
	opts     UndoOptions
	reverted int               // number of swaps undone
	dry      map[string][]byte // what a dry run has made of each file so far

	lost    map[string]*atomicfile.Meta // metadata of files before a program replaced them
	blanked bool                        // the state on disk is begin's
}

// begin finds the files that another program has replaced since they were swapped. If this
// run is killed, the next one must not mistake a file written by this one for a replaced
// one, so the IDs of files that several swaps share are removed from the state until those
// files are written. Nor must it skip a swap that was brought back and is half undone,
// since that is no longer a reverted one.
func (t *reverting) begin(order []journal.Record) error {
	t.lost = map[string]*atomicfile.Meta{}
	for i := range t.State.Records {
		if r := &t.State.Records[i]; !r.Reverted.IsZero() {
			r.Reverted, t.blanked = time.Time{}, true
		}
	}
	blank := t.State.Clone()
	for _, r := range order {
		f := t.State.Files[r.Target]
		if f.Recreated(r.Target) {
			t.lost[r.Target] = &f.Meta
		}
		shared := func(o journal.Record) bool { return o.Target == r.Target && o.Seq != r.Seq }
		if f.ID != "" && slices.ContainsFunc(t.State.Records, shared) {
			f.ID = ""
			blank.Files[r.Target] = f
			t.blanked = true
		}
	}
	if t.opts.DryRun || !t.blanked {
		return nil
	}
	return t.Journal.Save(blank)
}

// finish saves the state, in which what was undone is reverted.
func (t *reverting) finish() error {
	if t.reverted == 0 && !t.blanked {
		return nil
	}
	if err := t.Journal.Save(t.State); err != nil {
		if errors.Is(err, atomicfile.ErrNotDurable) {
			return err
		}
		return fmt.Errorf("the configs are restored, but still recorded as swapped; the next revert corrects that: %w", err)
	}
	return nil
}

// revertOne undoes one swap: it restores the config, then removes the backup; finish saves all
// records at the end. After a kill anywhere in between, the next run finds the record and a
// config as it was before the swap, and continues from there.
func (t *reverting) revertOne(ctx context.Context, c *clients.Client, r journal.Record, out *Outcome) error {
	i := t.State.Find(r.Target, r.Container, r.Server)
	if i < 0 {
		return nil
	}
	r = t.State.Records[i] // an earlier one may have added something to it
	var err error
	for range maxRedos {
		err = t.restore(ctx, c, &r, out)
		if !errors.Is(err, atomicfile.ErrChanged) {
			break
		}
	}
	if errors.Is(err, atomicfile.ErrChanged) {
		return fmt.Errorf("%s: %w", r.Config, ErrBusy)
	}
	if err != nil && !errors.Is(err, atomicfile.ErrNotDurable) {
		return err
	}
	out.Action = Reverted
	if t.opts.DryRun {
		return nil
	}
	rerr := t.dropBackup(&r, out)
	if rerr == nil {
		rerr = t.removeDirs(r.Target)
	}
	if rerr != nil {
		return errors.Join(err, rerr)
	}
	t.State.Keep(i)
	t.reverted++
	return err
}

// dropBackup removes the backup of a record.
func (t *reverting) dropBackup(r *journal.Record, out *Outcome) error {
	if r.Backup == "" {
		return nil
	}
	if !t.madeBackup(r) {
		return nil
	}
	if machine.Missing(r.Backup) {
		// A killed revert, or the user, has removed it already.
		t.Warn(fmt.Sprintf("%s: the backup %s does not exist any more; used the record alone", label(r), r.Backup))
	} else if gone, err := t.removeBackup(r); err != nil {
		return fmt.Errorf("the config is restored, but its backup could not be removed; the next revert tries again: %w", err)
	} else if !gone {
		return nil
	}
	out.Backup = ""
	return nil
}

// restore restores a swap's file.
func (t *reverting) restore(ctx context.Context, c *clients.Client, r *journal.Record, out *Outcome) error {
	file := t.State.Files[r.Target]
	if file.Created && machine.Missing(r.Target) {
		out.Detail = "already removed"
		return nil
	}
	if r.By != "" && t.opts.Force && machine.Missing(r.Target) {
		out.Detail = "the config does not exist any more"
		return nil
	}
	target, err := configs.Target(r.Target)
	if err != nil {
		err = fmt.Errorf("%w; the swap stays recorded", err)
		if r.Backup != "" && !machine.Missing(r.Backup) {
			err = fmt.Errorf("%w, and the old file is in %s", err, r.Backup)
		}
		if r.By != "" {
			return fmt.Errorf("%w (--force removes both)", err)
		}
		return fmt.Errorf("%w (mcp-swap forget removes both)", err)
	}
	d := &configs.Document{Client: c, Path: r.Config, Target: target}
	if d.Text, d.Info, err = t.Disk.Read(target); err != nil {
		return err
	}
	if text, ok := t.dry[target]; ok {
		d.Text = text
	}
	v, err := judgeText(r, d)
	if err != nil {
		return err
	}
	text, how, err := v.undo(d, t.opts.Force)
	if err != nil {
		return err
	}
	remove := file.Created && c.OnlySeed(text)
	if remove || !bytes.Equal(text, d.Text) {
		// If it was read-only when swapped, the user has already agreed to edit it.
		was, known := t.State.Files[r.Target]
		if err := d.MayWrite(t.Confirm, t.opts.Force || t.opts.DryRun || known && configs.ReadOnly(was.Meta.Mode)); err != nil {
			return err
		}
	}
	if out.Detail = how; remove {
		out.Detail = "config removed"
	}
	inheritContainers(t.State.Reverted, r) // in case they come back
	if !v.first() {
		inheritContainers(t.State.Records, r)
	}
	if t.opts.DryRun {
		t.dry[target] = text
		if remove || !bytes.Equal(text, d.Text) {
			f := patch.Differ{Kind: c.Kind, Removed: remove}
			if remove {
				text = nil
			}
			if !t.opts.ShowSecrets {
				f.Visible = c.Plain(c.Dialect.Runs(r.Writes[len(r.Writes)-1].Value), r.Old)
			}
			out.Diff, out.Masked = f.Unified(target, d.Text, text)
		}
		return nil
	}
	if remove {
		return t.removeCreated(ctx, c, r, d)
	}
	if bytes.Equal(text, d.Text) {
		return nil
	}
	return t.restoreFile(ctx, c, r, d, text)
}

// restoreFile restores a file, with the metadata that was lost if another program has
// replaced it since. The user's own changes to the metadata, such as chmod, stay.
func (t *reverting) restoreFile(ctx context.Context, c *clients.Client, r *journal.Record, d *configs.Document, text []byte) error {
	like := t.lost[r.Target]
	err := t.replace(ctx, c, r.Config, d.Target, text, d.Text, like)
	if like != nil && errors.Is(err, atomicfile.ErrMeta) {
		t.Warn(fmt.Sprintf("%s: another program has replaced the config since the swap, and it keeps its metadata: %v", label(r), err))
		err = t.replace(ctx, c, r.Config, d.Target, text, d.Text, nil)
	}
	if err != nil && !errors.Is(err, atomicfile.ErrNotDurable) {
		return err
	}
	delete(t.lost, r.Target)
	if f, ok := t.State.Files[r.Target]; ok {
		if f.Meta, _ = t.Disk.Meta(d.Target); f.Meta.Mode != 0 {
			f.ID = atomicfile.ID(d.Target)
			t.State.Files[r.Target] = f
		}
	}
	return err
}

// Forget removes records, reverted or not, and then their backups. Until the records are gone,
// they have their backups.
func (c *Commit) Forget(records []journal.Record) ([]Outcome, error) {
	given := func(r journal.Record) bool {
		return slices.ContainsFunc(records, func(o journal.Record) bool { return o.Seq == r.Seq })
	}
	c.State.Records = slices.DeleteFunc(c.State.Records, given)
	c.State.Reverted = slices.DeleteFunc(c.State.Reverted, given)
	if err := c.Journal.Save(c.State); err != nil {
		return nil, err
	}
	out := make([]Outcome, len(records))
	for i, r := range records {
		o := &out[i]
		*o = Outcome{Record: r, Backup: r.Backup}
		if o.Backup != "" && c.madeBackup(&o.Record) {
			if gone, err := c.removeBackup(&o.Record); err != nil {
				o.Err = fmt.Errorf("the record is removed, but not its backup: %w", err)
			} else if gone {
				o.Backup = ""
			}
		}
	}
	return out, nil
}
