package ask

import (
	"fmt"
	"os"
	"time"

	"tmuxmcp/swap/format"
)

// Home creates a temporary home directory for one client, so that it cannot write the
// user's files. The caller puts copies of them into it, and calls remove when done.
func Home() (dir string, remove func() error, err error) {
	if dir, err = os.MkdirTemp("", "mcp-swap-verify-"); err != nil {
		return "", nil, fmt.Errorf("make a home directory: %w", err)
	}
	remove = func() (err error) {
		for range 20 { // a client that was just killed may still write to it
			if err = os.RemoveAll(dir); err == nil {
				return nil
			}
			time.Sleep(50 * time.Millisecond)
		}
		return fmt.Errorf("remove the copy of the config: %w", err)
	}
	return dir, remove, nil
}

// Alone makes all servers except one harmless in a client's config: they are not started, but the
// client still refuses a config with an invalid entry.
type Alone struct {
	Kind       format.Kind
	Containers [][]string // all places where the client reads servers
	Server     string     // the server to keep
	// Harmless returns the fields to set in another server's entry.
	Harmless func(entry map[string]any) format.Object
}

// Of returns a config's text with all other servers harmless. It adds vars, unless nil, to the
// field env of the server's entry in container, so that the server runs as usual in another home
// directory.
func (o Alone) Of(text []byte, container []string, env string, vars format.Object) ([]byte, error) {
	d, err := format.Parse(o.Kind, text)
	if err != nil {
		return nil, err
	}
	set := func(path []string, name string, fields format.Object) error {
		e, err := d.Set(path, name, format.Change{Set: fields})
		if err == nil && e.Changed() {
			text = e.Out
			d, err = format.Parse(o.Kind, text)
		}
		return err
	}
	for _, path := range o.Containers {
		names, err := d.Names(path)
		if err != nil {
			continue // another version of the client uses this place
		}
		for _, name := range names {
			e, err := d.Lookup(path, name)
			if name == o.Server || err != nil {
				continue // the server to keep, or an entry without a command
			}
			if fields := o.Harmless(e.Value); len(fields) > 0 {
				if err := set(path, name, fields); err != nil {
					return nil, fmt.Errorf("replace the command of %q: %w", name, err)
				}
			}
		}
	}
	if vars == nil {
		return text, nil
	}
	if err := set(container, o.Server, format.Object{{Name: env, Value: vars}}); err != nil {
		return nil, fmt.Errorf("set the home directory of %q: %w", o.Server, err)
	}
	return text, nil
}

// Reworded returns an error that wraps err, with another text.
func Reworded(err error, words string) error { return &reworded{err, words} }

type reworded struct {
	error
	words string
}

func (e *reworded) Error() string { return e.words }
func (e *reworded) Unwrap() error { return e.error }
