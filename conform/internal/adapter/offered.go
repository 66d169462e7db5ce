package adapter

import (
	"context"
	"errors"
	"slices"

	"tmuxmcp/conform/internal/gap"
)

// Probes are calls of every verb, for a server with a session $0 that has two windows. They change
// the server.
var Probes = [][]string{
	{"info"}, {"show", "%0"}, {"show", "@0"}, {"show", "$0"},
	{"display", "#{version}"}, {"display", "%0", "#{pane_id}"},
	{"list", "panes"}, {"list", "windows"}, {"list", "sessions"}, {"list", "clients"}, {"list", "buffers"},
	{"search", "mcp-conform"},
	{"send-keys", "%0", "x"}, {"send-keys", "%0", "-R"},
	{"reset", "%0"},
	{"capture", "%0"}, {"pending", "%0"},
	{"run-shell", "true"},
	{"new-session", "mcp-conform-2"},
	{"select-window", "$0", "1"},
	{"last-window", "$0"},
	{"command", "%0", "display-message", "-p", "x"},
}

// OffersNone reports whether the adapter offers none of these verbs. It makes the calls of [Probes]
// until one is offered: an error of the wrapper's own means that the verb exists, and an adapter
// that does not answer may have it.
func OffersNone(ctx context.Context, a Asker, verbs []string) bool {
	none := false
	for _, words := range Probes {
		call, err := Parse(words)
		if err != nil {
			panic(err)
		}
		if !slices.Contains(verbs, call.Request.Method) {
			continue
		}
		if _, err = call.Do(ctx, a, nil); !errors.As(err, new(gap.NotOffered)) {
			return false
		}
		none = true
	}
	return none
}
