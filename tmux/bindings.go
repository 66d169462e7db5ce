package tmux

import (
	"context"
	"strings"
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

func (BindKey) CommandName() string   { return "bind-key" }
func (UnbindKey) CommandName() string { return "unbind-key" }
func (ListKeys) CommandName() string  { return "list-keys" }

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
		if b, ok := parseBinding(strings.TrimSuffix(line, "\n")); ok && (table == "" || b.Table == table) {
			bindings = append(bindings, b)
		}
	}
	return bindings, nil
}

// parseBinding parses a line of list-keys: bind-key, optionally -r, -T and the table, the
// key, and the command; all but the last are padded into columns.
func parseBinding(line string) (b KeyBinding, ok bool) {
	word, rest := cutWord(line)
	if word != "bind-key" {
		return b, false
	}
	for {
		word, rest = cutWord(rest)
		switch word {
		case "-r":
			b.Repeat = true
			continue
		case "-T":
			b.Table, rest = cutWord(rest)
			word, rest = cutWord(rest)
		}
		b.Key = unquoteKey(word)
		b.Command = rest
		return b, b.Key != ""
	}
}

func cutWord(s string) (word, rest string) {
	word, rest, _ = strings.Cut(strings.TrimLeft(s, " "), " ")
	return word, strings.TrimLeft(rest, " ")
}

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

// Bind binds a key to a command: see [BindKey].
func (s *Server) Bind(ctx context.Context, opts BindKey) error {
	return s.run(ctx, opts)
}

// Unbind removes the binding of a key from a table, or from "prefix" if the table is empty.
func (s *Server) Unbind(ctx context.Context, table, key string) error {
	if key == "" {
		return argumentError("a key to unbind, without its name")
	}
	return s.run(ctx, UnbindKey{Table: table, Key: key})
}
