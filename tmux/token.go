package tmux

import (
	"slices"
	"strings"
	"sync"
)

// Scope is the kind of object that a token describes.
type Scope string

// Scopes of tokens. A row of a smaller scope also has the tokens of the larger scopes
// around it: a pane's row has its window's, its session's and its server's.
const (
	ServerScope  Scope = "server"
	SessionScope Scope = "session"
	WindowScope  Scope = "window"
	PaneScope    Scope = "pane"
	ClientScope  Scope = "client"
	BufferScope  Scope = "buffer"
	// MouseScope is for tokens that have a value only while tmux runs a mouse key binding.
	MouseScope Scope = "mouse"
)

// Token is one name of tmux's format table, such as pane_id.
type Token struct {
	Name  string
	Scope Scope
	// Type is the Go type of its values in this package's rows, without the pointer:
	// "bool", "int", "string", "time.Time", "PaneID", "[]string"… Lists are separated by
	// commas.
	Type string
	// Since and Until are the first and last tmux releases that have it; zero means no
	// bound.
	Since, Until Version
	// Nullable tokens may have no value on a tmux that knows them: no exit status yet, no
	// mode, no group. An empty title is a value.
	Nullable bool
	// Scoped tokens are not safe on tmux 3.2a without an object of their scope. This package
	// does not ask for them there; see [Token.Guarded].
	Scoped bool
	// text is how long its values can be, if they are text.
	text textKind
}

// textKind says what bounds the values of a token that are text.
type textKind int

const (
	// anyText may be anything of any length: titles, commands, options.
	anyText textKind = iota
	// nameText may be long, but tmux lets no control characters into it, or looks it up in
	// the system each time it is asked for.
	nameText
	// shortText is bounded by tmux or the system: paths of files by PATH_MAX.
	shortText
)

// In reports whether a tmux of version v can be expected to have the token.
func (t Token) In(v Version) bool {
	release := Version{Major: v.Major, Minor: v.Minor}
	return v.Has(t.Since) && (t.Until == Version{} || release.Compare(t.Until) <= 0)
}

// Tokens returns all known tokens, ordered by name: tmux's own tables from 3.2 to 3.8.
// Names that exist only while a command, a mode or a hook runs (copy_cursor_x, hook_pane)
// are not among them.
func Tokens() []Token { return slices.Clone(tokenTable()) }

// Guarded wraps f, a format that contains the token, so that on version v it expands to nothing
// where the token is not safe: see Scoped.
func (t Token) Guarded(f Format, v Version) Format {
	if !t.Scoped || strayTokens.In(v) {
		return f
	}
	// A branch that is not taken is not expanded.
	return "#{?" + Format(identity[t.Scope]) + "," + f + ",}"
}

var tokensByName = sync.OnceValue(func() map[string]*Token {
	m := map[string]*Token{}
	for i, t := range tokenTable() {
		m[t.Name] = &tokenTable()[i]
	}
	return m
})

// momentaryTokens are names that rows can have although they are not in tmux's table: copy
// mode and list-commands define them.
const momentaryTokens = `
	command_list_alias command_list_name command_list_usage copy_cursor_hyperlink copy_cursor_line copy_cursor_word
	copy_cursor_x copy_cursor_y copy_line_numbers copy_position copy_position_limit rectangle_toggle refresh_active
	scroll_position search_count search_count_partial search_match search_present search_timed_out selection_active
	selection_end_x selection_end_y selection_mode selection_present selection_start_x selection_start_y top_line_time
`

// tokenNames are the names that a row may have.
var tokenNames = sync.OnceValue(func() []string {
	names := strings.Fields(momentaryTokens)
	for _, t := range tokenTable() {
		names = append(names, t.Name)
	}
	return names
})

// knownToken reports whether a name means something in a format. tmux also looks up
// options, user options and environment variables there.
func knownToken(name string) bool {
	if slices.Contains(tokenNames(), name) || strings.ToLower(name) != name || strings.HasPrefix(name, "@") {
		return true
	}
	kind, full := kindOfOption(name)
	return full == name && !kind.hook
}
