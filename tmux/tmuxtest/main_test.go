package tmuxtest_test

import (
	"os"
	"testing"

	"tmuxmcp/internal/test/testtmux"
	"tmuxmcp/internal/test/testtool"
)

func TestMain(m *testing.M) {
	testtool.Parallel(8)
	if path, err := testtmux.Find(); err == nil {
		os.Setenv("TMUX_TEST_BINARY", path) // perhaps Debian's, which is on no PATH
	}
	os.Exit(m.Run())
}
