package typing

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/follow"
	"tmuxmcp/tmux/prompt"
)

// burst is what is typed in one round trip.
type burst struct {
	cmds []tmux.Command
	// after, for a burst that is not the first, waits until it may be typed. It gets the
	// pane as it was before the first.
	after func(context.Context, *follow.Look) error
	// enter is set if the burst is one only because the program may take an Enter for a part of
	// a paste that it comes with. Whoever lists what follows Enter means what reads then.
	enter bool
}

// bursts makes what is typed into a pane in several round trips.
type bursts func(tmux.Target) ([]burst, error)

// sending is what one round trip types, and under which conditions.
type sending struct {
	cmds  []tmux.Command
	first []tmux.Command // run in any case
	// since is an earlier look at the pane, which still has to run the program of then.
	since *follow.Look
	// readers are the panes in which commands have to have the names that they had.
	readers []reader
	// rest is typed behind cmds if a shell reads.
	rest []tmux.Command
	// quiet is for how many seconds nobody else must have typed there; 0 if that does not matter.
	quiet int
}

// sent is what came of it.
type sent struct {
	// before is the pane as it was before, of which only the id is set if nothing was typed
	// because the keys would also reach the agent.
	before  *follow.Look
	reaches bool
	// all is set if the rest was typed too.
	all          bool
	began, ended time.Time // when
}

// errRenamed: nothing was typed, as a reader's command has another name, which it now has.
var errRenamed = errors.New("the program has another name")

// condition returns what has to be true of the pane for the burst to be typed.
func (s sending) condition(own guard.Presence) tmux.Format {
	condition := prompt.Takes(tmux.Not(own.Shows()))
	if s.since != nil && s.since.PID != nil {
		condition = "#{?" + tmux.MatchEqual("pane_pid", strconv.Itoa(*s.since.PID)) + "," + condition + ",0}"
	}
	if s.quiet > 0 {
		condition = "#{?" + quiet(s.quiet) + "," + condition + ",0}"
	}
	if !own.None() {
		condition = "#{?" + own.Reached() + ",0," + condition + "}"
	}
	return condition
}

// answers are what the list that types a burst returns.
type answers struct {
	states   *[]prompt.State
	reached  *string // "1" if the keys would also reach the agent
	before   *follow.Look
	commands []*string // those of the readers
	typed    *string   // "1" if the burst was typed and the rest comes next
}

// add adds what types the burst to a list.
func (s sending) add(b *tmux.Batch, own guard.Presence, on tmux.Target) answers {
	for _, cmd := range s.first {
		tmux.Add(b, cmd)
	}
	a := answers{reached: new(string), typed: new(string)}
	a.states = tmux.AddRows[prompt.State](b, tmux.DisplayMessage{Target: on})
	if !own.None() {
		a.reached = tmux.AddMessage(b, tmux.DisplayMessage{Target: on, Message: own.Reached()})
	}
	// A wait in this pane counts what is new from here on.
	a.before = follow.AddLook(b, on)
	tmux.Add(b, tmux.Require{Target: on, Condition: s.condition(own)})
	for _, r := range s.readers {
		a.commands = append(a.commands, tmux.AddMessage(b, tmux.DisplayMessage{Target: r.ID, Message: "#{pane_current_command}"}))
	}
	for _, r := range s.readers {
		tmux.Add(b, tmux.Require{Target: r.ID, Condition: tmux.MatchEqual("pane_current_command", r.Command)})
	}
	for _, cmd := range s.cmds {
		tmux.Add(b, cmd)
	}
	if len(s.rest) > 0 {
		a.typed = tmux.AddMessage(b, tmux.DisplayMessage{Target: on, Message: "1"})
		tmux.Add(b, tmux.Require{Target: on, Condition: shellReads})
		for _, cmd := range s.rest {
			tmux.Add(b, cmd)
		}
	}
	return a
}

func (t *Typist) typeBurst(ctx context.Context, own guard.Presence, on target.Object, s sending) (sent, error) {
	var b tmux.Batch
	a := s.add(&b, own, on.Target)
	err := b.Do(ctx, t.Tmux)
	switch all := err == nil; {
	case all, errors.Is(err, tmux.ErrUnmet) && *a.typed == "1":
		pane := (*a.states)[0]
		t.keyboard.terminals.add(t.Tmux, a.before.ID, terminal{reply.Value(a.before.PID), a.before.TTY, time.Now()})
		if pane.Synchronized && slices.ContainsFunc(s.cmds, func(cmd tmux.Command) bool { _, is := cmd.(tmux.SendKeys); return is }) {
			t.noteSynchronized(ctx, pane.ID)
		}
		return sent{before: a.before, all: all}, nil
	case errors.Is(err, tmux.ErrUnmet):
		return s.unmet(ctx, t.Tmux, own, on, a, err)
	case errors.Is(err, tmux.ErrNotFound) && len(*a.states) > 0 && (*a.states)[0].ID == "":
		err = target.Missing(ctx, t.Tmux, on.Selection)
	}
	return sent{before: new(follow.Look)}, err
}

// unmet finds out which condition was not met, so that nothing was typed: failed is the error of
// the list.
func (s sending) unmet(ctx context.Context, srv *tmux.Server, own guard.Presence, on target.Object, a answers, failed error) (sent, error) {
	none := sent{before: new(follow.Look)}
	pane := (*a.states)[0]
	if err := refusal(ctx, srv, pane, on.Selection); err != nil {
		return none, err
	}
	if *a.reached == "1" {
		none.before.ID, none.reaches = pane.ID, true
		return none, nil
	}
	if s.since != nil && reply.Value(a.before.PID) != reply.Value(s.since.PID) {
		return none, screen.Respawned(a.before, reply.Value(s.since.PID), nil)
	}
	for i, r := range s.readers {
		if now := *a.commands[i]; now != "" && now != r.Command {
			return none, cmp.Or(renamed(s.readers, a.commands), errRenamed)
		}
	}
	if s.quiet > 0 {
		return none, errOthers // unless it is a condition below
	}
	if shows, err := srv.Pane(pane.ID).Display(ctx, own.Shows()); err != nil || shows != "1" {
		return none, failed // a condition of the commands themselves
	}
	return none, reply.Faultf(reply.KindRefused, "pane %s, or one that is synchronized with it, is a terminal of tmux, and what is typed there goes into a pane that it shows", pane.ID).
		Suggest("type into that pane: list_panes has it, or does with the socket_name of the other tmux")
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
