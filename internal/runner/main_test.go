package runner

import (
	"os"
	"testing"
	"time"

	"tmuxmcp/internal/test/testtool"
)

func TestMain(m *testing.M) {
	testtool.Parallel(24)
	os.Exit(m.Run())
}

// ok ends the test if there is an error.
func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// within receives a value, or ends the test after a minute.
func within[T any](t *testing.T, what string, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(time.Minute):
		t.Fatal(what)
	}
	return v
}

// keeper keeps lines.
type keeper []string

func (k *keeper) Line(text string) { *k = append(*k, text) }
