package trial

import (
	"path/filepath"
	"testing"

	"tmuxmcp/swap/clients"
)

// Where the copy of a file goes, and what leads the client to it.
func TestCopyOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		place       clients.Place
		value       string // of the variable
		file, leads string // below the home directory
	}{
		{"in the home directory", clients.Place{Path: "/h/.x/c.json", Rel: ".x/c.json"}, "", ".x/c.json", ""},
		{"elsewhere", clients.Place{Path: "/etc/x/c.json"}, "", "", ""},
		{"below a variable's directory", clients.Place{Path: "/v/d/c.json", Env: "X", Rel: "d/c.json"}, "/v", "variables/X/d/c.json", "variables/X"},
		{"a variable's file", clients.Place{Path: "/v/c.json", Env: "X", Rel: "."}, "/v/c.json", "variables/X/c.json", "variables/X/c.json"},
		{"beside a variable's file", clients.Place{Path: "/v/d.json", Env: "X", Rel: "../d.json"}, "/v/c.json", "variables/X/d.json", "variables/X/c.json"},
	} {
		file, leads := copyOf(c.place, c.value, "/t")
		below := func(name string) string {
			if name == "" {
				return ""
			}
			return filepath.Join("/t", filepath.FromSlash(name))
		}
		if file != below(c.file) || leads != below(c.leads) {
			t.Errorf("%s: %q, led to by %q", c.name, file, leads)
		}
	}
}
