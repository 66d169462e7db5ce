package swap

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/journal"
)

// This file creates a config that a named client does not have yet, and removes it again.
// The record comes first, then the directories, then the file. A revert goes the other way:
// the file, unless something was added to it, then the directories that are empty, then the
// record.

// absent reports whether the config does not exist yet, so that a swap creates it.
func (d *document) absent() bool { return d.info == nil }

// creating reports whether this write creates the file. It does not if another client with
// the same config comes first.
func (d *document) creating() bool { return d.absent() && len(d.text) == 0 }

func missing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// unmade returns a config that does not exist, as an empty file, with the directories to
// create for it. A link on the way to it below the home directory is refused: it may lead
// to something that the client would not share.
func (s *Swapper) unmade(c *clients.Client, config string) (*document, error) {
	if c.Makes {
		return nil, fmt.Errorf("there is no %s: %s makes it with more than servers in it, so start it once", config, c.Name)
	}
	var dirs []string
	base := filepath.Dir(config)
	for ; missing(base) && base != filepath.Dir(base); base = filepath.Dir(base) {
		dirs = append(dirs, base)
	}
	slices.Reverse(dirs)
	real, err := filepath.EvalSymlinks(base)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be created: %w", config, err)
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%s cannot be created: %s is not a directory", config, base)
	}
	if rel, err := filepath.Rel(s.Sys.Home, base); err == nil && filepath.IsLocal(rel) {
		home, err := filepath.EvalSymlinks(s.Sys.Home)
		if err != nil {
			return nil, fmt.Errorf("%s cannot be created: %w", config, err)
		}
		if filepath.Join(home, rel) != real {
			return nil, fmt.Errorf("%s is not created through a symbolic link, to %s: start the client once, or create the file", config, real)
		}
	}
	d := &document{client: c, config: config, meta: atomicfile.Private}
	if d.target, err = within(real, base, config); err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		at, err := within(real, base, dir)
		if err != nil {
			return nil, err
		}
		d.dirs = append(d.dirs, at)
	}
	return d, d.parse()
}

// within moves a path below base to the directory real.
func within(real, base, path string) (string, error) {
	rel, err := filepath.Rel(base, path)
	return filepath.Join(real, rel), err
}

// reread reads a change's config again. It may exist by now, or no longer: another process
// may have reverted the swap that created it.
func (w *writing) reread(c *change) (*document, error) {
	if c.named && missing(c.doc.config) {
		return w.unmade(c.client, c.doc.config)
	}
	d := &document{client: c.client, config: c.doc.config}
	var err error
	if d.target, err = targetOf(d.config); err != nil {
		return nil, err
	}
	if d.text, d.info, err = w.Disk.Read(d.target); err != nil {
		return nil, err
	}
	d.meta, err = w.Disk.Meta(d.target)
	return d, err
}

// create creates a config and its directories. If the client has created one of them
// meanwhile, the error wraps [atomicfile.ErrChanged].
func (w *writing) create(ctx context.Context, c *change) error {
	d := c.doc
	for _, dir := range d.dirs {
		if err := w.Disk.Mkdir(dir, 0o700); err != nil {
			return changed(err)
		}
		c.made = append(c.made, dir)
		if err := w.Disk.SyncDir(filepath.Dir(dir)); err != nil {
			return err
		}
	}
	release, err := w.clientLock(ctx, c.client, d.config)
	if err != nil {
		return err
	}
	err = changed(w.Disk.Create(d.target, c.edit.Out, d.meta))
	if err == nil {
		if serr := w.Disk.SyncDir(filepath.Dir(d.target)); serr != nil {
			err = fmt.Errorf("%s: %w: %w", d.target, atomicfile.ErrNotDurable, serr)
		}
	}
	return released(err, release)
}

func changed(err error) error {
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: %w", atomicfile.ErrChanged, err)
	}
	return err
}

// note records a config's metadata before its first swap, or that the swap creates it. The
// ID follows when the config is written. A config that existed when it was swapped and has
// since been deleted is not created anew: its old text is in the backup.
func note(next *journal.State, d *document) error {
	f, recorded := next.Files[d.target]
	switch {
	case !d.absent() && f.Recreated(d.target):
		return nil // what another program has lost is restored by a revert
	case d.absent() && recorded && !f.Created:
		return fmt.Errorf("%s was deleted after it was swapped: restore it first", d.config)
	case d.absent():
		f.Created = true
		for _, dir := range d.dirs {
			if !slices.Contains(f.Dirs, dir) {
				f.Dirs = append(slices.Clone(f.Dirs), dir)
			}
		}
	}
	f.Meta, f.ID = d.meta, ""
	if next.Files == nil {
		next.Files = map[string]journal.File{}
	}
	next.Files[d.target] = f
	return nil
}

// uncreate removes a config that a swap created, if it still has the contents of d.
func (t *taking) uncreate(ctx context.Context, c *clients.Client, r *journal.Record, d *document) error {
	release, err := t.clientLock(ctx, c, r.Config)
	if err != nil {
		return err
	}
	return errors.Join(t.Disk.RemoveIf(d.target, d.text), release())
}

// removeDirs removes the directories created for a config, if they are empty. Other
// directories are left to the other configs created in them.
func (t *taking) removeDirs(target string) error {
	if f := t.state.Files[target]; !f.Created || !missing(target) {
		return nil
	}
	for _, dir := range slices.Backward(t.state.Files[target].Dirs) {
		if err := removeEmpty(t.Disk, dir); err != nil {
			return fmt.Errorf("the config is removed, but not its directory; the next revert tries again: %w", err)
		}
		if missing(dir) {
			continue
		}
		for other, f := range t.state.Files {
			if rel, err := filepath.Rel(dir, other); f.Created && other != target && err == nil && filepath.IsLocal(rel) && !slices.Contains(f.Dirs, dir) {
				f.Dirs = append([]string{dir}, f.Dirs...)
				t.state.Files[other] = f
			}
		}
	}
	return nil
}

// removeEmpty removes a directory if it is one and is empty.
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

// skipped reports which installed clients have no config to write to.
func (s *Swapper) skipped() {
	var names []string
	for _, c := range clients.All {
		if !s.hasConfig(c) && s.installed(c) {
			names = append(names, c.Name)
		}
	}
	if len(names) > 0 {
		s.Warn(fmt.Sprintf("no config, so left out: %s (use-local --cli NAME creates one)", strings.Join(names, ", ")))
	}
}
