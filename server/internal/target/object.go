package target

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"tmuxmcp/server/internal/reply"
	"tmuxmcp/tmux"
)

// Object is the resolved object of a call.
type Object struct {
	// Selection contains, for a tool that changes something, only ids and names that tmux
	// cannot take for something else.
	Selection
	// Target is the selection as a target of tmux commands. nil leaves the choice to tmux.
	Target tmux.Target
}

// AtPane returns the pane with the given id.
func AtPane(id tmux.PaneID) Object { return Object{Selection: Selection{Pane: id}, Target: id} }

// Selector is the input of a tool that names an object.
type Selector interface{ Selected() Selection }

// MultiSelector is the input of a tool that names several objects.
type MultiSelector interface{ SelectedAll() []Selection }

// IDs are the ids of a pane and of what contains it, as far as tmux was asked for them.
type IDs struct {
	Session tmux.SessionID `tmux:"session_id"`
	Name    string         `tmux:"session_name"`
	Window  tmux.WindowID  `tmux:"window_id"`
	Pane    tmux.PaneID    `tmux:"pane_id"`
}

// NoneIsEmpty removes the error that tmux returns for lists of panes, windows and clients
// if it has no sessions.
func NoneIsEmpty(err error) error {
	if errors.Is(err, tmux.ErrNoSession) {
		return nil
	}
	return err
}

// NoServerIsEmpty removes the error that no tmux server is running, and notes it instead, if the
// call asks for all that a server has: then it is no failure. A server that runs without its
// socket remains an error.
func NoServerIsEmpty(ctx context.Context, all bool, err error) error {
	var e *tmux.Error
	if !all || !errors.Is(err, tmux.ErrNoServer) || !errors.As(err, &e) || reply.LostFault(e.Socket) != nil {
		return err
	}
	reply.Note(ctx, "no tmux server is running on %s", e.Socket)
	return nil
}

// UniqueBy keeps the first row of each id: tmux lists an object once for each session that
// holds it.
func UniqueBy[R any, K cmp.Ordered](rows []R, id func(R) K) []R {
	seen := make(map[K]bool, len(rows))
	return slices.DeleteFunc(rows, func(r R) bool {
		k := id(r)
		was := seen[k]
		seen[k] = true
		return was
	})
}
