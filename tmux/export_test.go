package tmux

import (
	"bufio"
	"context"
	"net"
	"strings"

	"tmuxmcp/internal/keys"
	"tmuxmcp/tmux/internal/wire"
)

// Unvis undoes tmux's changes to the names that it stores.
func Unvis(s string) string { return unescape(s, false) }

// OptionNames returns the options that formats may read.
func OptionNames(v Version) []string {
	var names []string
	for name, kind := range optionKinds() {
		if !kind.hook && v.Has(kind.since) {
			names = append(names, name)
		}
	}
	return names
}

// CheckKey and KeyNames are what package tmux knows of the names of keys; BoundKey reports
// whether a key is for bindings only.
var (
	CheckKey = checkKey
	KeyNames = keyNames
)

func BoundKey(name string) bool { return boundKey().MatchString(name) }

// CopyCommands returns the commands of copy mode of a version.
func CopyCommands(v Version) (names []string) {
	for _, c := range copyCommands {
		if (Token{Since: c.since, Until: c.until}).In(v) {
			names = append(names, strings.Fields(c.names)...)
		}
	}
	return names
}

// Exhausted and KindOf classify errors of the system and of tmux; Commands are all
// commands.
var (
	Exhausted = wire.Exhausted
	KindOf    = wire.KindOf
	Commands  = commands
)

// ErrProtocol reports a server that does not speak the protocol.
var ErrProtocol = wire.ErrProtocol

// RunNative sends one command to the server at a socket.
func RunNative(ctx context.Context, path string, env []string, words ...string) (stderr string, code int, err error) {
	rep, err := wire.NewTransports(wire.Socket{Path: path}, &wire.ExecTransport{Env: env}).Ask(ctx, words...)
	return string(rep.Stderr), rep.Code, err
}

// CallNative lets a server answer a list that reads standard input.
func CallNative(conn net.Conn) error {
	c := wire.NativeCall{Conn: conn, In: bufio.NewReaderSize(conn, 4*wire.MaxMessage), Stdin: []byte("input")}
	_, err := c.Do(nil, []string{"list-sessions"})
	return err
}

// TurnTaken reports whether a call of Wait or Signal has the turn of a channel.
func TurnTaken(s *Server, channel string) bool {
	giveBack, taken, ok := s.turns.Take(context.Background(), channel, 1)
	if ok {
		giveBack()
	}
	return taken
}

// IsSilent reports whether calls to a server fail at once until it reacts.
func IsSilent(s *Server) bool {
	_, silent := wire.Silences.Load(s.at.Path)
	return silent
}

// ProbesOf returns how many connections wait for a silent server to react.
func ProbesOf(s *Server) int {
	q, silent := wire.Silences.Load(s.at.Path)
	if !silent || q.(*wire.Silence).Conn == nil {
		return 0
	}
	return 1
}

// CommandName returns the name of a command.
func CommandName(c Command) string { return c.commandName() }

// KeyReaches reports whether a key reaches the program in a pane.
func KeyReaches(ctx context.Context, pane PaneRef, key string) (bool, error) {
	return keys.Reaches(key, keyMode(ctx, pane.srv, pane))
}
