package server_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testserver"
)

// TestMetadataIsLegible: what programs put into titles, names and paths reaches the client
// without invisible characters; their screens reach it unchanged.
func TestMetadataIsLegible(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	const hidden = "a\u202eb\u200bc\u2066\ufeff\u00ad\U000e0041"
	const shown = `a\u202eb\u200bc\u2066\ufeff\u00ad\U000e0041`
	dir := filepath.Join(t.TempDir(), hidden)
	testserver.Run(t, srv, "new-session", "-d", "-s", "s"+hidden, "-n", "w"+hidden, "-x", "80", "-y", "24", "mkdir -p '"+dir+"'; cd '"+dir+"'; printf '"+hidden+" marked'; exec cat")
	testserver.Run(t, srv, "select-pane", "-t", "%0", "-T", "t"+hidden)
	testserver.WaitScreen(t, srv, "%0", "marked")
	testserver.Wait(t, srv, "%0", "path", func() bool {
		return strings.Contains(testserver.Run(t, srv, "display-message", "-p", "-t", "%0", "#{pane_current_path}"), "b")
	})
	screen := testserver.Run(t, srv, "capture-pane", "-p", "-t", "%0")
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
