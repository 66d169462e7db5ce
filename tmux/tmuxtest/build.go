package tmuxtest

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// Build builds a Go program with the go command, and returns its path in t.TempDir. pkg is
// a package as for go build, such as "." or "./cmd/menu"; args are more arguments before it.
// To build once for several tests, make them subtests of the one that builds.
func Build(t testing.TB, pkg string, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	out, err := exec.Command("go", append(append([]string{"build", "-o", dir + "/"}, args...), pkg)...).CombinedOutput()
	if err != nil {
		t.Fatalf("go build %s: %v\n%s", pkg, err, out)
	}
	built, err := filepath.Glob(dir + "/*")
	if err != nil || len(built) != 1 {
		t.Fatalf("go build %s has built %q, not one program", pkg, built)
	}
	return built[0]
}
