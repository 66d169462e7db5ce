package tmux

import (
	"context"
	"errors"
	"strings"
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

// Signal wakes everybody who waits on the channel or, if nobody does, the next one who will.
func (c Channel) Signal(ctx context.Context) error {
	return c.srv.run(ctx, WaitFor{Channel: c.name, Signal: true})
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
// another Wait of this Server is in it; that wakes whoever else waits on the channel.
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
	if err := s.joinWait(ctx, channel); err != nil {
		return err
	}
	waiting, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	begun, begin := context.WithCancel(context.Background())
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
		s.leaveWait(channel, false)
		if err == nil && strings.TrimSpace(string(outs[2])) == "" {
			err = s.stillThere(ctx)
		}
		if e, ok := errors.AsType[*Error](err); ok && e.Err != ErrNoServer && (e.ExitCode == 0 || e.Err == nil) {
			e.Err = ErrServerGone
		}
		return err
	case <-ctx.Done():
	}
	signalled := make(chan struct{})
	settle(ctx, func(within context.Context) {
		// A waiter that may or may not be in the queue could not be taken out of it.
		select {
		case <-begun.Done():
		case <-ended:
		case <-within.Done():
		}
		stop(context.Cause(ctx))
		<-ended
		if err == nil {
			close(signalled)
		}
		if emptied := s.leaveWait(channel, err != nil && begun.Err() != nil); emptied != nil {
			s.forgetWaiter(within, channel)
			emptied()
		}
		begin()
	})
	select {
	case <-signalled: // after all
		return nil
	default:
		return context.Cause(ctx)
	}
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
	n       int
	emptied chan struct{} // closed when the channel's queue is empty; nil if nobody empties it
}

// joinWait counts in a wait on a channel, which must not be in the queue while that is emptied: it
// would be taken for signalled.
func (s *Server) joinWait(ctx context.Context, channel string) error {
	for {
		s.mu.Lock()
		if s.waiting == nil {
			s.waiting = map[string]*channelWaits{}
		}
		w := s.waiting[channel]
		if w == nil {
			w = new(channelWaits)
			s.waiting[channel] = w
		}
		emptied := w.emptied
		if emptied == nil {
			w.n++
		}
		s.mu.Unlock()
		if emptied == nil {
			return nil
		}
		select {
		case <-emptied:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// leaveWait counts out a wait. If it was the last and left a waiter behind, the queue is to be emptied,
// and then the function called that leaveWait returns.
func (s *Server) leaveWait(channel string, left bool) (emptied func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.waiting[channel]
	if w.n--; w.n > 0 {
		return nil
	}
	if !left {
		delete(s.waiting, channel)
		return nil
	}
	w.emptied = make(chan struct{})
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.waiting, channel)
		close(w.emptied)
	}
}

// forgetWaiter empties the queue of a channel on which a dead waiter of ours is.
// A signal that was on its way is kept for the next one who waits: it finds no
// waiter any more, or this one does.
func (s *Server) forgetWaiter(ctx context.Context, channel string) {
	if v, err := s.Version(ctx); err == nil && !forgetsWaiters.released(v) {
		_ = s.Channel(channel).Signal(ctx) // without a server there is no queue
	}
}
