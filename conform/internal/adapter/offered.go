package adapter

import (
	"context"
	"errors"
	"maps"
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

// NotOffered makes the calls of [Probes], and returns for each verb that none of them is offered
// of what the adapter says of that. Other errors do not count. Where the adapter does not
// answer any more, the rest is not known to be missing. With verbs it makes only their calls,
// until one is offered, which is all that some want to know.
func NotOffered(ctx context.Context, a Asker, verbs []string) map[string]string {
	missing, offered := map[string]string{}, map[string]bool{}
	for _, words := range Probes {
		call, err := Parse(words)
		if err != nil {
			panic(err)
		}
		if len(verbs) > 0 && !slices.Contains(verbs, call.Request.Method) {
			continue
		}
		_, err = call.Do(ctx, a, nil)
		var none gap.NotOffered
		var f *Failure
		if errors.As(err, &f) && (f.Kind == Ended || f.Kind == TimedOut) {
			break
		}
		if errors.As(err, &none) {
			missing[call.Request.Method] = none.Error()
		} else {
			offered[call.Request.Method] = true
			if len(verbs) > 0 {
				break
			}
		}
	}
	maps.DeleteFunc(missing, func(verb, _ string) bool { return offered[verb] })
	return missing
}
