package endtoend

import (
	"os"
	"os/exec"
	"testing"

	"tmuxmcp/internal/test/testtmux"
)

// TestLibrary: programs in a module of their own build and pass with what package tmux
// exports.
func TestLibrary(t *testing.T) {
	t.Parallel()
	binary, temp := testtmux.Binary(t), t.TempDir() // the home of commands stays
	for _, args := range [][]string{{"vet", "./..."}, {"test", "./..."}} {
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Env = "library", append(ownModule(), "TMUX_TEST_REQUIRED=1", "TMUX_TEST_BINARY="+binary, "TMPDIR="+temp, "XDG_RUNTIME_DIR="+temp)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", args[0], err, out)
		}
	}
}

// ownModule returns the environment of the go command in a module below this one. What GOFLAGS has
// stays: without its flags the command would compile this module once more.
func ownModule() []string {
	return append(os.Environ(), "GOWORK=off", "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=readonly")
}
