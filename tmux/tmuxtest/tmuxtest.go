// Package tmuxtest gives tests real tmux servers of their own: on a private
// socket, with no configuration file, gone when the test ends.
package tmuxtest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tmuxmcp/tmux"
)

// Binary is the tmux that tests run: $TMUX_TEST_BINARY, else the one on PATH.
// Without either the test is skipped.
func Binary(t testing.TB) string {
	t.Helper()
	if b := os.Getenv("TMUX_TEST_BINARY"); b != "" {
		return b
	}
	b, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("no tmux on PATH; set TMUX_TEST_BINARY to the one to test with")
	}
	return b
}

// New is a handle on a server that does not run yet. It is killed, if it runs
// then, and its socket removed, when the test ends. The environment is a plain
// one: a POSIX shell without start-up files and prompt "$ ".
func New(t testing.TB) *tmux.Server {
	t.Helper()
	// A socket's path is limited to some 100 bytes, so not t.TempDir.
	dir, err := os.MkdirTemp("", "tt")
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	srv, err := tmux.New(tmux.Config{
		Binary:     Binary(t),
		SocketPath: filepath.Join(dir, "s"),
		ConfigFile: "/dev/null",
		Transport:  tmux.Transport(os.Getenv("TMUX_TEST_TRANSPORT")),
		Env: []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + home, "SHELL=/bin/sh", "PS1=$ ", "ENV=",
			"TERM=screen", "LANG=C.UTF-8", "TMUX_TMPDIR=" + dir,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_, err := srv.Do(ctx, tmux.Raw{Name: "kill-server"})
		if err != nil && !errors.Is(err, tmux.ErrNoServer) && !errors.Is(err, tmux.ErrServerGone) {
			t.Errorf("kill the test's tmux server: %v", err)
		}
		// A pane's process may still be writing its history into HOME.
		for range 50 {
			if err = os.RemoveAll(dir); err == nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		t.Errorf("remove the test's directory: %v", err)
	})
	return srv
}

// Context is a context that ends a little before the test's own deadline, and
// after a minute at the latest.
func Context(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// Run runs one command given in words and returns what it prints, without the
// last newline. A failure ends the test.
func Run(t testing.TB, srv *tmux.Server, name string, args ...string) string {
	t.Helper()
	out, err := srv.Do(Context(t), tmux.Raw{Name: name, Args: args})
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(string(out[0]), "\n")
}

// Wait polls until cond answers true, for at most 10 seconds; then the test
// ends with what and the pane's screen.
func Wait(t testing.TB, srv *tmux.Server, target, what string, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for !cond() {
		if time.Now().After(deadline) {
			t.Fatalf("no %s after 10 s; the screen of %s:\n%s", what, target, Run(t, srv, "capture-pane", "-p", "-t", target))
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// WaitScreen waits until the pane's screen contains text, and returns it.
func WaitScreen(t testing.TB, srv *tmux.Server, target, text string) string {
	t.Helper()
	var screen string
	Wait(t, srv, target, "text "+text, func() bool {
		screen = Run(t, srv, "capture-pane", "-p", "-t", target)
		return strings.Contains(screen, text)
	})
	return screen
}
