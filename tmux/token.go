package tmux

import "sync"

// Scope is the kind of object that a token tells something about.
type Scope string

// The scopes of tokens. A row of a smaller scope has the tokens of the larger
// ones around it: a pane's row those of its window, session and server.
const (
	ServerScope  Scope = "server"
	SessionScope Scope = "session"
	WindowScope  Scope = "window"
	PaneScope    Scope = "pane"
	ClientScope  Scope = "client"
	BufferScope  Scope = "buffer"
	// MouseScope is for tokens that have a value only while tmux runs a mouse
	// key binding.
	MouseScope Scope = "mouse"
)

// Token is one name of tmux's format table, such as pane_id.
type Token struct {
	Name  string
	Scope Scope
	// Type is the Go type of its values in this package's rows, without the
	// pointer: "bool", "int", "string", "time.Time", "PaneID", "[]string"… Lists
	// are separated by commas.
	Type string
	// Since and Until are the first and the last tmux release that has it; zero
	// when every supported one does.
	Since, Until Version
	// Nullable tokens may have no value on a tmux that knows them, because there
	// is nothing to tell: no exit status yet, no mode, no group. An empty title
	// is a value.
	Nullable bool
	// Scoped tokens kill the server on tmux 3.2a when they are expanded without
	// an object of their scope: client_created in a pane's row, pane_fg with a
	// target that is gone.
	Scoped bool
}

// In reports whether a tmux of version v can be expected to have the token.
func (t Token) In(v Version) bool {
	release := Version{Major: v.Major, Minor: v.Minor}
	return v.Has(t.Since) && (t.Until == Version{} || release.Compare(t.Until) <= 0)
}

// Tokens is the table of all known tokens, in the order of their names: those of
// tmux's own table from 3.2 to 3.8. Names that exist only while a command, a
// mode or a hook runs (copy_cursor_x, hook_pane) are not in it.
func Tokens() []Token { return append([]Token(nil), tokenTable...) }

var tokensByName = sync.OnceValue(func() map[string]*Token {
	m := make(map[string]*Token, len(tokenTable))
	for i := range tokenTable {
		m[tokenTable[i].Name] = &tokenTable[i]
	}
	return m
})
