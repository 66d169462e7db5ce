// Package shellquote quotes text for POSIX shells.
package shellquote

import "strings"

// Word quotes text as one word of a command.
func Word(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
