// Package inventory finds out which format tokens a tmux really has.
//
// The typed rows of package tmux come from a table of tokens that is written by people, and tmux
// moves on: a new release brings tokens, and now and then drops one. This package reads the truth
// from tmux itself, in three ways:
//
//   - [ParseFormatC] reads the table in tmux's source, format.c;
//   - [FromBinary] reads the same table out of a compiled tmux;
//   - [Probe] asks a running server.
//
// The first two find tokens nobody has heard of yet; the third needs names to ask for, and works
// with any tmux that runs, wherever it comes from.
//
// Only tmux's own table of tokens is looked at. Names that a command adds for its own rows (line in
// capture-pane's output, copy_cursor_x in copy mode, hook_pane in a hook) are not tokens in this
// sense.
package inventory

// An Entry is one row of a tmux's own table of tokens.
type Entry struct {
	Name string
	// Time is true for a token that tmux keeps as a time; every other one is text to tmux, whatever
	// it means.
	Time bool
}

// isName reports whether s is spelled like a token: lower case letters, digits and underscores, a
// letter first.
func isName(s string) bool {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}
