package server_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tmuxmcp/server"
	"tmuxmcp/tmux/tmuxtest"
)

func TestResources(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a b/c")
	tmuxtest.Run(t, srv, "split-window", "-t", "%0", "echo shown; cat")
	tmuxtest.WaitScreen(t, srv, "%1", "shown")
	p := serve(t, configFor(srv))
	read := func(uri string) (mime, text, failure string) {
		t.Helper()
		r := p.request("resources/read", map[string]string{"uri": uri})
		if r.Error != nil {
			return "", "", r.Error.Message
		}
		var got struct {
			Contents []struct{ URI, MimeType, Text string }
		}
		if err := json.Unmarshal(r.Result, &got); err != nil || len(got.Contents) != 1 {
			t.Fatalf("%s: %v in %s", uri, err, r.Result)
		}
		return got.Contents[0].MimeType, got.Contents[0].Text, ""
	}
	for uri, want := range map[string]string{
		"tmux://sessions":                     `"session_name": "a b/c"`,
		"tmux://sessions/a%20b%2Fc":           `"windows": [`,
		"tmux://sessions/a%20b%2Fc/windows":   `"window_index": 0`,
		"tmux://sessions/a%20b%2Fc/windows/0": `"panes": [`,
		"tmux://panes/%251":                   `"pane_id": "%1"`,
		"tmux://panes/%1":                     `"pane_id": "%1"`,
		"tmux://panes/%251/content":           "shown",
		"tmux://panes/%1/content":             "shown",
	} {
		mime, text, failure := read(uri)
		if !strings.Contains(text, want) {
			t.Errorf("%s: %s%s, want %s", uri, text, failure, want)
		}
		wantMIME := "application/json"
		if strings.HasSuffix(uri, "content") {
			wantMIME = "text/plain"
		} else if !json.Valid([]byte(text)) {
			t.Errorf("%s is not JSON: %s", uri, text)
		}
		if mime != wantMIME {
			t.Errorf("%s has the type %q, want %q", uri, mime, wantMIME)
		}
	}
	for uri, want := range map[string]string{
		"tmux://sessions/zz":                  "Session not found: zz",
		"tmux://sessions/zz/windows":          "Session not found: zz",
		"tmux://sessions/a%20b%2Fc/windows/9": "Window not found: index 9",
		"tmux://sessions/a%20b%2Fc/windows/x": "window_index must be a number",
		"tmux://panes/%259":                   "Pane not found: %9",
		"tmux://panes/%9/content":             "Pane not found: %9",
		"tmux://sessions?socket_name=nosuch":  "no tmux server on ",
	} {
		if _, text, failure := read(uri); !strings.Contains(failure, want) {
			t.Errorf("%s: %q %s, want an error with %q", uri, failure, text, want)
		}
	}
	var list struct {
		Templates []struct{ URITemplate, Name string } `json:"resourceTemplates"`
	}
	if err := json.Unmarshal(p.request("resources/templates/list", struct{}{}).Result, &list); err != nil || len(list.Templates) != 6 {
		t.Errorf("%d templates, %v", len(list.Templates), err)
	}
}

// TestResourcesAreWhatToolsReturn compares each resource with the objects that the tools
// return as JSON, on a server of either form of results.
func TestResourcesAreWhatToolsReturn(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "work")
	tmuxtest.Run(t, srv, "set-option", "-g", "automatic-rename", "off")
	tmuxtest.Run(t, srv, "split-window", "-t", "%0", "echo shown; exec cat")
	tmuxtest.Run(t, srv, "new-window", "-d", "-t", "=work:3", "-n", "other", "exec cat")
	tmuxtest.Run(t, srv, "new-session", "-d", "-s", "peer", "-t", "=work")
	tmuxtest.Run(t, srv, "select-pane", "-t", "%1", "-T", "a title")
	tmuxtest.WaitScreen(t, srv, "%1", "shown")
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

func TestCompletion(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "alpha")
	session(t, srv, "beta")
	p := serve(t, configFor(srv))
	for _, c := range []struct{ ref, name, value, want string }{
		{`{"type":"ref/resource","uri":"tmux://panes/{pane_id}{?socket_name}"}`, "pane_id", "%", `["%0","%1"]`},
		{`{"type":"ref/resource","uri":"tmux://sessions/{session_name}{?socket_name}"}`, "session_name", "al", `["alpha"]`},
		{`{"type":"ref/prompt","name":"interrupt_gracefully"}`, "pane_id", "%1", `["%1"]`},
		{`{"type":"ref/prompt","name":"run_and_wait"}`, "command", "l", `[]`},
	} {
		r := p.request("completion/complete", json.RawMessage(`{"ref":`+c.ref+`,"argument":{"name":"`+c.name+`","value":"`+c.value+`"}}`))
		if r.Error != nil || !strings.Contains(string(r.Result), `"values":`+c.want) {
			t.Errorf("%s %q completes to %s %v, want %s", c.name, c.value, r.Result, r.Error, c.want)
		}
	}
}

// TestPrompts: every call that a prompt writes must be one that a tool takes.
func TestPrompts(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	p := serve(t, configFor(srv))
	s, err := server.New(configFor(srv))
	if err != nil {
		t.Fatal(err)
	}
	parameters := map[string]string{}
	for _, tool := range s.Tools() {
		parameters[tool.Name] = string(tool.RawInputSchema)
	}
	for _, c := range []struct {
		name, args string
		has, lacks []string
	}{
		{"run_and_wait", `{"command":"echo \"hi\"","pane_id":"%1"}`,
			[]string{`run_command(command="echo \"hi\"", pane_id="%1", timeout=60.0, max_lines=100)`, "exit_status", "timed_out", "effective_timeout"},
			[]string{"wait_for_channel", "tmux wait-for", "send_keys(", "capture_pane(", "suppress_history"}},
		{"run_and_wait", `{"command":"a\nb","pane_id":"%1","timeout":"5"}`, []string{`command="a\nb"`, "timeout=5", "suppress_history=False"}, nil},
		{"diagnose_failing_pane", `{"pane_id":"%1"}`, []string{"snapshot_pane", "max_lines=None", "capture_since"}, []string{"send_keys("}},
		{"build_dev_workspace", `{"session_name":"dev"}`, []string{`create_session(session_name="dev")`, "active_pane_id", "watch -n 1 date", "patterns=None, timeout=3.0"}, []string{`keys=""`}},
		{"interrupt_gracefully", `{"pane_id":"%1"}`, []string{`keys="C-c"`, "literal=False", "enter=False", "pane_current_command"}, []string{"stop=", "kill_pane"}},
	} {
		r := p.request("prompts/get", json.RawMessage(`{"name":"`+c.name+`","arguments":`+c.args+`}`))
		if r.Error != nil {
			t.Errorf("%s: %s", c.name, r.Error.Message)
			continue
		}
		var got struct {
			Messages []struct {
				Role    string
				Content struct{ Type, Text string }
			}
		}
		if err := json.Unmarshal(r.Result, &got); err != nil || len(got.Messages) != 1 || got.Messages[0].Role != "user" || got.Messages[0].Content.Type != "text" {
			t.Fatalf("%s: %v in %s", c.name, err, r.Result)
		}
		text := got.Messages[0].Content.Text
		for _, want := range c.has {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q:\n%s", c.name, want, text)
			}
		}
		for _, not := range c.lacks {
			if strings.Contains(text, not) {
				t.Errorf("%s has %q:\n%s", c.name, not, text)
			}
		}
		for _, call := range regexp.MustCompile(`([a-z_]+)\(([^\n]*?)\)`).FindAllStringSubmatch(text, -1) {
			schema := parameters[call[1]]
			if schema == "" {
				continue
			}
			for _, arg := range regexp.MustCompile(`(?:^|, )([a-z_]+)=`).FindAllStringSubmatch(call[2], -1) {
				if !strings.Contains(schema, `"`+arg[1]+`"`) {
					t.Errorf("%s calls %s with %s, which it does not take", c.name, call[1], arg[1])
				}
			}
		}
	}
	for args, want := range map[string]string{
		`{"name":"run_and_wait","arguments":{"command":"x"}}`:                               "pane_id is required",
		`{"name":"run_and_wait","arguments":{"command":"x","pane_id":"1"}}`:                 "pane_id must be",
		`{"name":"run_and_wait","arguments":{"command":"x","pane_id":"%1","timeout":"-1"}}`: "timeout must be",
		`{"name":"interrupt_gracefully","arguments":{"pane_id":"%1","pane":"%2"}}`:          "pane is not an argument",
	} {
		if r := p.request("prompts/get", json.RawMessage(args)); r.Error == nil || !strings.Contains(r.Error.Message, want) {
			t.Errorf("%s: %v, want %q", args, r.Error, want)
		}
	}
}

func TestPromptsAsTools(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	p := serve(t, configFor(srv))
	if r := p.request("tools/call", map[string]string{"name": "list_prompts"}); r.Error == nil {
		t.Errorf("list_prompts is a tool unasked: %s", r.Result)
	}
	cfg := configFor(srv)
	cfg.PromptsAsTools = true
	p = serve(t, cfg)
	if got := ok[rows](p, "list_prompts", `{}`); got.column("name") != "run_and_wait diagnose_failing_pane build_dev_workspace interrupt_gracefully" {
		t.Errorf("the prompts are %q", got.column("name"))
	}
	got := ok[map[string]string](p, "get_prompt", `{"name":"interrupt_gracefully","arguments":{"pane_id":"%4"}}`)
	if !strings.Contains(got["result"], `pane_id="%4"`) {
		t.Errorf("the prompt is %q", got["result"])
	}
	p.fails("get_prompt", `{"name":"interrupt_gracefully"}`, "pane_id is required")
	p.fails("get_prompt", `{"name":"nope"}`, "there is no prompt of this name")
}
