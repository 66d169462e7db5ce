package ask

import (
	"fmt"
	"os"
	"slices"
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
		for range 20 { // a client just killed may still be writing to it
			if err = os.RemoveAll(dir); err == nil {
				return nil
			}
			time.Sleep(50 * time.Millisecond)
		}
		return fmt.Errorf("remove the copy of the config: %w", err)
	}
	return dir, remove, nil
}

// Only removes all servers but one from a client's configs, so that they are not started.
type Only struct {
	Kind       format.Kind
	Containers [][]string // all places where the client reads servers
	Server     string     // the server to keep
}

// Of returns a config's text with only that server. vars are added to the field env of the
// entry in container, so that the server runs as usual in another home directory; nil adds
// none.
func (o Only) Of(text []byte, container []string, env string, vars format.Object) ([]byte, error) {
	d, err := format.Parse(o.Kind, text)
	if err != nil {
		return nil, err
	}
	edit := func(e format.Edit, err error) error {
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
			place := append(slices.Clone(path), name)
			leadsOn := slices.ContainsFunc(o.Containers, func(p []string) bool {
				return len(p) >= len(place) && slices.Equal(p[:len(place)], place)
			})
			if name == o.Server || leadsOn {
				continue
			}
			if err := edit(d.Revert(path, name, format.Undo{})); err != nil {
				return nil, fmt.Errorf("leave out %q: %w", name, err)
			}
		}
	}
	if vars == nil {
		return text, nil
	}
	ch := format.Change{Set: format.Object{{Name: env, Value: vars}}}
	if err := edit(d.Set(container, o.Server, ch)); err != nil {
		return nil, fmt.Errorf("set the home directory of %q: %w", o.Server, err)
	}
	return text, nil
}
