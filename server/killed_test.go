package server_test

import (
	"strings"
	"testing"

	"tmuxmcp/tmux/tmuxtest"
)

// TestServerKilledDuringACall: a hook ends the tmux server in the middle of the
// command list of a call.
func TestServerKilledDuringACall(t *testing.T) {
	for _, c := range []struct{ tool, args, hook string }{
		{"split_window", `{"pane_id":"%0"}`, "after-split-window"},
		{"create_window", `{"session_name":"a"}`, "after-new-window"},
		{"rename_window", `{"window_id":"@0","new_name":"x"}`, "after-rename-window"},
		{"select_layout", `{"window_id":"@0","layout":"tiled"}`, "after-select-layout"},
		{"resize_pane", `{"pane_id":"%0","height":5}`, "after-resize-pane"},
		{"move_window", `{"window_id":"@0","destination_index":4}`, "after-list-windows"},
		{"pipe_pane", `{"pane_id":"%0"}`, "after-pipe-pane"},
	} {
		t.Run(c.tool, func(t *testing.T) {
			t.Parallel()
			srv, p := served(t)
			ok[rows](p, "list_panes", `{}`)
			pid := format(t, srv, "%0", "#{pid}")
			tmuxtest.Run(t, srv, "set-hook", "-g", c.hook, "run-shell 'kill -9 "+pid+"'")
			res := p.fails(c.tool, c.args, "tmux error: ")
			if text := res.text(); !strings.Contains(text, "server") || len(text) > 200 {
				t.Errorf("it fails with %q", text)
			}
			// The socket is still there, and nobody listens on it.
			p.fails(c.tool, c.args, "no tmux server on "+srv.SocketPath())
			if s := ok[map[string]any](p, "create_session", `{"session_name":"b"}`); s["session_id"] != "$0" {
				t.Errorf("on a new server the first session is %v", s)
			}
		})
	}
}

// TestCreateSessionOutlivesAnEndingServer: the server that takes the command is
// gone before it answers, so the session is made on a new one.
func TestCreateSessionOutlivesAnEndingServer(t *testing.T) {
	t.Parallel()
	srv, p := served(t)
	ok[rows](p, "list_panes", `{}`)
	tmuxtest.Run(t, srv, "set-hook", "-g", "after-new-session", "run-shell 'kill -9 "+format(t, srv, "%0", "#{pid}")+"'")
	ok[map[string]any](p, "create_session", `{"session_name":"b"}`)
	if got := ok[rows](p, "list_sessions", `{}`); got.column("session_name") != "b" {
		t.Errorf("sessions are %s", got.column("session_name"))
	}
}

func TestChangesInABatch(t *testing.T) {
	t.Parallel()
	_, p := served(t)
	batch := ok[struct {
		Succeeded int `json:"succeeded"`
		Failed    int `json:"failed"`
	}](p, "call_mutating_tools_batch", `{"on_error":"continue","operations":[
		{"tool":"create_window","arguments":{"session_name":"a","suppress_persistent_history":true}},
		{"tool":"split_window","arguments":{"window_id":"@1"}},
		{"tool":"kill_pane","arguments":{"pane_id":"%0"}},
		{"tool":"rename_window","arguments":{"window_id":"@1","new_name":"#S"}}]}`)
	if batch.Succeeded != 3 || batch.Failed != 1 {
		t.Errorf("%+v, want 3 and the kill refused", batch)
	}
	if got := ok[rows](p, "list_panes", `{}`); got.column("pane_id") != "%0 %1 %2" || !strings.HasSuffix(got.column("window_name"), "#S #S") {
		t.Errorf("panes are %s in %s", got.column("pane_id"), got.column("window_name"))
	}
}
