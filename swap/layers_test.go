package swap

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rogpeppe/go-internal/txtar"

	"tmuxmcp/swap/checkout"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/machine"
)

// A layerCase is a home and a project in which a client reads the server srv. Its file in
// testdata/layers is the client's, in which a section "case: NAME" begins it and has lines
// of settings:
//
//	env: NAME=VALUE
//	config: the file that use-local edits, and status names
//	runs: the command before, if there is an entry
//	shadows: what keeps the client from running it
//	merged: what weaker files add
//	after: what is in the config after use-local
//	mode: of use-local
//
// The sections behind it are the files; HOME and REPO are directories, in all texts.
type layerCase struct {
	name, client string
	settings     map[string][]string
	files        map[string]string
}

func layerCases(t *testing.T) []layerCase {
	names, err := filepath.Glob("testdata/layers/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	var all []layerCase
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		client := strings.TrimSuffix(filepath.Base(name), ".txtar")
		for _, f := range archive.Files {
			name, ok := strings.CutPrefix(f.Name, "case: ")
			if !ok {
				all[len(all)-1].files[f.Name] = string(f.Data)
				continue
			}
			c := layerCase{name, client, map[string][]string{}, map[string]string{"REPO/pyproject.toml": pyproject}}
			for line := range strings.Lines(string(f.Data)) {
				key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
				if !slices.Contains([]string{"env", "config", "runs", "shadows", "merged", "after", "mode"}, key) {
					t.Fatalf("%s, %s: no such setting: %s", client, name, key)
				}
				c.settings[key] = append(c.settings[key], value)
			}
			all = append(all, c)
		}
	}
	return all
}

// Where each client reads the server srv, by the files and variables of its
// documentation or program; that use-local edits the file that counts, and no other; and
// that revert brings all back.
func TestLayers(t *testing.T) {
	for _, c := range layerCases(t) {
		t.Run(c.client+"/"+c.name, c.test)
	}
}

func (c layerCase) test(t *testing.T) {
	root := tempDir(t, nil)
	home, repo := filepath.Join(root, "HOME"), filepath.Join(root, "REPO")
	place := strings.NewReplacer("HOME", home, "REPO", repo)
	all := func(setting string) []string {
		out := []string{}
		for _, text := range c.settings[setting] {
			out = append(out, place.Replace(text))
		}
		return out
	}
	one := func(setting string) string { return strings.Join(all(setting), "") }
	for name, text := range c.files {
		c.files[name] = place.Replace(text)
	}
	writeFiles(t, root, c.files)
	env := map[string]string{}
	for _, v := range c.settings["env"] {
		name, value, _ := strings.Cut(v, "=")
		env[name] = place.Replace(value)
	}
	var warned []string
	sys := machine.System{GOOS: "linux", Home: home, Getenv: func(name string) string { return env[name] }}
	s := New(sys, func(text string) { warned = append(warned, text) })
	before := snapshot(t, root)

	state := func() ClientState {
		t.Helper()
		st, err := s.Status(StatusOptions{Repo: repo, Clients: []string{c.client}, Scope: clients.ScopeUser})
		if err != nil || len(st.Clients) != 1 || st.Clients[0].Error != "" {
			t.Fatalf("status: %+v, %v", st, err)
		}
		return st.Clients[0]
	}
	cs := state()
	want := [][]string{{one("config")}, {one("runs")}, all("shadows"), all("merged")}
	got := [][]string{{cs.Config}, {strings.Join(cs.Command, " ")}, cs.Shadows, cs.Merged}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("status: config, command, shadows, merged (-want +got):\n%s", diff)
	}

	r := done(t)(s.UseLocal(t.Context(), UseOptions{
		Repo: repo, Clients: []string{c.client}, Scope: clients.ScopeUser, Mode: checkout.Mode(one("mode")), NoPreflight: true,
	}))
	if r[0].Config != one("config") {
		t.Errorf("use-local edited %s", r[0].Config)
	}
	if cs = state(); !slices.Equal(cs.Command, r[0].Command) {
		t.Errorf("use-local made it run %q, want %q", cs.Command, r[0].Command)
	}
	// What use-local does not undo it says, as status does.
	for _, text := range cs.Shadows {
		text, _, _ = strings.Cut(text, " in command")
		if !slices.ContainsFunc(warned, func(w string) bool { return strings.Contains(w, text) }) {
			t.Errorf("use-local said nothing of %q: %q", text, warned)
		}
	}
	changed := withoutState(snapshot(t, root))
	if text := changed[one("config")]; !strings.Contains(text, one("after")) {
		t.Errorf("%q is not in\n%s", one("after"), text)
	}
	maps.DeleteFunc(changed, func(name, _ string) bool {
		return name == one("config") || strings.Contains(name, backupMark)
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
