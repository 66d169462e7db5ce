package checkout

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/internal/test/cases"
)

func TestRemoteSpellings(t *testing.T) {
	for _, line := range cases.Lines(t, "testdata/remotes.txt") {
		spelling, want, _ := strings.Cut(line, " =>")
		want = strings.TrimSpace(want)
		if got, err := httpsURL(spelling); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %s, %v, want %s", spelling, got, err, want)
		}
	}
}

// Is knows the markers of all kinds.
func TestIs(t *testing.T) {
	if dir := t.TempDir(); Is(dir) {
		t.Errorf("%s is none", dir)
	}
	for _, kind := range checkoutKinds {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, kind.marker), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if !Is(dir) {
			t.Errorf("%s is none", kind.marker)
		}
	}
}
