package tmux_test

import (
	"context"
	"errors"
	"os"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

// stopped returns a server with a session, and what stops and continues it. It runs on when the
// test ends.
func stopped(t *testing.T) (srv *tmux.Server, pid int, signal func(syscall.Signal)) {
	t.Helper()
	srv = testserver.Started(t)
	pid = check.Must[int](t)(strconv.Atoi(testserver.Run(t, srv, "display-message", "-p", "#{pid}")))
	t.Cleanup(func() {
		syscall.Kill(pid, syscall.SIGCONT)
		reacts(t, srv) // or it could not be killed
	})
	return srv, pid, func(sig syscall.Signal) {
		t.Helper()
		check.OK(t, syscall.Kill(pid, sig))
	}
}

// reacts waits until a server that goes on has reacted, which may take a busy machine longer than a
// call waits for.
func reacts(t *testing.T, srv *tmux.Server) {
	t.Helper()
	testtool.Eventually(t, "reaction", func() bool {
		return !errors.Is(do(context.Background(), srv, tmux.ListSessions{}), tmux.ErrNoAnswer)
	})
}

// silent returns a server that was stopped, and has not answered a call by its deadline.
func silent(t *testing.T) (srv *tmux.Server, pid int, signal func(syscall.Signal)) {
	t.Helper()
	srv, pid, signal = stopped(t)
	check.OK(t, do(testserver.Context(t), srv, tmux.ListSessions{}))
	signal(syscall.SIGSTOP)
	limited, cancel := tmux.WithTimeout(testserver.Context(t), 20*time.Millisecond)
	defer cancel()
	check.Kind(t, "a limited call", do(limited, srv, tmux.ListSessions{}), context.DeadlineExceeded)
	return srv, pid, signal
}

// TestAStoppedServerFailsAtOnce: after one deadline, calls of every handle on the server fail
// without waiting for theirs, which is an hour, and once it goes on they work.
func TestAStoppedServerFailsAtOnce(t *testing.T) {
	t.Parallel()
	for _, way := range transports {
		t.Run(string(way), func(t *testing.T) {
			t.Parallel()
			srv, _, signal := stopped(t)
			at := func(limit time.Duration, by tmux.Transport) *tmux.Server {
				return testserver.Handle(t, tmux.Config{Binary: srv.Binary(), SocketPath: srv.SocketPath(), Transport: by, Timeout: limit})
			}
			ctx := testserver.Context(t)
			hurried, patient := at(200*time.Millisecond, way), at(time.Hour, way)
			check.OK(t, do(ctx, patient, tmux.ListSessions{}))
			for range 2 {
				signal(syscall.SIGSTOP)
				check.Kind(t, "the first call", do(context.Background(), hurried, tmux.ListSessions{}), context.DeadlineExceeded)
				var all sync.WaitGroup
				for i := range 100 {
					all.Go(func() {
						by := []*tmux.Server{hurried, patient, at(-1, transports[i%len(transports)])}[i%3]
						err := do(context.Background(), by, tmux.ListSessions{})
						check.Kind(t, "a call to a server that is stopped", err, tmux.ErrNoAnswer)
						var e *tmux.Error
						if !errors.As(err, &e) || e.Pending || errors.Is(err, context.DeadlineExceeded) {
							t.Errorf("%#v", err)
						}
					})
				}
				all.Wait()
				check.Contains(t, "its error", do(context.Background(), patient, tmux.KillServer{}).Error(), "kill-server: tmux has not answered since ")
				check.Equal(t, "connections that wait", 1, tmux.ProbesOf(patient))
				check.OK(t, do(ctx, testserver.Started(t), tmux.ListSessions{})) // another server is not affected
				signal(syscall.SIGCONT)
				reacts(t, srv)
				check.OK(t, do(ctx, patient, tmux.ListSessions{}))
				check.OK(t, do(ctx, hurried, tmux.ListSessions{}))
				check.That(t, !tmux.IsSilent(patient), "the server still counts as silent")
			}
		})
	}
}

// TestOwnDeadlinesSayNothingOfTheServer: only a limit that is tmux's makes later calls fail.
func TestOwnDeadlinesSayNothingOfTheServer(t *testing.T) {
	t.Parallel()
	for _, way := range transports {
		t.Run(string(way), func(t *testing.T) {
			t.Parallel()
			base, _, signal := stopped(t)
			srv := testserver.Handle(t, tmux.Config{Binary: base.Binary(), SocketPath: base.SocketPath(), Transport: way, Timeout: 100 * time.Millisecond})
			ctx := testserver.Context(t)
			check.OK(t, do(ctx, srv, tmux.ListSessions{}))
			// What waits by nature.
			check.Kind(t, "a wait", waitFor(t, srv, "never", 300*time.Millisecond), context.DeadlineExceeded)
			check.That(t, !tmux.IsSilent(srv), "a wait makes the server silent")
			check.OK(t, do(ctx, srv, tmux.RunShell{Command: "sleep 0.3"}))
			signal(syscall.SIGSTOP)
			short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
			defer cancel()
			check.Kind(t, "a call in a hurry", do(short, srv, tmux.ListSessions{}), context.DeadlineExceeded)
			canceled, cancel := context.WithCancel(ctx)
			time.AfterFunc(20*time.Millisecond, cancel)
			check.Kind(t, "a call that is canceled", do(canceled, srv, tmux.ListSessions{}), context.Canceled)
			check.That(t, !tmux.IsSilent(srv), "the caller's own deadline makes the server silent")
			// A caller's limit for tmux does, though it is a handle without one.
			limited, cancel := tmux.WithTimeout(ctx, 20*time.Millisecond)
			defer cancel()
			check.Kind(t, "a limited call", do(limited, srv, tmux.ListSessions{}), context.DeadlineExceeded)
			check.Kind(t, "the next call", do(ctx, srv, tmux.ListSessions{}), tmux.ErrNoAnswer)
			// A call that is canceled during the look returns that.
			check.Kind(t, "a canceled call", do(canceled, srv, tmux.ListSessions{}), context.Canceled)
		})
	}
}

// TestABusyServerIsNotSilent: a call that took too long, to a server that works, costs the next
// one nothing but a connection.
func TestABusyServerIsNotSilent(t *testing.T) {
	t.Parallel()
	srv, _, signal := silent(t)
	ctx := testserver.Context(t)
	signal(syscall.SIGCONT)
	check.OK(t, do(ctx, srv, tmux.ListSessions{}))
	check.That(t, !tmux.IsSilent(srv), "the server counts as silent")
}

// TestAStoppedServerThatIsReplaced: the end of a silent server ends its silence.
func TestAStoppedServerThatIsReplaced(t *testing.T) {
	t.Parallel()
	srv, pid, signal := silent(t)
	ctx := testserver.Context(t)
	check.Kind(t, "the next call", do(ctx, srv, tmux.ListSessions{}), tmux.ErrNoAnswer)
	signal(syscall.SIGKILL)
	testtool.Eventually(t, "the server has ended", func() bool { return syscall.Kill(pid, 0) != nil })
	check.Kind(t, "a call to a server that is gone", do(ctx, srv, tmux.ListSessions{}), tmux.ErrNoServer)
	check.OK(t, os.Remove(srv.SocketPath()))
	testserver.Run(t, srv, "new-session", "-d")
	check.OK(t, do(ctx, srv, tmux.ListSessions{}))
}

// TestAnotherServerAtTheSocket: who removes the socket of a stopped server and starts another
// there talks to that.
func TestAnotherServerAtTheSocket(t *testing.T) {
	t.Parallel()
	srv, _, signal := silent(t)
	ctx := testserver.Context(t)
	check.Kind(t, "the next call", do(ctx, srv, tmux.ListSessions{}), tmux.ErrNoAnswer)
	aside := srv.SocketPath() + ".aside"
	check.OK(t, os.Rename(srv.SocketPath(), aside))
	check.Kind(t, "a call while there is none", do(ctx, srv, tmux.ListSessions{}), tmux.ErrNoServer)
	testserver.Run(t, srv, "new-session", "-d")
	check.OK(t, do(ctx, srv, tmux.ListSessions{}))
	testserver.Run(t, srv, "kill-server")
	check.OK(t, os.Rename(aside, srv.SocketPath()))
	signal(syscall.SIGCONT)
	check.OK(t, do(ctx, srv, tmux.ListSessions{}))
}

// TestSilenceRaces: calls of all kinds while a server stops and goes on. The race detector
// watches.
func TestSilenceRaces(t *testing.T) {
	t.Parallel()
	srv, _, signal := stopped(t)
	ctx := testserver.Context(t)
	over := make(chan struct{})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				limited, cancel := tmux.WithTimeout(ctx, time.Duration(1+i)*10*time.Millisecond)
				err := do(limited, srv, tmux.ListSessions{})
				cancel()
				if err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, tmux.ErrNoAnswer) {
					t.Error(err)
					return
				}
			}
		})
	}
	for range testtool.Size(10, 100) {
		signal(syscall.SIGSTOP)
		testtool.Eventually(t, "the server is silent", func() bool { return tmux.IsSilent(srv) })
		signal(syscall.SIGCONT)
		testtool.Eventually(t, "it is no longer", func() bool { return !tmux.IsSilent(srv) })
	}
	close(over)
	all.Wait()
	testserver.Run(t, srv, "list-sessions")
	check.OK(t, do(ctx, srv, tmux.ListSessions{}))
}
