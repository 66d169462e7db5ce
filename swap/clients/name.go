package clients

import (
	"fmt"
	"strings"

	"tmuxmcp/swap/ask"
)

// A nameRule says which names of servers a client accepts: without a pattern, all.
type nameRule struct {
	Name ask.Pattern
	// Else completes "it" with what the client does with an entry of another name; "" if it
	// runs the entry, or that is not known.
	Else string
}

// Takes reports whether a client accepts a server's name for a new entry or, with there, for an
// existing one.
func (r nameRule) Takes(server string, there bool) bool {
	return r.Name.Regexp == nil || r.Name.MatchString(server) || there && r.Else == ""
}

// Refused returns why a client does not accept a name.
func (r nameRule) Refused(client, server string) string {
	text := fmt.Sprintf("%s takes no server named %q: only letters, digits and %s", client, server, r.marks())
	if !r.Name.MatchString("1") {
		text += ", and a letter or _ first"
	}
	return text
}

// marks returns the characters other than letters and digits that may be in a name.
func (r nameRule) marks() string {
	return strings.Map(func(mark rune) rune {
		if r.Name.MatchString("a" + string(mark)) {
			return mark
		}
		return -1
	}, allMarks)
}

const allMarks = "_:@/.-!\"#$%&'()*+,;<=>?[\\]^`{|}~ "
