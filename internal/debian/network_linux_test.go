package debian

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tmuxmcp/internal/test/testtool"
)

// TestSuites fetches from the real archive, where one can be reached, and runs
// what it got. DEBIAN_TEST_SUITES names other suites than these: one whose libc is still
// in /lib, one that builds on another, and the newest. Only at full size, or with that
// variable: a mirror may be slow, or down.
func TestSuites(t *testing.T) {
	suites := []string{"bookworm", "trixie-backports", "sid"}
	if names := strings.Fields(os.Getenv("DEBIAN_TEST_SUITES")); len(names) > 0 {
		suites = names
	} else if !testtool.Full {
		t.Skip("asks Debian's archive: see " + testtool.FullSize)
	}
	cache := shortDir(t)
	for _, suite := range suites {
		t.Run(suite, func(t *testing.T) {
			f := Fetcher{CacheDir: cache, Progress: func(line string) { t.Log(line) }}
			start := time.Now()
			got, err := f.Get(t.Context(), suite)
			if errors.Is(err, ErrExpired) { // as it should be, of a mirror that stands still
				t.Log(err)
				f.AllowExpired = true
				got, err = f.Get(t.Context(), suite)
			}
			for _, lack := range []error{ErrUnreachable, ErrNoApt, ErrMirror, ErrKeyring} {
				if errors.Is(err, lack) {
					t.Skip(err)
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("tmux %s (%s, %d packages), %d MB, in %.1f s", got.Version, got.Package, len(got.Packages),
				treeSize(t, rootOf(got.Binary))>>20, time.Since(start).Seconds())
			if !strings.HasPrefix(got.Package, got.Version) {
				t.Errorf("package %s holds tmux %s", got.Package, got.Version)
			}
			wantSlot(t, cache, suite, "installed.json", filepath.Base(rootOf(got.Binary)), "tmux")

			// From now on neither a mirror nor apt is needed.
			t.Setenv("PATH", t.TempDir())
			offline := Fetcher{CacheDir: cache, Mirror: "http://127.0.0.1:1/debian"}
			again, err := offline.Get(t.Context(), suite)
			if err != nil || again.Binary != got.Binary {
				t.Errorf("from the cache: %+v, %v; want %s", again, err, got.Binary)
			}
			tryServer(t, got.Binary)
		})
	}
}
