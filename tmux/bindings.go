package tmux

import (
	"context"
	"strings"

	"tmuxmcp/internal/lazy"
)

// BindKey binds a key to a command.
type BindKey struct {
	// Table is the key table; "prefix" if empty.
	Table string `flag:"T"`
	Root  bool   `flag:"n"` // the same as Table "root"
	// Repeat lets the key be pressed again without the prefix key.
	Repeat bool   `flag:"r"`
	Note   string `flag:"N"` // what the key is for
	Key    string `arg:"required"`
	// Command is a tmux command line if it has one element, and the words of one command if
	// it has several. If empty, the binding gets the note and keeps its command.
	Command []string `arg:""`
}

// UnbindKey removes key bindings.
type UnbindKey struct {
	Table string `flag:"T"`
	Root  bool   `flag:"n"` // the same as Table "root"
	All   bool   `flag:"a"` // all keys of the table
	// Quiet ignores a table that does not exist.
	Quiet bool   `flag:"q"`
	Key   string `arg:""`
}

// ListKeys lists the key bindings. It starts the server if none is running.
type ListKeys struct {
	Table string `flag:"T"`
	First bool   `flag:"1"` // the first match only
	// Notes lists keys and their notes, not the commands.
	Notes bool `flag:"N"`
	// All, with Notes, also lists keys without a note, with their commands.
	All bool `flag:"a"`
	// Prefix is printed before each key, with Notes.
	Prefix string `flag:"P"`
	Format Format `flag:"F" since:"3.7"`
	// Order is key, modifier or name (of the table).
	Order   string `flag:"O" since:"3.7"`
	Reverse bool   `flag:"r" since:"3.7"`
	// Key is one key; all if empty.
	Key string `arg:""`
}

func (BindKey) commandName() string   { return "bind-key" }
func (UnbindKey) commandName() string { return "unbind-key" }
func (ListKeys) commandName() string  { return "list-keys" }

// KeyBinding is a key and the command it runs.
type KeyBinding struct {
	Table  string `json:"table"`
	Key    string `json:"key"`
	Repeat bool   `json:"repeat,omitempty"`
	// Command is in tmux's own syntax, as list-keys prints it.
	Command string `json:"command"`
}

// KeyBindings returns the bindings of a key table, or of all tables if the name is empty.
// It fails with [ErrNotFound] for a table in which no key was ever bound.
func (s *Server) KeyBindings(ctx context.Context, table string) ([]KeyBinding, error) {
	// tmux 3.7 prints nothing for a table with a single binding, so the first command only
	// checks that the table exists.
	outs, err := s.Do(ctx, ListKeys{Table: table}, ListKeys{})
	if err != nil {
		return nil, err
	}
	bindings := []KeyBinding{}
	for line := range strings.Lines(string(outs[1])) {
		m := bindingLine().FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m != nil && (table == "" || m[2] == table) {
			bindings = append(bindings, KeyBinding{Table: m[2], Key: unquoteKey(m[3]), Repeat: m[1] != "", Command: m[4]})
		}
	}
	return bindings, nil
}

// bindingLine matches a line of list-keys; all but the command are padded into columns.
var bindingLine = lazy.Regexp(`^bind-key +(-r +)?(?:-T +(\S+) +)?(\S+) *(.*)$`)

// unquoteKey undoes list-keys' quoting of a key: quotes around it or a backslash before.
func unquoteKey(word string) string {
	if n := len(word); n > 2 && (word[0] == '"' || word[0] == '\'') && word[n-1] == word[0] {
		word = word[1 : n-1]
	}
	if len(word) > 1 && word[0] == '\\' {
		word = word[1:]
	}
	return word
}

// Bind binds a key to a command: see [BindKey]. It fails with [ErrArgument] if there is
// neither a command nor a note. A note alone is dropped if the key is not bound.
func (s *Server) Bind(ctx context.Context, opts BindKey) error {
	if len(opts.Command) == 0 && opts.Note == "" {
		return argumentError("nothing to bind %s to", opts.Key)
	}
	return s.run(ctx, opts)
}

// Unbind removes the binding of a key from a table, or from "prefix" if the table is empty.
func (s *Server) Unbind(ctx context.Context, table, key string) error {
	if key == "" {
		return argumentError("a key to unbind, without its name")
	}
	return s.run(ctx, UnbindKey{Table: table, Key: key})
}
