package tmuxtest_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"tmuxmcp/internal/test/testtmux"
	"tmuxmcp/internal/test/testtool"
)

func TestMain(m *testing.M) {
	testtool.Parallel(8)
	if path, err := testtmux.Find(); err == nil {
		os.Setenv("TMUX_TEST_BINARY", path) // perhaps Debian's, which is on no PATH
	} else { // examples cannot be skipped one by one
		fmt.Fprintln(os.Stderr, "the examples are not run:", err)
		flag.Set("test.skip", "^Example")
	}
	os.Exit(m.Run())
}
