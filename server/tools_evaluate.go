package server

import (
	"context"
	"errors"
	"strings"

	"tmuxmcp/tmux"
)

var displayMessage = tool[displayMessageIn, evaluated]{
	name: "display_message", title: "Evaluate tmux Format String", kind: reads, set: setPanes,
	desc: "Evaluate a tmux format such as #{pane_current_path} or #{?window_zoomed_flag,yes,no} for a pane, and return the text; nothing is shown to anybody. " +
		"What runs commands or expands a value again, #( ), E: and T:, is refused. Percent signs are text.",
	run: func(ctx context.Context, c *call, in displayMessageIn) (out evaluated, err error) {
		v, err := c.tmux.Version(ctx)
		if err != nil {
			return out, err
		}
		format, err := tmux.Inert(in.FormatString, v)
		if errors.Is(err, tmux.ErrArgument) {
			return out, argumentFault("format_string", "is refused: %s", strings.TrimPrefix(err.Error(), tmux.ErrArgument.Error()+": "))
		}
		if err != nil {
			return out, err
		}
		s := in.selection()
		target, err := c.reading(ctx, s)
		if err != nil {
			return out, err
		}
		type row struct {
			Pane tmux.PaneID `tmux:"pane_id"`
		}
		var b tmux.Batch
		rows := tmux.Rows[row](&b, tmux.DisplayMessage{Target: target})
		text := tmux.Displayed(&b, tmux.DisplayMessage{Target: target, Message: format})
		if err := b.Do(ctx, c.tmux); err != nil {
			return out, err
		}
		out.Result = *text
		if id := (*rows)[0].Pane; id != "" {
			out.PaneID = &id
		} else if !s.zero() { // a message to a target that does not exist is no error
			return out, c.missing(ctx, s)
		}
		return out, nil
	},
}

type displayMessageIn struct {
	FormatString string `json:"format_string"`
	paneSelect
	socket
}

// evaluated is what a format expands to, and the pane that it was expanded for:
// none on a server without sessions.
type evaluated struct {
	Result string       `json:"result"`
	PaneID *tmux.PaneID `json:"pane_id"`
}

func (e evaluated) textBlock() string { return e.Result }
