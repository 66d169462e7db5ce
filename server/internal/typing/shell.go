package typing

import (
	"context"
	"errors"

	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/prompt"
)

// Shell returns the shell of a pane that was looked at, to be typed into at its prompt.
func (t *Typist) Shell(pane prompt.Pane) *prompt.Shell {
	return &prompt.Shell{Tmux: t.Tmux, Type: t.TypeCommands, Pane: pane, Wait: t.keyboard.PromptWait}
}

// TypeCommands is a [prompt.Typist]: what the commands make appear is the echo of a command
// of run_command. What is typed follows from what the pane shows, so it does not wait for
// somebody else who types there, but fails: see [Alone].
func (t *Typist) TypeCommands(ctx context.Context, pane tmux.PaneID, shows []string, commands []tmux.Command) (row int, sent bool, err error) {
	w := turnOf(t, fails)
	if shows == nil { // keys that may discard a line
		w.interrupting(pane)
	}
	what := screen.Echo{Lines: shows, Command: shows != nil}
	_, err = t.typeBursts(ctx, w, target.AtPane(pane), what, atOnce(func(tmux.Target) ([]tmux.Command, error) { return commands, nil }))
	var refused *reply.Fault
	return t.row, !errors.As(err, &refused), err
}
