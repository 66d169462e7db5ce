package commit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/configs"
	"tmuxmcp/swap/internal/machine"
	"tmuxmcp/swap/internal/plan"
	"tmuxmcp/swap/journal"
)

// This file creates a config that a named client does not have yet, and removes it again.
// Creation makes the record first, then the directories, then the file. A revert removes the
// file, unless something was added to it, then the empty directories, then the record.

// reread reads a change's config again. It may exist by now, or no longer: another process
// may have reverted the swap that created it.
func (w *writing) reread(c plan.Change) (*configs.Document, error) {
	if c.Makes && machine.Missing(c.Doc.Path) {
		return configs.ToCreate(w.Env, c.Client, c.Doc.Path)
	}
	d := &configs.Document{Client: c.Client, Path: c.Doc.Path}
	var err error
	if d.Target, err = configs.Target(d.Path); err != nil {
		return nil, err
	}
	if d.Text, d.Info, err = w.Reread(d.Target); err != nil {
		return nil, err
	}
	d.Meta, err = w.Disk.Meta(d.Target)
	return d, err
}

// create creates a config and its directories, and returns the directories that it made. If
// the client has created one of them meanwhile, the error wraps [atomicfile.ErrChanged].
func (w *writing) create(ctx context.Context, c plan.Change) (made []string, err error) {
	d := c.Doc
	for _, dir := range d.Dirs {
		if err := w.Disk.Mkdir(dir, 0o700); err != nil {
			return made, asChanged(err)
		}
		made = append(made, dir)
		if err := w.Disk.SyncDir(filepath.Dir(dir)); err != nil {
			return made, err
		}
	}
	release, err := w.clientLock(ctx, c.Client, d.Path)
	if err != nil {
		return made, err
	}
	err = asChanged(w.Disk.Create(d.Target, c.Edit.Out, d.Meta))
	if err == nil {
		if serr := w.Disk.SyncDir(filepath.Dir(d.Target)); serr != nil {
			err = fmt.Errorf("%s: %w: %w", d.Target, atomicfile.ErrNotDurable, serr)
		}
	}
	return made, released(err, release)
}

func asChanged(err error) error {
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: %w", atomicfile.ErrChanged, err)
	}
	return err
}

// noteMetadata records a config's metadata before its first swap, or that the swap creates
// it. The ID follows when the config is written. A config that existed when it was swapped
// and has since been deleted is not created anew: its old text is in the backup.
func noteMetadata(next *journal.State, d *configs.Document) error {
	f, recorded := next.Files[d.Target]
	switch {
	case !d.Absent() && f.Recreated(d.Target):
		return nil // a revert restores what another program lost
	case d.Absent() && recorded && !f.Created:
		return fmt.Errorf("%s was deleted after it was swapped: restore it first", d.Path)
	case d.Absent():
		f.Created = true
		for _, dir := range d.Dirs {
			if !slices.Contains(f.Dirs, dir) {
				f.Dirs = append(slices.Clone(f.Dirs), dir)
			}
		}
	}
	f.Meta, f.ID = d.Meta, ""
	if next.Files == nil {
		next.Files = map[string]journal.File{}
	}
	next.Files[d.Target] = f
	return nil
}

// removeCreated removes a config that a swap created, if it still has the contents of d.
func (t *reverting) removeCreated(ctx context.Context, c *clients.Client, r *journal.Record, d *configs.Document) error {
	release, err := t.clientLock(ctx, c, r.Config)
	if err != nil {
		return err
	}
	return errors.Join(t.Disk.RemoveIf(d.Target, d.Text), release())
}

// removeDirs removes the directories created for a config, if they are empty. Other
// directories are left to the other configs created in them.
func (t *reverting) removeDirs(target string) error {
	if f := t.State.Files[target]; !f.Created || !machine.Missing(target) {
		return nil
	}
	for _, dir := range slices.Backward(t.State.Files[target].Dirs) {
		if err := removeEmpty(t.Disk, dir); err != nil {
			return fmt.Errorf("the config is removed, but not its directory; the next revert tries again: %w", err)
		}
		if machine.Missing(dir) {
			continue
		}
		for other, f := range t.State.Files {
			if rel, err := filepath.Rel(dir, other); f.Created && other != target && err == nil && filepath.IsLocal(rel) && !slices.Contains(f.Dirs, dir) {
				f.Dirs = append([]string{dir}, f.Dirs...)
				t.State.Files[other] = f
			}
		}
	}
	return nil
}

// removeEmpty removes path if it is an empty directory.
func removeEmpty(disk atomicfile.Disk, dir string) error {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return nil
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
		return nil
	}
	if err := disk.RemoveDir(dir); err != nil {
		return err
	}
	return disk.SyncDir(filepath.Dir(dir))
}
