// Package testtmux finds the tmux that the tests run, so that a machine without one runs
// the same tests as any other.
package testtmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tmuxmcp/internal/debian"
	"tmuxmcp/internal/gettmux"
	"tmuxmcp/internal/test/testtool"
)

// Env is the environment variable that names the tmux to test. If it is [None], tests that
// need tmux are skipped.
const (
	Env  = "TMUX_TEST_BINARY"
	None = "none"
)

// The cache of the user who runs the tests, not one that a test makes up.
var userCache, noUserCache = os.UserCacheDir()

// Binary returns the path of the tmux to test. Without one the test is skipped, or fails
// where tools are required; see [testtool.Missing].
func Binary(t testing.TB) string {
	t.Helper()
	path, err := Find()
	if err != nil {
		shout()
		testtool.Missing(t, "no tmux: %v; %s", err, gettmux.Advice(Env))
	}
	return path
}

// shout tells the terminal, as go test shows nothing of a package that passes.
var shout = sync.OnceFunc(func() {
	tty, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0)
	if err != nil || os.Getenv(Env) == None {
		return
	}
	defer tty.Close()
	fmt.Fprintf(tty, "%s: NO TMUX, SO ITS TESTS OF TMUX ARE SKIPPED: %s\n", filepath.Base(os.Args[0]), gettmux.Advice(Env))
})

// Find returns the path of the tmux that $TMUX_TEST_BINARY names, else of the one on
// PATH, else of the one that mcp-conform takes then: Debian's, which is fetched once
// into the user's cache. Test results in Go's cache do not outlive a change of it.
func Find() (string, error) {
	if path := os.Getenv(Env); path == None {
		return "", errors.New(Env + " is " + None)
	} else if path != "" {
		testtool.Watch(path)
		return path, nil
	}
	if path, err := testtool.LookPath("tmux"); err == nil {
		return path, nil
	}
	path, err := fetched()
	testtool.Watch(path)
	return path, err
}

var fetched = sync.OnceValues(func() (string, error) {
	if noUserCache != nil {
		return "", fmt.Errorf("none on PATH, and no place for Debian's: %w", noUserCache)
	}
	f := debian.Fetcher{
		CacheDir: filepath.Join(userCache, "mcp-conform"),
		Timeout:  3 * time.Minute,
		Progress: func(line string) { fmt.Fprintln(os.Stderr, line) },
	}
	// Test processes that ask at the same time wait for the first.
	got, err := f.Get(context.Background(), debian.Default)
	if err == nil {
		return got.Binary, nil
	}
	// Another suite's will do, if one has been fetched before.
	if list, _ := f.List(); len(list) > 0 {
		return list[0].Binary, nil
	}
	return "", fmt.Errorf("none on PATH, and %s", strings.Join(strings.Fields(err.Error()), " "))
})
