package ask

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"tmuxmcp/swap/format"
)

// A Config is a client's config for [Home], with the entry to keep.
type Config struct {
	Path       string // relative to the home directory
	Kind       format.Kind
	Text       []byte
	Containers [][]string // all places where the client reads servers
	Container  []string   // the one with the server to keep
	Server     string
	// Env is the field of the entry that holds its environment; Vars are added.
	Env  string
	Vars format.Object
}

// A File is another file of a client.
type File struct {
	Path string // relative to the home directory
	Text []byte
}

// Home makes a temporary home directory for one client, with copies of its own
// files, so that the client reads the same configuration and cannot write the
// user's files. In the config's copy, all servers except one are left out, so that
// they are not started; and that server's environment gets variables, such as the
// user's own home, so that it runs as usual. The caller calls remove when done.
func Home(c Config, files []File) (dir string, remove func() error, err error) {
	text, err := c.alone()
	if err != nil {
		return "", nil, fmt.Errorf("prepare a copy of the config: %w", err)
	}
	if dir, err = os.MkdirTemp("", "mcp-swap-verify-"); err != nil {
		return "", nil, fmt.Errorf("make a home directory: %w", err)
	}
	for _, f := range append([]File{{c.Path, text}}, files...) {
		name := filepath.Join(dir, f.Path)
		if err = os.MkdirAll(filepath.Dir(name), 0o700); err == nil {
			err = os.WriteFile(name, f.Text, 0o600)
		}
		if err != nil {
			_ = removeAll(dir)
			return "", nil, fmt.Errorf("copy %s: %w", f.Path, err)
		}
	}
	return dir, func() error { return removeAll(dir) }, nil
}

// removeAll removes a directory in which a client that was just killed may still
// be writing.
func removeAll(dir string) (err error) {
	for range 20 {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("remove the copy of the config: %w", err)
}

// alone returns the config's text with one server only.
func (c Config) alone() ([]byte, error) {
	text := c.Text
	d, err := format.Parse(c.Kind, text)
	if err != nil {
		return nil, err
	}
	edit := func(e format.Edit, err error) error {
		if err == nil && e.Changed() {
			text = e.Out
			d, err = format.Parse(c.Kind, text)
		}
		return err
	}
	for _, path := range c.Containers {
		names, err := d.Names(path)
		if err != nil {
			continue // a place of another version of the client
		}
		for _, name := range names {
			place := append(slices.Clone(path), name)
			leadsOn := slices.ContainsFunc(c.Containers, func(p []string) bool {
				return len(p) >= len(place) && slices.Equal(p[:len(place)], place)
			})
			if name == c.Server || leadsOn {
				continue
			}
			if err := edit(d.Revert(path, name, format.Undo{})); err != nil {
				return nil, fmt.Errorf("leave out %q: %w", name, err)
			}
		}
	}
	ch := format.Change{Set: format.Object{{Name: c.Env, Value: c.Vars}}}
	if err := edit(d.Set(c.Container, c.Server, ch)); err != nil {
		return nil, fmt.Errorf("set the home directory of %q: %w", c.Server, err)
	}
	return text, nil
}
