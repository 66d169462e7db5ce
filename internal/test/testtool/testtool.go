// Package testtool finds the programs that tests need. A test that lacks one is skipped on
// a developer's machine and fails in CI, where everything must be installed.
package testtool

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Tests have sockets some thirty bytes below TMPDIR, and a socket's path may have a hundred.
func init() {
	if len(os.TempDir()) > 70 {
		os.Setenv("TMPDIR", "/tmp")
	}
}

// Required is the environment variable that, if 1, makes a missing tool a failure.
const Required = "TMUX_TEST_REQUIRED"

// FullSize is the environment variable that, if 1, makes tests run at full size, as
// .ci/full does. Otherwise tests omit many similar cases, and some that are known to fail
// by accident.
const FullSize = "TMUX_TEST_FULL"

// Full reports whether tests run at full size.
var Full = os.Getenv(FullSize) == "1"

// Size returns few, or all if tests run at full size.
func Size(few, all int) int {
	if Full {
		return all
	}
	return few
}

// Path returns the path of a program. It ends the test with [Missing] if there is none.
func Path(t testing.TB, program string) string {
	t.Helper()
	path, err := LookPath(program)
	if err != nil {
		Missing(t, "%s is not installed", program)
	}
	return path
}

// LookPath finds a program like [exec.LookPath]. A cached test result is no longer used if the
// program is replaced, or one is installed in an earlier directory.
func LookPath(program string) (string, error) {
	path, err := exec.LookPath(program)
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		candidate := filepath.Join(dir, program)
		Watch(candidate)
		if candidate == path {
			break
		}
	}
	return path, err
}

// Watch invalidates a cached test result if a file of the machine changes, appears or
// disappears. The go command checks the files that a test has looked at, but only those
// whose names begin with the module's directory, so the name here does. Parent directories
// beyond / are / itself.
func Watch(path string) {
	if filepath.IsAbs(path) && started != "" {
		_, _ = os.Stat(started + strings.Repeat("/..", 40) + path)
	}
}

// started is the package's directory, even if a test changes directory.
var started, _ = os.Getwd()

// MemoryDir returns a directory for the test, by its real name: in memory, where syncs are free,
// if the system has a place for that, and on a disk at full size.
func MemoryDir(t testing.TB) string {
	t.Helper()
	dir, err := "", error(nil)
	if !Full {
		dir, _ = os.MkdirTemp("/dev/shm", "test") // "" if that fails
	}
	if dir == "" {
		// Unlike t.TempDir, it has no directory above it that others may not enter.
		if dir, err = os.MkdirTemp("", "test"); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return real
}

// Missing skips a test that lacks a tool, or fails it if tools are required.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv(Required) == "1" {
		t.Fatalf(format+" ("+Required+"=1)", args...)
	}
	t.Skipf(format, args...)
}

// Eventually polls until cond returns true, for at most a minute; then the test ends.
func Eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for pause := time.Millisecond; !cond(); pause = min(2*pause, 50*time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not in a minute: %s", what)
		}
		time.Sleep(pause)
	}
}

// Parallel makes n tests run at once, unless the command line says otherwise: for a TestMain
// whose tests mostly wait for a pane and not for a processor. With the race detector,
// which keeps the processor busy, fewer run.
func Parallel(n int) {
	if flag.Parse(); !slices.ContainsFunc(os.Args, func(a string) bool { return strings.HasPrefix(a, "-test.parallel") }) {
		flag.Set("test.parallel", strconv.Itoa(max(2, n/RaceFactor)))
	}
}

// Uncached makes the go command keep no result of these tests, for a TestMain whose tests ask
// for so many files and variables that to look at each of them again, before it keeps a result
// and before it uses one, takes longer than the tests.
func Uncached() {
	flag.Parse()
	flag.Set("test.testlogfile", "")
}

// WriteProgram writes a program or script that the test is about to run. Nothing is started
// meanwhile: a child would have the file open for writing until it runs its own program,
// and running this one would fail with "text file busy".
func WriteProgram(path string, content []byte) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, content, 0o755)
}
