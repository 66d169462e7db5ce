package configs

import (
	"os"
	"path/filepath"
	"strings"

	"tmuxmcp/internal/nearest"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/hint"
	"tmuxmcp/swap/internal/machine"
)

// Named returns the named clients, in table order; without names, all that are present.
func Named(sys machine.System, names []string) ([]*clients.Client, error) {
	want := map[*clients.Client]bool{}
	for _, name := range names {
		c := clients.Lookup(name)
		if c == nil {
			return nil, unknown(name)
		}
		want[c] = true
	}
	var out []*clients.Client
	for _, c := range clients.All {
		if want[c] || len(names) == 0 && Present(sys, c) {
			out = append(out, c)
		}
	}
	return out, nil
}

// unknown returns the error for a client that is not in the table.
func unknown(name string) error {
	if meant := nearest.Meant(name, clients.Names()); name != "" && meant != "" {
		return hint.Usagef("unknown client %q%s", name, meant)
	}
	return hint.Usagef("unknown client %q; the clients are: %s", name, strings.Join(clients.Names(), ", "))
}

// Present reports whether the config exists and, unless the client is an editor, its
// program is on PATH. An editor is started from the desktop: an installed one counts
// without a config, and one with a config counts without a program.
func Present(sys machine.System, c *clients.Client) bool {
	if c.Editor {
		return Exists(sys, c) || Installed(sys, c)
	}
	return Exists(sys, c) && Installed(sys, c)
}

// Installed reports whether a program is on PATH, or an editor's directory exists.
func Installed(sys machine.System, c *clients.Client) bool {
	if c.Binary() != "" {
		return true
	}
	info, err := os.Stat(filepath.Dir(c.ConfigPath(sys)))
	return c.Editor && err == nil && info.IsDir()
}

// Exists reports whether the client has a config of the user's.
func Exists(sys machine.System, c *clients.Client) bool { return len(c.UserFiles(sys)) > 0 }

// CheckScope returns an error for a scope that is none; "" is all scopes, or the default.
func CheckScope(s clients.Scope) error {
	if s != "" && s != clients.ScopeUser && s != clients.ScopeProject {
		return hint.Usagef("--scope %q is neither user nor project", string(s))
	}
	return nil
}
