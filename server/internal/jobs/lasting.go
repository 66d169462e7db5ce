package jobs

import (
	"slices"
	"strings"

	"tmuxmcp/internal/lazy"
)

// changers are commands whose only effect is on the shell that runs them.
var changers = strings.Fields("cd pushd popd export source . alias unalias abbr set unset umask shopt setopt declare typeset deactivate")

var assignment = lazy.Regexp(`^[A-Za-z_]\w*=`)

// changesShell returns the last simple command of a command line if its only effect is on the
// shell that runs it, and so is lost with a subshell; otherwise "". Whatever it does not
// understand is another command.
func changesShell(command string) string {
	words := strings.Fields(lastCommand(command))
	switch {
	case len(words) == 0, !slices.Contains(changers, words[0]) && !assignment().MatchString(words[0]):
		return ""
	case assignment().MatchString(words[0]) && slices.ContainsFunc(words, func(w string) bool { return !assignment().MatchString(w) }):
		return "" // the environment of a command
	case len(words) == 1 && slices.Contains(strings.Fields("export alias abbr set shopt setopt declare typeset umask"), words[0]):
		return "" // which lists
	}
	return words[0]
}

// lastCommand returns the text behind the last operator of a command line that is in no quotes
// and no parentheses or braces; "" if it is in them, or ends in the background.
func lastCommand(command string) string {
	start, depth := 0, 0
	var quote byte
	text := strings.TrimRight(command, " \t\r\n;")
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && quote != '\'':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"' || c == '`':
			quote = c
		case c == '#' && (i == 0 || strings.IndexByte(" \t\n;", text[i-1]) >= 0):
			end := strings.IndexByte(text[i:], '\n')
			if end < 0 {
				text = strings.TrimRight(text[:i], " \t\r\n;")
				break
			}
			i += end
			start = i + 1
		case strings.IndexByte("({[", c) >= 0:
			depth++
		case strings.IndexByte(")}]", c) >= 0:
			depth--
		case depth == 0 && strings.IndexByte(";\n|&", c) >= 0:
			start = i + 1
		}
	}
	if quote != 0 || depth != 0 || start > len(text) {
		return ""
	}
	return text[start:]
}
