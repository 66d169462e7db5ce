package clients

import (
	"os"
	"path/filepath"
	"strings"

	"tmuxmcp/internal/nearest"
	"tmuxmcp/swap/internal/hint"
	"tmuxmcp/swap/internal/machine"
)

// Named returns the named clients in table order or, without names, all that are present.
func Named(sys machine.System, names []string) ([]*Client, error) {
	want := map[*Client]bool{}
	for _, name := range names {
		c := Lookup(name)
		if c == nil {
			return nil, unknown(name)
		}
		want[c] = true
	}
	var out []*Client
	for _, c := range All() {
		if want[c] || len(names) == 0 && c.Present(sys) {
			out = append(out, c)
		}
	}
	return out, nil
}

// unknown returns the error for a client that is not in the table.
func unknown(name string) error {
	if meant := nearest.Meant(name, Names()); name != "" && meant != "" {
		return hint.Usagef("unknown client %q%s", name, meant)
	}
	return hint.Usagef("unknown client %q; the clients are: %s", name, strings.Join(Names(), ", "))
}

// Present reports whether the config exists and, unless the client is an editor, its
// program is on PATH. An editor is started from the desktop: an installed one counts
// without a config, and one with a config counts without a program.
func (c *Client) Present(sys machine.System) bool {
	if c.Editor {
		return c.HasConfig(sys) || c.Installed(sys)
	}
	return c.HasConfig(sys) && c.Installed(sys)
}

// Installed reports whether a program is on PATH, or an editor's directory exists.
func (c *Client) Installed(sys machine.System) bool {
	if c.Binary() != "" {
		return true
	}
	info, err := os.Stat(filepath.Dir(c.ConfigPath(sys)))
	return c.Editor && err == nil && info.IsDir()
}

// HasConfig reports whether the user has a config of the client.
func (c *Client) HasConfig(sys machine.System) bool { return len(c.UserFiles(sys)) > 0 }
