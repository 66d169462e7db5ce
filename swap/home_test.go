package swap

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/swap/internal/machine"
)

// Most of the tests that run in parallel wait for processes.
func TestMain(m *testing.M) {
	testtool.Parallel(8)
	testtool.Uncached() // they ask millions of times
	os.Exit(m.Run())
}

// pyproject makes a directory a checkout of the server srv.
const pyproject = "[project]\nname = \"srv\"\n[project.scripts]\nsrv = \"x\"\n"

// ofBackup is in the name of every backup, after the config's.
const ofBackup = ".bak.mcp-swap-"

// tempDir returns a directory for the test, by its real name, with these files; in memory, where
// the thousands of syncs of these tests are free.
func tempDir(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := testtool.MemoryDir(t)
	writeFiles(t, dir, files)
	return dir
}

// writeFiles makes files below a directory. The text of a link is "-> " and its target.
func writeFiles(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, ok := strings.CutPrefix(text, "-> "); ok {
			err = os.Symlink(strings.TrimSuffix(target, "\n"), name)
		} else {
			err = os.WriteFile(name, []byte(text), 0o640)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func readFile(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// snapshot returns everything below a directory: the mode of each file, the target of a
// link, and the text, owner and attributes of a regular file.
func snapshot(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		what := info.Mode().String()
		switch info.Mode().Type() {
		case fs.ModeSymlink:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			what += " -> " + target
		case 0:
			m, err := (atomicfile.Disk{}).Meta(path)
			if err != nil {
				return err
			}
			meta, _ := json.Marshal(m)
			what += string(meta) + "\n" + readFile(t, path)
		}
		out[path] = what
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// withoutState returns a snapshot without mcp-swap's own files.
func withoutState(all map[string]string) map[string]string {
	maps.DeleteFunc(all, func(path, _ string) bool { return strings.Contains(path, "/.local") })
	return all
}

// swapperAt returns a Swapper with this home. hook may make the steps of its disk fail.
func swapperAt(home string, hook func(atomicfile.Step) error) *Swapper {
	sys := machine.System{GOOS: runtime.GOOS, Home: home, Getenv: func(string) string { return "" }}
	s := New(sys, nil)
	s.Disk.Before = hook
	s.Journal.Disk.Before = hook
	return s
}

// done ends a test whose swaps or reverts failed; otherwise it returns the results.
func done(t testing.TB) func([]Result, error) []Result {
	return func(results []Result, err error) []Result {
		t.Helper()
		if err != nil || AnyFailed(results) {
			t.Fatalf("%v %+v", err, results)
		}
		return results
	}
}
