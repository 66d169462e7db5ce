package tmux

import (
	"context"
	"strings"

	"tmuxmcp/internal/shellquote"
)

// This file is the one place where text is escaped for tmux. Text passes through up to four
// parsers, each with its own escapes:
//
//   - the command list: a word that ends in ";" ends its command (word);
//   - the configuration file language, for lists too long for an argument vector
//     (configWord);
//   - formats: names, titles and directories are expanded (Literal);
//   - strftime, in the arguments of display-message and pipe-pane (withoutTime).
//
// Every rule is fuzzed against real tmux: what goes in comes out.

// Format is text in tmux's format language, such as "#{pane_id}". tmux expands the fields
// of commands that have this type; fields of type string arrive unchanged.
type Format string

// Literal returns the format that expands to exactly text, also inside another format. It
// uses the a: modifier (a character by its number), which works in every position and
// version; "##" does not work before a "[", nor #{l:…} with a brace in it before tmux 3.4.
func Literal(text string) Format { return Format(formatEscapes.Replace(text)) }

var formatEscapes = strings.NewReplacer("#", "#{a:35}", "}", "#{a:125}", ",", "#{a:44}")

// withoutTime protects the percent signs of a format from strftime, which display-message
// and pipe-pane apply at every nesting level of the format.
func (f Format) withoutTime() Format {
	return Format(strings.ReplaceAll(string(f), "%", "#{a:37}"))
}

// Glob returns the shell pattern that matches exactly text.
func Glob(text string) string { return globEscapes.Replace(text) }

var globEscapes = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

// ShellQuote quotes text as one word of a POSIX shell command.
func ShellQuote(text string) string { return shellquote.Word(text) }

// word escapes an argument as one word of a command list: tmux takes a final ";" for the
// end of the command unless a backslash precedes it.
func word(arg string) string {
	if strings.HasSuffix(arg, ";") {
		return arg[:len(arg)-1] + `\;`
	}
	return arg
}

// configWord quotes an argument for tmux's configuration language. Inside single quotes
// everything is literal except the quote itself, the byte 0xff, which tmux's reader takes
// for the end of the file, and a newline: spaces and comments after it are dropped, and a
// backslash before it joins the lines.
func configWord(arg string) string { return "'" + configEscapes.Replace(arg) + "'" }

var configEscapes = strings.NewReplacer(`'`, `'\''`, "\n", `'"\n"'`, "\xff", `'"\377"'`)

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
