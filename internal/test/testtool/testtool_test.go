package testtool

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const lookedFor = "TESTTOOL_LOOK_FOR"

// A result in Go's test cache ends when the program that was tested is replaced, or
// another one comes before it on PATH.
func TestCachedResultEndsWithTheProgram(t *testing.T) {
	if name := os.Getenv(lookedFor); name != "" {
		t.Chdir(t.TempDir())
		if _, err := LookPath(name); err != nil {
			t.Fatal(err)
		}
		return
	}
	first, second := t.TempDir(), t.TempDir()
	install := func(dir, text string, age time.Duration) {
		t.Helper()
		path := filepath.Join(dir, "program")
		if err := WriteProgram(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		// The go command caches no result of a file that is only just written.
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	cached := func() bool {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), Path(t, "go"), "test", "-run=^"+t.Name()+"$", ".")
		list := string(os.PathListSeparator)
		cmd.Env = append(os.Environ(), lookedFor+"=program", "PATH="+first+list+second+list+os.Getenv("PATH"), "GOFLAGS=")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return strings.Contains(string(out), "(cached)")
	}
	install(second, "#!/bin/sh\n", time.Hour)
	if cached() || !cached() {
		t.Error("the result is not cached once")
	}
	install(second, "#!/bin/sh\n# newer\n", time.Minute)
	if cached() {
		t.Error("the result outlives a program that is replaced")
	}
	install(first, "#!/bin/sh\n", time.Hour)
	if cached() {
		t.Error("the result outlives a program that is installed before the other")
	}
}

const isUncached = "TESTTOOL_UNCACHED"

func TestMain(m *testing.M) {
	if os.Getenv(isUncached) != "" {
		Uncached()
	}
	os.Exit(m.Run())
}

func TestUncached(t *testing.T) {
	if os.Getenv(isUncached) != "" {
		return
	}
	for range 2 {
		cmd := exec.CommandContext(t.Context(), Path(t, "go"), "test", "-run=^"+t.Name()+"$", ".")
		cmd.Env = append(os.Environ(), isUncached+"=1", "GOFLAGS=")
		if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "(cached)") {
			t.Errorf("%v\n%s", err, out)
		}
	}
}
