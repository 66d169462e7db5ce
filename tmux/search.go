package tmux

import (
	"fmt"
	"strings"
)

// This file makes formats that are conditions: the Filter of [ListPanes] and the
// other lists, and the Test of [IfShell].

// Match says how a pattern is matched. The zero Match looks for the text itself.
type Match struct {
	// Glob takes the pattern for a shell pattern with * ? and [ ].
	Glob bool
	// Regexp takes the pattern for an extended regular expression of POSIX, as
	// the C library of the tmux server has it. One that is not valid matches
	// nothing. It excludes Glob.
	Regexp bool
	// IgnoreCase ignores the case of letters.
	IgnoreCase bool
}

// modifier is the name of a format modifier with the flags of the match.
func (m Match) modifier(name string) Format {
	flags := ""
	if m.Regexp {
		flags += "r"
	}
	if m.IgnoreCase {
		flags += "i"
	}
	if flags == "" {
		return Format(name)
	}
	return Format(name + "/" + flags)
}

// pattern is the pattern as tmux reads it.
func (m Match) pattern(pattern string) Format {
	if !m.Glob && !m.Regexp {
		pattern = Glob(pattern)
	}
	return Literal(pattern)
}

// MatchContent is the condition that a line of a pane's visible screen contains a match of the
// pattern. The history is not searched, wrapped lines are not joined, and trailing spaces are
// ignored. It expands to the number of the first such line, counted from 1, or 0. Nothing in the
// pattern is expanded or run. An empty pattern matches every pane.
func MatchContent(pattern string, how Match) Format {
	return "#{" + how.modifier("C") + ":" + how.pattern(pattern) + "}"
}

// MatchToken is the condition that the value of a token matches a pattern: the whole value for a
// glob or a text, a part of it for a regular expression. A token that does not exist has an empty
// value.
func MatchToken(token, pattern string, how Match) Format {
	return "#{" + how.modifier("m") + ":" + how.pattern(pattern) + "," + valueOf(token) + "}"
}

// MatchEqual is the condition that a token has exactly this value.
func MatchEqual(token, value string) Format {
	return "#{==:" + valueOf(token) + "," + Literal(value) + "}"
}

// MatchOneOf is the condition that a token that is an id or a number has one of these values. It
// costs one comparison for each object, however many values there are.
func MatchOneOf[V ~string | ~int](token string, values ...V) Format {
	var list strings.Builder
	for _, v := range values {
		fmt.Fprint(&list, " ", v)
	}
	return "#{m:* " + valueOf(token) + " *," + Literal(list.String()) + " }"
}

// valueOf is the format of a token; a name that is none expands to nothing.
func valueOf(token string) Format {
	for _, c := range []byte(token) {
		if !isNameByte(c) && c != '@' {
			return ""
		}
	}
	return "#{" + Format(token) + "}"
}

// isNameByte reports whether tokens and options have this character in their
// names.
func isNameByte(c byte) bool {
	return c == '_' || c == '-' || 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
}

// And is the condition that all the conditions are true.
func And(conditions ...Format) Format { return fold("&&", "1", conditions) }

// Or is the condition that at least one of the conditions is true.
func Or(conditions ...Format) Format { return fold("||", "0", conditions) }

// Not is the condition that the condition is false.
func Not(condition Format) Format { return "#{!=:" + Or(condition, "0") + ",1}" }

// fold pairs conditions, as tmux's operators take two before 3.6.
func fold(op string, none Format, conditions []Format) Format {
	if len(conditions) == 0 {
		return none
	}
	f := conditions[len(conditions)-1]
	for i := len(conditions) - 2; i >= 0; i-- {
		f = "#{" + Format(op) + ":" + conditions[i] + "," + f + "}"
	}
	return f
}
