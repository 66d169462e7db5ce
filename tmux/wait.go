package tmux

import (
	"context"
	"errors"
	"strings"
	"time"
)

// settleTime bounds what a wait does after its context has ended.
const settleTime = 2 * time.Second

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
// Nothing is left of the wait when the context ends. Before 3.8 tmux keeps the waiter of a client
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
	s.joinWait(channel, 1)
	waiting, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	begun, begin := context.WithCancel(context.Background())
	defer begin()
	ended := make(chan struct{})
	var outs [][]byte
	go func() {
		defer close(ended)
		outs, err = s.roundTrip(waiting, list, begin)
	}()
	select {
	case <-ended:
		s.joinWait(channel, -1)
		if err == nil && strings.TrimSpace(string(outs[2])) == "" {
			err = s.stillThere(context.WithoutCancel(ctx))
		}
		if e, ok := errors.AsType[*Error](err); ok && e.Err != ErrNoServer && (e.ExitCode == 0 || e.Err == nil) {
			e.Err = ErrServerGone
		}
		return err
	case <-ctx.Done():
	}
	// A waiter that may or may not be in the queue could not be taken out of it.
	select {
	case <-begun.Done():
	case <-ended:
	case <-time.After(settleTime):
	}
	stop(context.Cause(ctx))
	<-ended
	left := s.joinWait(channel, -1)
	if err == nil {
		return nil // signalled after all
	}
	if left == 0 && begun.Err() != nil {
		s.forgetWaiter(context.WithoutCancel(ctx), channel)
	}
	return context.Cause(ctx)
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

// joinWait counts a wait on a channel in or out, and returns how many there are.
func (s *Server) joinWait(channel string, n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting == nil {
		s.waiting = map[string]int{}
	}
	s.waiting[channel] += n
	left := s.waiting[channel]
	if left == 0 {
		delete(s.waiting, channel)
	}
	return left
}

// forgetWaiter empties the queue of a channel on which a dead waiter of ours is.
// A signal that was on its way is kept for the next one who waits: it finds no
// waiter any more, or this one does.
func (s *Server) forgetWaiter(ctx context.Context, channel string) {
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	if v, err := s.Version(ctx); err == nil && !forgetsWaiters.released(v) {
		_ = s.Channel(channel).Signal(ctx) // without a server there is no queue
	}
}
