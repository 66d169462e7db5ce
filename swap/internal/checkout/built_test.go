package checkout

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tmuxmcp/internal/test/cases"
)

// A case in testdata/built.txtar is a checkout and its program, and what BuiltBefore says of it:
//
//	program: its path
//	says: the result
//
// The first line of a file is how long after the others it was changed, if it begins with a +.
func TestBuiltBefore(t *testing.T) {
	for _, c := range cases.Load(t, "testdata/built.txtar", "program", "says") {
		t.Run(c.Name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			repo, start := filepath.Join(dir, "repo"), time.Now().Add(-1000*time.Hour)
			for name, text := range c.Texts {
				file, at := filepath.Join(dir, filepath.FromSlash(name)), start
				if first, rest, _ := strings.Cut(text, "\n"); strings.HasPrefix(first, "+") {
					after, err := time.ParseDuration(first[1:])
					if err != nil {
						t.Fatal(err)
					}
					text, at = rest, start.Add(after)
				}
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
				if err := os.Chtimes(file, at, at); err != nil {
					t.Fatal(err)
				}
			}
			got := BuiltBefore(repo, filepath.Join(dir, c.One("program")))
			want := c.One("says")
			if got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}
