package tmux

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"time"
)

// Cleanup after a context has ended takes at most settleTime. The call itself stays for
// graceTime of it: a server that does not answer must not hold it up.
const (
	settleTime = 2 * time.Second
	graceTime  = 100 * time.Millisecond
)

// settle runs do, and returns when it is done or, once ctx has ended, after graceTime.
func settle(ctx context.Context, do func(ctx context.Context)) {
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer cancel()
		do(within)
	}()
	select {
	case <-done:
		return
	case <-ctx.Done():
	}
	select {
	case <-done:
	case <-time.After(graceTime):
	}
}

// A Channel is a name that clients of the server wait on and signal: see [WaitFor]. It is a
// handle that costs nothing; tmux knows a channel only while it is in use.
type Channel struct {
	srv  *Server
	name string
}

// Channel returns the channel of this name. The name must not be empty.
func (s *Server) Channel(name string) Channel { return Channel{s, name} }

// Signal wakes all who wait on the channel or, if there are none, the next to wait. In tmux, a
// second signal before that cancels the first.
func (c Channel) Signal(ctx context.Context) error {
	if err := c.srv.usable(); err != nil {
		return err
	}
	giveBack, err := c.takeTurn(ctx)
	if err != nil {
		return err
	}
	defer giveBack()
	return c.signal(ctx)
}

func (c Channel) signal(ctx context.Context) error {
	return c.srv.run(ctx, WaitFor{Channel: c.name, Signal: true})
}

// Lock locks the channel, waiting until it is free. See [WaitFor] for what is left behind
// before tmux 3.8 if the context ends first.
func (c Channel) Lock(ctx context.Context) error {
	return c.srv.run(ctx, WaitFor{Channel: c.name, Lock: true})
}

// Unlock unlocks the channel. It fails if the channel is not locked.
func (c Channel) Unlock(ctx context.Context) error {
	return c.srv.run(ctx, WaitFor{Channel: c.name, Unlock: true})
}

// Wait waits until the channel is signalled or the context ends. It fails with
// [ErrServerGone] if the tmux server exits meanwhile, which tmux itself reports as a
// signal.
//
// If the server answers, nothing is left of the wait after the context ends. tmux before
// 3.8 keeps the waiter of a client that is gone, and the next signal would be lost to it.
// So the wait is ended by a signal, unless another Wait of this Server is on the channel; the
// signal wakes all others that wait on it. From 3.8 on, a signal from another program
// is lost if tmux gets it before it notices that the client is gone.
func (c Channel) Wait(ctx context.Context) error {
	if err := c.srv.usable(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	w, err := c.enqueue(ctx)
	if err != nil {
		return err
	}
	select {
	case <-w.begun.Done():
		w.giveBack()
		w.giveBack = nil
	case <-w.ended:
	case <-ctx.Done():
	}
	select {
	case <-w.ended:
	case <-ctx.Done():
	}
	select {
	case <-w.ended:
		return w.finish(ctx)
	default:
		return w.giveUp(ctx)
	}
}

// A waiter is a wait that was sent to tmux.
type waiter struct {
	Channel
	giveBack func()                  // gives back the turn of the channel; nil if the waiter does not have it
	begun    context.Context         // ends once tmux has begun to run the list
	stop     context.CancelCauseFunc // closes the connection
	ended    chan struct{}           // closed once outs and err are set
	outs     [][]byte
	err      error
}

// enqueue sends tmux a wait. The waiter has the turn of the channel.
func (c Channel) enqueue(ctx context.Context) (*waiter, error) {
	words, err := encode(WaitFor{Channel: c.name}, nil, nil)
	if err != nil {
		return nil, err
	}
	// The command before the wait shows that the list has begun. A server that exits wakes
	// all waiters, and then runs the command after the wait without a session.
	stays := newItem(encoded{"display-message", "-p", "#{?session_id,#{?exit-unattached,,1},}"})
	list := []item{stays, newItem(words), stays}
	giveBack, err := c.takeTurn(ctx)
	if err != nil {
		return nil, err
	}
	c.countWaits(1)
	sent, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	begun, begin := context.WithCancel(context.Background())
	w := &waiter{Channel: c, giveBack: giveBack, begun: begun, stop: stop, ended: make(chan struct{})}
	go func() {
		defer close(w.ended)
		defer stop(nil)
		w.outs, w.err = c.srv.roundTrip(sent, list, begin)
	}()
	return w, nil
}

// finish returns how the wait has ended.
func (w *waiter) finish(ctx context.Context) error {
	w.countWaits(-1)
	if w.giveBack != nil {
		w.giveBack()
	}
	err := w.err
	if err == nil && strings.TrimSpace(string(w.outs[2])) == "" {
		err = stillThere(ctx, w.srv)
	}
	var e *Error
	if errors.As(err, &e) && e.Err != ErrNoServer && (e.ExitCode == 0 || e.Err == nil) {
		e.Err = ErrServerGone
	}
	return err
}

// giveUp ends the wait, because the context has ended. It returns nil if the wait was signalled
// after all.
func (w *waiter) giveUp(ctx context.Context) error {
	var decided atomic.Bool // what Wait returns
	settle(ctx, func(within context.Context) {
		if w.giveBack == nil {
			w.giveBack, _ = w.takeTurn(within)
		} else {
			// A waiter that may or may not be in the queue could not be removed from it.
			select {
			case <-w.begun.Done():
			case <-w.ended:
			case <-within.Done():
			}
		}
		hasTurn := w.giveBack != nil
		if hasTurn {
			defer w.giveBack()
		}
		last := w.countWaits(-1) == 0
		if last && hasTurn && w.begun.Err() != nil && w.wake(within, w.ended) {
			return
		}
		w.stop(context.Cause(ctx))
		<-w.ended
		signalled := w.err == nil
		if signalled && !decided.CompareAndSwap(false, true) && last {
			_ = w.signal(within) // nobody got the signal
		}
	})
	if decided.CompareAndSwap(false, true) {
		return context.Cause(ctx)
	}
	return nil
}

// stillThere distinguishes a server without sessions from one that is about to exit.
func stillThere(ctx context.Context, s *Server) error {
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	for range 20 {
		if _, err := s.Do(ctx, DisplayMessage{Print: true, Message: "#{pid}"}); err != nil {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil
}

// takeTurn waits for the turn of a channel. Only its holder begins a wait, ends one early,
// or signals: a waiter that is left behind, or that begins late, would take the signal, and
// emptying the channel's queue wakes all waiters.
func (c Channel) takeTurn(ctx context.Context) (giveBack func(), err error) {
	giveBack, _, ok := c.srv.turns.Take(ctx, c.name, math.MaxInt64)
	if !ok {
		return nil, context.Cause(ctx)
	}
	return giveBack, nil
}

// countWaits changes the number of this Server's waits on a channel, and returns it.
func (c Channel) countWaits(by int) int {
	s := c.srv
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waits == nil {
		s.waits = map[string]int{}
	}
	n := s.waits[c.name] + by
	if s.waits[c.name] = n; n == 0 {
		delete(s.waits, c.name)
	}
	return n
}

// wake ends a wait by a signal on its channel, where no other wait of ours is, and reports
// whether it has ended. tmux before 3.8 never frees a client that ends while it waits, some
// 5 kB. A signal in flight is not lost: either it or this one finds no waiter and is kept
// for the next.
func (c Channel) wake(ctx context.Context, ended <-chan struct{}) bool {
	select {
	case <-ended: // signalled
		return false
	default:
	}
	if v, err := c.srv.Version(ctx); err != nil || forgetsWaiters.released(v) || c.signal(ctx) != nil {
		return false
	}
	select {
	case <-ended:
		return true
	case <-ctx.Done():
		return false
	}
}

// AwaitOutput waits until one of the panes prints, or until the context ends. Output before
// armed is called may be missed, but none after that: so look at the panes in armed or later.
// A pane that exits prints nothing. It needs tmux 3.8, and at least one pane.
func (s *Server) AwaitOutput(ctx context.Context, armed func(), panes ...PaneID) error {
	if err := s.usable(); err != nil {
		return err
	}
	if len(panes) == 0 {
		return argumentError("no panes to wait for")
	}
	for _, id := range panes {
		if err := id.checkTarget(); err != nil {
			return err
		}
	}
	filter := MatchOneOf("pane", panes...)
	var list []item
	// The command before the wait shows that the list has begun.
	for _, cmd := range []Command{DisplayMessage{Print: true, Message: "x"}, WaitFor{Event: true, Channel: "pane-activity", Filter: filter}} {
		words, _, err := s.encode(ctx, cmd)
		if err != nil {
			return err
		}
		list = append(list, newItem(words))
	}
	_, err := s.roundTrip(ctx, list, armed)
	return err
}
