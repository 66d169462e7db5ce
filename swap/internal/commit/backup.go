package commit

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/swap/internal/configs"
	"tmuxmcp/swap/internal/machine"
	"tmuxmcp/swap/journal"
)

// backup writes text beside a config under a new name. For a project file, or in another
// work tree of git, where it would be a stray file, it uses the state directory.
func (c *Commit) backup(d *configs.Document, ofProject bool, text []byte) (string, error) {
	stem := d.Path
	if ofProject || c.Tree(filepath.Dir(c.InRealDir(d.Path))) != "" {
		stem = c.Journal.Beside(d.Target)
	}
	stem += backupMark + time.Now().Format("20060102150405")
	name := stem
	var err error
	for n := 1; n < 1000; n++ {
		err = c.Disk.Create(name, text, atomicfile.Meta{Mode: d.Meta.Mode & 0o600, Owner: d.Meta.Owner})
		if !errors.Is(err, fs.ErrExist) {
			break
		}
		name = fmt.Sprintf("%s-%d", stem, n)
	}
	if dir := filepath.Dir(name); err == nil && dir != filepath.Dir(d.Target) {
		// Otherwise writing the config syncs the directory.
		if err = c.Disk.SyncDir(dir); err != nil {
			err = errors.Join(err, c.Disk.Remove(name))
		}
	}
	if err != nil {
		return "", fmt.Errorf("cannot make a backup, so nothing was changed: %w", err)
	}
	return name, nil
}

// removeBackup removes a record's backup and its copies, except those that were changed.
func (c *Commit) removeBackup(r *journal.Record) (gone bool, err error) {
	for _, name := range copies(c.Env, c.State, r) {
		if text, _, err := c.Disk.Read(name); err == nil && r.IsBackup(text) {
			if err := c.Disk.RemoveIf(name, text); err != nil {
				c.Warn(fmt.Sprintf("%s: the copy %s of its backup could not be removed: %v", label(r), name, err))
			}
		}
	}
	text, _, err := c.Disk.Read(r.Backup)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return false, err
	case !r.IsBackup(text):
		err = atomicfile.ErrChanged
	default:
		err = c.Disk.RemoveIf(r.Backup, text)
	}
	if errors.Is(err, atomicfile.ErrChanged) {
		c.Warn(fmt.Sprintf("%s: the backup %s was changed after mcp-swap made it, so it stays; remove it if you do not need it", label(r), r.Backup))
		return false, nil
	}
	if errors.Is(err, atomicfile.ErrNotDurable) {
		err = nil
	}
	return err == nil, err
}

// madeBackup reports whether a record's backup has the name of one. No other file is removed.
func (c *Commit) madeBackup(r *journal.Record) bool {
	made := strings.HasPrefix(r.Backup, r.Config+backupMark) || c.Journal.IsBeside(r.Target, r.Backup, backupMark)
	if !made {
		c.Warn(fmt.Sprintf("%s: the record names %q as its backup, which mcp-swap did not make; it was left alone", label(r), r.Backup))
	}
	return made
}

// HasBackup reports whether a record's backup or a copy of it exists.
func HasBackup(env configs.Env, st *journal.State, r *journal.Record) bool {
	return !machine.Missing(r.Backup) || len(copies(env, st, r)) > 0
}

// copies returns where copies of a record's backup may be: beside the configs that its clients
// read now and the one that was swapped, if a directory on the way was moved or copied.
func copies(env configs.Env, st *journal.State, r *journal.Record) (out []string) {
	if r.Backup == "" {
		return nil
	}
	backup := env.InRealDir(r.Backup)
	beside := []string{r.Target}
	for _, by := range r.Readers() {
		beside = append(beside, by.Config, movedTo(env, st, r, by))
	}
	for _, config := range beside {
		if config == "" {
			continue
		}
		name := filepath.Join(filepath.Dir(env.InRealDir(config)), filepath.Base(backup))
		if name != backup && !machine.Missing(name) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
