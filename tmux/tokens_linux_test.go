package tmux_test

import (
	"tmuxmcp/tmux/tmuxtest"
)

func init() {
	tokenCommands["attach"] = func(s *tokenScript, args []string) error {
		s.terminal = tmuxtest.Attach(s.t, s.srv, args[0], 60, 20)
		return nil
	}
	tokenCommands["keys"] = func(s *tokenScript, args []string) error {
		must[int](s.t)(s.terminal.WriteString(expand(args[0])))
		return nil
	}
}
