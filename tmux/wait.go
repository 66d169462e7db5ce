package tmux

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// settleTime bounds what a wait does after its context has ended.
const settleTime = 2 * time.Second

// Wait waits until a channel is signalled, at the latest until the context ends.
// A tmux server that goes away meanwhile is an [ErrServerGone]; tmux itself would
// tell it as a signal.
//
// When the context ends, nothing is left of the wait. Before 3.8 tmux keeps the
// waiter of a client that has gone, to which the next signal would be lost. So
// the channel's queue is emptied, unless another Wait of this Server is on it;
// that wakes whoever else waits on the same channel.
func (s *Server) Wait(ctx context.Context, channel string) error {
	if channel == "" {
		return argumentError("a channel without a name")
	}
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	words, err := encode(WaitFor{Channel: channel}, nil)
	if err != nil {
		return err
	}
	// What stands before the wait tells that it has begun. A server that ends wakes
	// all who wait, and runs what stands behind when it has no session any more.
	stays := item{words: encoded{"display-message", "-p", "#{?session_id,#{?exit-unattached,,1},}"}}
	list := []item{stays, {words: words}, stays}
	s.joinWait(channel, 1)
	waiting, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	begun, ended := make(chan struct{}), make(chan struct{})
	var once sync.Once
	var outs [][]byte
	go func() {
		defer close(ended)
		outs, err = s.roundTrip(waiting, list, func() { once.Do(func() { close(begun) }) })
	}()
	select {
	case <-ended:
		s.joinWait(channel, -1)
		if err == nil && strings.TrimSpace(string(outs[2])) == "" {
			err = s.stillThere(context.WithoutCancel(ctx))
		}
		var e *Error
		if errors.As(err, &e) && e.Err != ErrNoServer && (e.ExitCode == 0 || e.Err == nil) {
			e.Err = ErrServerGone
		}
		return err
	case <-ctx.Done():
	}
	// A waiter that may or may not be in the queue could not be taken out of it.
	select {
	case <-begun:
	case <-ended:
	case <-time.After(settleTime):
	}
	stop(context.Cause(ctx))
	<-ended
	left := s.joinWait(channel, -1)
	if err == nil {
		return nil // signalled after all
	}
	if left == 0 && isClosed(begun) {
		s.forgetWaiter(context.WithoutCancel(ctx), channel)
	}
	return context.Cause(ctx)
}

// stillThere tells a server without sessions from one that is about to end.
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

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
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
	if v, err := s.Version(ctx); err == nil && v.Compare(Version{Major: 3, Minor: 8}) < 0 {
		_ = s.Signal(ctx, channel) // without a server there is no queue
	}
}

// AwaitOutput waits until the pane has printed something more than when its
// pane_output_generation was the one given, which it may have by now, or until
// the context ends. It returns at once when there is no such pane, but that a pane
// ends is no output. It needs 3.8, the first tmux with that token, which also
// forgets a waiter whose context has ended.
func (r PaneRef) AwaitOutput(ctx context.Context, generation int64) error {
	wait, err := r.srv.Script(ctx, WaitFor{Event: true, Channel: "pane-activity", Filter: Format("#{==:#{pane}," + string(r.ID) + "}")})
	if err != nil {
		return err
	}
	// To tmux the condition and the wait are one step: nothing is missed between
	// them.
	words, err := encode(IfShell{
		Target: r, Test: true, Then: wait,
		Condition: Format(fmt.Sprintf("#{==:#{pane_output_generation},%d}", generation)),
	}, nil)
	if err != nil {
		return err
	}
	_, err = r.srv.roundTrip(ctx, []item{{words: words}}, nil)
	return err
}
