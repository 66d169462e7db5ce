package adapter

import (
	"context"
	"errors"
	"slices"

	"tmuxmcp/conform/internal/gap"
)

// Probes are calls of every verb, for a server with a session $0 that has two windows, which
// need not be left as it was.
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

// OffersNone makes the calls of [Probes] for these verbs, and reports whether the adapter offers
// none of them. It stops at the first that is offered. An error of the wrapper's is no lack of a
// method, and an adapter that does not answer is not known to lack any.
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
