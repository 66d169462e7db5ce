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
	srv, ctx := started(t), testserver.Context(t)
	for _, d := range []time.Duration{time.Nanosecond, 100 * time.Microsecond, time.Millisecond, 3 * time.Millisecond, 50 * time.Millisecond} {
		isKind(t, fmt.Sprintf("nobody signals, and in %v", d), waitFor(t, srv, "c", d), context.DeadlineExceeded)
		// Nothing is pending now.
		isKind(t, fmt.Sprintf("after a wait of %v the channel is signalled", d), waitFor(t, srv, "c", 50*time.Millisecond), context.DeadlineExceeded)
		ok(t, srv.Channel("c").Signal(ctx))
		ok(t, waitFor(t, srv, "c", time.Minute))
	}
}

// A waiter that gives up does not wake another one on the same channel.
func TestTwoWaitsOnAChannel(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), testserver.Context(t)
	other := make(chan error, 1)
	go func() { other <- srv.Channel("c").Wait(ctx) }()
	isKind(t, "nobody signals", waitFor(t, srv, "c", 100*time.Millisecond), context.DeadlineExceeded)
	select {
	case err := <-other:
		t.Fatalf("the other was woken: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	ok(t, srv.Channel("c").Signal(ctx))
	ok(t, <-other)
	isKind(t, "the signal was given twice", waitFor(t, srv, "c", 50*time.Millisecond), context.DeadlineExceeded)
}

func TestServerThatGoesAwayIsNoSignal(t *testing.T) {
	t.Parallel()
	for how, end := range map[string]func(t *testing.T, srv *tmux.Server){
		"kill-server":      func(t *testing.T, srv *tmux.Server) { testserver.Run(t, srv, "kill-server") },
		"its last session": func(t *testing.T, srv *tmux.Server) { testserver.Run(t, srv, "kill-session", "-t", "=main") },
		"SIGTERM":          func(t *testing.T, srv *tmux.Server) { signal(t, srv, syscall.SIGTERM) },
		"SIGKILL":          func(t *testing.T, srv *tmux.Server) { signal(t, srv, syscall.SIGKILL) },
	} {
		srv, ctx := started(t), testserver.Context(t)
		woken := make(chan error, 1)
		go func() { woken <- srv.Channel("c").Wait(ctx) }()
		isKind(t, "nobody signals", waitFor(t, srv, "c", 30*time.Millisecond), context.DeadlineExceeded)
		end(t, srv)
		if err := <-woken; !errors.Is(err, tmux.ErrServerGone) && !errors.Is(err, tmux.ErrNoServer) {
			t.Errorf("%s ends the wait with %v", how, err)
		}
	}
}

// signal sends a signal to the server's process.
func signal(t *testing.T, srv *tmux.Server, sig syscall.Signal) {
	t.Helper()
	pid := must[int](t)(strconv.Atoi(testserver.Run(t, srv, "display-message", "-p", "#{pid}")))
	ok(t, syscall.Kill(pid, sig))
}

func TestAwaitActivity(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), testserver.Context(t)
	if v := must[tmux.Version](t)(srv.Version(ctx)); !v.Has(tmux.FieldFeature(tmux.WaitFor{}, "Event").Since) {
		isKind(t, "on "+v.String(), tmux.AwaitActivity(srv, ctx, nil, "%1"), tmux.ErrUnsupported)
		t.Skip("this tmux does not announce what panes print")
	}
	var ttys []string
	for range 3 {
		id := testserver.Run(t, srv, "new-window", "-d", "-P", "-F", "#{pane_id}", "cat")
		ttys = append(ttys, testserver.Run(t, srv, "display-message", "-p", "-t", id, "#{pane_tty}"))
	}
	write := func(i int) {
		t.Helper()
		ok(t, os.WriteFile(ttys[i-1], []byte("x"), 0))
	}
	within := func(d time.Duration, armed func(), panes ...tmux.PaneID) error {
		t.Helper()
		ctx, cancel := context.WithTimeout(ctx, d)
		defer cancel()
		return tmux.AwaitActivity(srv, ctx, armed, panes...)
	}
	for i := range 30 {
		// Right after it was armed, from when on nothing may be missed.
		ok(t, within(time.Minute, func() { write(1 + i%2) }, "%1", "%2"))
	}
	// Another pane's output does not count, and nothing is left of a wait.
	isKind(t, "another pane printed", within(200*time.Millisecond, func() { write(3) }, "%1", "%2"), context.DeadlineExceeded)
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
		ok(t, srv.Kill(ctx))
	}
	ok(t, srv.Kill(ctx))
}

// TestSignalBesideAWaitThatGaveUp: if the server does not answer, the command of a wait may
// run after the wait has ended. It takes no signal that comes then.
func TestSignalBesideAWaitThatGaveUp(t *testing.T) {
	t.Parallel()
	for name, signals := range map[string]func(srv *tmux.Server) *tmux.Server{
		"from the same Server": func(srv *tmux.Server) *tmux.Server { return srv },
		"from another":         func(srv *tmux.Server) *tmux.Server { return by(t, srv, tmux.TransportNative) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv, ctx := started(t), testserver.Context(t)
			other := signals(srv)
			if v := must[tmux.Version](t)(srv.Version(ctx)); other != srv && v.Has(tmux.FieldFeature(tmux.WaitFor{}, "Event").Since) {
				t.Skip("this tmux gives a signal to a client that has gone, until it notices, and says nothing of it")
			}
			ok(t, do(ctx, srv, tmux.ListSessions{})) // so that one connection is all that they need
			ok(t, do(ctx, other, tmux.ListSessions{}))
			pid := must[int](t)(strconv.Atoi(testserver.Run(t, srv, "display-message", "-p", "#{pid}")))
			for range testtool.Size(3, 30) {
				ok(t, syscall.Kill(pid, syscall.SIGSTOP))
				isKind(t, "nobody signals", waitFor(t, srv, "c", 20*time.Millisecond), context.DeadlineExceeded)
				sent := make(chan error, 1)
				go func() { sent <- other.Channel("c").Signal(ctx) }()
				testtool.Eventually(t, "the signal has its turn, or the wait still has", func() bool { return tmux.TurnTaken(other, "c") })
				ok(t, syscall.Kill(pid, syscall.SIGCONT))
				ok(t, waitFor(t, srv, "c", time.Minute))
				ok(t, <-sent)
				isKind(t, "the signal was given twice", waitFor(t, srv, "c", 20*time.Millisecond), context.DeadlineExceeded)
			}
		})
	}
}

// TestSignalWaitsForItsTurn: no signal is sent before an earlier wait has begun. A signal
// sent to a server that does not answer would arrive later, although its call has failed.
func TestSignalWaitsForItsTurn(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), testserver.Context(t)
	ok(t, do(ctx, srv, tmux.ListSessions{}))
	pid := must[int](t)(strconv.Atoi(testserver.Run(t, srv, "display-message", "-p", "#{pid}")))
	ok(t, syscall.Kill(pid, syscall.SIGSTOP))
	woken := make(chan error, 1)
	go func() { woken <- srv.Channel("c").Wait(ctx) }()
	testtool.Eventually(t, "the wait has the turn", func() bool { return tmux.TurnTaken(srv, "c") })
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	isKind(t, "the server answers", srv.Channel("c").Signal(short), context.DeadlineExceeded)
	ok(t, syscall.Kill(pid, syscall.SIGCONT))
	ok(t, srv.Channel("c").Signal(ctx))
	ok(t, <-woken)
	isKind(t, "two signals were sent", waitFor(t, srv, "c", 50*time.Millisecond), context.DeadlineExceeded)
}

// TestWaitIsNotWokenByTheEndOfAnother: the queue of a channel is emptied after a wait that
// gave up. A wait that begins meanwhile is not taken for signalled.
func TestWaitIsNotWokenByTheEndOfAnother(t *testing.T) {
	t.Parallel()
	srv := started(t)
	pid := must[int](t)(strconv.Atoi(testserver.Run(t, srv, "display-message", "-p", "#{pid}")))
	channel := srv.Channel("never")
	wait := func(d time.Duration) error {
		ctx, cancel := context.WithTimeout(testserver.Context(t), d)
		defer cancel()
		return channel.Wait(ctx)
	}
	kill := func(sig syscall.Signal) {
		ok(t, syscall.Kill(pid, sig))
	}
	// The server does not answer while the first gives up and others begin.
	first := make(chan error, 1)
	go func() { first <- wait(300 * time.Millisecond) }()
	time.Sleep(150 * time.Millisecond) // so that it is in the queue, or else there is less to see
	kill(syscall.SIGSTOP)
	isKind(t, "the first wait", <-first, context.DeadlineExceeded)
	others := make(chan error)
	for range 8 {
		go func() { others <- wait(time.Second) }()
	}
	time.Sleep(100 * time.Millisecond) // for what they send
	kill(syscall.SIGCONT)
	for range 8 {
		isKind(t, "another wait", <-others, context.DeadlineExceeded)
	}
	// A signal still wakes the next one.
	ok(t, channel.Signal(testserver.Context(t)))
	ok(t, wait(time.Minute))
}

// With Wait the command takes as long as the pane's program, however long that is, and
// fails as it does.
func TestPaneWait(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), testserver.Context(t)
	_, err := srv.Pane("%0").Split(ctx, tmux.SplitWindow{Wait: true, Command: []string{"exit 3"}})
	if !must[bool](t)(srv.Supports(ctx, tmux.FieldFeature(tmux.SplitWindow{}, "Wait"))) {
		isKind(t, "to wait for a pane", err, tmux.ErrUnsupported)
		return
	}
	var e *tmux.Error
	expect(t, errors.As(err, &e) && e.ExitCode == 3, "got %v", err)
	ok(t, second(srv.Pane("%0").Split(ctx, tmux.SplitWindow{Wait: true, Command: []string{"true"}})))
}
