package swap

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/swap/internal/machine"
)

func own(t *testing.T, uid, gid int, paths ...string) {
	t.Helper()
	for _, p := range paths {
		if err := os.Lchown(p, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
}

// Root writes nothing in another user's home, nor where another user's link or directory
// leads, and starts nothing that such a config names.
func TestRootLeavesOthersAlone(t *testing.T) {
	needStrangers(t)
	for name, path := range map[string]string{
		"the home":                        "",
		"the state directory":             ".local/state",
		"the directory of the config":     ".cursor",
		"the link that is the config":     ".cursor/mcp.json",
		"the directory the link leads to": "dot",
		"the file at its end":             "dot/cursor.json",
	} {
		t.Run(name, func(t *testing.T) {
			home := faultHome(t)
			path := filepath.Join(home, path)
			if machine.Missing(path) {
				if err := os.MkdirAll(path, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			own(t, named, named, path)
			before := snapshot(t, home)
			for _, dry := range []bool{false, true} {
				results, err := swapperAt(home, nil).UseLocal(t.Context(), UseOptions{
					Repo: filepath.Join(home, "repo"), Clients: []string{"cursor"}, NoPreflight: true, Force: true, DryRun: dry,
				})
				if err == nil && len(results) == 1 {
					err = results[0].Err
				}
				if err == nil || !strings.Contains(err.Error(), "belongs to user") || !strings.Contains(err.Error(), "sudo -u") {
					t.Errorf("dry %v: %v", dry, err)
				}
			}
			if diff := cmp.Diff(before, snapshot(t, home)); diff != "" {
				t.Error(diff)
			}
		})
	}

	home := faultHome(t)
	s := swapperAt(home, nil)
	done(t)(swapAll("srv", "")(t.Context(), s, home))
	evil := `{"mcpServers":{"evil":{"command":"touch","args":["` + filepath.Join(home, "started") + `"]}}}`
	if err := os.WriteFile(filepath.Join(home, "dot/cursor.json"), []byte(evil), 0o644); err != nil {
		t.Fatal(err)
	}
	own(t, named, named, filepath.Join(home, "dot/cursor.json"), home)
	before := snapshot(t, home)
	if _, err := s.Revert(t.Context(), RevertOptions{Force: true}); err == nil || !strings.Contains(err.Error(), "belongs to user") {
		t.Errorf("revert: %v", err)
	}
	v, err := s.Verify(t.Context(), VerifyOptions{Repo: filepath.Join(home, "repo"), Server: "evil", Clients: []string{"cursor"}})
	if err != nil || !v.Failed() || !strings.Contains(strings.Join(v.Clients[0].Problems, " "), "belongs to user") {
		t.Errorf("verify: %v %+v", err, v)
	}
	if diff := cmp.Diff(before, snapshot(t, home)); diff != "" {
		t.Error(diff)
	}
}

// asUser makes the re-executed test swap these clients in a home, or revert if there are
// none.
const asUser = "SWAP_TEST_AS_USER"

func TestAsUser(t *testing.T) {
	how := os.Getenv(asUser)
	if how == "" {
		t.Skip("it is what other tests start as another user")
	}
	names, home, _ := strings.Cut(how, ": ")
	if names == "" {
		done(t)(revertAll(t.Context(), swapperAt(home, nil), home))
		return
	}
	s := swapperAt(home, func(st atomicfile.Step) error {
		if st.Op == atomicfile.OpLink || st.Op == atomicfile.OpRename || st.Op == atomicfile.OpExchange {
			fmt.Println("written:", st.Path)
		}
		return nil
	})
	o := UseOptions{Repo: filepath.Join(home, "repo"), Clients: strings.Fields(names), NoPreflight: true}
	done(t)(s.UseLocal(t.Context(), o))
}

func runAs(t *testing.T, names, home string, groups ...uint32) (string, error) {
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
	cmd.Env = []string{asUser + "=" + names + ": " + home, "PATH=" + os.Getenv("PATH")}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: named, Gid: named, Groups: groups}}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// An ordinary user's configs keep their metadata; a config that belongs to somebody else,
// or whose group the user cannot keep, is refused before anything is written.
func TestOrdinaryUser(t *testing.T) {
	needStrangers(t)
	give := func(t *testing.T, home string) {
		_ = filepath.WalkDir(home, func(path string, e fs.DirEntry, _ error) error {
			var st syscall.Stat_t
			err := syscall.Lstat(path, &st)
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
		for _, names := range []string{strings.Join(faultClients, " "), ""} {
			if out, err := runAs(t, names, home, owners); err != nil {
				t.Fatalf("%q: %v\n%s", names, err, out)
			}
			checkMetas(t, home, had)
		}
		if diff := cmp.Diff(before, withoutState(snapshot(t, home))); diff != "" {
			t.Error(diff)
		}
	})
	for name, c := range map[string]struct {
		uid, gid int         // of the configs
		mode     fs.FileMode // if not 0
		attr     string      // one that they have
		says     string
	}{
		"an attribute that the user cannot set":      {uid: named, gid: named, attr: "security.note", says: "nothing was changed: "},
		"a group that is not the user's":             {uid: named, gid: owners, says: "nothing was changed: "},
		"root's files, writable by all":              {uid: 0, gid: 0, mode: 0o666, says: "belongs to root, so it is managed elsewhere"},
		"somebody else's files, writable by a group": {uid: 65533, gid: named, mode: 0o664, says: "belongs to user"},
	} {
		t.Run(name, func(t *testing.T) {
			home := faultHome(t)
			give(t, home)
			for name := range faultConfigs {
				path := filepath.Join(home, name)
				own(t, c.uid, c.gid, path)
				if c.mode != 0 {
					_ = os.Chmod(path, c.mode)
				}
				if c.attr != "" {
					if err := unix.Setxattr(path, c.attr, []byte("x"), 0); err != nil {
						t.Skipf("set an attribute that only root may set: %v", err)
					}
				}
			}
			before := snapshot(t, home)
			names := "claude codex cursor goose opencode"
			out, err := runAs(t, names, home)
			if strings.Contains(out, "written:") {
				t.Errorf("something was written, and taken back:\n%s", out)
			}
			if err == nil || strings.Count(out, c.says) != len(strings.Fields(names)) {
				t.Errorf("%v\n%s", err, out)
			}
			if diff := cmp.Diff(before, withoutState(snapshot(t, home))); diff != "" {
				t.Error(diff)
			}
			if !machine.Missing(filepath.Join(home, ".local/state/mcp-swap/state.json")) {
				t.Error("a state was written")
			}
		})
	}
}

// A config that took the place of a link is reverted with --force also if the file that was
// swapped has become another user's, which is left alone.
func TestSwappedFileOfAnother(t *testing.T) {
	needStrangers(t)
	home := linkedHome(t)
	s := swapperAt(home, nil)
	done(t)(s.UseLocal(t.Context(), UseOptions{Repo: filepath.Join(home, "repo"), Clients: []string{"cursor"}, NoPreflight: true}))
	replaceLink(t, home)
	config, swapped := filepath.Join(home, ".cursor/mcp.json"), filepath.Join(home, "dot/c.json")
	own(t, named, named, swapped)
	before := []string{readFile(t, config), readFile(t, swapped)}
	r, err := s.Revert(t.Context(), RevertOptions{})
	if err != nil || !AnyFailed(r) || !strings.Contains(r[0].Err.Error(), "the client now reads "+config+": --force leaves the other out") {
		t.Errorf("%+v, %v", r, err)
	}
	if got := []string{readFile(t, config), readFile(t, swapped)}; !slices.Equal(got, before) {
		t.Errorf("a revert that failed wrote %q", got)
	}
	done(t)(s.Revert(t.Context(), RevertOptions{Force: true}))
	if text := readFile(t, config); strings.Contains(text, "--directory") || readFile(t, swapped) != before[1] {
		t.Errorf("%s and %s", text, readFile(t, swapped))
	}
	d, err := s.Doctor(DoctorOptions{Repo: filepath.Join(home, "repo")})
	if err != nil || slices.ContainsFunc(d.Findings, func(f Finding) bool { return f.Kind == FoundBack }) {
		t.Errorf("what no client reads is taken for a swap that is back: %+v, %v", d, err)
	}
}
