package server

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

// The guard of the agent's own pane is a condition of the lists of commands that act: what
// a pane is in may change between two round trips, by another call or by the user. If tmux
// finds that the agent's pane would be reached, nothing of the list runs, the user is
// asked, and only then it runs without the condition.

// presence is where on a tmux server the agent runs, as far as is known.
type presence struct {
	// panes are the panes in which it runs or may run.
	panes []tmux.PaneID
	// every is set if it may run in any pane.
	every bool
	// server is the process of the only tmux server that this is about; 0 if it is the one
	// that is asked.
	server int
	// which follows the pane in a question.
	which string
	// terminals are those of clients of the agent's tmux server, if that is another one.
	terminals []string
}

// none reports whether the agent is known to run elsewhere.
func (p presence) none() bool { return p.which == "" }

// what names the pane of the agent among those that the call is about.
func (p presence) what(about ...target.Object) string {
	switch {
	case len(p.panes) == 1:
		return "pane " + string(p.panes[0]) + p.which
	case len(about) == 1 && about[0].Pane != "":
		return "pane " + string(about[0].Pane) + p.which
	}
	return "a pane" + p.which
}

// presence finds out, once, where on the call's tmux server the agent runs.
func (c *call) presence(ctx context.Context) (presence, error) {
	if c.own == nil {
		own, err := c.findPresence(ctx)
		if err != nil {
			return own, err
		}
		c.own = &own
	}
	return *c.own, nil
}

func (c *call) findPresence(ctx context.Context) (p presence, err error) {
	if c.here.Outside {
		return p, nil
	}
	process, err := caller.ProcessOf(ctx, c.tmux)
	switch {
	case err != nil:
		return p, err
	case !process.Here && (c.here.Server == 0 || c.here.Lost):
		return presence{every: true, which: ", in which this agent may run: the processes of this tmux server cannot be seen from here"}, nil
	case c.here.Lost:
		if process.PID != c.here.Server && !c.here.Possible() {
			return p, nil
		}
		return c.lostPresence(ctx)
	case c.here.Server != 0:
		p.server = c.here.Server
	case !c.here.Possible():
		return p, nil
	}
	p.which = ", in which this agent runs"
	if c.here.Pane != "" {
		p.panes = []tmux.PaneID{c.here.Pane}
	}
	if c.here.Server != 0 && c.here.Own() == "" && c.tool.harm == types {
		p.terminals, err = c.s.ownTerminals(ctx)
	}
	return p, err
}

// lostPresence returns the panes in which the client's program runs; all of them if that
// cannot be known.
func (c *call) lostPresence(ctx context.Context) (p presence, err error) {
	rows, err := c.programsOf(ctx, tmux.ListPanes{All: true})
	if err := target.NoneIsEmpty(err); err != nil {
		return p, err
	}
	client := c.here.Client
	pids := make([]int, len(rows))
	for i, r := range rows {
		pids[i] = r.PID
	}
	at, known := caller.WhichRun(client, pids)
	if !known {
		return presence{every: true, which: ", in which this agent may run: its own pane is not known"}, nil
	}
	for _, r := range rows {
		if at[r.PID] {
			p.panes = append(p.panes, r.ID)
		}
	}
	p.which = ", which runs " + filepath.Base(client) + " as this agent does, whose own pane is not known"
	return p, nil
}

// ownTerminals returns the terminals of the clients of the agent's own tmux server.
func (s *Server) ownTerminals(ctx context.Context) (all []string, err error) {
	cfg := s.tmuxConfig()
	cfg.SocketPath = s.cfg.Caller.Socket
	srv, err := tmux.New(cfg)
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

// shows is the condition that a pane, or one that is synchronized with it, is a terminal of
// tmux: of a client of its server or of the agent's, or of any that is in the foreground. It
// then draws on the alternate screen; on others, asking for more would take a tenth of a call.
func (p presence) shows() tmux.Format {
	return reaching("#{?alternate_on," + either("#{m/r:^tmux(-?[0-9][0-9a-z.]*|: client)?$,#{pane_current_command}}",
		either("#{m:*[ #,]#{pane_tty}[ #,]*, #{S:#{session_attached_list} }}", tmux.MatchOneOf("pane_tty", p.terminals...))) + ",0}")
}

// either is tmux.Or for a second condition that is expanded only if the first is false, as it
// takes long.
func either(is, or tmux.Format) tmux.Format { return "#{?" + is + ",1," + or + "}" }

// reaching is the condition that keys typed into a pane reach one for which a condition
// holds: they go to all panes of a window that are synchronized with it.
func reaching(is tmux.Format) tmux.Format {
	return either(is, "#{?pane_synchronized,#{P:#{?pane_synchronized,#{?"+is+",1,},}},0}")
}

// only restricts a condition to the tmux server that the presence is about.
func (p presence) only(condition tmux.Format) tmux.Format {
	if p.server == 0 {
		return condition
	}
	return tmux.And(tmux.MatchEqual("pid", fmt.Sprint(p.server)), condition)
}

// reached is the condition that keys typed into a pane reach one of the agent's.
func (p presence) reached() tmux.Format {
	if p.every {
		return "#{pane_synchronized}" // the pane itself was asked about
	}
	return p.only(reaching(tmux.MatchOneOf("pane_id", p.panes...)))
}

// spares returns the conditions under which something that is done to an object does not
// reach the agent's panes.
func (p presence) spares(object target.Kind, on target.Object) (all []tmux.Require) {
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

// proceed does harm to the objects of the call, unless that reaches the agent's own pane
// and the user does not agree.
func (c *call) proceed(ctx context.Context, act func(context.Context) error) error {
	err := act(tmux.WithGuard(ctx, c.spared...))
	if !errors.Is(err, tmux.ErrGuarded) {
		return err
	}
	if err := c.consent(ctx, c.doing, c.held); err != nil {
		return err
	}
	return act(ctx)
}

// cleared is proceed for harm that no command of tmux does.
func (c *call) cleared(ctx context.Context) error {
	if len(c.spared) == 0 {
		return nil
	}
	var b tmux.Batch
	for _, condition := range c.spared {
		tmux.Add(&b, condition)
	}
	err := b.Do(ctx, c.tmux)
	if errors.Is(err, tmux.ErrUnmet) {
		err = c.consent(ctx, c.doing, c.held)
	}
	return err
}
