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
	"tmuxmcp/tmux/follow"
)

// Some of what is typed means something else if the next key follows at once: a program
// takes Escape and O for the beginning of an arrow key, and an Enter that comes with a text or
// a paste for a part of that.

const (
	// escapePause follows an Escape. Programs wait at most a second for the rest of a key:
	// vim (timeoutlen) and ncurses (ESCDELAY) for one, readline for half of one.
	escapePause = 1100 * time.Millisecond
	// typedPause is between two keys that a program must not read at once: two Escapes, or a
	// text or paste and its Enter.
	typedPause = 120 * time.Millisecond
)

// escapeKey matches the keys that end in what may begin another one: Escape, by both its
// names, and M-[ and M-O, which are Escape and a character.
var escapeKey = lazy.Regexp(`^([CMS]-)*Escape$|^(M-)*C-(M-)*\[$|^M-[\[O]$`)

func isEscape(name string) bool { return escapeKey().MatchString(name) }

// pauseAfterEscape returns the pause after an Escape. Two of them do not make another key, but some
// programs take them for one that is pressed twice.
func pauseAfterEscape(again bool) func(context.Context, *follow.Look) error {
	d := escapePause
	if again {
		d = typedPause
	}
	return func(ctx context.Context, _ *follow.Look) error { return pause.For(ctx, d) }
}

var enterKey = lazy.Regexp(`^(Enter|KPEnter|C-m)$`)

func isEnter(name string) bool { return enterKey().MatchString(name) }

// textTaken waits until a program that may take Enter for a part of a paste has taken a text:
// until it has read everything, where that is known, and for a moment more.
func (t *Typist) textTaken(ctx context.Context, before *follow.Look) error {
	const most = 2 * time.Second // for a program that does not read
	pid := caller.PID(ctx, t.Tmux, before.PaneState)
	for start, read := time.Now(), time.Now(); time.Since(read) < typedPause && time.Since(start) < most; {
		if takes, _ := t.keyboard.terminals.takesEnter(ctx, t.Tmux, before.ID); takes {
			return nil // as when the shell is back
		}
		if runner.Unread(pid, before.TTY) {
			read = time.Now()
		}
		if err := pause.For(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// endings are the panes that a call has left with Escape or Enter as the last key, and when.
type endings struct {
	mu   sync.Mutex
	last []ending
}

type ending struct {
	socket string
	pane   tmux.PaneID
	enter  bool
	at     time.Time
}

func (e *endings) add(srv *tmux.Server, pane tmux.PaneID, enter bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.last = append(slices.DeleteFunc(e.last, ending.over), ending{srv.SocketPath(), pane, enter, time.Now()})
}

// of returns the endings of a pane; without an id, of any pane.
func (e *endings) of(srv *tmux.Server, pane tmux.PaneID) []ending {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(e.last), func(last ending) bool {
		return last.over() || last.socket != srv.SocketPath() || pane != "" && last.pane != pane
	})
}

func (e ending) over() bool { return time.Since(e.at) > e.pause() }

func (e ending) pause() time.Duration {
	if e.enter {
		return typedPause
	}
	return escapePause
}

// pass waits until a key that is typed into a pane is not taken for a part of what another
// call has typed. Without an id it may be any pane.
func (t *Typist) pass(ctx context.Context, pane tmux.PaneID) error {
	for _, last := range t.keyboard.endings.of(t.Tmux, pane) {
		if last.enter {
			if takes, known := t.keyboard.terminals.takesEnter(ctx, t.Tmux, last.pane); takes || !known {
				continue
			}
		}
		if left := time.Until(last.at.Add(last.pause())); left > 0 {
			if err := pause.For(ctx, left); err != nil {
				return err
			}
		}
	}
	return nil
}

// pasteTaken waits until the program has taken a paste: until it has read everything, where
// that is known, and the cursor has moved, as a paste that shows moves it, and then rested.
func (t *Typist) pasteTaken(ctx context.Context, before *follow.Look) error {
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
