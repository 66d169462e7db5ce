//go:build linux || darwin

package swap

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/internal/atomicfile"
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
