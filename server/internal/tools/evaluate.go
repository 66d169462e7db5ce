package tools

import (
	"context"
	"errors"
	"strings"

	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/tool"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/inert"
)

var displayMessage = tool.New(tool.Decl{
	Name: "display_message", Title: "Evaluate tmux Format String", Kind: tool.Reads, Set: tool.Panes,
	Aim:  target.Default(target.Pane),
	Hint: "evaluate a tmux format",
	Desc: "Evaluate a tmux format string such as #{pane_current_path} or #{?window_zoomed_flag,yes,no} for a pane and return the text. Displays " +
		"nothing. Formats with commands, loops or patterns are refused.",
}, func(ctx context.Context, c tool.Call, in displayMessageIn) (out evaluated, err error) {
	v, err := c.Tmux.Version(ctx)
	if err != nil {
		return out, err
	}
	refused := func(err error) error {
		if errors.Is(err, tmux.ErrArgument) {
			return reply.Argument("format_string", "is refused: %s", strings.TrimPrefix(err.Error(), tmux.ErrArgument.Error()+": "))
		}
		return err
	}
	format, err := inert.Format(in.FormatString, v)
	if err != nil {
		return out, refused(err)
	}
	var b tmux.Batch
	pane := tmux.AddMessage(&b, tmux.DisplayMessage{Target: c.On.Target, Message: "#{pane_id}"})
	text := tmux.AddMessage(&b, tmux.DisplayMessage{Target: c.On.Target, Message: format})
	if err := b.Do(ctx, c.Tmux); err != nil {
		return out, err
	}
	if err := inert.Check(*text); err != nil {
		return out, refused(err)
	}
	out.Result = reply.Legible(*text, "\n\t") // line breaks may be the format's own
	if id := tmux.PaneID(*pane); id != "" {
		out.PaneID = &id
	} else if !c.On.Zero() { // display-message does not fail on a missing target
		return out, target.Missing(ctx, c.Tmux, c.On.Selection)
	}
	return out, nil
})

type displayMessageIn struct {
	FormatString string `json:"format_string" desc:"format with tokens, options and @options"`
	target.SelectPane
	target.OnSocket
}

// evaluated is the expansion of a format, and the pane that it was expanded for, if any: a
// server without sessions has none.
type evaluated struct {
	Result string       `json:"result" exact:"true"`
	PaneID *tmux.PaneID `json:"pane_id"`
}

func (e evaluated) TextBlock() string { return e.Result }
