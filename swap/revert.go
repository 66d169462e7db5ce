package swap

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/format"
	"tmuxmcp/swap/internal/checkout"
	"tmuxmcp/swap/internal/configs"
	"tmuxmcp/swap/internal/machine"
	"tmuxmcp/swap/journal"
)

// A Selection selects recorded swaps; a zero field means all.
type Selection struct {
	Clients []string
	Scope   clients.Scope
	Server  string
	Repo    string // the checkout, or the directory where a command was given
}

const selectMore = "check --cli, --scope, --server and --repo"

// RevertOptions say what [Swapper.Revert] undoes.
type RevertOptions struct {
	Selection
	DryRun bool
	Force  bool // also fields edited since, and read-only configs
	// ShowSecrets leaves the diffs of DryRun unmasked, so that patch(1) applies them.
	ShowSecrets bool
}

// errEdited is wrapped if an entry was edited since it was swapped.
var errEdited = errors.New("the entry was edited or removed since it was swapped, so it was left as it is")

const forceEdited = "use --force to put back what the swap changed"

// Revert undoes swaps, newest first. One that fails keeps its record and does not stop the
// others. There are no results if nothing is recorded.
func (s *Swapper) Revert(ctx context.Context, o RevertOptions) ([]Result, error) {
	st, wanted, unlock, err := s.selected(ctx, o.Selection, o.DryRun)
	if err != nil {
		return nil, err
	}
	defer unlock()
	st.Revive(func(r *journal.Record) bool { return wanted(*r) && s.isBack(r) })
	if len(st.Records) == 0 {
		return nil, nil
	}
	if !slices.ContainsFunc(st.Records, wanted) {
		return nil, errors.New("nothing to revert: no recorded swap matches; " + selectMore)
	}

	order := slices.DeleteFunc(slices.Clone(st.Records), func(r journal.Record) bool { return !wanted(r) })
	slices.SortFunc(order, func(a, b journal.Record) int { return b.Seq - a.Seq })
	t := &taking{Swapper: s, opts: o, state: st, dry: map[string][]byte{}}
	if err := t.begin(order); err != nil {
		return nil, err
	}
	var out []Result
	for _, r := range order {
		c, res := recordedResult(r)
		switch {
		case ctx.Err() != nil:
			err = ctx.Err()
		case c == nil:
			err = fmt.Errorf("this version does not know that client; its backup is %s", r.Backup)
		default:
			err = t.take(ctx, c, r, &res)
		}
		if err != nil {
			res.Err = configs.OnceWritable(err, "the swap stays recorded: run mcp-swap revert again")
			res.Outcome = cmp.Or(res.Outcome, Failed)
		}
		out = append(out, res)
	}
	if o.DryRun {
		return out, nil // two diffs of one file apply only in this order
	}
	// Undone newest first, shown in table order.
	slices.SortStableFunc(out, func(a, b Result) int { return place(a.Client) - place(b.Client) })
	return out, t.finish()
}

// selected returns the state and which of its records are selected. It takes the lock,
// unless nothing will be written.
func (s *Swapper) selected(ctx context.Context, o Selection, dry bool) (
	st *journal.State, wanted func(journal.Record) bool, unlock func(), err error,
) {
	if err := configs.CheckScope(o.Scope); err != nil {
		return nil, nil, nil, err
	}
	chosen, err := configs.Named(s.Sys, o.Clients)
	if err != nil {
		return nil, nil, nil, err
	}
	repo, err := o.repo()
	if err != nil {
		return nil, nil, nil, err
	}
	wanted = func(r journal.Record) bool {
		c := clients.Lookup(r.Client)
		return (len(o.Clients) == 0 || slices.Contains(chosen, c)) &&
			(o.Server == "" || o.Server == r.Server) &&
			(repo == "" || repo == r.Repo) &&
			(o.Scope == "" || o.Scope == clients.Scope(r.Scope))
	}
	if err := s.Env.OwnHome(); err != nil {
		return nil, nil, nil, err
	}
	if dry || machine.Missing(s.Journal.Dir) {
		st, err = s.Journal.Load()
		return st, wanted, func() {}, err
	}
	st, unlock, err = s.begin(ctx)
	return st, wanted, unlock, err
}

// recordedResult begins the result for a record; the client is nil if unknown.
func recordedResult(r journal.Record) (*clients.Client, Result) {
	res := Result{Client: r.Client, Scope: clients.Scope(r.Scope), Label: r.Client}
	res.Server, res.Repo, res.Config, res.Backup = r.Server, r.Repo, r.Config, r.Backup
	c := clients.Lookup(r.Client)
	if c != nil {
		res.Label = c.Label(res.Scope)
	}
	return c, res
}

// repo returns Repo as in records, even if the directory was deleted: its swaps were not.
func (o Selection) repo() (string, error) {
	if o.Repo == "" {
		return "", nil
	}
	real, err := checkout.RealDir(o.Repo)
	if !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	gone, err := filepath.Abs(o.Repo)
	if above, rerr := checkout.RealDir(filepath.Dir(gone)); rerr == nil {
		gone = filepath.Join(above, filepath.Base(gone))
	}
	return gone, err
}

func place(name string) int {
	return slices.IndexFunc(clients.All, func(c *clients.Client) bool { return c.Name == name })
}

// taking is one run of Revert.
type taking struct {
	*Swapper
	opts  RevertOptions
	state *journal.State    // as finish saves it
	taken int               // number of swaps undone
	dry   map[string][]byte // what a dry run has made of each file so far

	lost    map[string]*atomicfile.Meta // metadata of files before a program replaced them
	blanked bool                        // the state on disk is begin's
}

// begin finds the files that another program has replaced since they were swapped. If this
// run is killed, the next one must not mistake a file written by this one for a replaced
// one, so the IDs of files that several swaps share are removed from the state until those
// files are written. Nor must it skip a swap that was brought back and is half undone,
// since that is no longer a reverted one.
func (t *taking) begin(order []journal.Record) error {
	t.lost = map[string]*atomicfile.Meta{}
	for i := range t.state.Records {
		if r := &t.state.Records[i]; !r.Reverted.IsZero() {
			r.Reverted, t.blanked = time.Time{}, true
		}
	}
	blank := t.state.Clone()
	for _, r := range order {
		f := t.state.Files[r.Target]
		if f.Recreated(r.Target) {
			t.lost[r.Target] = &f.Meta
		}
		shared := func(o journal.Record) bool { return o.Target == r.Target && o.Seq != r.Seq }
		if f.ID != "" && slices.ContainsFunc(t.state.Records, shared) {
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
func (t *taking) finish() error {
	if t.taken == 0 && !t.blanked {
		return nil
	}
	if err := t.Journal.Save(t.state); err != nil {
		if errors.Is(err, atomicfile.ErrNotDurable) {
			return err
		}
		return fmt.Errorf("the configs are restored, but still recorded as swapped; the next revert corrects that: %w", err)
	}
	return nil
}

// take undoes one swap: it restores the config, then removes the backup; finish saves all
// records at the end. After a kill anywhere in between, the next run finds the record and a
// config as it was before the swap, and continues from there.
func (t *taking) take(ctx context.Context, c *clients.Client, r journal.Record, res *Result) error {
	i := t.state.Find(r.Target, r.Container, r.Server)
	if i < 0 {
		return nil
	}
	r = t.state.Records[i] // an earlier one may have added something to it
	var err error
	for range maxRedos {
		err = t.restore(ctx, c, &r, res)
		if !errors.Is(err, atomicfile.ErrChanged) {
			break
		}
	}
	if errors.Is(err, atomicfile.ErrChanged) {
		return fmt.Errorf("%s: %w", r.Config, errBusy)
	}
	if err != nil && !errors.Is(err, atomicfile.ErrNotDurable) {
		return err
	}
	res.Outcome = Reverted
	if t.opts.DryRun {
		return nil
	}
	rerr := t.dropBackup(&r, res)
	if rerr == nil {
		rerr = t.removeDirs(r.Target)
	}
	if rerr != nil {
		return errors.Join(err, rerr)
	}
	t.state.Keep(i)
	t.taken++
	return err
}

func (t *taking) dropBackup(r *journal.Record, res *Result) error {
	if r.Backup == "" {
		return nil
	}
	if !t.madeBackup(r, res.Label) {
		return nil
	}
	if machine.Missing(r.Backup) {
		// A killed revert, or the user, has removed it already.
		t.Warn(fmt.Sprintf("%s: the backup %s does not exist any more; used the record alone", res.Label, r.Backup))
	} else if gone, err := t.removeBackup(r, res.Label); err != nil {
		return fmt.Errorf("the config is restored, but its backup could not be removed; the next revert tries again: %w", err)
	} else if !gone {
		return nil
	}
	res.Backup = ""
	return nil
}

// removeBackup removes a record's backup, unless somebody has changed it.
func (s *Swapper) removeBackup(r *journal.Record, label string) (gone bool, err error) {
	text, _, err := s.Disk.Read(r.Backup)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return false, err
	case !r.IsBackup(text):
		err = atomicfile.ErrChanged
	default:
		err = s.Disk.RemoveIf(r.Backup, text)
	}
	if errors.Is(err, atomicfile.ErrChanged) {
		s.Warn(fmt.Sprintf("%s: the backup %s was changed after mcp-swap made it, so it stays; remove it if you do not need it", label, r.Backup))
		return false, nil
	}
	if errors.Is(err, atomicfile.ErrNotDurable) {
		err = nil
	}
	return err == nil, err
}

// madeBackup reports whether a record's backup can be one; only such a file is removed.
func (s *Swapper) madeBackup(r *journal.Record, label string) bool {
	made := strings.HasPrefix(r.Backup, r.Config+backupMark) || s.Journal.IsBeside(r.Target, r.Backup, backupMark)
	if !made {
		s.Warn(fmt.Sprintf("%s: the record names %q as its backup, which mcp-swap did not make; it was left alone", label, r.Backup))
	}
	return made
}

// restore restores a swap's file.
func (t *taking) restore(ctx context.Context, c *clients.Client, r *journal.Record, res *Result) error {
	file := t.state.Files[r.Target]
	if file.Created && machine.Missing(r.Target) {
		res.Detail = "already removed"
		return nil
	}
	target, err := configs.Target(r.Target)
	if err != nil {
		return fmt.Errorf("%w; the swap stays recorded, and the old file is in %s (mcp-swap forget removes both)", err, r.Backup)
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
		was, known := t.state.Files[r.Target]
		if err := d.MayWrite(t.Confirm, t.opts.Force || t.opts.DryRun || known && configs.ReadOnly(was.Meta.Mode)); err != nil {
			return err
		}
	}
	if res.Detail = how; remove {
		res.Detail = "config removed"
	}
	handOn(t.state.Reverted, r) // in case they come back
	if !v.first() {
		handOn(t.state.Records, r)
	}
	if t.opts.DryRun {
		t.dry[target] = text
		if remove || !bytes.Equal(text, d.Text) {
			f := differ{kind: c.Kind, removed: remove}
			if remove {
				text = nil
			}
			if !t.opts.ShowSecrets {
				f.visible = c.Plain(c.Dialect.Runs(r.Writes[len(r.Writes)-1].Value), r.Old)
			}
			res.Diff, res.Masked = f.unified(target, d.Text, text)
		}
		return nil
	}
	if remove {
		return t.uncreate(ctx, c, r, d)
	}
	if bytes.Equal(text, d.Text) {
		return nil
	}
	return t.put(ctx, c, r, d, text, res)
}

// put restores a file, with the metadata that was lost if another program has replaced it
// since. The user's own changes to the metadata, such as chmod, stay.
func (t *taking) put(ctx context.Context, c *clients.Client, r *journal.Record, d *configs.Document, text []byte, res *Result) error {
	like := t.lost[r.Target]
	err := t.replace(ctx, c, r.Config, d.Target, text, d.Text, like)
	if like != nil && errors.Is(err, atomicfile.ErrMeta) {
		t.Warn(fmt.Sprintf("%s: another program has replaced the config since the swap, and it keeps its metadata: %v", res.Label, err))
		err = t.replace(ctx, c, r.Config, d.Target, text, d.Text, nil)
	}
	if err != nil && !errors.Is(err, atomicfile.ErrNotDurable) {
		return err
	}
	delete(t.lost, r.Target)
	if f, ok := t.state.Files[r.Target]; ok {
		if f.Meta, _ = t.Disk.Meta(d.Target); f.Meta.Mode != 0 {
			f.ID = atomicfile.ID(d.Target)
			t.state.Files[r.Target] = f
		}
	}
	return err
}

// A verdict is the state of a swap's write.
type verdict struct {
	rec      *journal.Record
	landed   *journal.Write // the write that is in the file, if any
	exact    bool           // the file is as left by that write
	base     []byte         // what it was before, if exact
	asBefore bool           // the file or the entry is as it was before the swap
	whole    bool           // judged by the whole file, not by the entry
	now      map[string]any // the entry, if judged; nil: there is none
}

// judgeText judges a file that may no longer parse: its error names the backup.
func judgeText(r *journal.Record, d *configs.Document) (verdict, error) {
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
		err = fmt.Errorf("%w; repair it and run revert again: as it was before the swap it is in %s", err, r.Backup)
	}
	if err != nil {
		return verdict{}, err
	}
	return judge(r, d, e), nil
}

func judgeBytes(r *journal.Record, text []byte) verdict {
	v := verdict{rec: r}
	hash := journal.Hash(text)
	for i := len(r.Writes) - 1; i >= 0; i-- {
		w := &r.Writes[i]
		if w.After != hash {
			continue
		}
		if base, ok := w.Undo(text); ok {
			v.landed, v.exact, v.whole, v.base = w, true, true, base
			return v
		}
	}
	v.asBefore = hash == r.Before
	v.whole = v.asBefore
	return v
}

// judge compares hashes first, then the entry as data.
func judge(r *journal.Record, d *configs.Document, e format.Entry) verdict {
	v := judgeBytes(r, d.Text)
	if v.whole {
		return v
	}
	if e.Found {
		v.now = e.Value
	}
	for i := len(r.Writes) - 1; i >= 0; i-- {
		if w := &r.Writes[i]; e.Found && format.Equal(e.Value, w.Value) {
			v.landed = w
			return v
		}
	}
	v.asBefore = e.Found == (r.Action == journal.Replaced) && (!e.Found || format.Equal(e.Value, r.Old))
	return v
}

// back reports whether a reverted swap is in the config again, as when a client saves what
// it had read before.
func (v verdict) back() bool {
	return v.landed != nil && !format.Equal(v.landed.Value, v.rec.Old)
}

// isBack reads the config of a reverted swap, and reports whether the swap is back.
func (s *Swapper) isBack(r *journal.Record) bool {
	c := clients.Lookup(r.Client)
	if c == nil || machine.Missing(r.Target) {
		return false
	}
	if target, err := configs.Target(r.Target); err == nil && target != r.Target {
		return false // a link was made since: no client has saved the swap there
	}
	v, _, err := s.judgeNow(c, r)
	if err != nil {
		s.Warn(fmt.Sprintf("%s: cannot see whether its config has the swap of %q: %v", c.Label(clients.Scope(r.Scope)), r.Server, err))
		return false
	}
	return v.back()
}

// judgeNow judges the current file of a swap, if it can be read.
func (s *Swapper) judgeNow(c *clients.Client, r *journal.Record) (v verdict, read bool, err error) {
	d := &configs.Document{Client: c, Path: r.Config}
	if d.Target, err = configs.Target(r.Target); err != nil {
		return v, false, err
	}
	if d.Text, d.Info, err = s.Disk.Read(d.Target); err != nil {
		return v, false, err
	}
	v, err = judgeText(r, d)
	return v, true, err
}

// broughtBack returns a message that a reverted swap is back, and what undoes it.
func broughtBack(label string, r *journal.Record) string {
	undo := ask.CommandLine([]string{"mcp-swap", "revert", "--cli", r.Client, "--server", r.Server})
	return fmt.Sprintf("%s: %q, reverted %s, is in its config again, as if a client had saved it from memory; %s undoes it",
		label, r.Server, shortTime(r.Reverted), undo)
}

func shortTime(t time.Time) string { return t.Local().Format(time.DateTime) }

// first reports whether undoing restores the file as it was before the first swap, leaving
// nothing that the swap created around its entry.
func (v verdict) first() bool {
	return v.whole && (v.asBefore || v.landed.Base == v.rec.Before)
}

// undo returns the text without the swap, and how it was obtained.
func (v verdict) undo(d *configs.Document, force bool) (text []byte, how string, err error) {
	switch {
	case v.exact:
		return v.base, "exact bytes", nil
	case v.asBefore:
		return d.Text, "already restored", nil
	case v.mergeable():
		u := v.merge()
		if !force {
			return nil, "", v.conflict(d, u.conflicts)
		}
		text, err := u.apply(d, v.rec.Container, v.rec.Server)
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", d.Path, err)
		}
		return text, "the swapped fields only: the entry was edited since", nil
	case v.landed == nil && !force:
		return nil, "", v.conflict(d, nil)
	}
	e, err := d.Doc.Revert(v.rec.Container, v.rec.Server, v.rec.Undo)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", d.Path, err)
	}
	if v.landed != nil {
		if text, ok := v.moved(d, e.Out); ok {
			e.Out = text
		}
	}
	return e.Out, "the entry only: the file has changed since", nil
}

// moved undoes the write wherever its bytes are now, if they occur exactly once. The result
// is used if it has the same data as entry, the text with only the entry restored: it then
// also has the old spelling, comments and order, which an entry written in pieces may lose.
func (v verdict) moved(d *configs.Document, entry []byte) ([]byte, bool) {
	was, is := v.landed.Was, v.landed.Is
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

// handOn is for a swap that is undone while another swap of the same file stays. The
// containers created for its entry stay while the other entry is in them, and must be
// removed with that one, so the other swap's record takes over their removal.
func handOn(records []journal.Record, r *journal.Record) {
	for i := range records {
		heir := &records[i]
		if heir.Target == r.Target && !heir.Same(r.Target, r.Container, r.Server) {
			heir.Undo = heir.Undo.Inherit(heir.Container, r.Undo, r.Container)
		}
	}
}
