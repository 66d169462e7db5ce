// Package typing is the one way to type into panes: guarded, in one round trip, and with what
// was typed known to the waits that follow.
package typing

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"tmuxmcp/server/internal/caller"
	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/server/internal/runner"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/tool"
	"tmuxmcp/tmux"
)

// Keyboard is what the calls of a server share when they type. It is safe for concurrent use.
type Keyboard struct {
	// Screens has the marks from which waits go on.
	Screens *screen.Reader
	escapes escapes
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
// guard before the first key.
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

// burst is what is typed in one round trip.
type burst struct {
	cmds []tmux.Command
	// after, for a burst that is not the first, waits until it may be typed. It gets the
	// pane as it was before the first.
	after func(context.Context, *tmux.Look) error
}

// bursts makes what is typed into a pane in several round trips.
type bursts func(tmux.Target) ([]burst, error)

// atOnce returns what types the commands made by typing in one burst.
func atOnce(typing Commands) bursts {
	return func(to tmux.Target) ([]burst, error) {
		cmds, err := typing(to)
		return []burst{{cmds: cmds}}, err
	}
}

// typeBursts does what Type does for what is typed in several round trips, each of which checks the
// pane again.
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

// TypeIntoMade does what Type does for a pane that the call itself created. It is not the caller's,
// but a hook may have synchronized them: then nothing is typed.
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
		var states []inputState
		if states, err = tmux.List[inputState](ctx, t.Tmux, tmux.DisplayMessage{Target: on.Target}); err == nil && states[0].ID != "" {
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

// typeBurst types one burst. It returns the pane as it was before, of which only the id is
// set if the keys would also reach the agent. If the burst follows others, the pane
// still has to run the program that it ran at the look since.
func (t *Typist) typeBurst(ctx context.Context, own guard.Presence, on target.Object, since *tmux.Look, cmds []tmux.Command, first ...tmux.Command) (before *tmux.Look, reaches bool, err error) {
	none := new(tmux.Look)
	condition := "#{?pane_id,#{?pane_dead,0,#{?pane_in_mode,0,#{?pane_input_off,0," + tmux.Not(own.Shows()) + "}}},0}"
	if since != nil && since.PID != "" {
		condition = "#{?" + tmux.MatchEqual("pane_pid", since.PID) + "," + condition + ",0}"
	}
	var b tmux.Batch
	for _, cmd := range first {
		tmux.Add(&b, cmd)
	}
	states := tmux.Rows[inputState](&b, tmux.DisplayMessage{Target: on.Target})
	reached := new(string)
	if !own.None() {
		reach := own.Reached()
		reached = tmux.Displayed(&b, tmux.DisplayMessage{Target: on.Target, Message: reach})
		condition = "#{?" + reach + ",0," + condition + "}"
	}
	// A wait in this pane counts what is new from here on.
	before = tmux.AddLook(&b, on.Target)
	tmux.Add(&b, tmux.Require{Target: on.Target, Condition: condition})
	for _, cmd := range cmds {
		tmux.Add(&b, cmd)
	}
	err = b.Do(ctx, t.Tmux)
	if errors.Is(err, tmux.ErrNotFound) && len(*states) > 0 && (*states)[0].ID == "" {
		return none, false, target.Missing(ctx, t.Tmux, on.Selection)
	}
	if errors.Is(err, tmux.ErrUnmet) {
		if err := (*states)[0].refusal(ctx, t.Tmux, on.Selection); err != nil {
			return none, false, err
		}
		if *reached == "1" {
			none.ID = (*states)[0].ID
			return none, true, nil
		}
		if since != nil && before.PID != since.PID {
			return none, false, screen.Respawned(before, since.PID, nil)
		}
		return none, false, reply.Faultf(reply.KindRefused, "pane %s, or one that is synchronized with it, is a terminal of tmux, and what is typed there goes into a pane that it shows", (*states)[0].ID).
			Suggest("type into that pane: list_panes has it, or does with the socket_name of the other tmux")
	}
	if err != nil {
		return none, false, err
	}
	if pane := (*states)[0]; pane.Synchronized && slices.ContainsFunc(cmds, func(cmd tmux.Command) bool { _, is := cmd.(tmux.SendKeys); return is }) {
		t.noteSynchronized(ctx, pane.ID)
	}
	return before, false, nil
}

// noteSynchronized records which other panes of its window got the keys typed into a pane.
func (t *Typist) noteSynchronized(ctx context.Context, pane tmux.PaneID) {
	synchronized, _ := tmux.List[target.IDs](ctx, t.Tmux, tmux.ListPanes{Target: pane, Filter: "#{pane_synchronized}"})
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range synchronized {
		if r.Pane != pane && !slices.Contains(t.also, r.Pane) {
			t.also = append(t.also, r.Pane)
		}
	}
}

// fitsTerminal refuses a line of size bytes if the terminal would truncate it. The returned
// aimed is the pane that was checked, to type into.
func (t *Typist) fitsTerminal(ctx context.Context, on target.Object, size int) (target.Object, error) {
	panes, err := tmux.List[Pane](ctx, t.Tmux, tmux.DisplayMessage{Target: on.Target})
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

// inputState is what decides whether a pane takes keys.
type inputState struct {
	ID     tmux.PaneID `tmux:"pane_id"`
	Dead   bool        `tmux:"pane_dead"`
	InMode bool        `tmux:"pane_in_mode"`
	Mode   string      `tmux:"pane_mode"`
	Off    bool        `tmux:"pane_input_off"`
	// Synchronized is set if keys also go to the other panes of its window.
	Synchronized bool `tmux:"pane_synchronized"`
}

// refusal returns why a pane takes no keys, or nil.
func (pane inputState) refusal(ctx context.Context, srv *tmux.Server, s target.Selection) error {
	switch {
	case pane.ID == "": // display-message does not fail on a missing target
		return target.Missing(ctx, srv, s)
	case pane.Dead:
		return reply.Faultf(reply.KindRefused, "the program in pane %s has ended", pane.ID).Suggest("respawn_pane starts it again")
	case pane.InMode:
		return reply.Faultf(reply.KindRefused, "pane %s is in %s, which would take the keys", pane.ID, pane.Mode).Suggest("exit_copy_mode leaves it")
	case pane.Off:
		return reply.Faultf(reply.KindRefused, "the input of pane %s is off, so keys would be lost", pane.ID).
			Suggest("use another pane, or ask the user to turn it on with tmux select-pane -e")
	}
	return nil
}
