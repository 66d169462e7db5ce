package server

import (
	"context"
	"errors"
	"slices"
	"time"

	"tmuxmcp/server/internal/caller"
	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/runner"
	"tmuxmcp/tmux"
)

// typeInto types the commands made by typing into a pane, in one round trip: tmux itself
// checks the pane and types only if it takes keys. A pane whose program has ended, whose
// input is off or which is in a mode is refused: keys would be lost, or drive the mode.
// Every tool that types uses it, and says what may be echoed, which no wait takes for
// output. The commands in first run in any case.
//
// It types into the caller's own pane only if the user has agreed, which takes a second
// round trip.
func (c *call) typeInto(ctx context.Context, on target.Object, what screen.Echo, typing func(tmux.Target) ([]tmux.Command, error), first ...tmux.Command) (tmux.PaneID, error) {
	return c.typeBursts(ctx, on, what, atOnce(typing), first...)
}

// burst is what is typed in one round trip.
type burst struct {
	cmds []tmux.Command
	// after, for a burst that is not the first, waits until it may be typed. It gets the
	// pane as it was before the first.
	after func(context.Context, *tmux.Look) error
}

// atOnce returns what types the commands made by typing in one burst.
func atOnce(typing func(tmux.Target) ([]tmux.Command, error)) func(tmux.Target) ([]burst, error) {
	return func(target tmux.Target) ([]burst, error) {
		cmds, err := typing(target)
		return []burst{{cmds: cmds}}, err
	}
}

// typeBursts is typeInto for what is typed in several round trips, each of which checks the
// pane again.
func (c *call) typeBursts(ctx context.Context, on target.Object, what screen.Echo, typing func(tmux.Target) ([]burst, error), first ...tmux.Command) (tmux.PaneID, error) {
	if c.tool.harm != guard.Types {
		panic(c.tool.name + " types into panes and does not declare it")
	}
	own, err := c.guard.Presence(ctx)
	if err != nil {
		return "", err
	}
	if own.Every {
		if err := c.guard.Consent(ctx, guard.Types, own.What(on)); err != nil {
			return "", err
		}
		own = guard.Presence{}
	}
	pane, reaches, err := c.typeUnless(ctx, own, on, what, typing, first...)
	if err != nil || !reaches {
		return pane, err
	}
	if err := c.guard.Consent(ctx, guard.Types, own.What(target.AtPane(pane))); err != nil {
		return "", err
	}
	pane, _, err = c.typeUnless(ctx, guard.Presence{}, target.AtPane(pane), what, typing, first...)
	return pane, err
}

// typeIntoMade is typeInto for a pane that the call itself created. It is not the caller's,
// but a hook may have synchronized them: then nothing is typed.
func (c *call) typeIntoMade(ctx context.Context, pane tmux.PaneID, what screen.Echo, typing func(tmux.Target) ([]tmux.Command, error)) error {
	own, err := c.guard.Presence(ctx)
	if err != nil {
		return err
	}
	_, reaches, err := c.typeUnless(ctx, own, target.AtPane(pane), what, atOnce(typing))
	if err == nil && reaches {
		err = reply.Faultf(reply.KindRefused, "its keys would also reach %s", own.What())
	}
	return err
}

// typeUnless is typeInto, but types nothing if the keys would also reach the agent. It
// returns the pane that on names.
func (c *call) typeUnless(ctx context.Context, own guard.Presence, on target.Object, what screen.Echo, typing func(tmux.Target) ([]burst, error), first ...tmux.Command) (pane tmux.PaneID, reaches bool, err error) {
	if what.Longest > runner.MostLine {
		if on, err = c.takesLine(ctx, on, what.Longest); err != nil {
			return "", false, err
		}
	}
	if err := c.s.escapes.pass(ctx, c.Tmux, on.Selection.Pane); err != nil {
		return "", false, err
	}
	bursts, err := typing(on.Target)
	if _, is := on.Target.(tmux.PaneID); err == nil && len(bursts) > 1 && !is { // all of them into the same pane
		var rows []taker
		if rows, err = tmux.List[taker](ctx, c.Tmux, tmux.DisplayMessage{Target: on.Target}); err == nil && rows[0].ID != "" {
			on.Target = rows[0].ID
			bursts, err = typing(on.Target)
		}
	}
	if err != nil {
		return "", false, err
	}
	began := time.Now()
	before, reaches, err := c.typeBurst(ctx, own, on, nil, bursts[0].cmds, first...)
	if err != nil || reaches {
		return before.ID, reaches, err
	}
	c.typed(ctx, before, what, began)
	for _, next := range bursts[1:] {
		if err = next.after(ctx, before); err == nil {
			_, reaches, err = c.typeBurst(ctx, own, target.Object{Selection: target.Selection{Pane: before.ID}, Target: before.ID}, before, next.cmds)
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
func (c *call) typeBurst(ctx context.Context, own guard.Presence, on target.Object, since *tmux.Look, cmds []tmux.Command, first ...tmux.Command) (before *tmux.Look, reaches bool, err error) {
	none := new(tmux.Look)
	condition := "#{?pane_id,#{?pane_dead,0,#{?pane_in_mode,0,#{?pane_input_off,0," + tmux.Not(own.Shows()) + "}}},0}"
	if since != nil && since.PID != "" {
		condition = "#{?" + tmux.MatchEqual("pane_pid", since.PID) + "," + condition + ",0}"
	}
	var b tmux.Batch
	for _, cmd := range first {
		tmux.Add(&b, cmd)
	}
	rows := tmux.Rows[taker](&b, tmux.DisplayMessage{Target: on.Target})
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
	err = b.Do(ctx, c.Tmux)
	if errors.Is(err, tmux.ErrNotFound) && len(*rows) > 0 && (*rows)[0].ID == "" {
		return none, false, target.Missing(ctx, c.Tmux, on.Selection)
	}
	if errors.Is(err, tmux.ErrUnmet) {
		if err := c.takes(ctx, on.Selection, (*rows)[0]); err != nil {
			return none, false, err
		}
		if *reached == "1" {
			none.ID = (*rows)[0].ID
			return none, true, nil
		}
		if since != nil && before.PID != since.PID {
			return none, false, screen.Respawned(before, since.PID, nil)
		}
		return none, false, reply.Faultf(reply.KindRefused, "pane %s, or one that is synchronized with it, is a terminal of tmux, and what is typed there goes into a pane that it shows", (*rows)[0].ID).
			Suggest("type into that pane: list_panes has it, or does with the socket_name of the other tmux")
	}
	if err != nil {
		return none, false, err
	}
	if pane := (*rows)[0]; pane.Synchronized && slices.ContainsFunc(cmds, func(cmd tmux.Command) bool { _, is := cmd.(tmux.SendKeys); return is }) {
		c.noteSynchronized(ctx, pane.ID)
	}
	return before, false, nil
}

// noteSynchronized records which other panes of its window got the keys typed into a pane.
func (c *call) noteSynchronized(ctx context.Context, pane tmux.PaneID) {
	rows, _ := tmux.List[target.IDs](ctx, c.Tmux, tmux.ListPanes{Target: pane, Filter: "#{pane_synchronized}"})
	c.typedLock.Lock()
	defer c.typedLock.Unlock()
	for _, r := range rows {
		if r.Pane != pane && !slices.Contains(c.typedAlso, r.Pane) {
			c.typedAlso = append(c.typedAlso, r.Pane)
		}
	}
}

// takesLine refuses a line of size bytes if the terminal would truncate it. The returned
// aimed is the pane that was checked, to type into.
func (c *call) takesLine(ctx context.Context, on target.Object, size int) (target.Object, error) {
	rows, err := tmux.List[runPane](ctx, c.Tmux, tmux.DisplayMessage{Target: on.Target})
	if err != nil || rows[0].ID == "" { // reported by typeUnless
		return on, err
	}
	if pane := rows[0]; caller.Sees(ctx, c.Tmux) && runner.CutsLines(pane.PID, pane.TTY) {
		return on, reply.Faultf(reply.KindRefused, "nothing was typed: a line has %d bytes, and the terminal of pane %s, which gathers lines for its program, keeps %d", size, pane.ID, runner.MostLine).
			Suggest("type shorter lines, or have the program read a file; run_command takes commands of any length")
	}
	on.Target = rows[0].ID
	return on, nil
}

// taker is what decides whether a pane takes keys.
type taker struct {
	ID     tmux.PaneID `tmux:"pane_id"`
	Dead   bool        `tmux:"pane_dead"`
	InMode bool        `tmux:"pane_in_mode"`
	Mode   string      `tmux:"pane_mode"`
	Off    bool        `tmux:"pane_input_off"`
	// Synchronized is set if keys also go to the other panes of its window.
	Synchronized bool `tmux:"pane_synchronized"`
}

func (c *call) takes(ctx context.Context, s target.Selection, pane taker) error {
	switch {
	case pane.ID == "": // display-message does not fail on a missing target
		return target.Missing(ctx, c.Tmux, s)
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
