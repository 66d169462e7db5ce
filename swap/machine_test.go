package swap

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/machine"
)

var update = flag.Bool("update", false, "write testdata/paths.txt anew; look at the difference")

// Where each client's files are: its config, on macOS and Windows if that differs; the file in a
// project that a swap edits; and, on each system, the administrator's files, outside the home
// directory. The scripts test which home variables are honoured.
func TestPaths(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths are joined with the separator of the system the test runs on")
	}
	got := "# Files of each client: go test ./swap -run TestPaths -update writes this. /h is the home; on Windows\n" +
		"# /h/roaming is its directory for what roams, /data is %ProgramData% and /programs %ProgramFiles%.\n"
	for _, c := range clients.All() {
		got += c.Name + "\n"
		before := ""
		for _, sys := range systems(t) {
			if path := c.ConfigPath(sys); path != before {
				got += "\t" + sys.GOOS + ": " + path + "\n"
				before = path
			}
		}
		project := projectFile(c, systems(t)[0], "/repo")
		if project == "" {
			project = "none"
		}
		got += "\tproject: " + project + "\n"
		for _, sys := range systems(t) {
			for _, p := range c.Places(sys) {
				if !strings.HasPrefix(p.Path, "/h/") {
					got += "\t" + sys.GOOS + ", administrator: " + p.Path + "\n"
				}
			}
		}
	}
	const file = "testdata/paths.txt"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(readFile(t, file), got); diff != "" {
		t.Errorf("%s is not what clients.toml says; go test ./swap -run TestPaths -update writes it (-want +got):\n%s", file, diff)
	}
}

// projectFile returns the file that a swap in the project scope creates or edits, "" if none.
func projectFile(c *clients.Client, sys machine.System, repo string) string {
	if !c.InFiles(clients.ScopeProject) {
		return c.ConfigPath(sys)
	}
	if _, into := c.ProjectFiles(sys, repo, repo); len(into) > 0 {
		return into[0]
	}
	return ""
}

// TestClientsAreDocumented: docs/mcp-swap.md has each client in its table of configs, with the
// variables that move the config and the key above its servers, and in that of files that override
// them.
func TestClientsAreDocumented(t *testing.T) {
	page := readFile(t, "../docs/mcp-swap.md")
	row := func(heading, name string) string {
		t.Helper()
		_, table, _ := strings.Cut(page, "\n"+heading+"\n")
		table, _, _ = strings.Cut(table, "\n#")
		for line := range strings.Lines(table) {
			first, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " |")
			names := strings.FieldsFunc(first, func(r rune) bool { return strings.ContainsRune(" ,()", r) })
			if strings.HasPrefix(line, "| ") && slices.Contains(names, name) {
				return line
			}
		}
		t.Errorf("docs/mcp-swap.md: the table below %q has no row of %s", heading, name)
		return ""
	}
	sys := systems(t)[0]
	for _, c := range clients.All() {
		main := row("## The clients", c.Name)
		containers := c.Scopes[clients.ScopeUser][0]
		want := []string{"`" + containers[0] + "`"}
		if !strings.Contains(main, "the same in") {
			for _, l := range c.Layers {
				for _, d := range l.Dirs {
					if l.Role == clients.Own && d.Env != "" {
						want = append(want, "$"+d.Env)
					}
				}
			}
		}
		for _, w := range want {
			if main != "" && !strings.Contains(main, w) {
				t.Errorf("docs/mcp-swap.md: the row of %s lacks %s: %s", c.Name, w, main)
			}
		}
		if file, ok := strings.CutPrefix(projectFile(c, sys, "/repo"), "/repo/"); ok {
			if r := row("### Files that override yours", c.Name); r != "" && !strings.Contains(r, "`"+file+"`") {
				t.Errorf("docs/mcp-swap.md: the row of %s lacks `%s`: %s", c.Name, file, r)
			}
		}
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
