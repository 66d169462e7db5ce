package swap

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/swap/format"
)

// stage makes home a home directory for one client to be asked in: it holds
// copies of the client's own files, so that it reads what it would read, and
// can write nothing of the user's.
//
// Two things differ in the copy of the config. Other servers are taken out, so
// that none but the one asked about is started. And that one is given the
// user's own home in its environment, so that it runs as it would.
func (s *Swapper) stage(doc *document, container []string, project, server, home string) error {
	text, err := s.alone(doc, container, project, server)
	if err != nil {
		return fmt.Errorf("prepare a copy of %s: %w", doc.config, err)
	}
	there := System{GOOS: s.Sys.GOOS, Home: home, Getenv: func(string) string { return "" }}
	for _, l := range doc.client.files() {
		from, to := l.resolve(s.Sys), l.resolve(there)
		for i := range from {
			content := text
			if from[i] != doc.config {
				// What is not there, or cannot be read, the client could not read either.
				target, err := filepath.EvalSymlinks(from[i])
				if err != nil {
					continue
				}
				if content, _, err = (atomicfile.Disk{}).Read(target); err != nil {
					continue
				}
			}
			if err := os.MkdirAll(filepath.Dir(to[i]), 0o700); err != nil {
				return fmt.Errorf("copy %s: %w", from[i], err)
			}
			if err := os.WriteFile(to[i], content, 0o600); err != nil {
				return fmt.Errorf("copy %s: %w", from[i], err)
			}
		}
	}
	return nil
}

// alone is the config's text with no server but one, and that with the user's
// own home.
func (s *Swapper) alone(doc *document, container []string, project, server string) ([]byte, error) {
	d, c := doc.doc, doc.client
	edit := func(e format.Edit, err error) error {
		if err == nil && e.Changed() {
			d, err = format.Parse(c.Kind, e.Out)
			doc = &document{text: e.Out}
		}
		return err
	}
	var all [][]string
	for _, scope := range c.scopes() {
		all = append(all, c.containers(scope, project)...)
	}
	for _, path := range all {
		names, err := d.Names(path)
		if err != nil {
			continue // a place of another version of the client
		}
		for _, name := range names {
			place := append(slices.Clone(path), name)
			way := slices.ContainsFunc(all, func(p []string) bool {
				return len(p) >= len(place) && slices.Equal(p[:len(place)], place)
			})
			if name == server || way {
				continue
			}
			if err := edit(d.Revert(path, name, format.Undo{})); err != nil {
				return nil, fmt.Errorf("leave out %q: %w", name, err)
			}
		}
	}

	e, err := d.Lookup(container, server)
	if err != nil {
		return nil, err
	}
	own := c.Dialect.env(e.Value)
	vars := format.Object{}
	for _, name := range c.homeVars() {
		value := s.Sys.Getenv(name)
		if value == "" || slices.ContainsFunc(own, func(v EnvVar) bool { return strings.EqualFold(v.Name, name) }) {
			continue
		}
		vars = append(vars, format.Field{Name: name, Value: value})
	}
	ch := format.Change{Set: format.Object{{Name: c.Dialect.envName(), Value: vars}}}
	if err := edit(d.Set(container, server, ch)); err != nil {
		return nil, fmt.Errorf("set the home directory of %q: %w", server, err)
	}
	return doc.text, nil
}
