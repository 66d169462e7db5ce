package tmux_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

// waitFor waits on a channel for at most a short time.
func waitFor(t *testing.T, srv *tmux.Server, channel string, d time.Duration) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(testserver.Context(t), d)
	defer cancel()
	return srv.Channel(channel).Wait(ctx)
}

// A signal between two waits, of which the first gave up, reaches the second: tmux before
// 3.8 gives it to the first.
func TestSignalAfterAWaitThatGaveUp(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	for _, d := range []time.Duration{time.Nanosecond, 100 * time.Microsecond, time.Millisecond, 3 * time.Millisecond, 50 * time.Millisecond} {
		check.Kind(t, fmt.Sprintf("nobody signals, and in %v", d), waitFor(t, srv, "c", d), context.DeadlineExceeded)
		// Nothing is pending now.
		check.Kind(t, fmt.Sprintf("after a wait of %v the channel is signalled", d), waitFor(t, srv, "c", 50*time.Millisecond), context.DeadlineExceeded)
		check.OK(t, srv.Channel("c").Signal(ctx))
		check.OK(t, waitFor(t, srv, "c", time.Minute))
	}
}

// A waiter that gives up does not wake another one on the same channel.
func TestTwoWaitsOnAChannel(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	other := make(chan error, 1)
	go func() { other <- srv.Channel("c").Wait(ctx) }()
	check.Kind(t, "nobody signals", waitFor(t, srv, "c", 100*time.Millisecond), context.DeadlineExceeded)
	select {
	case err := <-other:
		t.Fatalf("the other was woken: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	check.OK(t, srv.Channel("c").Signal(ctx))
	check.OK(t, <-other)
	check.Kind(t, "the signal was given twice", waitFor(t, srv, "c", 50*time.Millisecond), context.DeadlineExceeded)
}

func TestServerThatGoesAwayIsNoSignal(t *testing.T) {
	t.Parallel()
	for how, end := range map[string]func(t *testing.T, srv *tmux.Server){
		"kill-server":      func(t *testing.T, srv *tmux.Server) { testserver.Run(t, srv, "kill-server") },
		"its last session": func(t *testing.T, srv *tmux.Server) { testserver.Run(t, srv, "kill-session", "-t", "=main") },
		"SIGTERM":          func(t *testing.T, srv *tmux.Server) { signal(t, srv, syscall.SIGTERM) },
		"SIGKILL":          func(t *testing.T, srv *tmux.Server) { signal(t, srv, syscall.SIGKILL) },
	} {
		srv, ctx := testserver.Started(t), testserver.Context(t)
		woken := make(chan error, 1)
		go func() { woken <- srv.Channel("c").Wait(ctx) }()
		check.Kind(t, "nobody signals", waitFor(t, srv, "c", 30*time.Millisecond), context.DeadlineExceeded)
		end(t, srv)
		if err := <-woken; !errors.Is(err, tmux.ErrServerGone) && !errors.Is(err, tmux.ErrNoServer) {
			t.Errorf("%s ends the wait with %v", how, err)
		}
	}
}

// signal sends a signal to the server's process.
func signal(t *testing.T, srv *tmux.Server, sig syscall.Signal) {
	t.Helper()
	pid := check.Must[int](t)(strconv.Atoi(testserver.Run(t, srv, "display-message", "-p", "#{pid}")))
	check.OK(t, syscall.Kill(pid, sig))
}

func TestAwaitOutput(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	check.Kind(t, "no pane", srv.AwaitOutput(ctx, nil), tmux.ErrArgument)
	check.Kind(t, "no id", srv.AwaitOutput(ctx, nil, "%0", "0"), tmux.ErrArgument)
	if v := check.Must[tmux.Version](t)(srv.Version(ctx)); !v.Has(tmux.FeatureOf(tmux.WaitFor{}, "Event").Since) {
		check.Kind(t, "on "+v.String(), srv.AwaitOutput(ctx, nil, "%1"), tmux.ErrUnsupported)
		t.Skip("this tmux does not announce what panes print")
	}
	var ttys []string
	for range 3 {
		id := testserver.Run(t, srv, "new-window", "-d", "-P", "-F", "#{pane_id}", "cat")
		ttys = append(ttys, testserver.Run(t, srv, "display-message", "-p", "-t", id, "#{pane_tty}"))
	}
	write := func(i int) {
		t.Helper()
		check.OK(t, os.WriteFile(ttys[i-1], []byte("x"), 0))
	}
	within := func(d time.Duration, armed func(), panes ...tmux.PaneID) error {
		t.Helper()
		ctx, cancel := context.WithTimeout(ctx, d)
		defer cancel()
		return srv.AwaitOutput(ctx, armed, panes...)
	}
	for i := range 30 {
		// Right after it was armed, from when on nothing may be missed.
		check.OK(t, within(time.Minute, func() { write(1 + i%2) }, "%1", "%2"))
	}
	// Another pane's output does not count, and nothing is left of a wait.
	check.Kind(t, "another pane printed", within(200*time.Millisecond, func() { write(3) }, "%1", "%2"), context.DeadlineExceeded)
	if v := check.Must[tmux.Version](t)(srv.Version(ctx)); v.Next {
		t.Skipf("tmux %s may keep the waiter of a client that is gone", v)
	}
	testserver.Wait(t, srv, "%1", "end of the waiter", func() bool {
		return testserver.Run(t, srv, "wait-for", "-E", "-l", "pane-activity") == ""
	})
}

// TestKillLeavesRoom: a server can be started as soon as Kill has returned, although one
// that is exiting drops whoever connects to it.
func TestKillLeavesRoom(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	ctx := testserver.Context(t)
	for range testtool.Size(6, 20) {
		for range 4 { // their ends take a moment
			testserver.Run(t, srv, "new-session", "-d", "cat")
		}
		check.OK(t, srv.Kill(ctx))
	}
	check.OK(t, srv.Kill(ctx))
}

// TestSignalBesideAWaitThatGaveUp: if the server does not answer, the command of a wait may
// run after the wait has ended. It takes no signal that comes then.
func TestSignalBesideAWaitThatGaveUp(t *testing.T) {
	t.Parallel()
	for name, signals := range map[string]func(srv *tmux.Server) *tmux.Server{
		"from the same Server": func(srv *tmux.Server) *tmux.Server { return srv },
		"from another":         func(srv *tmux.Server) *tmux.Server { return testserver.By(t, srv, tmux.TransportNative) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv, ctx := testserver.Started(t), testserver.Context(t)
			other := signals(srv)
			if v := check.Must[tmux.Version](t)(srv.Version(ctx)); other != srv && v.Has(tmux.FeatureOf(tmux.WaitFor{}, "Event").Since) {
				t.Skip("this tmux gives a signal to a client that has gone, until it notices, and says nothing of it")
			}
			check.OK(t, do(ctx, srv, tmux.ListSessions{})) // so that one connection is all that they need
			check.OK(t, do(ctx, other, tmux.ListSessions{}))
			pid := check.Must[int](t)(strconv.Atoi(testserver.Run(t, srv, "display-message", "-p", "#{pid}")))
			for range testtool.Size(3, 30) {
				check.OK(t, syscall.Kill(pid, syscall.SIGSTOP))
				check.Kind(t, "nobody signals", waitFor(t, srv, "c", 20*time.Millisecond), context.DeadlineExceeded)
				sent := make(chan error, 1)
				go func() { sent <- other.Channel("c").Signal(ctx) }()
				testtool.Eventually(t, "the signal has its turn, or the wait still has", func() bool { return tmux.TurnTaken(other, "c") })
				check.OK(t, syscall.Kill(pid, syscall.SIGCONT))
				check.OK(t, waitFor(t, srv, "c", time.Minute))
				check.OK(t, <-sent)
				check.Kind(t, "the signal was given twice", waitFor(t, srv, "c", 20*time.Millisecond), context.DeadlineExceeded)
			}
		})
	}
}

// TestSignalWaitsForItsTurn: no signal is sent before an earlier wait has begun. A signal
// sent to a server that does not answer would arrive later, although its call has failed.
func TestSignalWaitsForItsTurn(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	check.OK(t, do(ctx, srv, tmux.ListSessions{}))
	pid := check.Must[int](t)(strconv.Atoi(testserver.Run(t, srv, "display-message", "-p", "#{pid}")))
	check.OK(t, syscall.Kill(pid, syscall.SIGSTOP))
	woken := make(chan error, 1)
	go func() { woken <- srv.Channel("c").Wait(ctx) }()
	testtool.Eventually(t, "the wait has the turn", func() bool { return tmux.TurnTaken(srv, "c") })
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	check.Kind(t, "the server answers", srv.Channel("c").Signal(short), context.DeadlineExceeded)
	check.OK(t, syscall.Kill(pid, syscall.SIGCONT))
	check.OK(t, srv.Channel("c").Signal(ctx))
	check.OK(t, <-woken)
	check.Kind(t, "two signals were sent", waitFor(t, srv, "c", 50*time.Millisecond), context.DeadlineExceeded)
}

// TestWaitIsNotWokenByTheEndOfAnother: the queue of a channel is emptied after a wait that
// gave up. A wait that begins meanwhile is not taken for signalled.
func TestWaitIsNotWokenByTheEndOfAnother(t *testing.T) {
	t.Parallel()
	srv := testserver.Started(t)
	pid := check.Must[int](t)(strconv.Atoi(testserver.Run(t, srv, "display-message", "-p", "#{pid}")))
	channel := srv.Channel("never")
	wait := func(d time.Duration) error {
		ctx, cancel := context.WithTimeout(testserver.Context(t), d)
		defer cancel()
		return channel.Wait(ctx)
	}
	kill := func(sig syscall.Signal) {
		check.OK(t, syscall.Kill(pid, sig))
	}
	// The server does not answer while the first gives up and others begin.
	first := make(chan error, 1)
	go func() { first <- wait(300 * time.Millisecond) }()
	time.Sleep(150 * time.Millisecond) // so that it is in the queue, or else there is less to see
	kill(syscall.SIGSTOP)
	check.Kind(t, "the first wait", <-first, context.DeadlineExceeded)
	others := make(chan error)
	for range 8 {
		go func() { others <- wait(time.Second) }()
	}
	time.Sleep(100 * time.Millisecond) // for what they send
	kill(syscall.SIGCONT)
	for range 8 {
		check.Kind(t, "another wait", <-others, context.DeadlineExceeded)
	}
	// A signal still wakes the next one.
	check.OK(t, channel.Signal(testserver.Context(t)))
	check.OK(t, wait(time.Minute))
}

// With Wait the command takes as long as the pane's program, however long that is, and
// fails as it does.
func TestPaneWait(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	_, err := srv.Pane("%0").Split(ctx, tmux.SplitWindow{Wait: true, Command: []string{"exit 3"}})
	if !check.Must[bool](t)(srv.Supports(ctx, tmux.FeatureOf(tmux.SplitWindow{}, "Wait"))) {
		check.Kind(t, "to wait for a pane", err, tmux.ErrUnsupported)
		return
	}
	var e *tmux.Error
	check.That(t, errors.As(err, &e) && e.ExitCode == 3, "got %v", err)
	check.OK(t, check.Second(srv.Pane("%0").Split(ctx, tmux.SplitWindow{Wait: true, Command: []string{"true"}})))
}
