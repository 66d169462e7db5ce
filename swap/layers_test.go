package swap

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tmuxmcp/internal/test/cases"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/checkout"
	"tmuxmcp/swap/internal/machine"
)

// A case in testdata/layers is a home and a project in which a client, whose name the file
// has, reads the server srv. Its settings are
//
//	env: NAME=VALUE
//	config: the file that use-local edits, and status names
//	runs: the command before, if there is an entry
//	shadows: what keeps the client from running it
//	merged: what weaker files add
//	after: what is in the config after use-local
//	goos: the system; linux without it
//	mode: of use-local
//	scope: user without it
//
// and its texts are files; HOME and REPO are directories in all of them, in the directory
// TOP.
type layerCase struct{ cases.Case }

// Where each client reads the server srv, according to the files and variables in its
// documentation or program; that use-local edits the file that counts, and no other; and
// that revert restores everything.
func TestLayers(t *testing.T) {
	settings := []string{"env", "config", "runs", "shadows", "merged", "after", "goos", "mode", "scope"}
	for _, c := range cases.Load(t, "testdata/layers/*.txtar", settings...) {
		t.Run(c.File+"/"+c.Name, layerCase{c}.test)
	}
}

// possible leaves out that the programs of a case, which are made up, are not here.
func possible(shadows []string) []string {
	return slices.DeleteFunc(shadows, func(text string) bool {
		return strings.Contains(text, "is not on PATH here: install it") || strings.HasSuffix(text, " is gone or cannot be run")
	})
}

func (c layerCase) test(t *testing.T) {
	t.Parallel()
	root := tempDir(t, nil)
	home, repo := filepath.Join(root, "HOME"), filepath.Join(root, "REPO")
	place := strings.NewReplacer("HOME", home, "REPO", repo, "TOP/", root+"/")
	all := func(setting string) []string {
		out := []string{}
		for _, text := range c.Settings[setting] {
			out = append(out, place.Replace(text))
		}
		return out
	}
	one := func(setting string) string { return strings.Join(all(setting), "") }
	writeFiles(t, repo, map[string]string{"pyproject.toml": pyproject})
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range c.Texts {
		writeFiles(t, root, map[string]string{name: place.Replace(text)})
	}
	env := map[string]string{}
	for _, v := range c.Settings["env"] {
		name, value, _ := strings.Cut(v, "=")
		env[name] = place.Replace(value)
	}
	goos := "linux"
	if name := one("goos"); name != "" {
		goos = name
	}
	scope := clients.ScopeUser
	if one("scope") != "" {
		scope = clients.Scope(one("scope"))
	}
	sys := machine.System{GOOS: goos, Home: home, Getenv: func(name string) string { return env[name] }}
	s := New(sys, nil)
	before := snapshot(t, root)

	state := func() ClientState {
		t.Helper()
		st, err := s.Status(StatusOptions{Repo: repo, Clients: []string{c.File}, Scope: scope})
		if err != nil || len(st.Clients) != 1 || st.Clients[0].Error != "" {
			t.Fatalf("status: %+v, %v", st, err)
		}
		st.Clients[0].Shadows = possible(st.Clients[0].Shadows)
		return st.Clients[0]
	}
	cs := state()
	want := [][]string{{one("config")}, {one("runs")}, all("shadows"), all("merged")}
	got := [][]string{{cs.Config}, {strings.Join(cs.Command, " ")}, cs.Shadows, cs.Merged}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("status: config, command, shadows, merged (-want +got):\n%s", diff)
	}

	r := done(t)(s.UseLocal(t.Context(), UseOptions{
		Repo: repo, Clients: []string{c.File}, Scope: scope, Mode: checkout.Mode(one("mode")), NoPreflight: true,
	}))
	if r[0].Config != one("config") {
		t.Errorf("use-local edited %s", r[0].Config)
	}
	if cs = state(); !slices.Equal(cs.Command, r[0].Command) {
		t.Errorf("use-local made it run %q, want %q", cs.Command, r[0].Command)
	}
	// use-local reports what it does not undo, as status does.
	if diff := cmp.Diff(cs.Shadows, possible(r[0].Shadows), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("use-local does not say what status does (-status +use-local):\n%s", diff)
	}
	changed := withoutState(snapshot(t, root))
	if text := changed[one("config")]; !strings.Contains(text, one("after")) {
		t.Errorf("%q is not in\n%s", one("after"), text)
	}
	maps.DeleteFunc(changed, func(name, _ string) bool {
		_, existed := before[name]
		made := !existed && strings.HasPrefix(one("config"), name+"/")
		return name == one("config") || made || strings.Contains(name, ofBackup)
	})
	unchanged := maps.Clone(before)
	delete(unchanged, one("config"))
	if diff := cmp.Diff(unchanged, changed); diff != "" {
		t.Errorf("use-local changed other files (-before +after):\n%s", diff)
	}
	done(t)(s.Revert(t.Context(), RevertOptions{}))
	if diff := cmp.Diff(before, withoutState(snapshot(t, root))); diff != "" {
		t.Errorf("revert left (-before +after):\n%s", diff)
	}
}
