package server_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/server"
)

// TestHugeTitlesEmptyNoList: programs whose titles and windows' names have a million bytes do
// not take other panes out of any list, nor fill an answer.
func TestHugeTitlesEmptyNoList(t *testing.T) {
	t.Parallel()
	const panes, each = 20, 1_000_000
	for form, text := range map[server.Results]string{
		server.ResultsText: strings.Repeat("A", each),
		server.ResultsJSON: "a" + strings.Repeat("\u0301", each/2-1), // which have no width
	} {
		srv := testserver.New(t)
		file := filepath.Join(t.TempDir(), "title")
		if err := os.WriteFile(file, []byte("\x1b]2;"+text+"\x1b\\\x1b]7;/"+text+"\x1b\\\x1bk"+text+"\x1b\\done"), 0o600); err != nil {
			t.Fatal(err)
		}
		show := "cat " + file + "; exec cat"
		testserver.Run(t, srv, "new-session", "-d", "-s", "s", "-x", "80", "-y", "24", "exec cat")
		testserver.Run(t, srv, "set-option", "-g", "allow-rename", "on")
		for i := range panes - 1 {
			testserver.Run(t, srv, "new-window", "-d", show)
			testserver.WaitScreen(t, srv, fmt.Sprintf("%%%d", i+1), "done")
		}
		cfg := configFor(srv)
		cfg.Results = form
		p := serve(t, cfg)
		p.reads = form == server.ResultsText
		for _, c := range []struct {
			tool, args string
			ids        string // a name of what every row has
			most       int
		}{
			{"list_panes", `{}`, "%", 60_000},
			{"list_panes", `{"fields":["pane_id","pane_title"]}`, "%", 60_000},
			{"list_panes", `{"fields":["pane_id","pane_title","window_name"]}`, "%", 60_000},
			{"list_windows", `{}`, "@", 60_000},
			{"list_sessions", `{}`, "", 3_000},
			{"agent_status", `{}`, "", 3_000},
			{"search_panes", `{"pattern":"done"}`, "", 80_000},
			{"snapshot_pane", `{"pane_id":"%1"}`, "", 8_000},
			{"get_pane_info", `{"pane_id":"%1"}`, "", 16_000},
			{"get_window_info", `{"window_id":"@1"}`, "", 8_000},
			{"capture_pane", `{"pane_id":"%1"}`, "", 3_000},
		} {
			res := p.tool(c.tool, c.args)
			got := res.text()
			if res.IsError || len(got) > c.most {
				t.Errorf("%s: %s %s: %d bytes: %.200s", form, c.tool, c.args, len(got), got)
			}
			for i := range panes {
				id := fmt.Sprint(c.ids, i)
				if c.ids != "" && !strings.Contains(got, id+"\t") && !strings.Contains(got, id+`"`) {
					t.Errorf("%s: %s %s does not have %s: %.200s", form, c.tool, c.args, id, got)
				}
			}
			if n := strings.Count(got, "…"); c.tool == "list_panes" && c.args != `{}` && n < panes-1 {
				t.Errorf("%s: %s %s: %d titles are shown as cut", form, c.tool, c.args, n)
			}
		}
		for _, uri := range []string{"tmux://sessions", "tmux://sessions/s", "tmux://sessions/s/windows", "tmux://sessions/s/windows/1", "tmux://panes/%251"} {
			r := p.request("resources/read", map[string]any{"uri": uri})
			if r.Error != nil || len(r.Result) > 100_000 {
				t.Errorf("%s: %s: %d bytes, %v", form, uri, len(r.Result), r.Error)
			}
		}
		// What a filter could not see is said.
		var listed struct {
			Total int `json:"total"`
		}
		res := p.tool("list_panes", `{"filters":{"pane_title__endswith":"A"},"fields":["pane_id"]}`)
		said := res.text() + fmt.Sprint(res.Meta)
		if !strings.Contains(said, "filters saw only the beginning of pane_title in 19 rows") {
			t.Errorf("a filter says %s", said)
		}
		if form == server.ResultsJSON {
			if err := json.Unmarshal(res.Structured, &listed); err != nil || listed.Total > 1 {
				t.Errorf("%d rows, %v", listed.Total, err)
			}
		}
	}
}

// TestALongNameIsNoOther: a session is found by a name only if that is its whole name.
func TestALongNameIsNoOther(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	long := strings.Repeat("a", 600)
	testserver.Run(t, srv, "new-session", "-d", "-s", long+"1", "exec cat")
	testserver.Run(t, srv, "new-session", "-d", "-s", long+"2", "exec cat")
	name := strings.Repeat("|", 250) // the longest that a call may use, and all of it quoted
	testserver.Run(t, srv, "new-session", "-d", "-s", name, "exec cat")
	p := serve(t, configFor(srv))
	type list struct {
		Result []struct {
			SessionName string `json:"session_name"`
		} `json:"result"`
	}
	listed := ok[list](p, "list_panes", `{}`).Result
	if len(listed) != 3 || listed[0].SessionName == long+"1" || !strings.HasSuffix(listed[0].SessionName, "…") {
		t.Fatalf("the panes are %v", listed)
	}
	for _, panes := range listed {
		short := panes.SessionName
		if short == name {
			if one := ok[list](p, "list_panes", fmt.Sprintf(`{"session_name":%q}`, short)).Result; len(one) != 1 {
				t.Errorf("by its whole name: %v", one)
			}
			continue
		}
		p.fails("list_panes", fmt.Sprintf(`{"session_name":%q}`, short), "name is 250")
		p.fails("list_clients", fmt.Sprintf(`{"session_name":%q}`, short), "name is 250")
		p.fails("wait_for_agent", fmt.Sprintf(`{"panes":[%q],"timeout":0.1}`, short), "name is 250")
	}
	p.fails("create_session", fmt.Sprintf(`{"session_name":%q}`, long), "name is 250")
	if one := ok[list](p, "list_panes", `{"session_id":"$1"}`).Result; len(one) != 1 {
		t.Errorf("by its id: %v", one)
	}
}
