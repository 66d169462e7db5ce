package swap

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/swap/machine"
)

// pyproject makes a directory the checkout of the server srv.
const pyproject = "[project]\nname = \"srv\"\n[project.scripts]\nsrv = \"x\"\n"

// A textCase is a case of a file in testdata: a section "case: NAME" that has its settings,
// lines "NAME: VALUE", and the texts in the sections behind it.
type textCase struct {
	file, name string
	settings   map[string][]string
	texts      map[string]string
}

// cases reads the cases of the files that match the pattern, which may have these settings.
func cases(t *testing.T, pattern string, settings ...string) (all []textCase) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		file = strings.TrimSuffix(filepath.Base(file), ".txtar")
		for _, f := range archive.Files {
			name, ok := strings.CutPrefix(f.Name, "case: ")
			if !ok {
				all[len(all)-1].texts[f.Name] = string(f.Data)
				continue
			}
			c := textCase{file, name, map[string][]string{}, map[string]string{}}
			for line := range strings.Lines(string(f.Data)) {
				key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
				if !slices.Contains(settings, key) {
					t.Fatalf("%s, %s: no such setting: %s", file, name, key)
				}
				c.settings[key] = append(c.settings[key], value)
			}
			all = append(all, c)
		}
	}
	return all
}

// one is the only value of a setting, or "".
func (c textCase) one(setting string) string { return strings.Join(c.settings[setting], "") }

// tempDir is a directory of the test, by its real name, with these files.
func tempDir(t testing.TB, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
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

// snapshot is all that is below a directory: the mode of each file, where a link leads, and
// the text, owner and attributes of a regular file.
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

// withoutState is a snapshot without what mcp-swap keeps for itself.
func withoutState(all map[string]string) map[string]string {
	maps.DeleteFunc(all, func(path, _ string) bool { return strings.Contains(path, "/.local") })
	return all
}

// swapperAt is a swapper with this home. hook may make the steps of its disk fail.
func swapperAt(home string, hook func(atomicfile.Step) error) *Swapper {
	sys := machine.System{GOOS: runtime.GOOS, Home: home, Getenv: func(string) string { return "" }}
	s := New(sys, nil)
	s.Disk.Before = hook
	s.Journal.Disk.Before = hook
	return s
}

// done ends a test whose swaps or reverts failed, and returns what became of each.
func done(t testing.TB) func([]Result, error) []Result {
	return func(results []Result, err error) []Result {
		t.Helper()
		if err != nil || AnyFailed(results) {
			t.Fatalf("%v %+v", err, results)
		}
		return results
	}
}
