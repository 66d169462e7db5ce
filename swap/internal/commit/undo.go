package commit

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/configs"
	"tmuxmcp/swap/internal/machine"
	"tmuxmcp/swap/internal/patch"
	"tmuxmcp/swap/journal"
)

// UndoOptions say how swaps are undone.
type UndoOptions struct {
	DryRun      bool // return diffs and write nothing
	Force       bool // also fields edited since, read-only configs, and if a client still reads the swap elsewhere
	ShowSecrets bool // leave the diffs unmasked
}

// Undo undoes recorded swaps, newest first. A swap that fails keeps its record and does not
// stop the others.
func (c *Commit) Undo(ctx context.Context, records []journal.Record, o UndoOptions) ([]Outcome, error) {
	order := slices.SortedFunc(slices.Values(records), func(a, b journal.Record) int { return b.Seq - a.Seq })
	t := &reverting{Commit: c, opts: o, all: slices.Clone(c.State.Records), restored: map[string]string{}, dry: map[string][]byte{}, left: map[string][]byte{}, touched: map[string]bool{}}
	again := "run " + t.Words.Undo + " again"
	if err := t.begin(order); err != nil {
		return nil, configs.OnceWritable(err, "nothing was changed: "+again)
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
			done.Err = configs.OnceWritable(err, "the swap stays recorded: "+again)
			done.Action = cmp.Or(done.Action, Failed)
		}
		out = append(out, done)
	}
	if o.DryRun {
		return out, nil
	}
	return out, configs.OnceWritable(t.finish(), again)
}

// reverting is one run of Undo. Its state is what finish saves.
type reverting struct {
	*Commit
	opts     UndoOptions
	reverted int               // number of swaps undone
	dry      map[string][]byte // what a dry run has made of each file so far

	all  []journal.Record  // as they were at the beginning
	left map[string][]byte // the texts that were restored, by file
	// restored has the hash of the text that a file got when only an entry was restored.
	restored map[string]string
	touched  map[string]bool             // files in which a swap was undone
	lost     map[string]*atomicfile.Meta // metadata of files before a program replaced them
	unsaved  bool                        // the state on disk is begin's, or lacks something
}

// begin finds the files that another program has replaced since they were swapped. If this run is
// killed, the next one must not take a file written by this one for a replaced one. So the IDs of
// files that several swaps share are removed from the state until the files are written. Nor must
// it skip a swap that was brought back and is half undone, so that one is no longer marked as
// reverted.
func (t *reverting) begin(order []journal.Record) error {
	t.lost = map[string]*atomicfile.Meta{}
	for i := range t.State.Records {
		if r := &t.State.Records[i]; !r.Reverted.IsZero() {
			r.Reverted, t.unsaved = time.Time{}, true
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
			t.unsaved = true
		}
	}
	if t.opts.DryRun || !t.unsaved {
		return nil
	}
	return t.Journal.Save(blank)
}

// finish saves the state with the undone swaps as reverted.
func (t *reverting) finish() error {
	if t.reverted == 0 && !t.unsaved {
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
	r = t.State.Records[i] // an earlier one may have added to it
	var err error
	var still []configs.Reading
	for range maxRedos {
		t.Env = t.Anew()
		if err = t.restore(ctx, c, &r, out); errors.Is(err, atomicfile.ErrChanged) {
			continue
		}
		if err != nil && !errors.Is(err, atomicfile.ErrNotDurable) {
			break
		}
		t.Env = t.Anew()
		still = StillReads(t.Env, t.State, &r, t.dry, t.undone)
		if t.opts.DryRun || !slices.ContainsFunc(still, func(in configs.Reading) bool { return t.touched[in.Target] }) {
			break // otherwise a client has saved it again meanwhile
		}
	}
	if errors.Is(err, atomicfile.ErrChanged) {
		return fmt.Errorf("%s: %w", r.Config, ErrBusy)
	}
	if err != nil && !errors.Is(err, atomicfile.ErrNotDurable) {
		return err
	}
	if len(still) > 0 {
		why := StillRead(&r, still)
		if !t.opts.Force {
			t.State.Records[i].Undone, t.unsaved = true, true
			return errors.Join(err, fmt.Errorf("%w; the swap stays recorded: remove the entry there and run %s again, or use --force to leave it", why, t.Words.Undo))
		}
		t.Warn(fmt.Sprintf("%s: %v", label(&r), why))
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

func (t *reverting) dropBackup(r *journal.Record, out *Outcome) error {
	if r.Backup == "" {
		return nil
	}
	if !t.madeBackup(r) {
		return nil
	}
	if !HasBackup(t.Env, t.State, r) {
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

// StillRead returns the error that a client still reads what a swap wrote, although it is undone.
func StillRead(r *journal.Record, still []configs.Reading) error {
	var places []string
	for _, in := range still {
		places = append(places, in.Place())
	}
	c := still[0].Client
	runs := ask.CommandLine(ask.ShowArgs(c.Dialect.Runs(still[0].Value)))
	return fmt.Errorf("%s still reads what the swap wrote, %q with %s, in %s", c.Name, r.Server, runs, strings.Join(places, " and "))
}

// undone reports whether a file has the text that this run restored. There is no need to look for
// the swap in it.
func (t *reverting) undone(target string, text []byte) bool {
	left, ok := t.left[target]
	return ok && bytes.Equal(left, text)
}

// An undoing is what restores one place of a swap.
type undoing struct {
	*place
	text   []byte
	how    string // in a few words
	remove bool   // the swap created the file, and nothing else is in it
}

func (u *undoing) changes() bool { return u.remove || !bytes.Equal(u.text, u.doc.Text) }

// restore restores a swap's files.
func (t *reverting) restore(ctx context.Context, c *clients.Client, r *journal.Record, out *Outcome) error {
	places, err := placesOf(t.Env, c, t.State, r, t.read, t.opts.Force)
	if errors.As(err, &gone{}) {
		detail, err := t.withoutFiles(r, err)
		if err == nil {
			out.Detail = detail
		}
		return err
	}
	if err != nil {
		return err
	}
	undoings, err := t.plan(c, r, places)
	if err != nil {
		return err
	}
	out.Detail, out.Diff, out.Masked = describe(r, undoings), "", false
	inheritContainers(t.State.Reverted, r) // in case they come back
	if !undoings[len(undoings)-1].verdict.first() {
		inheritContainers(t.State.Records, r)
	}
	if !t.opts.DryRun {
		return t.writeAll(ctx, c, r, undoings)
	}
	for _, u := range undoings {
		t.show(c, r, u, out)
	}
	return nil
}

// withoutFiles decides about a swap whose files are all gone, as err says. It is undone if the swap
// created the file; otherwise its record stays.
func (t *reverting) withoutFiles(r *journal.Record, err error) (detail string, _ error) {
	switch {
	case t.State.Files[r.Target].Created && machine.Missing(r.Target) && machine.Missing(r.Config):
		return "already removed", nil
	case r.By != "" && t.opts.Force && machine.Missing(r.Target):
		return "the config does not exist any more", nil
	}
	if still := StillReads(t.Env, t.State, r, nil, nil); len(still) > 0 {
		err = fmt.Errorf("%w, and %w", err, StillRead(r, still))
	}
	err = fmt.Errorf("%w; the swap stays recorded", err)
	if r.Backup != "" && !machine.Missing(r.Backup) {
		err = fmt.Errorf("%w, and the old file is in %s", err, r.Backup)
	}
	if r.By != "" {
		return "", fmt.Errorf("%w (--force removes both)", err)
	}
	return "", fmt.Errorf("%w (mcp-swap forget removes both)", err)
}

// describe says how the places of a swap are restored. It names the files other than the one that
// the client named when it was swapped.
func describe(r *journal.Record, undoings []*undoing) string {
	var details []string
	for _, u := range undoings {
		how := u.how
		switch u.doc.Path {
		case r.Config:
		case r.Target:
			how = "in " + u.doc.Path + ", which was swapped: " + how
		default:
			how = "in " + u.doc.Path + ": " + how
		}
		details = append(details, how)
	}
	return strings.Join(details, "; ")
}

// writeAll restores the places, in order. It stops at the first that is not written.
func (t *reverting) writeAll(ctx context.Context, c *clients.Client, r *journal.Record, undoings []*undoing) error {
	var notDurable error
	for i, u := range undoings {
		err := t.write(ctx, c, r, u)
		if err != nil && !errors.Is(err, atomicfile.ErrNotDurable) {
			if i > 0 && !errors.Is(err, atomicfile.ErrChanged) {
				err = fmt.Errorf("%w; %s is restored, and the swap stays recorded", err, undoings[0].doc.Path)
			}
			return err
		}
		notDurable = errors.Join(notDurable, err)
	}
	return notDurable
}

// read reads a file, or what a dry run has made of it.
func (t *reverting) read(path, target string) (*configs.Document, error) {
	d, err := reads(t.Env)(path, target)
	if text, ok := t.dry[target]; ok && err == nil {
		d.Text = text
	}
	return d, err
}

// plan returns how the places of a swap are restored. It fails if the client would refuse its
// whole config because of what is left of the entry in other files.
func (t *reverting) plan(c *clients.Client, r *journal.Record, places []*place) (out []*undoing, err error) {
	planned := maps.Clone(t.dry)
	for _, p := range places {
		u, err := t.undoing(c, r, p)
		if err != nil {
			return nil, err
		}
		if err := p.doc.Owned(); err != nil && u.changes() && len(places) > 1 && p.doc.Path == r.Target {
			if !t.opts.Force {
				return nil, fmt.Errorf("%w; the client now reads %s: --force leaves the other out", err, places[0].doc.Path)
			}
			t.Warn(fmt.Sprintf("%s: %v; it was left out", label(r), err))
			continue
		}
		if err := t.mayWrite(u); err != nil {
			return nil, err
		}
		planned[p.doc.Target] = u.text
		out = append(out, u)
	}
	for _, f := range refusals(t.Env, c, r, places, planned, t.dry) {
		if f.Later || t.opts.Force {
			t.Warn(fmt.Sprintf("%s: without the swap %s", label(r), f.Text))
			continue
		}
		return nil, refusedThen(f)
	}
	return out, nil
}

// undoing returns what restores a place.
func (t *reverting) undoing(c *clients.Client, r *journal.Record, p *place) (*undoing, error) {
	u := &undoing{place: p, text: p.doc.Text, how: "already restored"}
	if !r.Undone || p.verdict.has() {
		var err error
		if u.text, u.how, err = p.verdict.undo(p.doc, t.opts.Force); err != nil {
			return nil, err
		}
	}
	if u.how == onlyEntry {
		u.how = t.onlyEntry(r, p.doc, u.text)
	}
	if !t.State.Files[r.Target].Created {
		return u, nil
	}
	switch here, empty := p.doc.Target == r.Target, c.Kind.Empty(); {
	case here && c.OnlySeed(u.text):
		u.remove, u.how = true, "config removed"
	case here:
		u.how += "; the config did not exist before the first swap, and stays for what else is in it"
	case empty != "" && len(bytes.TrimSpace(u.text)) == 0: // behind a link that was made since
		u.text, u.how = []byte(empty), "emptied: the swap has created it"
	}
	return u, nil
}

// onlyEntry says how the text was obtained of a file in which only the entry of a swap is restored.
// Other swaps of the file may have been made since, and are undone one by one.
func (t *reverting) onlyEntry(r *journal.Record, d *configs.Document, text []byte) string {
	was, now := journal.Hash(d.Text), journal.Hash(text)
	first, asSwapped, others := r, was == t.restored[d.Target], false
	for i := range t.all {
		o := &t.all[i]
		if o.Target != r.Target {
			continue
		}
		if o.Seq < first.Seq {
			first = o
		}
		asSwapped = asSwapped || slices.ContainsFunc(o.Writes, func(w journal.Write) bool { return w.After == was })
		others = others || o.Seq != r.Seq && t.State.Find(o.Target, o.Container, o.Server) >= 0
	}
	t.restored[d.Target] = now
	switch {
	case now == first.Before:
		return exactly
	case asSwapped && others:
		return "the entry only: the file was swapped again since"
	}
	return onlyEntry
}

// mayWrite returns an error if a file must not be written. A file that was read-only when it was
// swapped may be: the user has agreed to edit it.
func (t *reverting) mayWrite(u *undoing) error {
	if !u.changes() {
		return nil
	}
	was, known := t.State.Files[u.doc.Target]
	return u.doc.MayWrite(t.Confirm, t.opts.Force || t.opts.DryRun || known && configs.ReadOnly(was.Meta.Mode))
}

// refusals returns what a client would refuse its whole config for once places have the texts
// that are planned, unless it does so now, or has done so before the swap. dry has the texts of
// other files.
func refusals(env configs.Env, c *clients.Client, r *journal.Record, places []*place, planned, dry map[string][]byte) []configs.Refusal {
	if !c.Dialect.Whole {
		return nil
	}
	now := maps.Clone(dry)
	if now == nil {
		now = map[string][]byte{}
	}
	for _, p := range places {
		now[p.doc.Target] = p.doc.Text
	}
	left := configs.Without(configs.Refusals(env, c, r.Repo, r.Server, planned), configs.Refusals(env, c, r.Repo, r.Server, now))
	return slices.DeleteFunc(left, func(f configs.Refusal) bool { return slices.Contains(r.Refused, f.Path) })
}

func refusedThen(f configs.Refusal) error {
	return fmt.Errorf("without the swap %s; nothing was changed: remove that first, or use --force to leave it", f.Text)
}

// write restores one place.
func (t *reverting) write(ctx context.Context, c *clients.Client, r *journal.Record, u *undoing) error {
	t.touched[u.doc.Target] = true
	if u.verdict.whole() {
		t.left[u.doc.Target] = u.text
	}
	switch {
	case u.remove:
		return t.removeCreated(ctx, c, r, u.doc)
	case u.changes():
		return t.restoreFile(ctx, c, r, u.doc, u.text)
	}
	return nil
}

// show is what a dry run does instead of write.
func (t *reverting) show(c *clients.Client, r *journal.Record, u *undoing, out *Outcome) {
	t.dry[u.doc.Target] = u.text
	if !u.changes() {
		return
	}
	f, text := patch.Differ{Kind: c.Kind, Removed: u.remove}, u.text
	if u.remove {
		text = nil
	}
	if !t.opts.ShowSecrets {
		doc, _ := c.Parse(u.doc.Text) // what it does not parse is masked
		f.Visible = c.Visible(doc, r.Container, r.Old, r.Writes[len(r.Writes)-1].Value, u.verdict.Now)
	}
	diff, masked := f.Unified(u.doc.Target, u.doc.Text, text)
	out.Diff, out.Masked = out.Diff+diff, out.Masked || masked
}

// restoreFile restores a file. If it is the swapped one and another program has replaced it since, it
// also restores the metadata that was lost. The user's own changes to the metadata, such as chmod,
// stay.
func (t *reverting) restoreFile(ctx context.Context, c *clients.Client, r *journal.Record, d *configs.Document, text []byte) error {
	var like *atomicfile.Meta
	swapped, err := configs.Target(r.Target)
	if err != nil {
		swapped = d.Target // it was moved there
	}
	if d.Target == swapped {
		like = t.lost[r.Target]
	}
	err = t.replace(ctx, c, r.Config, d.Target, text, d.Text, like)
	if like != nil && errors.Is(err, atomicfile.ErrMeta) {
		t.Warn(fmt.Sprintf("%s: another program has replaced the config since the swap, and it keeps its metadata: %v", label(r), err))
		err = t.replace(ctx, c, r.Config, d.Target, text, d.Text, nil)
	}
	if d.Target != swapped || err != nil && !errors.Is(err, atomicfile.ErrNotDurable) {
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

// Forget removes records, reverted or not, and then their backups: as long as there is a record,
// there is its backup.
func (c *Commit) Forget(records []journal.Record) ([]Outcome, error) {
	given := func(r journal.Record) bool {
		return slices.ContainsFunc(records, func(o journal.Record) bool { return o.Seq == r.Seq })
	}
	for i := range c.State.Records { // what the user keeps is no other swap's
		r := &c.State.Records[i]
		for _, o := range records {
			if kept := (journal.Entry{Target: o.Target, Container: o.Container}); o.Server == r.Server && o.Reverted.IsZero() && o.Seq != r.Seq && !r.Had(kept) {
				r.Already = append(slices.Clip(r.Already), kept)
			}
		}
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
