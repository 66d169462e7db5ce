package typing

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"tmuxmcp/internal/prompt"
	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/tmux"
)

// burst is what is typed in one round trip.
type burst struct {
	cmds []tmux.Command
	// after, for a burst that is not the first, waits until it may be typed. It gets the
	// pane as it was before the first.
	after func(context.Context, *tmux.Look) error
}

// bursts makes what is typed into a pane in several round trips.
type bursts func(tmux.Target) ([]burst, error)

// typeBurst types one burst. It returns the pane as it was before, of which only the id is
// set if the keys would also reach the agent. If the burst follows others, the pane
// still has to run the program that it ran at the look since.
func (t *Typist) typeBurst(ctx context.Context, own guard.Presence, on target.Object, since *tmux.Look, cmds []tmux.Command, first ...tmux.Command) (before *tmux.Look, reaches bool, err error) {
	none := new(tmux.Look)
	condition := prompt.Takes(tmux.Not(own.Shows()))
	if since != nil && since.PID != nil {
		condition = "#{?" + tmux.MatchEqual("pane_pid", strconv.Itoa(*since.PID)) + "," + condition + ",0}"
	}
	var b tmux.Batch
	for _, cmd := range first {
		tmux.Add(&b, cmd)
	}
	states := tmux.AddRows[prompt.State](&b, tmux.DisplayMessage{Target: on.Target})
	reached := new(string)
	if !own.None() {
		reach := own.Reached()
		reached = tmux.AddMessage(&b, tmux.DisplayMessage{Target: on.Target, Message: reach})
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
		if err := refusal(ctx, t.Tmux, (*states)[0], on.Selection); err != nil {
			return none, false, err
		}
		if *reached == "1" {
			none.ID = (*states)[0].ID
			return none, true, nil
		}
		if since != nil && reply.Value(before.PID) != reply.Value(since.PID) {
			return none, false, screen.Respawned(before, reply.Value(since.PID), nil)
		}
		if shows, failed := t.Tmux.Pane((*states)[0].ID).Display(ctx, own.Shows()); failed != nil || shows != "1" {
			return none, false, err // a condition of the commands themselves
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

// refusal returns why a pane takes no keys, or nil.
func refusal(ctx context.Context, srv *tmux.Server, pane prompt.State, s target.Selection) error {
	if pane.ID == "" {
		return target.Missing(ctx, srv, s)
	}
	return FaultOf(pane.Refusal())
}
