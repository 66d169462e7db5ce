package swap

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tmuxmcp/internal/test/cases"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/machine"
)

// The location of each client's config, on each system. The scripts test which home
// variables are honoured.
func TestConfigPaths(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths are joined with the separator of the system the test runs on")
	}
	want := map[string][]string{} // for Linux, macOS, Windows
	for _, line := range cases.Lines(t, "testdata/config-paths.txt") {
		name, paths, _ := strings.Cut(line, ": ")
		if want[name] = strings.Split(paths, "; "); len(want[name]) == 1 {
			want[name] = []string{paths, paths, paths}
		}
	}
	if len(want) != len(clients.All()) {
		t.Errorf("%d clients in the table, %d here", len(clients.All()), len(want))
	}
	for i, sys := range systems(t) {
		for _, c := range clients.All() {
			if got := c.ConfigPath(sys); got != want[c.Name][i] {
				t.Errorf("%s on %s: %s, want %s", c.Name, sys.GOOS, got, want[c.Name][i])
			}
		}
	}
}

// The location of administrators' files, which take precedence over a user's config, on
// each system: the client's files outside the home directory.
func TestManagedPaths(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths are joined with the separator of the system the test runs on")
	}
	var got []string
	for _, sys := range systems(t) {
		for _, c := range clients.All() {
			for _, p := range c.Places(sys) {
				if !strings.HasPrefix(p.Path, "/h/") {
					got = append(got, sys.GOOS+" "+c.Name+": "+p.Path)
				}
			}
		}
	}
	if diff := cmp.Diff(cases.Lines(t, "testdata/managed-paths.txt"), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// systems returns a home on Linux, macOS and Windows.
func systems(t *testing.T) (all []machine.System) {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		sys, err := machine.SystemFor(goos, func(name string) string {
			return map[string]string{
				"HOME": "/h", "USERPROFILE": "/h", "APPDATA": "/h/roaming", "ProgramData": "/data", "ProgramFiles": "/programs",
			}[name]
		})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, sys)
	}
	return all
}

// Every name and alias means a different client, and no two clients store the same entries:
// otherwise a swap of one would change the other.
func TestClientsAreDistinct(t *testing.T) {
	for _, c := range clients.All() {
		for _, name := range append([]string{c.Name}, c.Aliases...) {
			if got := clients.Lookup(name); got != c {
				t.Errorf("%s is %s, want %s", name, got.Name, c.Name)
			}
		}
	}
	if c := clients.Lookup("antigravity"); c == nil || c.Name != "agy" {
		t.Errorf("antigravity is %v", c)
	}
	for _, sys := range systems(t) {
		owner := map[string]string{}
		for _, c := range clients.All() {
			for scope, containers := range c.Scopes {
				for _, container := range containers {
					place := fmt.Sprintf("%s %q", c.ConfigPath(sys), container)
					if other := owner[place]; other != "" {
						t.Errorf("on %s, %s (%s) and %s share %s", sys.GOOS, c.Name, scope, other, place)
					}
					owner[place] = c.Name
				}
			}
		}
	}
}
