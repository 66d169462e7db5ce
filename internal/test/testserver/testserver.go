// Package testserver gives this project's tests real tmux servers, those of package tmuxtest,
// and what only they need: terminals, other users' servers, tmux's zombies.
package testserver

import (
	"context"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testtmux"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// Binary returns the tmux that tests run: $TMUX_TEST_BINARY, else the one on PATH, else
// Debian's, as mcp-conform fetches it. Without any the test is skipped.
func Binary(t testing.TB) string {
	t.Helper()
	return testtmux.Binary(t)
}

// New returns a handle on a server that is not running yet, as [tmuxtest.Server] does, with
// the transport that $TMUX_TEST_TRANSPORT names.
func New(t testing.TB) *tmux.Server {
	t.Helper()
	t.TempDir() // the first call creates it; it is removed after the servers that may write into it have ended
	srv, end, err := Open(Binary(t))
	check.OK(t, err)
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
	return tmuxtest.Open(tmux.Config{Binary: binary, Transport: tmux.Transport(os.Getenv("TMUX_TEST_TRANSPORT"))})
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
	check.OK(t, err)
	return strings.TrimSuffix(string(out[0]), "\n")
}

// Signal sends a signal to the program of a pane. It does not use run-shell, which might
// never return: see [Reap].
func Signal(t testing.TB, srv *tmux.Server, pane string, sig syscall.Signal) {
	t.Helper()
	pid, err := strconv.Atoi(Run(t, srv, "display-message", "-p", "-t", pane, "#{pane_pid}"))
	check.OK(t, err)
	check.OK(t, syscall.Kill(pid, sig))
}

// Reap makes tmux wait for its children. A tmux 3.3a built with libutempter ignores SIGCHLD
// for a moment whenever a pane ends, and then misses the end of a program until the next
// one ends: that program remains a zombie, its pane has no pane_dead_status, and a
// synchronous run-shell hangs. Call it in every iteration when waiting for the end of a
// program.
func Reap(t testing.TB, srv *tmux.Server) {
	t.Helper()
	pid, err := strconv.Atoi(Run(t, srv, "display-message", "-p", "#{pid}"))
	check.OK(t, err)
	check.OK(t, syscall.Kill(pid, syscall.SIGCHLD))
}

// End kills the server, and returns once another one can take its place: kill-server itself
// returns before that.
func End(t testing.TB, srv *tmux.Server) {
	t.Helper()
	check.OK(t, srv.Kill(Context(t)))
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
		if strings.HasPrefix(text, "Pane is dead") {
			Reap(t, srv)
		}
		screen = Run(t, srv, "capture-pane", "-p", "-t", target)
		return strings.Contains(screen, text)
	})
	return screen
}

// Started returns a server with one session "main" of one window with one pane.
func Started(t testing.TB) *tmux.Server {
	t.Helper()
	srv := New(t)
	Run(t, srv, "new-session", "-d", "-s", "main", "-x", "80", "-y", "24")
	return srv
}

// By returns another handle on a server, with a transport.
func By(t testing.TB, base *tmux.Server, way tmux.Transport) *tmux.Server {
	t.Helper()
	return Handle(t, tmux.Config{Binary: base.Binary(), SocketPath: base.SocketPath(), Transport: way})
}

// Handle returns a handle on a server. The default of cfg.Binary is [Binary].
func Handle(t testing.TB, cfg tmux.Config) *tmux.Server {
	t.Helper()
	if cfg.Binary == "" {
		cfg.Binary = Binary(t)
	}
	srv, err := tmux.New(cfg)
	check.OK(t, err)
	return srv
}

// Drawn returns a pane that a shell script draws on.
func Drawn(t testing.TB, srv *tmux.Server, script string) tmux.PaneRef {
	t.Helper()
	return srv.Pane(tmux.PaneID(Run(t, srv, "new-window", "-d", "-P", "-F", "#{pane_id}", script+`; exec sleep 1000`)))
}

// WaitDisplay waits until a format of a pane expands to want.
func WaitDisplay(t testing.TB, pane tmux.PaneRef, format tmux.Format, want string) {
	t.Helper()
	Wait(t, pane.Server(), string(pane.ID), string(format)+" "+want, func() bool {
		got, err := pane.Display(Context(t), format)
		return err == nil && got == want
	})
}
