package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
)

// ErrMeta is wrapped by the error of a write that could not set the required mode, owner,
// access control list and extended attributes; nothing was written.
var ErrMeta = errors.New("mode, owner, access control list or extended attributes cannot be kept")

// Meta is the metadata of a file. Attrs are its extended attributes, including the access
// control list, but without those that the system sets by itself.
type Meta struct {
	Mode  fs.FileMode       `json:"mode"`
	Owner *Owner            `json:"owner,omitempty"` // nil: the user who creates the file
	Attrs map[string][]byte `json:"attrs,omitempty"`
}

// Owner is a user and a group.
type Owner struct {
	UID int `json:"uid"`
	GID int `json:"gid"`
}

// Private is for files that only their owner may read.
var Private = Meta{Mode: 0o600}

// Equal reports whether two files have the same metadata.
func (m Meta) Equal(n Meta) bool {
	return m.Mode == n.Mode && (m.Owner == nil) == (n.Owner == nil) && (m.Owner == nil || *m.Owner == *n.Owner) &&
		maps.EqualFunc(m.Attrs, n.Attrs, bytes.Equal)
}

// Meta reads the metadata of a regular file.
func (d Disk) Meta(path string) (Meta, error) {
	f, _, err := open(path, noFollow)
	if err != nil {
		return Meta{}, err
	}
	defer f.Close()
	return metaOf(f)
}

func metaOf(f *os.File) (Meta, error) {
	info, err := f.Stat()
	if err != nil {
		return Meta{}, err
	}
	attrs, err := readAttrs(f)
	if err != nil {
		return Meta{}, fmt.Errorf("read the extended attributes of %s: %w", f.Name(), err)
	}
	return Meta{Mode: info.Mode().Perm(), Owner: ownerOf(info), Attrs: attrs}, nil
}

// apply sets the metadata of a new file of mode 0600, in an order that never grants more
// than m does. A new file may inherit entries of its directory's default access control
// list, which take effect with the group bits of the mode; and the entries in m must be set
// before the mode, whose group bits have another meaning without them.
func (m Meta) apply(d Disk, f *os.File) error {
	have, err := metaOf(f)
	if err != nil {
		return err
	}
	if m.Owner != nil && have.Owner != nil && *have.Owner != *m.Owner {
		if err := d.do(OpOwn, f.Name(), func() error { return f.Chown(m.Owner.UID, m.Owner.GID) }); err != nil {
			return err
		}
	}
	for name := range have.Attrs {
		if _, keep := m.Attrs[name]; !keep && isACL(name) {
			if err := d.do(OpAttr, f.Name(), func() error { return removeAttr(f, name) }); err != nil {
				return fmt.Errorf("remove %s: %w", name, err)
			}
		}
	}
	names := slices.Sorted(maps.Keys(m.Attrs))
	// Lists last: they may remove the right to set the others.
	lists := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !isACL(name) })
	for _, name := range append(slices.DeleteFunc(names, isACL), lists...) {
		if v, ok := have.Attrs[name]; ok && bytes.Equal(v, m.Attrs[name]) {
			continue
		}
		if err := d.do(OpAttr, f.Name(), func() error { return setAttr(f, name, m.Attrs[name]) }); err != nil {
			return fmt.Errorf("set %s: %w", name, err)
		}
	}
	if err := d.do(OpMode, f.Name(), func() error { return f.Chmod(m.Mode.Perm()) }); err != nil {
		return err
	}
	return m.check(f)
}

// check reads the metadata back: some file systems accept a change and ignore it.
func (m Meta) check(f *os.File) error {
	have, err := metaOf(f)
	if err != nil {
		return err
	}
	if have.Owner == nil { // a system without owners has no meaningful modes
		return nil
	}
	if have.Mode != m.Mode.Perm() {
		return fmt.Errorf("the mode would be %#o, not %#o", have.Mode, m.Mode.Perm())
	}
	if m.Owner != nil && *have.Owner != *m.Owner {
		return fmt.Errorf("the owner would be %d:%d, not %d:%d", have.Owner.UID, have.Owner.GID, m.Owner.UID, m.Owner.GID)
	}
	for name := range have.Attrs {
		if _, ok := m.Attrs[name]; !ok && isACL(name) {
			return fmt.Errorf("it would have %s", name)
		}
	}
	for name, v := range m.Attrs {
		if !bytes.Equal(have.Attrs[name], v) {
			return fmt.Errorf("%s would differ", name)
		}
	}
	return nil
}

// Keepable returns an error if a file that replaces path could not have its metadata. It
// tries with an empty file beside path, and removes it again.
func (d Disk) Keepable(path string) error {
	m, err := d.Meta(path)
	if err != nil {
		return err
	}
	tmp, err := d.writeTemp(path, nil, m)
	if err != nil {
		return err
	}
	return d.Remove(tmp)
}
