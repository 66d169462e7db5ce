// Package testserver gives tests their own real tmux servers: on a private socket, with no
// configuration file, gone when the test ends.
package testserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/internal/test/testtmux"
	"tmuxmcp/tmux"
)

// Binary returns the tmux that tests run: $TMUX_TEST_BINARY, else the one on PATH, else
// Debian's, as mcp-conform fetches it. Without any the test is skipped.
func Binary(t testing.TB) string {
	t.Helper()
	return testtmux.Binary(t)
}

// check ends the test if there is an error.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// New returns a handle on a server that is not running yet. When the test ends, every tmux
// server with a socket below the test's directory is killed, including those that the test
// started itself, and the directory is removed. The environment is a plain one: a POSIX
// shell without start-up files and with prompt "$ ".
func New(t testing.TB) *tmux.Server {
	t.Helper()
	t.TempDir() // the first call creates it; it is removed after the servers that may write into it have ended
	srv, end, err := Open(Binary(t))
	check(t, err)
	t.Cleanup(func() {
		if err := end(); err != nil {
			t.Error(err)
		}
	})
	return srv
}

// Open does what [New] does, for use outside tests, such as in examples: end does what New
// does when the test ends.
func Open(binary string) (srv *tmux.Server, end func() error, err error) {
	// Not t.TempDir, because a socket's path is limited to some 100 bytes.
	dir, err := os.MkdirTemp("", "tt")
	if err != nil {
		return nil, nil, err
	}
	home := filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		return nil, nil, err
	}
	srv, err = tmux.New(tmux.Config{
		Binary:     binary,
		SocketPath: filepath.Join(dir, "s"),
		ConfigFile: "/dev/null",
		Transport:  tmux.Transport(os.Getenv("TMUX_TEST_TRANSPORT")),
		Env: []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + home, "SHELL=/bin/sh", "PS1=$ ", "ENV=",
			"TERM=screen", "LANG=C.UTF-8", "TMUX_TMPDIR=" + dir, "XDG_RUNTIME_DIR=" + dir,
		},
	})
	if err != nil {
		return nil, nil, err
	}
	return srv, func() error { return removeAll(srv.Binary(), dir) }, nil
}

// removeAll kills the servers whose sockets are below a directory, and removes it.
func removeAll(binary, dir string) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, socket := range sockets(dir) {
		srv, failed := tmux.New(tmux.Config{Binary: binary, SocketPath: socket})
		if failed == nil {
			failed = srv.Kill(ctx)
		}
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("kill the tmux server at %s: %w", socket, failed))
		}
	}
	// A pane's process may still be writing its history into HOME.
	var removed error
	for range 50 {
		if removed = os.RemoveAll(dir); removed == nil {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
	return errors.Join(err, fmt.Errorf("remove the test's directory: %w", removed))
}

// sockets returns the sockets in dir and in tmux's directories of named sockets below it.
func sockets(dir string) []string {
	var found []string
	for _, pattern := range []string{"/*", "/tmux-*/*"} {
		paths, _ := filepath.Glob(dir + pattern)
		for _, path := range paths {
			if info, err := os.Lstat(path); err == nil && info.Mode().Type() == os.ModeSocket {
				found = append(found, path)
			}
		}
	}
	return found
}

// Context returns a context that ends a little before the test's own deadline, and after a
// minute at the latest.
func Context(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// Run runs one command given in words and returns its output without the final newline. If
// it fails, the test ends.
func Run(t testing.TB, srv *tmux.Server, name string, args ...string) string {
	t.Helper()
	out, err := srv.Do(Context(t), tmux.Raw{Name: name, Args: args})
	check(t, err)
	return strings.TrimSuffix(string(out[0]), "\n")
}

// Signal sends a signal to the program of a pane. It does not use run-shell, which might
// never return: see [Reap].
func Signal(t testing.TB, srv *tmux.Server, pane string, sig syscall.Signal) {
	t.Helper()
	pid, err := strconv.Atoi(Run(t, srv, "display-message", "-p", "-t", pane, "#{pane_pid}"))
	check(t, err)
	check(t, syscall.Kill(pid, sig))
}

// Reap makes tmux wait for its children. A tmux 3.3a built with libutempter ignores SIGCHLD
// for a moment whenever a pane ends, and then misses the end of a program until the next
// one ends: that program remains a zombie, its pane has no pane_dead_status, and a
// synchronous run-shell hangs. Call it in every iteration when waiting for the end of a
// program.
func Reap(t testing.TB, srv *tmux.Server) {
	t.Helper()
	pid, err := strconv.Atoi(Run(t, srv, "display-message", "-p", "#{pid}"))
	check(t, err)
	check(t, syscall.Kill(pid, syscall.SIGCHLD))
}

// End kills the server, and returns once another one can take its place: kill-server itself
// returns before that.
func End(t testing.TB, srv *tmux.Server) {
	t.Helper()
	check(t, srv.Kill(Context(t)))
}

// Wait polls until cond returns true, for at most a minute; then the test ends and reports
// what, and the pane's screen.
func Wait(t testing.TB, srv *tmux.Server, target, what string, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for pause := 5 * time.Millisecond; !cond(); pause = min(pause*5/4, 50*time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no %s in a minute; the screen of %s:\n%s", what, target, Run(t, srv, "capture-pane", "-p", "-t", target))
		}
		time.Sleep(pause)
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
