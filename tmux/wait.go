package tmux

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"
)

// What is to be put in order after a context has ended takes at most settleTime. The call itself
// stays for graceTime of it: a server that does not answer must not keep it.
const (
	settleTime = 2 * time.Second
	graceTime  = 100 * time.Millisecond
)

// settle puts something in order, and returns when that is done or, once ctx has ended, after
// graceTime.
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

// A Channel is a name that clients of the server wait on and signal: see [WaitFor]. It is a handle
// that costs nothing; tmux knows a channel only while somebody uses it.
type Channel struct {
	srv  *Server
	name string
}

// Channel returns the channel of this name. The name must not be empty.
func (s *Server) Channel(name string) Channel { return Channel{s, name} }

// Signal wakes everybody who waits on the channel or, if nobody does, the next one who will. In tmux a
// second signal before that takes the first one back.
func (c Channel) Signal(ctx context.Context) error {
	if err := c.srv.usable(); err != nil {
		return err
	}
	if err := c.srv.settled(ctx, c.name, func(*channelWaits) {}); err != nil {
		return err
	}
	return c.srv.signal(ctx, c.name)
}

func (s *Server) signal(ctx context.Context, channel string) error {
	return s.run(ctx, WaitFor{Channel: channel, Signal: true})
}

// Lock locks the channel, waiting until it is free. See [WaitFor] for what is left before tmux 3.8
// if the context ends first.
func (c Channel) Lock(ctx context.Context) error {
	return c.srv.run(ctx, WaitFor{Channel: c.name, Lock: true})
}

// Unlock unlocks the channel. It fails if the channel is not locked.
func (c Channel) Unlock(ctx context.Context) error {
	return c.srv.run(ctx, WaitFor{Channel: c.name, Unlock: true})
}

// Wait waits until the channel is signalled or the context ends. It fails with [ErrServerGone] if
// the tmux server exits meanwhile, which tmux itself reports as a signal.
//
// Nothing is left of the wait when the context ends, if the server answers. Before 3.8 tmux keeps the waiter of a client
// that has gone, and the next signal would be lost to it. So the channel's queue is emptied, unless
// another Wait of this Server is in it; that wakes whoever else waits on the channel. From 3.8 on a
// signal of another program is lost if tmux gets it before it notices that the client has gone.
func (c Channel) Wait(ctx context.Context) error {
	s, channel := c.srv, c.name
	if err := s.usable(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	words, err := encode(WaitFor{Channel: channel}, nil)
	if err != nil {
		return err
	}
	// The command before the wait shows that it has begun. A server that ends wakes
	// all who wait, and runs what stands behind when it has no session any more.
	stays := item{words: encoded{"display-message", "-p", "#{?session_id,#{?exit-unattached,,1},}"}}
	list := []item{stays, {words: words}, stays}
	if err := s.settled(ctx, channel, func(w *channelWaits) { w.waits++; w.unsettle() }); err != nil {
		return err
	}
	waiting, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	begun, begin := context.WithCancel(context.Background())
	context.AfterFunc(begun, func() { s.waitSettled(channel) })
	ended := make(chan struct{})
	var outs [][]byte
	go func() {
		defer close(ended)
		defer stop(nil)
		outs, err = s.roundTrip(waiting, list, begin)
	}()
	select {
	case <-ended:
		begin()
		s.leaveWait(channel, err == nil, false)
		if err == nil && strings.TrimSpace(string(outs[2])) == "" {
			err = s.stillThere(ctx)
		}
		if e, ok := errors.AsType[*Error](err); ok && e.Err != ErrNoServer && (e.ExitCode == 0 || e.Err == nil) {
			e.Err = ErrServerGone
		}
		return err
	case <-ctx.Done():
	}
	s.settleWait(channel)
	var told atomic.Bool // whether the signal came
	settle(ctx, func(within context.Context) {
		// A waiter that may or may not be in the queue could not be taken out of it.
		select {
		case <-begun.Done():
		case <-ended:
		case <-within.Done():
		}
		stop(context.Cause(ctx))
		<-ended
		signalled := err == nil
		last, left := s.leaveWait(channel, signalled, begun.Err() != nil)
		switch {
		case signalled && told.CompareAndSwap(false, true):
		case signalled && last: // nobody knows of it
			_ = s.signal(within, channel)
		case last && left:
			s.forgetWaiter(within, channel)
		}
		s.waitSettled(channel)
		begin()
	})
	if told.CompareAndSwap(false, true) {
		return context.Cause(ctx)
	}
	return nil // signalled after all
}

// stillThere distinguishes a server without sessions from one that is about to exit.
func (s *Server) stillThere(ctx context.Context) error {
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

// channelWaits are the waits of a Server on a channel.
type channelWaits struct {
	waits int
	left  bool // one of them left a waiter behind in the queue, and none was signalled since
	// settling are the waits that have not begun, and those whose context has ended, until nothing is
	// left of them: a waiter left behind may take a signal for the former, and so may the latter; and
	// emptying the queue wakes who waits. settled is closed then.
	settling int
	settled  chan struct{}
}

// settled changes what is known of a channel once nothing of an earlier wait is left to settle.
func (s *Server) settled(ctx context.Context, channel string, change func(*channelWaits)) error {
	for {
		s.mu.Lock()
		w := s.waiting[channel]
		if w == nil {
			w = new(channelWaits)
		}
		settling, settled := w.settling > 0, w.settled
		if !settling {
			change(w)
			s.keepWaits(channel, w)
		}
		s.mu.Unlock()
		if !settling {
			return nil
		}
		select {
		case <-settled:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// keepWaits keeps what is known of a channel as long as somebody waits on it.
func (s *Server) keepWaits(channel string, w *channelWaits) {
	switch {
	case w.waits == 0 && w.settling == 0:
		delete(s.waiting, channel)
	case s.waiting == nil:
		s.waiting = map[string]*channelWaits{channel: w}
	default:
		s.waiting[channel] = w
	}
}

// settleWait notes that the context of a wait has ended.
func (s *Server) settleWait(channel string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting[channel].unsettle()
}

func (w *channelWaits) unsettle() {
	if w.settling++; w.settling == 1 {
		w.settled = make(chan struct{})
	}
}

// waitSettled notes that a wait has begun, or that nothing is left of one whose context had ended.
func (s *Server) waitSettled(channel string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.waiting[channel]
	if w.settling--; w.settling == 0 {
		close(w.settled)
	}
	s.keepWaits(channel, w)
}

// leaveWait counts out a wait, which was signalled or may have left a waiter behind. It reports whether it was the
// last, and whether the queue has waiters that were left behind.
func (s *Server) leaveWait(channel string, signalled, behind bool) (last, left bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.waiting[channel]
	w.waits--
	w.left = !signalled && (w.left || behind)
	s.keepWaits(channel, w)
	return w.waits == 0, w.left
}

// forgetWaiter empties the queue of a channel on which a dead waiter of ours is.
// A signal that was on its way is kept for the next one who waits: it finds no
// waiter any more, or this one does.
func (s *Server) forgetWaiter(ctx context.Context, channel string) {
	if v, err := s.Version(ctx); err == nil && !forgetsWaiters.released(v) {
		_ = s.signal(ctx, channel) // without a server there is no queue
	}
}
