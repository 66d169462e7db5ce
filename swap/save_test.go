//go:build linux || darwin

package swap

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/machine"
)

// The tests in this file make another program save at the worst moment, before a step of a
// run. Its save is never lost.

// A client that saves in place, just after the swap, may be read when it has written half.
// Nothing is written over that, and the swap stays recorded with its backup.
func TestHalfASaveAfterTheSwapStays(t *testing.T) {
	for name, config := range map[string]string{"replaced": ".codex/config.toml", "created": faultMissing} {
		for _, cut := range []int{0, 1} { // the file is not read whole, or not at all
			t.Run(name, func(t *testing.T) {
				home := faultHome(t)
				path := filepath.Join(home, config)
				old, _ := os.ReadFile(path)
				half, swapped := "[mcp_servers.srv]\ncommand = \"", ""
				placed := false
				s := swapperAt(home, func(st atomicfile.Step) error {
					switch {
					case st.Path == path && (st.Op == atomicfile.OpExchange || st.Op == atomicfile.OpLink):
						placed = true
					case st.Path == path && st.Op == atomicfile.OpRead && placed && swapped == "":
						swapped = readFile(t, path)
						if err := os.WriteFile(path, []byte(half), 0o600); err != nil {
							t.Error(err)
						}
						if cut == 1 {
							return os.ErrPermission
						}
					}
					return nil
				})
				client := "codex"
				if config == faultMissing {
					client = "agy"
				}
				results, err := s.UseLocal(t.Context(), UseOptions{Repo: filepath.Join(home, "repo"), Clients: []string{client}, NoPreflight: true})
				if err != nil || len(results) != 1 || results[0].Outcome != Failed || swapped == "" {
					t.Fatalf("%+v, %v", results, err)
				}
				if got := readFile(t, path); got != half {
					t.Errorf("the save became %q", got)
				}
				res := results[0]
				if old != nil && (res.Backup == "" || readFile(t, res.Backup) != string(old) || !strings.Contains(res.Err.Error(), res.Backup)) {
					t.Errorf("the backup is %q, and the error %v", res.Backup, res.Err)
				}
				// Revert leaves it, too, and undoes the swap when the client has finished.
				if again, _ := revertAll(t.Context(), swapperAt(home, nil), home); !AnyFailed(again) || readFile(t, path) != half {
					t.Errorf("revert: %+v", again)
				}
				if err := os.WriteFile(path, []byte(swapped), 0o600); err != nil {
					t.Fatal(err)
				}
				done(t)(revertAll(t.Context(), swapperAt(home, nil), home))
				if got, _ := os.ReadFile(path); string(got) != string(old) {
					t.Errorf("reverted to %q", got)
				}
			})
		}
	}
}

// A client may save what it had read before, just after the swap, or its config be led elsewhere.
// The swap is made again, or said not to be what the client reads; a save with all of it counts.
func TestSaveAfterTheSwapIsLookedAt(t *testing.T) {
	const old = `{"mcpServers":{"srv":{"command":"uv","args":["--directory","REPO","run","srv-mcp"]}}}`
	for _, c := range []struct {
		name  string
		then  func(t *testing.T, path, before, swapped string)
		fails string // or "": it is made, again if need be
		has   string
	}{
		{"the old entry, with a click", func(t *testing.T, path, before, _ string) {
			saveAs(t, path, strings.Replace(before, `"]}`, `"],"alwaysAllow":["x"]}`, 1))
		}, "", `"alwaysAllow":["x"]`},
		{"the old file", func(t *testing.T, path, before, _ string) { saveAs(t, path, before) }, "", `"K":"V"`},
		{"the swap, with a click", func(t *testing.T, path, _, swapped string) {
			saveAs(t, path, strings.Replace(swapped, `"command"`, `"alwaysAllow":["x"],"command"`, 1))
		}, "", `"alwaysAllow":["x"]`},
		{"another entry", func(t *testing.T, path, _, _ string) {
			saveAs(t, path, `{"mcpServers":{"srv":{"command":"cat"}}}`)
		}, "another program has saved it since without that", `"cat"`},
		{"a link to another file", func(t *testing.T, path, before, _ string) {
			saveAs(t, path+".other", before)
			if err := errors.Join(os.Rename(path, path+".was"), os.Symlink(path+".other", path)); err != nil {
				t.Error(err)
			}
		}, "leads to", `"srv"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			home := tempDir(t, map[string]string{"repo/pyproject.toml": pyproject})
			before := strings.ReplaceAll(old, "REPO", filepath.Join(home, "repo"))
			writeFiles(t, home, map[string]string{".cursor/mcp.json": before})
			path, placed := filepath.Join(home, ".cursor/mcp.json"), 0
			s := swapperAt(home, func(st atomicfile.Step) error {
				switch {
				case st.Path == path && st.Op == atomicfile.OpExchange:
					placed++
				case st.Path == path && st.Op == atomicfile.OpRead && placed == 1:
					placed++
					c.then(t, path, before, readFile(t, path))
				}
				return nil
			})
			results, err := s.UseLocal(t.Context(), UseOptions{
				Repo: filepath.Join(home, "repo"), Clients: []string{"cursor"}, NoPreflight: true, Env: []clients.EnvVar{{Name: "K", Value: "V"}},
			})
			if err != nil || len(results) != 1 || placed < 2 {
				t.Fatalf("%+v, %v, %d", results, err, placed)
			}
			text := readFile(t, path)
			if c.fails == "" && (results[0].Err != nil || !strings.Contains(text, `"K":"V"`)) || !strings.Contains(text, c.has) {
				t.Errorf("%+v: %s", results[0], text)
			}
			if c.fails != "" && (results[0].Outcome != Failed || !strings.Contains(results[0].Err.Error(), c.fails)) {
				t.Errorf("%+v, want %q", results[0], c.fails)
			}
		})
	}
}

func saveAs(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Error(err)
	}
}

// What a killed run has left beside a config may be a client's newest save: it is removed
// only if its text is known. Otherwise doctor and revert name it.
func TestUnknownTemporaryFileStays(t *testing.T) {
	home := faultHome(t)
	state := swapperAt(home, nil).Journal.Dir
	path := filepath.Join(home, ".codex/config.toml")
	old := readFile(t, path)
	done(t)(swapAll("srv", "")(t.Context(), swapperAt(home, nil), home))
	swapped := readFile(t, path)
	backup := swapperAt(home, nil).Journal.Beside(path) + ofBackup + "1"
	const mark = ".mcp-swap-tmp-1-"
	known := map[string]string{
		path + mark + "1": old, path + mark + "2": swapped, path + mark + "3": swapped[:len(swapped)-3], path + mark + "4": old[:9], path + mark + "5": "",
		backup + mark + "1": old[:20], backup + mark + "2": "x", filepath.Join(state, "state.json") + mark + "1": "{\n  \"version\": 3,", filepath.Join(state, "state.json") + mark + "2": "{\n  \"ver",
	}
	unknown := map[string]string{
		path + mark + "6": old + "later = 1\n", path + mark + "7": "x", backup + mark + "2-aside": "x",
		filepath.Join(state, "state.json") + mark + "3": "{\"x\": 1}", filepath.Join(state, "other.json") + mark + "1": old,
	}
	for _, files := range []map[string]string{known, unknown} {
		for name, text := range files {
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	s := swapperAt(home, nil)
	d, err := s.Doctor(DoctorOptions{Repo: filepath.Join(home, "repo")})
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for _, f := range d.Findings {
		if f.Kind == FoundTemp {
			said[f.Path] += f.Text
		}
	}
	var warned []string
	s.Warn = func(text string) { warned = append(warned, text) }
	done(t)(revertAll(t.Context(), s, home))
	if got := readFile(t, path); got != old {
		t.Errorf("reverted to %q", got)
	}
	all := strings.Join(warned, "\n")
	for name := range known {
		if !machine.Missing(name) || !strings.Contains(said[name], "removes it") {
			t.Errorf("%s is there, or doctor said %q", name, said[name])
		}
	}
	for name, text := range unknown {
		if got := readFile(t, name); got != text || !strings.Contains(said[name], "not known") || strings.Count(all, name) != 1 {
			t.Errorf("%s is %q; doctor said %q, and revert\n%s", name, got, said[name], all)
		}
	}
}

// A save that comes when revert is about to remove a config that the swap has created, or a
// backup, stays.
func TestSaveAtARemovalStays(t *testing.T) {
	home := faultHome(t)
	done(t)(swapAll("srv", "")(t.Context(), swapperAt(home, nil), home))
	created := filepath.Join(home, faultMissing)
	st, err := swapperAt(home, nil).Journal.Load()
	if err != nil {
		t.Fatal(err)
	}
	var backup string
	for _, r := range st.Records {
		if r.Client == "cursor" {
			backup = r.Backup
		}
	}
	saves := map[string]string{created: "{\"mcpServers\": {\"mine\": {\"command\": \"x\"}}}", backup: "mine"}
	s := swapperAt(home, func(st atomicfile.Step) error {
		if text, ok := saves[st.Path]; ok && st.Op == atomicfile.OpRename {
			delete(saves, st.Path)
			tmp := st.Path + ".client"
			if err := os.WriteFile(tmp, []byte(text), 0o600); err != nil {
				t.Error(err)
			}
			return os.Rename(tmp, st.Path)
		}
		return nil
	})
	var warned []string
	s.Warn = func(text string) { warned = append(warned, text) }
	results, err := revertAll(t.Context(), s, home)
	if err != nil || len(saves) > 0 {
		t.Fatalf("%v, not saved: %v", err, saves)
	}
	for _, r := range results {
		if r.Err != nil && r.Client != "agy" {
			t.Errorf("%+v", r)
		}
	}
	if got := readFile(t, created); !strings.Contains(got, "mine") {
		t.Errorf("the created config is %q", got)
	}
	if got := readFile(t, backup); got != "mine" || !strings.Contains(strings.Join(warned, "\n"), backup) {
		t.Errorf("the backup is %q; %q", got, warned)
	}
}

// A config that the swap is to create, and that the client has made meanwhile, empty, is not
// written over: what the client saves just before the write is there afterwards.
func TestSaveInAnEmptyConfigStays(t *testing.T) {
	home := faultHome(t)
	path := filepath.Join(home, faultMissing)
	made, saved := false, false
	s := swapperAt(home, func(st atomicfile.Step) error {
		switch {
		case st.Op == atomicfile.OpMkdir && !made: // of the state directory, for the lock
			made = true
			writeFiles(t, home, map[string]string{faultMissing: ""})
		case st.Op == atomicfile.OpExchange && st.Path == path && !saved:
			saved = true
			return os.WriteFile(path, []byte(`{"mine": 1}`), 0o600)
		}
		return nil
	})
	done(t)(s.UseLocal(t.Context(), UseOptions{Repo: filepath.Join(home, "repo"), Clients: []string{"agy"}, NoPreflight: true}))
	if got := readFile(t, path); !made || !saved || !strings.Contains(got, `"mine": 1`) || !strings.Contains(got, "srv") {
		t.Errorf("made %v, saved %v: %s", made, saved, got)
	}
}

// A swap that fails before it is written leaves nothing in the record of swaps.
func TestFailedPreparationLeavesNoTrace(t *testing.T) {
	home := faultHome(t)
	s := swapperAt(home, nil)
	use := func(server string) ([]Result, error) {
		return s.UseLocal(t.Context(), UseOptions{Repo: filepath.Join(home, "repo"), Server: server, Clients: []string{"codex", "cursor"}, NoPreflight: true})
	}
	done(t)(use("srv"))
	codex := filepath.Join(home, ".codex/config.toml")
	before, err := s.Journal.Load()
	if err = errors.Join(err, os.Remove(codex)); err != nil {
		t.Fatal(err)
	}
	results, err := use("two")
	if err != nil || len(results) != 2 || results[0].Outcome != Failed || results[1].Outcome != Added {
		t.Fatalf("%+v, %v", results, err)
	}
	after, err := s.Journal.Load()
	if err != nil || after.Seq != before.Seq+1 || len(after.Records) != len(before.Records)+1 {
		t.Errorf("seq %d and %d, %d and %d records, %v", before.Seq, after.Seq, len(before.Records), len(after.Records), err)
	}
	if got, want := after.Files[codex], before.Files[codex]; got.ID != want.ID || got.Created != want.Created {
		t.Errorf("%+v, want %+v", got, want)
	}
}
