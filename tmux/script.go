package tmux

import (
	"context"
	"strings"
)

// Script returns a list of commands as text in tmux's own language, for hooks, key
// bindings, [IfShell], [RunShell] and configuration files. As in [Server.Do], the commands
// are quoted and checked against the server's version.
func (s *Server) Script(ctx context.Context, cmds ...Command) (string, error) {
	var list []encoded
	for _, c := range cmds {
		words, before, err := s.encode(ctx, c)
		if err != nil {
			return "", err
		}
		list = append(append(list, before...), words)
	}
	return configLine(list), nil
}

// configLine returns a list as a line of tmux's configuration language.
func configLine(list []encoded) string {
	var line strings.Builder
	for i, words := range list {
		if i > 0 {
			line.WriteString(" ; ")
		}
		for j, w := range words {
			if j > 0 {
				line.WriteByte(' ')
			}
			line.WriteString(configWord(w))
		}
	}
	return line.String()
}
