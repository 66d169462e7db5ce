package guard

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"tmuxmcp/server/internal/caller"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/tmux"
)

// The guard of the agent's own pane is a condition of the lists of commands that act: what a
// pane is in may change between two round trips, by another call or by the user. If tmux
// finds that the agent's pane would be reached, nothing of the list runs and the user is
// asked. Only with consent does it run without the condition.

// Presence is where on a tmux server the agent runs, as far as is known.
type Presence struct {
	// panes are the panes in which it runs or may run.
	panes []tmux.PaneID
	// Every is set if it may run in any pane.
	Every bool
	// below is set if it runs below the tmux server, in whichever pane.
	below bool
	// server is the process of the only tmux server that this is about; 0 if it is the one
	// that is asked.
	server int
	// which follows the pane in a question.
	which string
	// terminals are the terminals of the clients of the agent's tmux server, if that is
	// another one.
	terminals []string
}

// None reports whether the agent is known to run elsewhere.
func (p Presence) None() bool { return p.which == "" }

// whole names the tmux server, for what reaches all of it.
func (p Presence) whole() string {
	switch {
	case p.below:
		return "the tmux server in which this agent runs"
	case p.Every:
		return "the tmux server" + p.which
	}
	return "the tmux server of " + p.What()
}

// What names the pane of the agent among those that the call is about.
func (p Presence) What(about ...target.Object) string {
	switch {
	case len(p.panes) == 1:
		return "pane " + string(p.panes[0]) + p.which
	case len(about) == 1 && about[0].Pane != "":
		return "pane " + string(about[0].Pane) + p.which
	}
	return "a pane" + p.which
}

// Presence finds out, once, where on the call's tmux server the agent runs.
func (g *Guard) Presence(ctx context.Context) (Presence, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.own == nil {
		own, err := g.findPresence(ctx)
		if err != nil {
			return own, err
		}
		g.own = &own
	}
	return *g.own, nil
}

func (g *Guard) findPresence(ctx context.Context) (p Presence, err error) {
	if g.here.Outside {
		return p, nil
	}
	process, err := caller.ProcessOf(ctx, g.tmux)
	switch {
	case err != nil:
		return p, err
	case !process.Here && (g.here.Server == 0 || g.here.Lost):
		return Presence{Every: true, which: ", in which this agent may run: the processes of this tmux server cannot be seen from here"}, nil
	case g.here.Lost:
		p.below = g.here.Below && process.PID == g.here.Server
		if !p.below && !g.here.Possible(process) {
			return p, nil
		}
		return g.lostPresence(ctx, p)
	case g.here.Server != 0:
		p.server = g.here.Server
	case !g.here.Possible(process):
		return p, nil
	}
	p.below = true
	p.which = ", in which this agent runs"
	if g.here.Pane != "" {
		p.panes = []tmux.PaneID{g.here.Pane}
	}
	if g.here.Server != 0 && g.here.Own() == "" && g.Harm == Types {
		p.terminals, err = g.ownTerminals(ctx)
	}
	return p, err
}

// lostPresence adds the panes in which the client's program runs; all of them if that cannot
// be known.
func (g *Guard) lostPresence(ctx context.Context, p Presence) (Presence, error) {
	rows, err := tmux.List[struct {
		ID  tmux.PaneID `tmux:"pane_id"`
		PID int         `tmux:"pane_pid"`
	}](ctx, g.tmux, tmux.ListPanes{All: true})
	if err := target.NoneIsEmpty(err); err != nil {
		return p, err
	}
	client := g.here.Client
	pids := make([]int, len(rows))
	for i, r := range rows {
		pids[i] = r.PID
	}
	at, known := caller.WhichRun(client, pids)
	if !known {
		p.Every, p.which = true, ", in which this agent may run: its own pane is not known"
		return p, nil
	}
	for _, r := range rows {
		if at[r.PID] {
			p.panes = append(p.panes, r.ID)
		}
	}
	if len(p.panes) > 0 || p.below {
		p.which = ", which runs " + filepath.Base(client) + " as this agent does, whose own pane is not known"
	}
	return p, nil
}

// ownTerminals returns the terminals of the clients of the agent's own tmux server.
func (g *Guard) ownTerminals(ctx context.Context) (all []string, err error) {
	srv, err := g.rules.Connect(g.here.Socket)
	if err != nil {
		return nil, err
	}
	clients, err := srv.Clients(ctx)
	for _, c := range clients {
		all = append(all, reply.Value(c.TTY))
	}
	if errors.Is(err, tmux.ErrNoServer) { // its socket has another name now
		err = nil
	}
	return all, err
}

// Shows returns the condition that a pane, or one that is synchronized with it, is a terminal
// of tmux: of a client of its server or of the agent's, or of any that is in the foreground.
// It then draws on the alternate screen; on others, asking for more would take a tenth of a
// call.
func (p Presence) Shows() tmux.Format {
	return reaching("#{?alternate_on," + either("#{m/r:^tmux(-?[0-9][0-9a-z.]*|: client)?$,#{pane_current_command}}",
		either("#{m:*[ #,]#{pane_tty}[ #,]*, #{S:#{session_attached_list} }}", tmux.MatchOneOf("pane_tty", p.terminals...))) + ",0}")
}

// either does what tmux.Or does for a second condition that is expanded only if the first is
// false, as it takes long.
func either(is, or tmux.Format) tmux.Format { return "#{?" + is + ",1," + or + "}" }

// reaching returns the condition that keys typed into a pane reach one for which a condition
// holds: they go to all panes of a window that are synchronized with it.
func reaching(is tmux.Format) tmux.Format {
	return either(is, "#{?pane_synchronized,#{P:#{?pane_synchronized,#{?"+is+",1,},}},0}")
}

// only restricts a condition to the tmux server that the presence is about.
func (p Presence) only(condition tmux.Format) tmux.Format {
	if p.server == 0 {
		return condition
	}
	return tmux.And(tmux.MatchEqual("pid", fmt.Sprint(p.server)), condition)
}

// Reached returns the condition that keys typed into a pane reach one of the agent's.
func (p Presence) Reached() tmux.Format {
	if p.Every {
		return "#{pane_synchronized}" // the pane itself was asked about
	}
	return p.only(reaching(tmux.MatchOneOf("pane_id", p.panes...)))
}

// spares returns the conditions under which something that is done to an object does not
// reach the agent's panes.
func (p Presence) spares(object target.Kind, on target.Object) (all []tmux.Require) {
	unless := func(condition tmux.Format) {
		all = append(all, tmux.Require{Target: on.Target, Condition: tmux.Not(p.only(condition))})
	}
	if object == target.Server {
		unless("1")
		return all
	}
	for _, pane := range p.panes {
		holds := "#{P:#{?" + tmux.MatchEqual("pane_id", string(pane)) + ",1,}}"
		switch object {
		case target.Pane:
			if on.Pane == "" || on.Pane == pane { // ids are never reused
				unless(tmux.MatchEqual("pane_id", string(pane)))
			}
		case target.Window:
			unless(holds)
		case target.Session:
			// The pane outlives a session if another session holds its window too.
			elsewhere := "#{S:#{?" + tmux.Not(tmux.MatchEqual("session_id", string(on.Session))) + ",#{W:" + holds + "},}}"
			unless(tmux.And("#{W:"+holds+"}", tmux.Not(elsewhere)))
		}
	}
	return all
}
