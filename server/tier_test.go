package server_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/server"
	"tmuxmcp/tmux/tmuxtest"
)

// TestTiersHoldForArguments: what only destructive may do is refused by every door
// of a lower tier, says which tier it needs, and works in that.
func TestTiersHoldForArguments(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	session(t, srv, "b")
	cfg := configFor(srv)
	destructive := serve(t, cfg)
	cfg.Tier = server.Mutating
	mutating := serve(t, cfg)
	shown := func() string {
		var all []string
		for _, flag := range []string{"-s", "-g", "-gw"} {
			all = append(all, tmuxtest.Run(t, srv, "show-options", flag))
		}
		return strings.Join(append(all, tmuxtest.Run(t, srv, "list-windows", "-a")), "\n")
	}
	before := shown()
	denied := []toolCall{
		{"set_option", map[string]any{"option": "exit-unattached", "value": "on"}},
		{"set_option", map[string]any{"option": "destroy-unattached", "unset": true, "scope": "session", "target": "a"}},
		{"set_option", map[string]any{"option": "command-alias[7]", "value": "list-panes=kill-server"}},
		{"set_option", map[string]any{"option": "status-left", "value": "#(true)", "global_": true}},
		{"set_option", map[string]any{"option": "status-left", "value": "#{l:#(true)}", "global_": true}},
		{"set_option", map[string]any{"option": "status-left", "value": "#%p(true)", "global_": true}},
		{"set_option", map[string]any{"option": "status-left", "value": "#{E:#{a:35}(true)}", "global_": true}},
		{"set_option", map[string]any{"option": "@x", "value": "true"}},
		{"set_option", map[string]any{"option": "@x", "unset": true}},
		{"set_option", map[string]any{"option": "@mcp-x", "value": "#(true)"}},
		{"set_option", map[string]any{"option": "of-a-newer-tmux", "value": "true"}},
		{"move_window", map[string]any{"window_id": "@1", "destination_session": "a"}},
		{"move_window", map[string]any{"window_id": "@1", "destination_session": "$0", "destination_index": "9"}},
	}
	for _, c := range denied {
		args, _ := json.Marshal(c.args)
		res := mutating.fails(c.tool, string(args), "this call of "+c.tool+" needs the tier destructive: ", "--safety destructive")
		if res.Meta["error_type"] != "TierDenied" {
			t.Errorf("%v is refused as %v", c, res.Meta)
		}
		for _, p := range []*peer{mutating, destructive} {
			got := ok[struct{ Results []struct{ Error string } }](p, "call_mutating_tools_batch", fmt.Sprintf(`{"operations":[{"tool":%q,"arguments":%s}]}`, c.tool, args))
			if !strings.Contains(got.Results[0].Error, "needs the tier destructive: ") {
				t.Errorf("%v in a batch of tier mutating: %+v", c, got)
			}
		}
	}
	mutating.fails("set_option", `{"option":"exit-unatt","value":"on"}`, "is it exit-unattached?")
	if after := shown(); after != before {
		t.Errorf("a refused call changed\n%s\nto\n%s", before, after)
	}
	for _, args := range []string{
		`{"option":"@mcp-note","value":"see #12, 100%"}`, `{"option":"status-left","value":"#S #{?window_zoomed_flag,Z,} #[fg=red]%H:%M ","global_":true}`, `{"option":"mouse","value":"on"}`,
		`{"option":"destroy-unattached","value":"off"}`, `{"option":"@mcp-note","unset":true}`,
	} {
		ok[optionAnswer](mutating, "set_option", args)
	}
	ok[map[string]any](mutating, "move_window", `{"window_id":"@1","destination_session":"b","destination_index":"4"}`)
	for _, c := range []string{`{"option":"default-command","value":"cat","global_":true}`, `{"option":"@x","value":"#(true)"}`} {
		ok[optionAnswer](destructive, "set_option", c)
	}
	got := ok[struct{ Succeeded int }](destructive, "call_destructive_tools_batch", `{"operations":[{"tool":"set_option","arguments":{"option":"@x","value":"y"}},{"tool":"move_window","arguments":{"window_id":"@1","destination_session":"a"}}]}`)
	if got.Succeeded != 2 || tmuxtest.Run(t, srv, "list-sessions", "-F", "#{session_name}") != "a" {
		t.Errorf("in tier destructive: %+v", got)
	}
}

// TestOptionsThatEndTheAgentAskTheUser: as kill_server does.
func TestOptionsThatEndTheAgentAskTheUser(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	cfg := configFor(srv)
	cfg.Caller = server.Caller{Pane: "%0", Socket: srv.SocketPath()}
	p := serve(t, cfg)
	for _, args := range []string{
		`{"option":"exit-unattached","value":"on"}`, `{"option":"destroy-unattached","value":"on","global_":true}`, `{"option":"destroy-unattached","value":"keep-last"}`, `{"option":"exit-empty","unset":true}`,
	} {
		p.fails("set_option", args, "refusing to end the tmux server in which this agent runs")
	}
	ok[optionAnswer](p, "set_option", `{"option":"exit-unattached","value":"off"}`)
	tmuxtest.Run(t, srv, "has-session", "-t", "=a")
}

// TestMetadataIsLegible: what programs put into titles, names and paths reaches the
// client with nothing invisible in it; their screens reach it as they are.
func TestMetadataIsLegible(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	const hidden = "a\u202eb\u200bc\u2066\ufeff\u00ad\U000e0041"
	const shown = `a\u202eb\u200bc\u2066\ufeff\u00ad\U000e0041`
	dir := filepath.Join(t.TempDir(), hidden)
	tmuxtest.Run(t, srv, "new-session", "-d", "-s", "s"+hidden, "-n", "w"+hidden, "-x", "80", "-y", "24", "mkdir -p '"+dir+"'; cd '"+dir+"'; printf '"+hidden+" marked'; exec cat")
	tmuxtest.Run(t, srv, "select-pane", "-t", "%0", "-T", "t"+hidden)
	tmuxtest.WaitScreen(t, srv, "%0", "marked")
	tmuxtest.Wait(t, srv, "%0", "path", func() bool {
		return strings.Contains(tmuxtest.Run(t, srv, "display-message", "-p", "-t", "%0", "#{pane_current_path}"), "b")
	})
	screen := tmuxtest.Run(t, srv, "capture-pane", "-p", "-t", "%0")
	if !strings.ContainsAny(screen, "\u202e\u200b\u2066\ufeff\u00ad") {
		t.Logf("this tmux keeps nothing invisible on a screen: %q", screen)
	}
	p := serve(t, configFor(srv))
	check := func(what, text string, content string) {
		t.Helper()
		rest := strings.ReplaceAll(text, content, "")
		if strings.ContainsAny(rest, "\u202e\u200b\u2066\ufeff\u00ad\U000e0041") {
			t.Errorf("%s has something invisible in it: %q", what, text)
		}
	}
	line, _, _ := strings.Cut(strings.TrimRight(screen, "\n"), "\n")
	for _, c := range []struct{ tool, args, has string }{
		{"list_panes", `{}`, "t" + shown}, {"list_panes", `{"fields":["pane_id","pane_title","pane_current_path"]}`, "/" + shown}, {"get_pane_info", `{"pane_id":"%0"}`, "w" + shown},
		{"list_windows", `{}`, "w" + shown}, {"list_sessions", `{}`, "s" + shown}, {"snapshot_pane", `{"pane_id":"%0"}`, "t" + shown}, {"search_panes", `{"pattern":"marked"}`, "s" + shown},
		{"display_message", `{"pane_id":"%0","format_string":"#{pane_title} #W"}`, "t" + shown + " w" + shown},
		{"call_readonly_tools_batch", `{"operations":[{"tool":"list_panes"},{"tool":"display_message","arguments":{"format_string":"#W"}}]}`, "w" + shown},
		{"rename_window", `{"window_id":"@0","new_name":"n` + hidden + `"}`, "n" + shown},
		{"capture_pane", `{"pane_id":"%0"}`, "marked"},
	} {
		res := p.tool(c.tool, c.args)
		var v any
		if err := json.Unmarshal(res.Structured, &v); err != nil {
			t.Fatalf("%s: %v %s", c.tool, err, res.text())
		}
		text := fmt.Sprint(v)
		check(c.tool, text, line)
		check(c.tool, res.text(), line)
		// tmux shows a character that it does not take for one in its own way.
		if c.has == "marked" || strings.Contains(text, "u202e") {
			if !strings.Contains(text, c.has[:1]) {
				t.Errorf("%s lacks %q: %s", c.tool, c.has, text)
			}
		} else {
			t.Errorf("%s does not show the override's number: %s", c.tool, text)
		}
	}
	// The screen is as tmux has it.
	if got := ok[map[string]any](p, "capture_pane", `{"pane_id":"%0"}`)["result"]; got != strings.TrimRight(screen, "\n") {
		t.Errorf("the screen %q is returned as %q", screen, got)
	}
	// Errors and resources too.
	check("an error", p.tool("list_panes", `{"session_name":"`+hidden+`"}`).text(), "")
	for _, uri := range []string{"tmux://sessions", "tmux://panes/%250"} {
		check(uri, string(p.request("resources/read", map[string]any{"uri": uri}).Result), "")
	}
	// The name is usable as an argument all the same, as tmux has it.
	ok[map[string]any](p, "get_session_info", `{"session_name":"s`+hidden+`"}`)
}
