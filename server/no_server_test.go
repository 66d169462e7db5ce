package server_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/server"
)

// TestReadsWithoutAServer: without a tmux server, what lists all that a server has is empty,
// and says why; what reads a named object, or the one in use, fails. Every reading tool and
// resource is one or the other.
func TestReadsWithoutAServer(t *testing.T) {
	t.Parallel()
	const (
		empty  = "empty"
		fails  = "fails"
		silent = "silent" // not about the server's objects, or says it in its properties
	)
	reads := map[string][]struct{ class, args string }{
		"list_sessions":             {{empty, `{}`}, {empty, `{"filters":{"session_name":"a"}}`}, {empty, `{"offset":3}`}},
		"list_windows":              {{empty, `{}`}, {fails, `{"session_name":"a"}`}, {fails, `{"session_id":"$0"}`}},
		"list_panes":                {{empty, `{}`}, {empty, `{"filters":{"pane_active":"true"},"fields":["pane_id"]}`}, {fails, `{"session_name":"a"}`}, {fails, `{"window_id":"@0"}`}},
		"list_clients":              {{empty, `{}`}, {fails, `{"session_name":"a"}`}},
		"list_jobs":                 {{empty, `{}`}},
		"list_servers":              {{silent, `{}`}},
		"get_server_info":           {{silent, `{}`}},
		"search_panes":              {{empty, `{"pattern":"x"}`}, {empty, `{"pattern":"x","jobs":true}`}, {fails, `{"pattern":"x","pane_id":"%0"}`}, {fails, `{"pattern":"x","session_name":"a"}`}},
		"agent_status":              {{empty, `{}`}, {fails, `{"panes":["%0"]}`}},
		"show_hooks":                {{empty, `{}`}, {empty, `{"scope":"window","global_":true}`}, {fails, `{"scope":"session"}`}, {fails, `{"scope":"pane","target":"%0"}`}},
		"show_environment":          {{empty, `{}`}, {fails, `{"name":"A"}`}, {fails, `{"session_name":"a"}`}},
		"show_hook":                 {{fails, `{"hook_name":"pane-died"}`}, {fails, `{"hook_name":"pane-died","scope":"session","target":"a"}`}},
		"show_option":               {{fails, `{"option":"status"}`}, {fails, `{"option":"buffer-limit"}`}, {fails, `{"option":"mode-keys","scope":"session","target":"a"}`}},
		"show_buffer":               {{fails, `{"buffer_name":"libtmux_mcp_00000000000000000000000000000000_x"}`}},
		"get_session_info":          {{fails, `{}`}, {fails, `{"session_name":"a"}`}},
		"get_window_info":           {{fails, `{}`}, {fails, `{"window_id":"@0"}`}},
		"get_pane_info":             {{fails, `{}`}, {fails, `{"pane_id":"%0"}`}},
		"find_pane_by_position":     {{fails, `{"corner":"top-left"}`}},
		"display_message":           {{fails, `{"format_string":"#{pid}"}`}},
		"capture_pane":              {{fails, `{}`}, {fails, `{"pane_id":"%0"}`}},
		"snapshot_pane":             {{fails, `{}`}},
		"capture_since":             {{fails, `{}`}},
		"wait_for_text":             {{fails, `{"timeout":1}`}},
		"wait_for_agent":            {{fails, `{"timeout":1}`}},
		"agent_answer":              {{fails, `{"pane_id":"%0"}`}},
		"get_job":                   {{fails, `{"job_id":"x"}`}},
		"list_prompts":              {{silent, `{}`}},
		"get_prompt":                {{fails, `{"name":"x"}`}},
		"call_readonly_tools_batch": {{silent, `{"operations":[{"tool":"list_panes"}]}`}},
	}
	srv := testserver.New(t)
	cfg := configFor(srv)
	cfg.PromptsAsTools = true
	s, p := servedBy(t, cfg)
	cfg.Results = server.ResultsText
	texts := serve(t, cfg)
	texts.reads = true
	says := "no tmux server is running on " + srv.SocketPath()
	for _, tool := range s.Tools() {
		if !*tool.Annotations.ReadOnlyHint {
			continue
		}
		if reads[tool.Name] == nil {
			t.Errorf("%s is in no class", tool.Name)
		}
		for _, c := range reads[tool.Name] {
			got, text := p.tool(tool.Name, c.args), texts.tool(tool.Name, c.args)
			first, _, _ := strings.Cut(text.text(), "\n")
			notice := fmt.Sprint(got.Meta["notice"])
			class := silent
			switch {
			case got.IsError != text.IsError:
				class = "an error in one form"
			case got.IsError:
				class = fails
			case strings.Contains(notice, says) && strings.Contains(first, says):
				class = empty
			}
			if class != c.class {
				t.Errorf("%s %s: %s, not %s: %s\n%s", tool.Name, c.args, class, c.class, got.text(), text.text())
			}
		}
	}
	for uri, want := range map[string]string{
		"tmux://sessions": "[]", "tmux://sessions/a": "", "tmux://sessions/a/windows": "", "tmux://sessions/a/windows/0": "", "tmux://panes/%250": "", "tmux://panes/%250/content": "",
	} {
		r := p.request("resources/read", map[string]any{"uri": uri})
		if want == "" && (r.Error == nil || !strings.Contains(r.Error.Message, "no tmux server")) || want != "" && !strings.Contains(string(r.Result), `"text":"`+want+`"`) {
			t.Errorf("%s: %+v %s", uri, r.Error, r.Result)
		}
	}
	if left, _ := filepath.Glob(srv.SocketPath()); left != nil {
		t.Error("a read has started a tmux server")
	}
}

// TestSubscribeBeforeTheServer: who is subscribed to the sessions of a tmux server that does
// not run yet is notified when it does.
func TestSubscribeBeforeTheServer(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	subscribed, p := servedBy(t, configFor(srv))
	subscribed.SetReading(oneReading / 6)
	const sessions = "tmux://sessions"
	if r := p.request("resources/subscribe", map[string]string{"uri": sessions}); r.Error != nil {
		t.Fatal(r.Error.Message)
	}
	p.updatedBy(sessions, "a server", func() { session(t, srv, "a") })
	p.updatedBy(sessions, "its end", func() { testserver.End(t, srv) })
	p.updatedBy(sessions, "another server", func() { session(t, srv, "b") })
}
