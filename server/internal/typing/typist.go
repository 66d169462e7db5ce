// Package typing is the one way to type into panes: guarded, in one round trip, and with what
// was typed known to the waits that follow.
package typing

import (
	"context"
	"sync"
	"time"

	"tmuxmcp/internal/prompt"
	"tmuxmcp/internal/runner"
	"tmuxmcp/server/internal/caller"
	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/tool"
	"tmuxmcp/tmux"
)

// Keyboard is what the calls of a server share when they type. It is safe for concurrent use.
type Keyboard struct {
	// Screens has the marks from which waits go on.
	Screens *screen.Reader
	// PromptWait is [prompt.Wait], except in tests.
	PromptWait time.Duration
	escapes    escapes
}

// New returns a keyboard.
func New(screens *screen.Reader) *Keyboard {
	return &Keyboard{Screens: screens, PromptWait: prompt.Wait}
}

// Typist types into panes, for one call. It is safe for concurrent use.
type Typist struct {
	rows.Source
	*guard.Guard
	keyboard *Keyboard

	mu   sync.Mutex
	into []screen.Bookmark // the panes as they were before the call typed into them, in order
	also []tmux.PaneID     // other panes, which are synchronized with these
	row  int               // the cursor's row, from the first of the history, when last typing
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
		return run(ctx, k.Typist(c.Source, c.Guard), c.On, in)
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
// round trip.
func (t *Typist) Type(ctx context.Context, on target.Object, what screen.Echo, typing Commands, first ...tmux.Command) (tmux.PaneID, error) {
	return t.typeBursts(ctx, on, what, atOnce(typing), first...)
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
func (t *Typist) typeBursts(ctx context.Context, on target.Object, what screen.Echo, typing bursts, first ...tmux.Command) (tmux.PaneID, error) {
	own, err := t.Presence(ctx)
	if err != nil {
		return "", err
	}
	if own.Every {
		if err := t.Consent(ctx, guard.Types, own.What(on)); err != nil {
			return "", err
		}
		own = guard.Presence{}
	}
	pane, reaches, err := t.typeUnless(ctx, own, on, what, typing, first...)
	if err != nil || !reaches {
		return pane, err
	}
	if err := t.Consent(ctx, guard.Types, own.What(target.AtPane(pane))); err != nil {
		return "", err
	}
	pane, _, err = t.typeUnless(ctx, guard.Presence{}, target.AtPane(pane), what, typing, first...)
	return pane, err
}

// TypeIntoMade does what Type does for a pane that the call itself created. It is not the
// caller's, but a hook may have synchronized them: then nothing is typed.
func (t *Typist) TypeIntoMade(ctx context.Context, pane tmux.PaneID, what screen.Echo, typing Commands) error {
	own, err := t.Presence(ctx)
	if err != nil {
		return err
	}
	_, reaches, err := t.typeUnless(ctx, own, target.AtPane(pane), what, atOnce(typing))
	if err == nil && reaches {
		err = reply.Faultf(reply.KindRefused, "its keys would also reach %s", own.What())
	}
	return err
}

// typeUnless does what Type does, but types nothing if the keys would also reach the agent. It
// returns the pane that on names.
func (t *Typist) typeUnless(ctx context.Context, own guard.Presence, on target.Object, what screen.Echo, typing bursts, first ...tmux.Command) (pane tmux.PaneID, reaches bool, err error) {
	if what.Longest > runner.MostLine {
		if on, err = t.fitsTerminal(ctx, on, what.Longest); err != nil {
			return "", false, err
		}
	}
	if err := t.keyboard.escapes.pass(ctx, t.Tmux, on.Selection.Pane); err != nil {
		return "", false, err
	}
	all, err := typing(on.Target)
	if _, is := on.Target.(tmux.PaneID); err == nil && len(all) > 1 && !is { // all of them into the same pane
		var states []prompt.State
		if states, err = tmux.List[prompt.State](ctx, t.Tmux, tmux.DisplayMessage{Target: on.Target}); err == nil && states[0].ID != "" {
			on.Target = states[0].ID
			all, err = typing(on.Target)
		}
	}
	if err != nil {
		return "", false, err
	}
	began := time.Now()
	before, reaches, err := t.typeBurst(ctx, own, on, nil, all[0].cmds, first...)
	if err != nil || reaches {
		return before.ID, reaches, err
	}
	t.remember(ctx, before, what, began)
	for _, next := range all[1:] {
		if err = next.after(ctx, before); err == nil {
			_, reaches, err = t.typeBurst(ctx, own, target.Object{Selection: target.Selection{Pane: before.ID}, Target: before.ID}, before, next.cmds)
		}
		if err == nil && reaches {
			err = reply.Faultf(reply.KindRefused, "its keys would now also reach %s", own.What())
		}
		if err != nil {
			return before.ID, false, inPart(before.ID, err)
		}
	}
	return before.ID, false, nil
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
