package swap

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/internal/test/testtool"
)

// snapshot lists all files of a home, with owner, mode and bytes.
func snapshot(t *testing.T, home string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(home, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		text := ""
		if e.Type().IsRegular() {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = string(b)
		}
		st := info.Sys().(*syscall.Stat_t)
		out[path] = strings.Join([]string{info.Mode().String(), itoa(st.Uid), itoa(st.Gid), text}, " ")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func itoa(n uint32) string { return fmt.Sprint(n) }

func sameSnapshot(t *testing.T, before, after map[string]string) {
	t.Helper()
	for path, was := range before {
		if after[path] != was {
			t.Errorf("%s was %q, is %q", path, was, after[path])
		}
	}
	for path := range after {
		if _, ok := before[path]; !ok {
			t.Errorf("%s was made", path)
		}
	}
}

func own(t *testing.T, uid, gid int, paths ...string) {
	t.Helper()
	for _, p := range paths {
		if err := os.Lchown(p, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
}

// Root writes nothing in another user's home, nor where another user's link or
// directory leads; and starts nothing that such a config names.
func TestRootLeavesOthersAlone(t *testing.T) {
	needStrangers(t)
	for name, arrange := range map[string]func(t *testing.T, home string){
		"all of the home": func(t *testing.T, home string) {
			_ = filepath.WalkDir(home, func(path string, _ fs.DirEntry, _ error) error { own(t, named, named, path); return nil })
		},
		"the home alone": func(t *testing.T, home string) { own(t, named, named, home) },
		"the state directory": func(t *testing.T, home string) {
			if err := os.MkdirAll(filepath.Join(home, ".local/state"), 0o755); err != nil {
				t.Fatal(err)
			}
			own(t, named, named, filepath.Join(home, ".local/state"))
		},
		"the directory of the config":     func(t *testing.T, home string) { own(t, named, named, filepath.Join(home, ".cursor")) },
		"the link that is the config":     func(t *testing.T, home string) { own(t, named, named, filepath.Join(home, ".cursor/mcp.json")) },
		"the directory the link leads to": func(t *testing.T, home string) { own(t, named, named, filepath.Join(home, "dot")) },
		"the file at its end":             func(t *testing.T, home string) { own(t, named, named, filepath.Join(home, "dot/cursor.json")) },
	} {
		t.Run(name, func(t *testing.T) {
			home := faultHome(t)
			arrange(t, home)
			before := snapshot(t, home)
			for _, dry := range []bool{false, true} {
				results, err := swapperAt(home, nil).UseLocal(t.Context(), UseOptions{Repo: filepath.Join(home, "repo"), Clients: []string{"cursor"}, NoPreflight: true, Force: true, DryRun: dry})
				if err == nil && len(results) == 1 {
					err = results[0].Err
				}
				if err == nil || !strings.Contains(err.Error(), "belongs to user") || !strings.Contains(err.Error(), "sudo -u") {
					t.Errorf("dry %v: %v", dry, err)
				}
			}
			sameSnapshot(t, before, snapshot(t, home))
		})
	}

	home := faultHome(t)
	steps(swapAll(""))(t, swapperAt(home, nil), home)
	mark := filepath.Join(home, "started")
	if err := os.WriteFile(filepath.Join(home, "dot/cursor.json"), []byte(`{"mcpServers":{"evil":{"command":"touch","args":["`+mark+`"]}}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	own(t, named, named, filepath.Join(home, "dot/cursor.json"), home)
	before := snapshot(t, home)
	if _, err := swapperAt(home, nil).Revert(t.Context(), RevertOptions{Force: true}); err == nil || !strings.Contains(err.Error(), "belongs to user") {
		t.Errorf("revert: %v", err)
	}
	v, err := swapperAt(home, nil).Verify(t.Context(), VerifyOptions{Repo: filepath.Join(home, "repo"), Server: "evil", Clients: []string{"cursor"}})
	if err != nil || !v.Failed() || !strings.Contains(strings.Join(v.Clients[0].Problems, " "), "belongs to user") {
		t.Errorf("verify: %v %+v", err, v)
	}
	sameSnapshot(t, before, snapshot(t, home))
}

// asUser makes the re-executed test to swap or revert in a home.
const asUser = "SWAP_TEST_AS_USER"

func TestAsUser(t *testing.T) {
	how := os.Getenv(asUser)
	if how == "" {
		t.Skip("it is what other tests start as another user")
	}
	verb, home, _ := strings.Cut(how, ": ")
	var results []Result
	var err error
	if verb != "revert" {
		names := faultClients
		if verb == "swap what is there" {
			names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "windsurf" })
		}
		results, err = swapperAt(home, func(st atomicfile.Step) error {
			if st.Op == atomicfile.OpLink || st.Op == atomicfile.OpRename || st.Op == atomicfile.OpExchange {
				fmt.Println("written:", st.Path)
			}
			return nil
		}).UseLocal(t.Context(), UseOptions{Repo: filepath.Join(home, "repo"), Clients: names, NoPreflight: true})
	} else {
		results, err = swapperAt(home, nil).Revert(t.Context(), RevertOptions{})
	}
	for _, r := range results {
		err = errors.Join(err, r.Err)
	}
	if err != nil {
		t.Error(err)
	}
}

func runAs(t *testing.T, verb, home string, groups ...uint32) (string, error) {
	t.Helper()
	exe, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(home, "repo", "swap.test")
	if err := testtool.WriteProgram(copied, exe); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(copied)
	cmd := exec.CommandContext(t.Context(), copied, "-test.run=^TestAsUser$")
	cmd.Env = []string{asUser + "=" + verb + ": " + home, "PATH=" + os.Getenv("PATH")}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: named, Gid: named, Groups: groups}}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// An ordinary user's configs keep what they have; one that belongs to somebody
// else, or whose group it cannot keep, is refused before anything is written.
func TestOrdinaryUser(t *testing.T) {
	needStrangers(t)
	give := func(t *testing.T, home string) {
		_ = filepath.WalkDir(home, func(path string, e fs.DirEntry, _ error) error {
			st, err := lstat(path)
			if err != nil {
				t.Fatal(err)
			}
			own(t, named, int(st.Gid), path)
			return nil
		})
	}
	t.Run("a member of the group", func(t *testing.T) {
		home, _ := dressedHome(t)
		give(t, home)
		had, before := metas(t, home), snapshot(t, home)
		for _, verb := range []string{"swap", "revert"} {
			if out, err := runAs(t, verb, home, owners); err != nil {
				t.Fatalf("%s: %v\n%s", verb, err, out)
			}
			checkMetas(t, home, had)
		}
		after := snapshot(t, home)
		for path, was := range before {
			if after[path] != was {
				t.Errorf("%s was %q, is %q", path, was, after[path])
			}
		}
	})
	for name, arrange := range map[string]func(home string){
		"an attribute that the user cannot set": func(home string) {
			for name := range faultConfigs {
				own(t, named, named, filepath.Join(home, name))
				if err := unix.Setxattr(filepath.Join(home, name), "security.note", []byte("x"), 0); err != nil {
					t.Skipf("set an attribute that only root may set: %v", err)
				}
			}
		},
		"root's files, writable by all": func(home string) {
			for name := range faultConfigs {
				own(t, 0, 0, filepath.Join(home, name))
				_ = os.Chmod(filepath.Join(home, name), 0o666)
			}
		},
		"a group that is not the user's": func(home string) {},
		"somebody else's files, writable by a group": func(home string) {
			for name := range faultConfigs {
				own(t, 65533, named, filepath.Join(home, name))
				_ = os.Chmod(filepath.Join(home, name), 0o664)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			home := faultHome(t)
			give(t, home)
			for name := range faultConfigs {
				own(t, named, owners, filepath.Join(home, name))
			}
			arrange(home)
			before := snapshot(t, home)
			out, err := runAs(t, "swap what is there", home)
			if strings.Contains(out, "written:") {
				t.Errorf("something was written, and taken back:\n%s", out)
			}
			want := "nothing was changed: "
			if strings.Contains(name, "files") {
				want = "belongs to user"
			}
			if err == nil || strings.Count(out, want) != len(faultConfigs) {
				t.Errorf("%v\n%s", err, out)
			}
			after := snapshot(t, home)
			for path := range after {
				if _, ok := before[path]; !ok && !strings.Contains(path, "/.local") {
					t.Errorf("%s was made", path)
				}
				if strings.HasSuffix(path, "state.json") {
					t.Errorf("a state was written")
				}
			}
			for path, was := range before {
				if after[path] != was {
					t.Errorf("%s was %q, is %q", path, was, after[path])
				}
			}
		})
	}
}
