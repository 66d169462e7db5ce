package checkout

import (
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
