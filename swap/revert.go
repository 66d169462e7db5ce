package swap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/swap/format"
	"tmuxmcp/swap/journal"
)

// RevertOptions say which swaps [Swapper.Revert] takes back; a zero field
// means all.
type RevertOptions struct {
	Clients []string
	Scope   Scope
	Server  string
	DryRun  bool
	Force   bool // also where the entry itself was edited since
}

// errEdited is wrapped when an entry was edited since it was swapped.
var errEdited = errors.New("the entry was edited or removed since it was swapped, so it was left as it is; --force puts the old one back")

// Revert takes swaps back, the newest first. One that fails keeps its record
// and does not stop the others.
func (s *Swapper) Revert(ctx context.Context, o RevertOptions) ([]Result, error) {
	if err := checkScope(o.Scope); err != nil {
		return nil, err
	}
	clients, err := s.clients(o.Clients)
	if err != nil {
		return nil, err
	}
	wanted := func(r *journal.Record) bool {
		c := lookupClient(r.Client)
		return (len(o.Clients) == 0 || slices.Contains(clients, c)) &&
			(o.Server == "" || o.Server == r.Server) &&
			(o.Scope == "" || c == nil || c.scope(o.Scope) == Scope(r.Scope))
	}
	st, err := s.Journal.Load()
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(st.Records, func(r journal.Record) bool { return wanted(&r) }) {
		return nil, errors.New("nothing to revert: no swap is recorded" + among(o))
	}
	if !o.DryRun {
		unlock, err := s.Journal.Lock(ctx, s.waiting)
		if err != nil {
			return nil, err
		}
		defer unlock()
		if st, err = s.Journal.Load(); err != nil {
			return nil, err
		}
		s.sweep(st)
	}

	var order []journal.Record
	for _, r := range st.Records {
		if wanted(&r) {
			order = append(order, r)
		}
	}
	slices.SortFunc(order, func(a, b journal.Record) int { return b.Seq - a.Seq })
	t := &taking{Swapper: s, opts: o, state: st, dry: map[string][]byte{}}
	var out []Result
	for _, r := range order {
		res := Result{Client: r.Client, Scope: Scope(r.Scope), Label: r.Client, Server: r.Server, Config: r.Config, Backup: r.Backup}
		c := lookupClient(r.Client)
		switch {
		case ctx.Err() != nil:
			err = ctx.Err()
		case c == nil:
			err = fmt.Errorf("a client of that name is not known to this version; its backup is %s", r.Backup)
		default:
			res.Label = c.label(Scope(r.Scope))
			err = t.take(ctx, c, r, &res)
		}
		if err != nil {
			res.Err = err
			if res.Outcome == "" {
				res.Outcome = Failed
			}
		}
		out = append(out, res)
	}
	if o.DryRun {
		return out, nil // two diffs of one file apply in this order only
	}
	// Taken back newest first, shown in the order of the table.
	slices.SortStableFunc(out, func(a, b Result) int { return place(a.Client) - place(b.Client) })
	return out, t.finish()
}

func place(name string) int {
	return slices.IndexFunc(Clients, func(c Client) bool { return c.Name == name })
}

func among(o RevertOptions) string {
	if len(o.Clients) == 0 && o.Server == "" && o.Scope == "" {
		return ""
	}
	return " for what --cli, --scope and --server ask for"
}

// taking is one run of Revert.
type taking struct {
	*Swapper
	opts  RevertOptions
	state *journal.State    // without what has been taken back
	taken int               // how many records are no longer in state
	dry   map[string][]byte // what a dry run has made of each file so far
}

// finish saves the state without the records of what was taken back.
func (t *taking) finish() error {
	if t.taken == 0 {
		return nil
	}
	if err := t.Journal.Save(t.state); err != nil {
		if errors.Is(err, atomicfile.ErrNotDurable) {
			return err
		}
		return fmt.Errorf("the configs are back, but their records stay; the next revert removes them: %w", err)
	}
	return nil
}

// take takes one swap back: first the config, then the backup goes; the record
// goes with all others, at the end. Killed anywhere between, the next run finds
// the record and a config that is as before the swap, and goes on from there.
func (t *taking) take(ctx context.Context, c *Client, r journal.Record, res *Result) error {
	i := t.state.Find(r.Target, r.Container, r.Server)
	if i < 0 {
		return nil
	}
	r = t.state.Records[i] // an earlier one may have handed something on to it
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
	if rerr := t.dropBackup(&r, res); rerr != nil {
		return errors.Join(err, rerr)
	}
	t.state.Records = slices.Delete(t.state.Records, i, i+1)
	t.taken++
	return err
}

func (t *taking) dropBackup(r *journal.Record, res *Result) error {
	if !strings.HasPrefix(r.Backup, r.Config+backupMark) {
		t.Warn(fmt.Sprintf("%s: the record names %q as its backup, which is none of mcp-swap; it was left alone", res.Label, r.Backup))
		return nil
	}
	if _, err := os.Lstat(r.Backup); errors.Is(err, fs.ErrNotExist) {
		// A killed revert has removed it already, or the user has.
		t.Warn(fmt.Sprintf("%s: the backup %s was gone; the record alone was used", res.Label, r.Backup))
		return nil
	}
	if err := t.Disk.Remove(r.Backup); err != nil {
		return fmt.Errorf("the config is back, but its backup could not be removed; the next revert tries again: %w", err)
	}
	return nil
}

// restore puts a swap's file back.
func (t *taking) restore(ctx context.Context, c *Client, r *journal.Record, res *Result) error {
	target, err := targetOf(r.Target)
	if err != nil {
		return fmt.Errorf("%w; the swap stays recorded, and the old file is in %s", err, r.Backup)
	}
	d := &document{client: c, config: r.Config, target: target}
	if d.text, d.info, err = t.Disk.Read(target); err != nil {
		return err
	}
	if text, ok := t.dry[target]; ok {
		d.text = text
	}
	v, err := judgeText(r, d)
	if err != nil {
		return err
	}
	text, how, err := v.undo(d, t.opts.Force)
	if err != nil {
		return err
	}
	res.Detail = how
	if !v.first() {
		handOn(t.state, r)
	}
	if t.opts.DryRun {
		t.dry[target] = text
		if !bytes.Equal(text, d.text) {
			res.Diff = unified(target, d.text, text)
		}
		return nil
	}
	if bytes.Equal(text, d.text) {
		return nil
	}
	return t.write(ctx, c, r.Config, target, text, d.text)
}

// A verdict is what became of a swap's write.
type verdict struct {
	rec      *journal.Record
	landed   *journal.Write // the write that is in the file; nil: none is
	exact    bool           // the file is as that write left it
	base     []byte         // what it was before, if exact
	asBefore bool           // the file or the entry is as it was before the swap
	whole    bool           // judged by the whole file, not by the entry
}

// judgeText judges a file that may not even parse any more.
func judgeText(r *journal.Record, d *document) (verdict, error) {
	if v := judgeBytes(r, d.text); v.whole {
		return v, nil
	}
	if err := d.parse(); err != nil {
		return verdict{}, err
	}
	e, err := d.doc.Lookup(r.Container, r.Server)
	if err != nil {
		return verdict{}, fmt.Errorf("%s: %w", d.config, err)
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
func judge(r *journal.Record, d *document, e format.Entry) verdict {
	v := judgeBytes(r, d.text)
	if v.whole {
		return v
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

// first says whether undoing gives the file as it was before the first swap,
// with nothing left that the swap had made around its entry.
func (v verdict) first() bool {
	return v.whole && (v.asBefore || v.landed.Base == v.rec.Before)
}

// undo gives the text without the swap, and says how it came to it.
func (v verdict) undo(d *document, force bool) (text []byte, how string, err error) {
	switch {
	case v.exact:
		return v.base, "exact bytes", nil
	case v.asBefore:
		return d.text, "was back already", nil
	case v.landed == nil && !force:
		return nil, "", fmt.Errorf("%s: %w", d.config, errEdited)
	}
	e, err := d.doc.Revert(v.rec.Container, v.rec.Server, v.rec.Undo)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", d.config, err)
	}
	if v.landed != nil {
		if text, ok := v.moved(d, e.Out); ok {
			e.Out = text
		}
	}
	return e.Out, "the entry only: the file has changed since", nil
}

// moved takes the write back where its bytes are now, if they are there still,
// and once only. What comes of it is used if it holds the same data as entry,
// the text with only the entry put back: then it has the old spelling too, with
// comments and order, which an entry that is written in pieces may lose.
func (v verdict) moved(d *document, entry []byte) ([]byte, bool) {
	if len(v.landed.Is) == 0 || bytes.Count(d.text, v.landed.Is) != 1 {
		return nil, false
	}
	text := bytes.Replace(d.text, v.landed.Is, v.landed.Was, 1)
	if bytes.Equal(text, entry) {
		return nil, false
	}
	var data [2]any
	for i, t := range [][]byte{text, entry} {
		doc, err := format.Parse(d.client.Kind, t)
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

// handOn is for a swap that is taken back under another one of the same file.
// What it had made around its entry stays while the other entry is in there,
// and must then go with that one: so the other swap's record gets the duty.
func handOn(st *journal.State, r *journal.Record) {
	for i := range st.Records {
		heir := &st.Records[i]
		if heir.Target == r.Target && !heir.Same(r.Target, r.Container, r.Server) {
			heir.Undo = heir.Undo.Inherit(heir.Container, r.Undo, r.Container)
		}
	}
}
