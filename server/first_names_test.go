package server_test

import (
	"strings"
	"testing"

	"tmuxmcp/tmux/tmuxtest"
)

// TestNamesThatModelsTry: what a model calls a thing at first is taken for what it means, or the
// answer says at once what it is.
func TestNamesThatModelsTry(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	tmuxtest.Run(t, srv, "new-session", "-d", "-s", "a", "exec cat")
	tmuxtest.Wait(t, srv, "%0", "cat", func() bool {
		return tmuxtest.Run(t, srv, "display-message", "-p", "-t", "%0", "#{pane_current_command}") == "cat"
	})
	p := serve(t, configFor(srv))
	// The columns of a table are fields.
	for args, want := range map[string]string{
		`{"filters":{"command":"cat"},"fields":["command","pane"]}`:       `[{"pane_id":"%0","pane_current_command":"cat"}]`,
		`{"filters":{"window":"@0"},"fields":["pane_id"]}`:                `[{"pane_id":"%0"}]`,
		`{"filters":{"session_name":"a","path":"/x"},"fields":["title"]}`: `[]`,
	} {
		if res := p.tool("list_panes", args); res.IsError || !strings.Contains(strings.ReplaceAll(string(res.Structured), " ", ""), want) {
			t.Errorf("list_panes %s: %s %s", args, res.text(), res.Structured)
		}
	}
	if res := p.tool("list_windows", `{"filters":{"name__regex":"."},"fields":["name"]}`); res.IsError {
		t.Error(res.text())
	}
	for _, c := range []struct{ tool, args, says string }{
		{"list_panes", `{"fields":["window_layout"]}`, "list_windows has it"},
		{"list_windows", `{"filters":{"pane_tty":"x"}}`, "list_panes has it"},
		{"send_keys", `{"pane_id":"%0","text":"x"}`, "is it keys?"},
		{"wait_for_text", `{"pane_id":"%0","text":"x"}`, "is it patterns?"},
		{"wait_for_text", `{"pane_id":"%0","patterns":["\n>>> $"]}`, "one line at a time"},
		{"search_panes", `{"pattern":"a\\nb","regex":true}`, "one line at a time"},
		{"send_keys", `{"pane_id":"%0","keys":"C-c C-c"}`, `as a list: ["C-c","C-c"]`},
		{"send_keys", `{"pane_id":"%0","keys":"Down Down Enter"}`, `as a list: ["Down","Down","Enter"]`},
	} {
		res := p.tool(c.tool, c.args)
		if !res.IsError || !strings.Contains(res.text(), c.says) || len(res.text()) > 300 {
			t.Errorf("%s %s says %q, want %q", c.tool, c.args, res.text(), c.says)
		}
	}
	p = serveText(t, srv)
	tmuxtest.Run(t, srv, "send-keys", "-t", "%0", "find me", "Enter")
	tmuxtest.Run(t, srv, "send-keys", "-t", "%0", "-N", "60", "Enter")
	if res := p.tool("search_panes", `{"pattern":"nowhere"}`); !strings.Contains(res.text(), "on the screens: content_start=") {
		t.Errorf("an empty answer does not say what was searched: %s", res.text())
	}
}
