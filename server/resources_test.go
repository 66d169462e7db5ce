package server_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/server"
)

// TestResourcesAreWhatToolsReturn compares each resource with the objects that the tools
// return as JSON, on a server of either form of results.
func TestResourcesAreWhatToolsReturn(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	session(t, srv, "work")
	testserver.Run(t, srv, "set-option", "-g", "automatic-rename", "off")
	testserver.Run(t, srv, "split-window", "-t", "%0", "echo shown; exec cat")
	testserver.Run(t, srv, "new-window", "-d", "-t", "=work:3", "-n", "other", "exec cat")
	testserver.Run(t, srv, "new-session", "-d", "-s", "peer", "-t", "=work")
	testserver.Run(t, srv, "select-pane", "-t", "%1", "-T", "a title")
	testserver.WaitScreen(t, srv, "%1", "shown")
	for _, pane := range []string{"%0", "%1", "%2"} { // nothing changes from here on
		runs(t, srv, pane, "cat")
	}
	cfg := configFor(srv)
	cfg.Caller = server.Caller{Pane: "%1", Socket: srv.SocketPath()}
	tools := serve(t, cfg)
	all := func(tool, args string) []map[string]any { return ok[rows](tools, tool, args).Result }
	with := func(object map[string]any, name string, parts []map[string]any) map[string]any {
		object[name] = parts
		return object
	}
	want := map[string]any{
		"get_sessions":        all("list_sessions", `{}`),
		"get_session":         with(all("list_sessions", `{"filters":{"session_name":"work"}}`)[0], "windows", all("list_windows", `{"session_name":"work"}`)),
		"get_session_windows": all("list_windows", `{"session_name":"work"}`),
		"get_window":          with(all("list_windows", `{"session_name":"work"}`)[0], "panes", all("list_panes", `{"session_name":"work","window_index":0}`)),
		"get_pane":            all("list_panes", `{"filters":{"pane_id":"%1"}}`)[0],
		"get_pane_content":    ok[map[string]any](tools, "capture_pane", `{"pane_id":"%1"}`)["result"],
	}
	if pane := want["get_pane"].(map[string]any); pane["pane_title"] != "a title" || pane["pane_pid"] == nil || pane["is_caller"] != true {
		t.Fatalf("list_panes has %v", pane)
	}
	for _, form := range []server.Results{server.ResultsText, server.ResultsJSON} {
		cfg.Results = form
		p := serve(t, cfg)
		var list struct {
			Templates []struct{ URITemplate, Name string } `json:"resourceTemplates"`
		}
		if err := json.Unmarshal(p.request("resources/templates/list", struct{}{}).Result, &list); err != nil || len(list.Templates) != len(want) {
			t.Fatalf("%v, %d templates", err, len(list.Templates))
		}
		for _, r := range list.Templates {
			uri := strings.NewReplacer("{session_name}", "work", "{window_index}", "0", "{pane_id}", "%251", "{?socket_name}", "").Replace(r.URITemplate)
			var got struct {
				Contents []struct{ Text string }
			}
			if raw := p.request("resources/read", map[string]string{"uri": uri}).Result; json.Unmarshal(raw, &got) != nil || len(got.Contents) != 1 {
				t.Fatalf("%s: %s", uri, raw)
			}
			var value any = got.Contents[0].Text
			if r.Name != "get_pane_content" {
				value = nil
				if err := json.Unmarshal([]byte(got.Contents[0].Text), &value); err != nil {
					t.Fatalf("%s: %v", uri, err)
				}
			}
			if diff := cmp.Diff(decoded(t, want[r.Name]), value); diff != "" {
				t.Errorf("with results as %s, %s is not what the tool returns:\n%s", form, uri, diff)
			}
		}
	}
}

// TestResourcesComeWithTheirTools: a server that does not offer a tool does not offer what
// reads the same either, by any method.
func TestResourcesComeWithTheirTools(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	session(t, srv, "work")
	reads := map[string][]string{ // and by their names as URIs
		"tmux://sessions": {"list_sessions"}, "tmux://sessions/work": {"list_sessions", "list_windows"}, "tmux://sessions/work/windows": {"list_windows"},
		"tmux://sessions/work/windows/0": {"list_windows", "list_panes"}, "tmux://panes/%0": {"list_panes"}, "tmux://panes/%0/content": {"capture_pane"},
	}
	offered := 0
	for _, change := range []func(cfg *server.Config){
		func(*server.Config) {},
		func(cfg *server.Config) { cfg.Toolsets = []string{"buffers"} },
		func(cfg *server.Config) { cfg.Toolsets = []string{"core"} },
		func(cfg *server.Config) { cfg.Toolsets = []string{"windows"} },
		func(cfg *server.Config) { cfg.Toolsets = []string{"sessions", "hooks"} },
		func(cfg *server.Config) { cfg.Toolsets = []string{"panes"} },
		func(cfg *server.Config) { cfg.Effects = []string{"manage", "execute", "teardown"} },
		func(cfg *server.Config) { cfg.Effects = []string{"inspect"} },
	} {
		cfg := configFor(srv)
		change(&cfg)
		c := &client{peer: connect(t, cfg), revision: "2025-06-18", capabilities: `{}`}
		c.hello()
		var tools []string
		for _, tool := range c.listed() {
			tools = append(tools, tool.Name)
		}
		var list struct {
			Templates []struct{ URITemplate string } `json:"resourceTemplates"`
		}
		raw := c.request("resources/templates/list", struct{}{}).Result
		if json.Unmarshal(raw, &list) != nil || list.Templates == nil {
			t.Fatalf("the templates are %s", raw)
		}
		completes := func(ref map[string]any, argument string) bool {
			r := c.request("completion/complete", map[string]any{"ref": ref, "argument": map[string]any{"name": argument, "value": ""}})
			return strings.Contains(string(r.Result), "%0") || strings.Contains(string(r.Result), "work")
		}
		if got := completes(map[string]any{"type": "ref/prompt", "name": "interrupt_gracefully"}, "pane_id"); got != slices.Contains(tools, "list_panes") {
			t.Errorf("%v, %v: a prompt's pane is completed: %t", cfg.Toolsets, cfg.Effects, got)
		}
		for uri, needs := range reads {
			want := !slices.ContainsFunc(needs, func(tool string) bool { return !slices.Contains(tools, tool) })
			template := strings.NewReplacer("work", "{session_name}", "%0", "{pane_id}", "windows/0", "windows/{window_index}").Replace(uri) + "{?socket_name}"
			listed := slices.ContainsFunc(list.Templates, func(r struct{ URITemplate string }) bool { return r.URITemplate == template })
			if want {
				offered++
			}
			if listed != want || strings.Contains(template, "/{") && completes(map[string]any{"type": "ref/resource", "uri": template}, regexp.MustCompile(`{(\w+)}`).FindStringSubmatch(template)[1]) != want {
				t.Errorf("%v, %v: %s is listed: %t, or completed, want %t", cfg.Toolsets, cfg.Effects, template, listed, want)
			}
			for _, method := range []string{"resources/read", "resources/subscribe"} {
				if r := c.request(method, map[string]any{"uri": uri}); (r.Error == nil) != want || !want && !strings.Contains(r.Error.Message, " is in the toolset ") {
					t.Errorf("%v, %v: %s of %s is answered with %s %+v", cfg.Toolsets, cfg.Effects, method, uri, r.Result, r.Error)
				}
			}
		}
	}
	if offered != 6+0+6+1+1+2+0+6 {
		t.Errorf("%d resources are offered", offered)
	}
}

// decoded is a value as it comes out of JSON.
func decoded(t *testing.T, v any) (out any) {
	t.Helper()
	raw, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestPromptsNameArguments: every call in a prompt must be one that a tool accepts.
func TestPromptsNameArguments(t *testing.T) {
	t.Parallel()
	cfg := configFor(testserver.New(t))
	cfg.PromptsAsTools = true
	p := serve(t, cfg)
	arguments := map[string][]string{}
	for _, tool := range p.listed() {
		arguments[tool.Name] = tool.InputSchema.names()
	}
	calls := 0
	for prompt, args := range map[string]string{
		"run_and_wait": `{"command":"a","pane_id":"%1","timeout":"5"}`, "diagnose_failing_pane": `{"pane_id":"%1"}`,
		"build_dev_workspace": `{"session_name":"dev"}`, "interrupt_gracefully": `{"pane_id":"%1"}`,
	} {
		text := ok[said](p, "get_prompt", `{"name":"`+prompt+`","arguments":`+args+`}`).Result
		for _, call := range regexp.MustCompile(`([a-z_]+)\(([^\n]*?)\)`).FindAllStringSubmatch(text, -1) {
			for _, arg := range regexp.MustCompile(`(?:^|, )([a-z_]+)=`).FindAllStringSubmatch(call[2], -1) {
				calls++
				if takes := arguments[call[1]]; takes != nil && !slices.Contains(takes, arg[1]) {
					t.Errorf("%s calls %s with %s, which it does not take", prompt, call[1], arg[1])
				}
			}
		}
	}
	if calls < 10 {
		t.Errorf("the prompts give only %d arguments", calls)
	}
}
