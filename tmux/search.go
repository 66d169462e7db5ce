package tmux

import (
	"fmt"
	"strings"
)

// This file makes formats that are conditions: the Filter of [ListPanes] and the other
// lists, and the Test of [IfShell].

// MatchOptions say how a pattern is matched: by default, as literal text.
type MatchOptions struct {
	// Glob treats the pattern as a shell pattern with * ? and [ ].
	Glob bool
	// Regexp treats the pattern as a POSIX extended regular expression, as implemented by
	// the C library of the tmux server. An invalid one matches nothing. It excludes Glob.
	Regexp bool
	// IgnoreCase ignores the case of letters.
	IgnoreCase bool
}

// modifier returns a format modifier with the flags of the match.
func (m MatchOptions) modifier(name string) Format {
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

// pattern returns the pattern as tmux reads it.
func (m MatchOptions) pattern(pattern string) Format {
	if !m.Glob && !m.Regexp {
		pattern = Glob(pattern)
	}
	return Literal(pattern)
}

// MatchContent returns the condition that a line of a pane's visible screen contains a
// match of the pattern. The history is not searched, wrapped lines are not joined, and
// trailing spaces are ignored. The condition expands to the number of the first such line,
// counted from 1, or 0. Nothing in the pattern is expanded or run. An empty pattern matches
// every pane.
func MatchContent(pattern string, how MatchOptions) Format {
	return "#{" + how.modifier("C") + ":" + how.pattern(pattern) + "}"
}

// MatchToken returns the condition that the value of a token matches a pattern: all of it
// for a glob or a text, any part of it for a regular expression. A token that does not
// exist has an empty value.
func MatchToken(token, pattern string, how MatchOptions) Format {
	return "#{" + how.modifier("m") + ":" + how.pattern(pattern) + "," + valueOf(token) + "}"
}

// MatchEqual returns the condition that a token has exactly this value.
func MatchEqual(token, value string) Format {
	return "#{==:" + valueOf(token) + "," + Literal(value) + "}"
}

// MatchOneOf returns the condition that a token holding an id or a number has one of these
// values. It costs one comparison per object, however many values there are.
func MatchOneOf[V ~string | ~int](token string, values ...V) Format {
	var list strings.Builder
	for _, v := range values {
		fmt.Fprint(&list, " ", v)
	}
	return "#{m:* " + valueOf(token) + " *," + Literal(list.String()) + " }"
}

// valueOf returns the format of a token; an invalid name expands to nothing.
func valueOf(token string) Format {
	for _, c := range []byte(token) {
		if !isNameByte(c) && c != '@' {
			return ""
		}
	}
	return "#{" + Format(token) + "}"
}

// isNameByte reports whether the names of tokens and options may contain c.
func isNameByte(c byte) bool {
	return c == '_' || c == '-' || 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
}

// And returns the condition that all the conditions are true.
func And(conditions ...Format) Format { return fold("&&", "1", conditions) }

// Or returns the condition that at least one of the conditions is true.
func Or(conditions ...Format) Format { return fold("||", "0", conditions) }

// Not returns the condition that the condition is false.
func Not(condition Format) Format { return "#{!=:" + Or(condition, "0") + ",1}" }

// fold nests conditions in pairs, since before 3.6 tmux's operators take only two.
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
