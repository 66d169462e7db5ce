package server

import (
	"context"
	"time"

	"tmuxmcp/server/internal/launch"
	"tmuxmcp/server/internal/target"
)

// A tool without a declaration of what it acts on cannot be added to a server, and a handler
// gets its tmux server only after aim, so the guard cannot be forgotten.

// checker is the input of a tool that can be invalid in ways that the schema does not
// express. It is checked before tmux or the user is asked for anything.
type checker interface{ check(limits) error }

// limits are what a server allows its callers.
type limits struct {
	waitMax time.Duration
	path    launch.PathTo
}

// aim resolves and guards the objects that the call's input names, as the tool declares.
func (c *call) aim(ctx context.Context, in any) (err error) {
	if ch, ok := in.(checker); ok {
		if err := ch.check(limits{c.s.cfg.WaitMax, c.s.start.Path}); err != nil {
			return err
		}
	}
	switch in := in.(type) {
	case target.MultiSelector:
		all, err := c.guard.All(ctx, in.SelectedAll())
		if err != nil {
			return err
		}
		c.on = all[0]
	case target.Selector:
		c.on, err = c.guard.At(ctx, in.Selected())
	default:
		err = c.guard.Server(ctx)
	}
	return err
}
