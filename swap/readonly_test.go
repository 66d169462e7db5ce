//go:build unix

package swap

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A question about a read-only config is asked once, and no is no.
func TestReadOnlyIsAsked(t *testing.T) {
	for _, yes := range []bool{true, false} {
		home := faultHome(t)
		path := filepath.Join(home, ".codex/config.toml")
		if err := os.Chmod(path, 0o400); err != nil {
			t.Fatal(err)
		}
		s := swapperAt(home, nil)
		asked := 0
		s.Confirm = func(q string) bool {
			if !strings.Contains(q, path) {
				t.Errorf("the question is %q", q)
			}
			asked++
			return yes
		}
		results, err := s.UseLocal(t.Context(), UseOptions{Repo: filepath.Join(home, "repo"), Clients: []string{"codex"}, NoPreflight: true})
		if err != nil || AnyFailed(results) == yes || asked != 1 {
			t.Errorf("yes %v: asked %d times, %v %+v", yes, asked, err, results)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o400 {
			t.Errorf("%v %v", info, err)
		}
	}
}
