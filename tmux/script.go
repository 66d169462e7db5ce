package tmux

import (
	"context"
	"strings"
)

// Script returns a list of commands as text in tmux's own language, for hooks, key
// bindings, [IfShell], [RunShell] and configuration files. As in [Server.Do], the commands
// are quoted and checked against the server's version.
func (s *Server) Script(ctx context.Context, cmds ...Command) (string, error) {
	var b strings.Builder
	for i, c := range cmds {
		words, err := encode(c, func() (Version, error) { return s.Version(ctx) })
		if err != nil {
			return "", err
		}
		before, err := s.preceding(ctx, c)
		if err != nil {
			return "", err
		}
		for j, words := range append(before, words) {
			if i+j > 0 {
				b.WriteString(" ; ")
			}
			words.writeConfig(&b)
		}
	}
	return b.String(), nil
}

// writeConfig writes a command in tmux's configuration language.
func (w encoded) writeConfig(b *strings.Builder) {
	for i, arg := range w {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(configWord(arg))
	}
}
