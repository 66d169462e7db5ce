package server

import (
	"context"

	"tmuxmcp/server/internal/target"
	"tmuxmcp/tmux"
)

// Every tool declares what it acts on and what it may do to it. Before the handler runs,
// aim resolves the object that the call names, and the handler's commands are guarded: they
// do not run if that object is, or contains, the pane in which the agent itself runs (see
// own.go). A tool without a declaration cannot be added to a server, and a handler gets its
// tmux server only after aim, so the guard cannot be forgotten.

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
	case target.MultiSelector:
		var all []target.Object
		for _, s := range in.SelectedAll() {
			on, err := c.resolveFor(ctx, s)
			if err != nil {
				return err
			}
			all = append(all, on)
		}
		c.on = all[0]
		return c.spare(ctx, c.tool.harm, c.tool.aim.Object, all...)
	case target.Selector:
		c.on, err = c.aimAt(ctx, in.Selected())
	default:
		if c.tool.aim.Object == target.Server {
			err = c.spare(ctx, c.tool.harm, target.Server, target.Object{})
		}
	}
	return err
}

// aimAt resolves a selection as the tool declares, and guards the object.
func (c *call) aimAt(ctx context.Context, s target.Selection) (target.Object, error) {
	on, err := c.resolveFor(ctx, s)
	if err != nil {
		return on, err
	}
	return on, c.spare(ctx, c.tool.harm, c.tool.aim.Object, on)
}

func (c *call) resolveFor(ctx context.Context, s target.Selection) (on target.Object, err error) {
	on.Selection = s
	switch c.tool.aim.Rule {
	case target.AimNone:
		return on, nil
	case target.AimFilter:
		return on, s.Check()
	}
	if c.tool.kind.readOnly && s.Pane == "" && s.Window != "" {
		s = target.Selection{Window: s.Window} // it is the same in every session
	}
	var own presence
	if c.tool.harm == disturbs || c.tool.harm == ends {
		if own, err = c.presence(ctx); err != nil {
			return on, err
		}
	}
	switch {
	case s.Zero() && c.tool.aim.Rule == target.AimDefault:
	case own.none():
		on.Selection, err = target.Resolve(ctx, c.tmux, c.tool.name, s)
	default:
		on.Selection, err = c.identify(ctx, s)
	}
	if err != nil {
		return on, err
	}
	on.Target, err = on.Selection.TargetFor(c.here.Own())
	return on, err
}

// identify finds the id of the one object that a selection names: names and positions may
// change from one round trip to the next, and what is guarded is what is acted on.
func (c *call) identify(ctx context.Context, s target.Selection) (target.Selection, error) {
	if err := s.Required(c.tool.name); err != nil || s.Pane != "" {
		return s, err
	}
	if s.Window != "" && s.Name != "" { // the name is that of the session to act in
		var err error
		if s, err = target.Resolve(ctx, c.tmux, c.tool.name, s); err != nil {
			return s, err
		}
	}
	named, err := tmux.List[target.IDs](ctx, c.tmux, tmux.ListPanes{All: true, Filter: c.tool.aim.FilterFor(s)})
	if err := target.NoneIsEmpty(err); err != nil {
		return s, err
	}
	if len(named) == 0 {
		return s, target.Missing(ctx, c.tmux, s)
	}
	at := named[0]
	switch c.tool.aim.Object {
	case target.Pane:
		return target.Selection{Pane: at.Pane}, nil
	case target.Window:
		if s.Window == "" {
			s.Session = at.Session
		}
		return target.Selection{Window: at.Window, Session: s.Session}, nil
	}
	return target.Selection{Session: at.Session}, nil
}

// spare guards the agent's own pane against what the call does to objects. Where it may be
// any pane, the user is asked at once.
func (c *call) spare(ctx context.Context, h harm, kind target.Kind, objects ...target.Object) error {
	if h != disturbs && h != ends {
		return nil
	}
	own, err := c.presence(ctx)
	if err != nil || own.none() {
		return err
	}
	c.doing, c.held = h, own.what(objects...)
	if kind == target.Server {
		c.held = "the tmux server in which this agent runs"
	} else if own.every {
		return c.consent(ctx, h, c.held)
	}
	for _, on := range objects {
		c.spared = append(c.spared, own.spares(kind, on)...)
	}
	return nil
}
