package typing

import (
	"context"
	"slices"
	"time"

	"tmuxmcp/internal/lazy"
	"tmuxmcp/internal/pause"
	"tmuxmcp/internal/runner"
	"tmuxmcp/server/internal/caller"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/follow"
)

// A program that is interrupted takes a moment to end, and to say that it does. A call that
// ends with C-c waits for that, or the next one would type into the dying program and take
// its last words for its own effect.

const (
	// interruptWait is the longest that a program gets to show that it was interrupted.
	interruptWait = 500 * time.Millisecond
	// keyRead is how long a key may be on its way to a program.
	keyRead = 30 * time.Millisecond
)

// signalKey matches the keys for which terminals send signals.
var signalKey = lazy.Regexp(`^C-([cCzZ]|\\)$`)

// echoesSignal matches a line that ends in what terminals echo of these keys.
var echoesSignal = lazy.Regexp(`\^[CZ\\]$`)

func (k Key) interrupts() bool { return signalKey().MatchString(k.Name) }

// interrupted is a pane in which a call has interrupted a program.
type interrupted struct {
	terminal
	program runner.Reader
	reads   bool // it gets the key itself
	// mark is where the pane was last seen to print, and printed when that was; zero if it has not.
	mark    *follow.Mark
	printed time.Time
}

// interrupting returns what is about to be interrupted; nil if that cannot be known.
func (t *Typist) interrupting(ctx context.Context, on target.Object) *interrupted {
	at, known := t.keyboard.terminals.of(t.Tmux, on.Selection.Pane)
	if !known {
		panes, err := tmux.List[reader](ctx, t.Tmux, tmux.DisplayMessage{Target: on.Target})
		if err != nil {
			return nil // reported when typing
		}
		at = terminal{pid: panes[0].PID, tty: panes[0].TTY}
	}
	i := &interrupted{terminal: at}
	if caller.Sees(ctx, t.Tmux) {
		i.program, i.reads = runner.ReaderOf(at.pid, at.tty), runner.ReadsSignals(at.pid, at.tty)
	}
	return i
}

// InterruptTaken waits, if the last key that was typed was C-c, until the program has taken
// it: until another one reads, or the pane has printed and rests or a shell is at its prompt.
func (t *Typist) InterruptTaken(ctx context.Context) error {
	i := t.interrupted
	if i == nil || t.last == nil {
		return nil
	}
	i.mark, i.printed = t.last, time.Time{}
	for start := time.Now(); time.Since(start) < interruptWait; {
		if taken, err := i.taken(ctx, t.Tmux, time.Since(start)); taken || err != nil {
			return err
		}
		if err := pause.For(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// taken reports whether the program has taken the interrupt, so long after it was typed.
func (i *interrupted) taken(ctx context.Context, srv *tmux.Server, after time.Duration) (bool, error) {
	if i.reads {
		return after >= keyRead && !runner.Unread(i.pid, i.tty), nil
	}
	now := runner.Reader{}
	if i.program.Known() {
		now = runner.ReaderOf(i.pid, i.tty)
	}
	atPrompt := now.IsShell() && now.Prompt && now.Waiting
	if now.Known() && !i.program.Same(now) && !atPrompt {
		return !now.IsShell(), nil
	}
	// What the program and the shell have printed by then, tmux may not have passed on.
	l, err := follow.LookAt(ctx, srv, i.mark.Pane, i.mark)
	if err != nil || l.Dead || l.Respawned {
		return true, ctx.Err() // it has ended
	}
	if slices.ContainsFunc(l.New, func(line string) bool { return !echoesSignal().MatchString(line) }) {
		i.printed, i.mark = time.Now(), l.Mark()
	}
	return !i.printed.IsZero() && (atPrompt || time.Since(i.printed) >= typedPause), nil
}
