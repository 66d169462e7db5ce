package server

import (
	"context"

	"tmuxmcp/tmux"
)

// Every tool declares what it acts on and what it may do to it. Before the handler runs,
// aim resolves the object that the call names, and the handler's commands are guarded: they
// do not run if that object is, or contains, the pane in which the agent itself runs (see
// own.go). A tool without a declaration cannot be added to a server, and a handler gets its
// tmux server only after aim, so the guard cannot be forgotten.

// thing is a kind of object that a tool acts on.
type thing int

const (
	noObject thing = iota
	aPane
	aWindow
	aSession
	theServer
)

// aim declares what a tool acts on.
type aim struct {
	rule   aimRule
	object thing
}

type aimRule int

const (
	undeclared aimRule = iota
	// aimNone: the tool acts on no object, or looks it up itself without changing it.
	aimNone
	// aimFilter: the selection filters a list that tmux is asked for.
	aimFilter
	// aimDefault: the tool reads or changes one object. Without a selection, it is the
	// caller's or else the one that tmux picks, the most recently used.
	aimDefault
	// aimNeed: the call must name the object.
	aimNeed
	// aimEach: each of several items of the call must name an object; the handler calls
	// aimAt for each.
	aimEach
)

var (
	// nowhere is the aim of tools that act on no object.
	nowhere = aim{rule: aimNone}
	// wholeServer is the aim of a tool that acts on all of a tmux server.
	wholeServer = aim{aimNeed, theServer}
)

func narrows(o thing) aim   { return aim{aimFilter, o} }
func defaults(o thing) aim  { return aim{aimDefault, o} }
func needs(o thing) aim     { return aim{aimNeed, o} }
func needsEach(o thing) aim { return aim{aimEach, o} }

// harm is what a tool may do to its object, as seen by a program that runs in it.
type harm int

const (
	unknownHarm harm = iota
	harmless
	// types: the tool types into the program. The guard is in typeInto, which checks in the
	// same round trip that types.
	types
	// disturbs: the tool pipes, clears, resizes or moves the pane.
	disturbs
	// ends: the tool ends the program.
	ends
)

// verb describes what a tool is about to do.
func (h harm) verb() string {
	return map[harm]string{types: "type into", disturbs: "change", ends: "end"}[h]
}

// aimed is the resolved object of a call.
type aimed struct {
	// selection contains, for a tool that changes something, only ids and names that tmux
	// cannot take for something else.
	selection
	// target is the selection as a target of tmux commands. nil leaves the choice to tmux.
	target tmux.Target
}

// atPane returns the pane with the given id.
func atPane(id tmux.PaneID) aimed { return aimed{selection: selection{pane: id}, target: id} }

// selector is the input of a tool that names an object.
type selector interface{ selection() selection }

// multiSelector is the input of a tool that names several objects.
type multiSelector interface{ selections() []selection }

// checker is the input of a tool that can be invalid in ways that the schema does not
// express. It is checked before tmux or the user is asked for anything.
type checker interface{ check(c *call) error }

// aim does what the tool declares for the objects that its input names.
func (c *call) aim(ctx context.Context, in any) (err error) {
	if ch, ok := in.(checker); ok {
		if err := ch.check(c); err != nil {
			return err
		}
	}
	switch in := in.(type) {
	case multiSelector:
		var all []aimed
		for _, s := range in.selections() {
			on, err := c.resolveFor(ctx, s)
			if err != nil {
				return err
			}
			all = append(all, on)
		}
		c.on = all[0]
		return c.spare(ctx, c.tool.harm, c.tool.aim.object, all...)
	case selector:
		c.on, err = c.aimAt(ctx, in.selection())
	default:
		if c.tool.aim.object == theServer {
			err = c.spare(ctx, c.tool.harm, theServer, aimed{})
		}
	}
	return err
}

// aimAt resolves a selection as the tool declares, and guards the object.
func (c *call) aimAt(ctx context.Context, s selection) (aimed, error) {
	on, err := c.resolveFor(ctx, s)
	if err != nil {
		return on, err
	}
	return on, c.spare(ctx, c.tool.harm, c.tool.aim.object, on)
}

func (c *call) resolveFor(ctx context.Context, s selection) (on aimed, err error) {
	on.selection = s
	switch c.tool.aim.rule {
	case aimNone:
		return on, nil
	case aimFilter:
		return on, s.check()
	}
	if c.tool.kind.readOnly && s.pane == "" && s.window != "" {
		s = selection{window: s.window} // it is the same in every session
	}
	var own presence
	if c.tool.harm == disturbs || c.tool.harm == ends {
		if own, err = c.presence(ctx); err != nil {
			return on, err
		}
	}
	switch {
	case s.zero() && c.tool.aim.rule == aimDefault:
	case own.none():
		on.selection, err = c.resolve(ctx, s)
	default:
		on.selection, err = c.identify(ctx, s)
	}
	if err != nil {
		return on, err
	}
	on.target, err = c.spec(on.selection)
	return on, err
}

// identify finds the id of the one object that a selection names: names and positions may
// change from one round trip to the next, and what is guarded is what is acted on.
func (c *call) identify(ctx context.Context, s selection) (selection, error) {
	if err := s.required(c.tool.name); err != nil || s.pane != "" {
		return s, err
	}
	if s.window != "" && s.name != "" { // the name is that of the session to act in
		var err error
		if s, err = c.resolve(ctx, s); err != nil {
			return s, err
		}
	}
	named, err := tmux.List[objectIDs](ctx, c.tmux, tmux.ListPanes{All: true, Filter: c.filterFor(s)})
	if err := noneIsEmpty(err); err != nil {
		return s, err
	}
	if len(named) == 0 {
		return s, c.missing(ctx, s)
	}
	at := named[0]
	switch c.tool.aim.object {
	case aPane:
		return selection{pane: at.Pane}, nil
	case aWindow:
		if s.window == "" {
			s.session = at.Session
		}
		return selection{window: at.Window, session: s.session}, nil
	}
	return selection{session: at.Session}, nil
}

// spare guards the agent's own pane against what the call does to objects. Where it may be
// any pane, the user is asked at once.
func (c *call) spare(ctx context.Context, h harm, kind thing, objects ...aimed) error {
	if h != disturbs && h != ends {
		return nil
	}
	own, err := c.presence(ctx)
	if err != nil || own.none() {
		return err
	}
	c.doing, c.held = h, own.what(objects...)
	if kind == theServer {
		c.held = "the tmux server in which this agent runs"
	} else if own.every {
		return c.consent(ctx, h, c.held)
	}
	for _, on := range objects {
		c.spared = append(c.spared, own.spares(kind, on)...)
	}
	return nil
}

// filterFor returns the filter for the panes of the object that a selection names.
func (c *call) filterFor(s selection) tmux.Format {
	switch c.tool.aim.object {
	case aPane:
		return s.paneFilter()
	case aWindow:
		return s.windowFilter()
	}
	return s.within()
}
