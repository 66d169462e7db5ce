package typing

import (
	"errors"
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/server/internal/caller"
	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/tmux"
)

// What is typed under a condition of its own is not taken for what the guard refuses.
func TestConditionOfTheCommands(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	testserver.Run(t, srv, "new-session", "-d", "exec cat")
	g := guard.New(guard.Declared{}, srv, caller.Here{}, guard.Rules{}, nil)
	typist := New(new(screen.Reader), 0).Typist(rows.Source{Tmux: srv}, g)
	_, err := typist.Type(t.Context(), target.AtPane("%0"), screen.EchoOf("x"), func(to tmux.Target) ([]tmux.Command, error) {
		return []tmux.Command{tmux.Require{Target: to, Condition: "0"}, tmux.SendKeys{Target: to, Keys: []string{"x"}}}, nil
	})
	var fault *reply.Fault
	if !errors.Is(err, tmux.ErrUnmet) || errors.As(err, &fault) {
		t.Errorf("%v", err)
	}
}
