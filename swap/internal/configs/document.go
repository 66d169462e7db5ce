package configs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/format"
)

// A Document is a client's config as it was read.
type Document struct {
	Client *clients.Client
	Path   string // as the client names it
	Target string // the regular file behind all links
	Info   fs.FileInfo
	Meta   atomicfile.Meta
	Text   []byte
	Doc    *format.Doc
	Dirs   []string // to create for it, if it does not exist
}

// Absent reports whether the config does not exist yet, so that a swap creates it.
func (d *Document) Absent() bool { return d.Info == nil }

// Creating reports whether this write creates the file. It does not if another client with
// the same config comes first.
func (d *Document) Creating() bool { return d.Absent() && len(d.Text) == 0 }

// Open reads and parses a config of a client.
func Open(env Env, c *clients.Client, config string) (*Document, error) {
	target, err := Target(config)
	if err != nil {
		if _, lerr := os.Lstat(config); errors.Is(lerr, fs.ErrNotExist) {
			err = fmt.Errorf("%w: start the client once, or create the file", err)
		}
		return nil, err
	}
	d := &Document{Client: c, Path: config, Target: target}
	if d.Text, d.Info, err = env.Read(target); err != nil {
		return nil, err
	}
	return d, d.Parse(env)
}

// Parse parses the text.
func (d *Document) Parse(env Env) (err error) {
	if d.Doc, err = env.Parse(d.Client, d.Text); err != nil {
		return fmt.Errorf("%s: %w", d.Path, err)
	}
	return nil
}

// Find looks up an entry where the client would read it, and returns the container that it
// is in, or the container for a new entry.
func (d *Document) Find(scope clients.Scope, project, server string) (container []string, e format.Entry, err error) {
	all := d.Client.ContainersIn(d.Doc, scope, project)
	made := all[0]
	for i, path := range all {
		e, err = d.Doc.Lookup(path, server)
		if err != nil {
			if i == 0 {
				return nil, format.Entry{}, fmt.Errorf("%s: %w", d.Path, err)
			}
			continue // a place of another client version, which this config uses for something else
		}
		if e.Found {
			return path, e, nil
		}
		if _, ok := d.Doc.Get(path...); ok && i > 0 {
			if _, ok := d.Doc.Get(made...); !ok {
				made = path // a new one might hide it
			}
		}
	}
	return made, format.Entry{}, nil
}

// MayWrite returns an error for a config that must not be written: the file, or a directory
// on the way to it, belongs to another user; or it is read-only, and neither force nor the
// user's answer allows the edit.
func (d *Document) MayWrite(confirm func(question string) bool, force bool) error {
	if err := d.Owned(); err != nil {
		return err
	}
	return d.Writable(confirm, force)
}

// Owned returns an error if a config, or the way to it, belongs to another user.
func (d *Document) Owned() error {
	for _, path := range []string{d.Path, d.Target} {
		if err := Owned(path); err != nil {
			return err
		}
	}
	if d.Absent() {
		return nil
	}
	return ownFile(d.Target, d.Info)
}

// Writable returns an error for a read-only config unless force or the user allows it.
func (d *Document) Writable(confirm func(question string) bool, force bool) error {
	if force || d.Absent() || !ReadOnly(d.Info.Mode()) {
		return nil
	}
	if confirm != nil && confirm(fmt.Sprintf("%s is read-only (mode %04o). Edit it anyway?", d.Target, d.Info.Mode().Perm())) {
		return nil
	}
	return fmt.Errorf("%s is read-only (mode %04o); use --force to edit it anyway; it stays read-only", d.Target, d.Info.Mode().Perm())
}

// ReadOnly reports whether the owner may not write the file.
func ReadOnly(m fs.FileMode) bool { return m.Perm()&0o200 == 0 }
