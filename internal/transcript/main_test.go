package transcript

import (
	"os"
	"testing"

	"tmuxmcp/internal/test/testtool"
)

func TestMain(m *testing.M) {
	testtool.Parallel(8)
	os.Exit(m.Run())
}
