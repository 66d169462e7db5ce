package swap

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Attributes of inodes, which <linux/fs.h> has.
const immutableFlag, appendFlag = 0x10, 0x20

// setFlags sets the immutable or append-only attribute of a file, or removes both.
func setFlags(path string, flags int) error {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	have, err := unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS)
	if err != nil {
		return err
	}
	return unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, have&^(immutableFlag|appendFlag)|flags)
}

// below returns the files and directories below a directory, and itself.
func below(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && (e.IsDir() || e.Type().IsRegular()) {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Where a file or directory may not be changed even by root, an error names it, or what would
// be in it, and says what to do; and once it may, the same command works.
func TestImmutable(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		".codex/config.toml":  faultConfigs[".codex/config.toml"],
		"repo/pyproject.toml": strings.ReplaceAll(pyproject, "srv", "srv-mcp"),
	}
	probe := filepath.Join(t.TempDir(), "probe")
	if err := os.WriteFile(probe, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := setFlags(probe, immutableFlag); err != nil {
		t.Skipf("this user, or this file system, cannot make a file immutable: %v", err)
	}
	if err := setFlags(probe, 0); err != nil {
		t.Fatal(err)
	}
	all := []string{"codex", "agy"} // the last one's config is created
	use := func(s *Swapper, home string) ([]Result, error) {
		return s.UseLocal(t.Context(), UseOptions{Repo: filepath.Join(home, "repo"), Server: "srv", Clients: all, NoPreflight: true})
	}
	revert := func(s *Swapper, _ string) ([]Result, error) { return s.Revert(t.Context(), RevertOptions{}) }
	prepare := func(t *testing.T, reverts bool) string {
		home := t.TempDir()
		writeFiles(t, home, files)
		if err := os.Mkdir(filepath.Join(home, ".gemini"), 0o755); err != nil {
			t.Fatal(err)
		}
		if reverts {
			done(t)(use(swapperAt(home, nil), home))
		}
		return home
	}
	for what, run := range map[string]func(*Swapper, string) ([]Result, error){"use": use, "revert": revert} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			names := below(t, prepare(t, what == "revert"))
			root := names[0]
			failures := 0
			for _, name := range names {
				for _, flag := range []int{immutableFlag, appendFlag} {
					home := prepare(t, what == "revert")
					path := home + strings.TrimPrefix(name, root)
					if i := strings.Index(path, ".bak."); i > 0 { // its name has the time
						found, err := filepath.Glob(path[:i] + ".bak.*")
						if err != nil || len(found) != 1 {
							t.Fatal(found, err)
						}
						path = found[0]
					}
					if err := setFlags(path, flag); err != nil {
						t.Fatal(err)
					}
					// The test's own directory can be removed in the end.
					t.Cleanup(func() { _ = setFlags(path, 0) })
					results, err := run(swapperAt(home, nil), home)
					errs := []error{err}
					for _, r := range results {
						errs = append(errs, r.Err)
					}
					for _, err := range slices.DeleteFunc(errs, func(err error) bool { return err == nil }) {
						failures++
						text := err.Error()
						if !errors.Is(err, unix.EPERM) || !strings.Contains(text, path) || !strings.Contains(text, "lsattr") || !strings.Contains(text, "run ") {
							t.Errorf("flag %x of %s: %v", flag, path, err)
						}
					}
					if err := setFlags(path, 0); err != nil && !errors.Is(err, fs.ErrNotExist) {
						t.Fatal(err)
					}
					done(t)(run(swapperAt(home, nil), home))
					if t.Failed() {
						return
					}
				}
			}
			if failures < 5 {
				t.Errorf("it failed only %d times", failures)
			}
		})
	}
}
