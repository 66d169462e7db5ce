package typing

import (
	"context"
	"slices"
	"sync"
	"time"

	"tmuxmcp/internal/lazy"
	"tmuxmcp/internal/pause"
	"tmuxmcp/internal/runner"
	"tmuxmcp/server/internal/caller"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/tmux"
)

// Some of what is typed means something else if the next key follows at once: a program
// takes Escape and O for the beginning of an arrow key, and an Enter that comes with a paste
// for a part of it.

const (
	// escapePause follows an Escape. Programs wait at most a second for the rest of a key:
	// vim (timeoutlen) and ncurses (ESCDELAY) for one, readline for half of one.
	escapePause = 1100 * time.Millisecond
	// typedPause is between two keys that a program must not read at once: two Escapes, or a
	// paste and its Enter.
	typedPause = 120 * time.Millisecond
)

// escapeKey matches the keys that end in what may begin another one: Escape, by both its
// names, and M-[ and M-O, which are Escape and a character.
var escapeKey = lazy.Regexp(`^([CMS]-)*Escape$|^(M-)*C-(M-)*\[$|^M-[\[O]$`)

func isEscape(name string) bool { return escapeKey().MatchString(name) }

// pauseAfterEscape returns what waits behind an Escape. Two of them are no other key, but
// in some programs one that is pressed twice.
func pauseAfterEscape(again bool) func(context.Context, *tmux.Look) error {
	d := escapePause
	if again {
		d = typedPause
	}
	return func(ctx context.Context, _ *tmux.Look) error { return pause.For(ctx, d) }
}

// escapes are the panes that a call has left with Escape as the last key, and when.
type escapes struct {
	mu   sync.Mutex
	last []escape
}

type escape struct {
	socket string
	pane   tmux.PaneID
	at     time.Time
}

func (e *escapes) add(srv *tmux.Server, pane tmux.PaneID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.last = append(slices.DeleteFunc(e.last, escape.over), escape{srv.SocketPath(), pane, time.Now()})
}

func (e escape) over() bool { return time.Since(e.at) > escapePause }

// pass waits until a key that is typed into a pane is not taken for a part of an Escape.
// Without an id it may be any pane.
func (e *escapes) pass(ctx context.Context, srv *tmux.Server, pane tmux.PaneID) error {
	e.mu.Lock()
	var end time.Time
	for _, last := range e.last {
		if last.socket == srv.SocketPath() && (pane == "" || last.pane == pane) {
			end = last.at.Add(escapePause)
		}
	}
	e.mu.Unlock()
	if left := time.Until(end); left > 0 {
		return pause.For(ctx, left)
	}
	return nil
}

// pasteTaken waits until the program has taken a paste: until it has read everything, where
// that is known, and the cursor has moved, as a paste that shows moves it, and then rested.
func (t *Typist) pasteTaken(ctx context.Context, before *tmux.Look) error {
	const (
		look   = 30 * time.Millisecond
		unseen = 500 * time.Millisecond // for a paste that does not show
		most   = 3 * time.Second        // for a cursor that never rests
		unread = 30 * time.Second       // for a program that reads slowly
	)
	start, moved := time.Now(), time.Time{}
	was := screen.CursorAt(before)
	pid := caller.PID(ctx, t.Tmux, before.PaneState)
	for read := start; ; {
		if runner.Unread(pid, before.TTY) {
			read = time.Now()
		}
		rests := time.Since(read) >= typedPause
		switch {
		case read.Sub(start) >= unread:
			return reply.Faultf(reply.KindTimeout, "its program has not read the paste in %v, and Enter was not pressed", unread)
		case rests && (!moved.IsZero() && time.Since(moved) >= typedPause || moved.IsZero() && time.Since(start) >= unseen || time.Since(read) >= most):
			return nil
		}
		if err := pause.For(ctx, look); err != nil {
			return err
		}
		now, err := screen.CursorOf(ctx, t.Tmux, before.ID)
		if err != nil {
			return err
		}
		if now != was {
			was, moved = now, time.Now()
		}
	}
}
