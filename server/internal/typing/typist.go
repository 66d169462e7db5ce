// Package typing is the one way to type into panes: guarded, in one round trip, and with what
// was typed known to the waits that follow.
package typing

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"tmuxmcp/internal/runner"
	"tmuxmcp/server/internal/caller"
	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/tool"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/follow"
	"tmuxmcp/tmux/prompt"
)

// Keyboard is what the calls of a server share when they type. It is safe for concurrent use.
type Keyboard struct {
	// Screens has the marks from which waits go on.
	Screens *screen.Reader
	// PromptWait is [prompt.Wait], except in tests.
	PromptWait time.Duration
	yield      time.Duration // 0 if calls do not wait for somebody who types in the pane
	endings    endings
	terminals  terminals
}

// New returns a keyboard. yield is how long somebody else who types in a pane must have paused
// before a call types there: two seconds if zero. If it is negative, calls do not wait.
func New(screens *screen.Reader, yield time.Duration) *Keyboard {
	return &Keyboard{Screens: screens, PromptWait: prompt.Wait, yield: max(cmp.Or(yield, defaultYield), 0)}
}

// Typist types into panes, for one call. It is safe for concurrent use.
type Typist struct {
	rows.Source
	*guard.Guard
	keyboard *Keyboard

	mu   sync.Mutex
	into []screen.Bookmark // the panes as they were before the call typed into them, in order
	also []tmux.PaneID     // other panes, which are synchronized with these
	// atOnce is set if what read the keys was known to take Enter for itself.
	atOnce bool
	row    int          // the cursor's row, from the first of the history, when last typing
	last   *follow.Mark // the pane as it was when last typing
	// interrupted is set if the last key was C-c.
	interrupted *interrupted
	others      others
	// patience is the longest that the call waits for somebody who types; 0 for the usual time.
	patience time.Duration
}

// Typist returns the Typist of a call.
func (k *Keyboard) Typist(src rows.Source, g *guard.Guard) *Typist {
	return &Typist{Source: src, Guard: g, keyboard: k}
}

// Tool returns a tool that types. Only such a tool's handler gets a typist, which asks the
// guard before the first key; build_workspace, which makes one, types into its own panes.
func Tool[In, Out any](k *Keyboard, d tool.Decl, run func(ctx context.Context, t *Typist, on target.Object, in In) (Out, error)) *tool.Tool {
	d.Harm = guard.Types
	return tool.New(d, func(ctx context.Context, c tool.Call, in In) (Out, error) {
		t := k.Typist(c.Source, c.Guard)
		defer t.others.report(ctx, d.Aim.Rule != target.AimEach)
		return run(ctx, t, c.On, in)
	})
}

// Commands makes the commands that type into a pane.
type Commands func(tmux.Target) ([]tmux.Command, error)

// Type types the commands made by typing into a pane, in one round trip: tmux itself
// checks the pane and types only if it takes keys. A pane whose program has ended, whose
// input is off or which is in a mode is refused: keys would be lost, or drive the mode.
// Every tool that types uses it, and says what may be echoed, which no wait takes for
// output. The commands in first run in any case.
//
// It types into the caller's own pane only if the user has agreed, which takes a second
// round trip. If somebody else is typing in the pane, it waits for a pause.
func (t *Typist) Type(ctx context.Context, on target.Object, what screen.Echo, typing Commands, first ...tmux.Command) (tmux.PaneID, error) {
	return t.typeBursts(ctx, turnOf(t, waits), on, what, atOnce(typing), first...)
}

// atOnce returns what types the commands made by typing in one burst.
func atOnce(typing Commands) bursts {
	return func(to tmux.Target) ([]burst, error) {
		cmds, err := typing(to)
		return []burst{{cmds: cmds}}, err
	}
}

// typeBursts does what Type does for what is typed in several round trips, each of which
// checks the pane again.
func (t *Typist) typeBursts(ctx context.Context, w *turn, on target.Object, what screen.Echo, typing bursts, first ...tmux.Command) (tmux.PaneID, error) {
	own, err := t.Presence(ctx)
	if err != nil {
		return "", err
	}
	if own.Every {
		if err := t.Consent(ctx, guard.Types, own.What(on)); err != nil {
			return "", err
		}
		own, w = guard.Presence{}, turnOf(t, ignores)
	}
	pane, reaches, err := t.typeUnless(ctx, own, w, on, what, typing, first...)
	if err != nil || !reaches {
		return pane, err
	}
	if err := t.Consent(ctx, guard.Types, own.What(target.AtPane(pane))); err != nil {
		return "", err
	}
	pane, _, err = t.typeUnless(ctx, guard.Presence{}, turnOf(t, ignores), target.AtPane(pane), what, typing, first...)
	return pane, err
}

// TypeIntoMade does what Type does for a pane that the call itself created. It is not the
// caller's, but a hook may have synchronized them: then nothing is typed.
func (t *Typist) TypeIntoMade(ctx context.Context, pane tmux.PaneID, what screen.Echo, typing Commands) error {
	own, err := t.Presence(ctx)
	if err != nil {
		return err
	}
	_, reaches, err := t.typeUnless(ctx, own, turnOf(t, ignores), target.AtPane(pane), what, atOnce(typing))
	if err == nil && reaches {
		err = reply.Faultf(reply.KindRefused, "its keys would also reach %s", own.What())
	}
	return err
}

// typeUnless does what Type does, but types nothing if the keys would also reach the agent. It
// returns the pane that on names.
func (t *Typist) typeUnless(ctx context.Context, own guard.Presence, w *turn, on target.Object, what screen.Echo, typing bursts, first ...tmux.Command) (pane tmux.PaneID, reaches bool, err error) {
	if what.Longest > runner.MostLine {
		if on, err = t.fitsTerminal(ctx, on, what.Longest); err != nil {
			return "", false, err
		}
	}
	if err := t.pass(ctx, on.Selection.Pane); err != nil {
		return "", false, err
	}
	p, done, err := t.typeFirst(ctx, own, w, on, typing, first)
	if err != nil || done.reaches {
		return done.before.ID, done.reaches, err
	}
	t.remember(ctx, done.before, what, done.began)
	if err := t.typeRest(ctx, own, w, p, done); err != nil {
		return done.before.ID, false, inPart(done.before.ID, err)
	}
	return done.before.ID, false, nil
}

// typeFirst types the first burst, once nobody else is typing in the pane.
func (t *Typist) typeFirst(ctx context.Context, own guard.Presence, w *turn, on target.Object, typing bursts, first []tmux.Command) (p plan, done sent, err error) {
	for again := true; again; {
		if p, err = t.plan(ctx, on.Target, typing); err != nil {
			return p, sent{before: new(follow.Look)}, err
		}
		to := on
		if p.readers != nil { // all of it into the same pane
			to.Target = p.readers[0].ID
		}
		s := sending{cmds: p.bursts[0].cmds, first: first, readers: p.readers, quiet: w.quiet}
		if p.ask {
			s.rest = commands(p.bursts[1:])
		}
		done, err = t.typeSame(ctx, own, to, s)
		if again, err = w.again(ctx, to, err); err != nil {
			return p, done, err
		}
	}
	return p, done, nil
}

// typeRest types the bursts that follow the first one.
func (t *Typist) typeRest(ctx context.Context, own guard.Presence, w *turn, p plan, first sent) (err error) {
	on, rest := target.AtPane(first.before.ID), p.bursts[1:]
	if p.ask {
		if rest, err = t.leftOver(ctx, first.before.ID, p.typing, first.all); err != nil {
			return err
		}
	}
	for _, next := range rest {
		s := sending{cmds: next.cmds, since: first.before, quiet: w.meanwhile(first.ended)}
		if !next.enter {
			s.readers = p.readers
		}
		if next.after != nil {
			if err := next.after(ctx, first.before); err != nil {
				return err
			}
		}
		done, err := t.typeSame(ctx, own, on, s)
		if errors.Is(err, errOthers) {
			if err = w.cutIn(ctx, on, s.quiet); err == nil {
				s.quiet = 0
				done, err = t.typeSame(ctx, own, on, s)
			}
		}
		if err == nil && done.reaches {
			err = reply.Faultf(reply.KindRefused, "its keys would now also reach %s", own.What())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// plan is what is typed, and what is known of who reads it.
type plan struct {
	typing bursts // which has made these
	bursts []burst
	// readers are the panes, if what reads there matters.
	readers []reader
	// ask is set if the bursts are text and Enter, and it is not known whether the program takes
	// that at once.
	ask bool
}

// plan makes what is typed into a pane.
func (t *Typist) plan(ctx context.Context, on tmux.Target, typing bursts) (p plan, err error) {
	p.typing = typing
	p.bursts, err = typing(on)
	if err != nil || len(p.bursts) == 1 {
		return p, err
	}
	pane, is := on.(tmux.PaneID)
	if slices.ContainsFunc(p.bursts[1:], func(b burst) bool { return !b.enter }) {
		if p.readers, err = t.readers(ctx, on); err != nil || p.readers == nil {
			return p, err
		}
		if pane = p.readers[0].ID; !is {
			p.bursts, err = typing(pane)
		}
	}
	switch takes, known := t.keyboard.terminals.takesEnter(ctx, t.Tmux, pane); {
	case !known:
		p.ask = p.readers == nil
	case takes:
		p.bursts, t.atOnce = joined(p.bursts), true
	}
	return p, err
}

// leftOver returns what is left to be typed when tmux was asked whether a shell takes Enter.
func (t *Typist) leftOver(ctx context.Context, pane tmux.PaneID, typing bursts, all bool) ([]burst, error) {
	if t.atOnce = all; all {
		return nil, nil
	}
	rest, err := typing(pane)
	if err != nil {
		return nil, err
	}
	rest = rest[1:]
	if takes, _ := t.keyboard.terminals.takesEnter(ctx, t.Tmux, pane); takes {
		rest = []burst{{cmds: commands(rest), enter: true}}
	}
	return rest, nil
}

// joined returns bursts in which each Enter comes with what it follows.
func joined(all []burst) (some []burst) {
	for _, b := range all {
		if last := len(some) - 1; b.enter {
			some[last].cmds = append(some[last].cmds, b.cmds...)
		} else {
			some = append(some, b)
		}
	}
	return some
}

// commands returns what bursts type.
func commands(all []burst) (cmds []tmux.Command) {
	for _, b := range all {
		cmds = append(cmds, b.cmds...)
	}
	return cmds
}

// typeSame types one burst if what reads it is what has read the ones before.
func (t *Typist) typeSame(ctx context.Context, own guard.Presence, on target.Object, s sending) (done sent, err error) {
	const most = 10 // renamings, as of programs that a shell runs for its prompt
	began := time.Now()
	for range most {
		if err := still(s.readers); err != nil {
			return sent{before: new(follow.Look)}, err
		}
		if done, err = t.typeBurst(ctx, own, on, s); !errors.Is(err, errRenamed) {
			break
		}
	}
	done.began, done.ended = began, time.Now()
	return done, err
}

// inPart returns the error for a pane that got only the first bursts.
func inPart(pane tmux.PaneID, err error) error {
	f, _ := reply.FaultOf(err)
	f.Message = "only a part was typed into pane " + string(pane) + ": " + f.Message
	return f
}

// fitsTerminal refuses a line of size bytes if the terminal would truncate it. It returns
// the pane that was checked, to type into.
func (t *Typist) fitsTerminal(ctx context.Context, on target.Object, size int) (target.Object, error) {
	panes, err := tmux.List[prompt.Pane](ctx, t.Tmux, tmux.DisplayMessage{Target: on.Target})
	if err != nil || panes[0].ID == "" { // reported by typeUnless
		return on, err
	}
	if pane := panes[0]; caller.Sees(ctx, t.Tmux) && runner.CutsLines(pane.PID, pane.TTY) {
		return on, reply.Faultf(reply.KindRefused, "nothing was typed: a line has %d bytes, and the terminal of pane %s, which gathers lines for its program, keeps %d", size, pane.ID, runner.MostLine).
			Suggest("type shorter lines, or have the program read a file; run_command takes commands of any length")
	}
	on.Target = panes[0].ID
	return on, nil
}
