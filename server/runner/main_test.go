package runner

import (
	"os"
	"testing"

	"tmuxmcp/internal/test/testtool"
)

func TestMain(m *testing.M) {
	testtool.Parallel(8)
	os.Exit(m.Run())
}

// ok ends the test if there is an error.
func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
