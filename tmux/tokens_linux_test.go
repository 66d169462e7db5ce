package tmux_test

import (
	"tmuxmcp/internal/test/cases"
	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
)

func init() {
	scriptCommands["attach"] = func(s *objectScript, args []string) error {
		s.terminal = testserver.Attach(s.t, s.srv, args[0], 60, 20)
		return nil
	}
	scriptCommands["keys"] = func(s *objectScript, args []string) error {
		check.Must[int](s.t)(s.terminal.WriteString(cases.Expand(args[0])))
		return nil
	}
}
