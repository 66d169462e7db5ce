package standin_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tmuxmcp/internal/test/standin"
)

// apis are the three APIs as clients use them: a request before any call, one with
// the results of calls, by number, and one for something else.
var apis = []struct {
	name    string
	start   func(standin.Script) (*standin.Server, error)
	path    string
	first   string
	results func(texts ...string) string
	other   string
	tool    string // the client's name of list_panes
	held    string // what names kill_pane, which the client has not offered
}{
	{
		name: "messages", start: standin.Messages, path: "/v1/messages?beta=true",
		first: messages(""),
		results: func(texts ...string) string {
			var b strings.Builder
			for n, text := range texts {
				fmt.Fprintf(&b, `, {"role": "assistant", "content": []}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_%04d", "content": [{"type": "text", "text": %q}]}]}`, n, text)
			}
			return messages(b.String())
		},
		other: `{"stream": true, "messages": [{"role": "user", "content": "a title"}]}`,
		tool:  `"name":"mcp__tmux__list_panes"`, held: `"name":"mcp__tmux__kill_pane"`,
	},
	{
		name: "responses", start: standin.Responses, path: "/v1/responses",
		first: responses(""),
		results: func(texts ...string) string {
			var b strings.Builder
			for n, text := range texts {
				fmt.Fprintf(&b, `, {"type": "function_call_output", "call_id": "call_%04d", "output": %q}`, n, text)
			}
			return responses(b.String())
		},
		other: `{"input": [{"type": "message", "role": "user", "content": "a title"}]}`,
		tool:  `"name":"list_panes","namespace":"mcp__tmux"`, held: `"name":"kill_pane"`,
	},
	{
		name: "gemini", start: standin.Gemini, path: "/v1beta/models/stand-in:streamGenerateContent?alt=sse",
		first: gemini(""),
		results: func(texts ...string) string {
			var b strings.Builder
			for n, text := range texts {
				fmt.Fprintf(&b, `, {"role": "user", "parts": [{"functionResponse": {"id": "call_%04d", "name": "mcp_tmux_list_panes", "response": {"output": %q}}}]}`, n, text)
			}
			return gemini(b.String())
		},
		other: `{"contents": [{"role": "user", "parts": [{"text": "a title"}]}]}`,
		tool:  `"name":"mcp_tmux_list_panes"`, held: `"name":"mcp_tmux_kill_pane"`,
	},
}

func messages(more string) string {
	return `{"stream": true, "system": [{"type": "text", "text": "Be brief."}],
		"tools": [{"name": "list_panes"}, {"name": "mcp__tmux__list_panes", "description": "List."}],
		"messages": [{"role": "user", "content": "go"}` + more + `]}`
}

func responses(more string) string {
	return `{"instructions": "Be brief.", "stream": true,
		"tools": [{"type": "function", "name": "list_panes"},
			{"type": "namespace", "name": "mcp__tmux", "tools": [{"type": "function", "name": "list_panes", "description": "List."}]}],
		"input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]}` + more + `]}`
}

func gemini(more string) string {
	return `{"systemInstruction": {"parts": [{"text": "Be brief."}]},
		"tools": [{"functionDeclarations": [{"name": "list_panes"}, {"name": "mcp_tmux_list_panes", "description": "List."}]}],
		"contents": [{"role": "user", "parts": [{"text": "go"}]}` + more + `]}`
}

// post sends a request. The events of a stream must be JSON.
func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	res, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if data, ok := strings.CutPrefix(line, "data: "); ok && !json.Valid([]byte(data)) {
			t.Errorf("not JSON: %s", line)
		}
	}
	return res.StatusCode, string(text)
}

// A script is followed call by call, by the results that a request carries.
func TestScript(t *testing.T) {
	for _, api := range apis {
		t.Run(api.name, func(t *testing.T) {
			s, err := api.start(standin.Script{Server: "tmux", Final: "That is all.", Calls: []standin.Call{
				{Tool: "list_panes", Args: `{"fields": []}`},
				{Tool: "kill_pane", Next: func(read []string) string { return fmt.Sprintf(`{"pane_id": %q}`, read[0]) }},
			}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			if !strings.HasPrefix(s.URL, "http://127.0.0.1:") {
				t.Errorf("it listens at %s", s.URL)
			}
			url := s.URL + api.path
			for _, step := range []struct{ body, want string }{
				{api.other, "That is all."},
				{api.first, api.tool},
				{api.first, "fields"}, // the client repeats its request
				{api.results("%7"), api.held},
				{api.results("%7"), "%7"},
				{api.results("%7", "refused"), "That is all."},
			} {
				if code, got := post(t, url, step.body); code != 200 || !strings.Contains(got, step.want) {
					t.Errorf("%s\nis answered with %d, without %s:\n%s", step.body, code, step.want, got)
				}
			}
			v, err := s.View()
			if err != nil || !v.Ended || len(v.Requests) != 6 {
				t.Errorf("after the last call: %v, ended %t, %d requests", err, v.Ended, len(v.Requests))
			}
			if diff := cmp.Diff([]string{"%7", "refused"}, v.Results); diff != "" {
				t.Error(diff)
			}
			if !strings.Contains(v.Prompt, "Be brief.") || !strings.Contains(v.Prompt, "go") {
				t.Errorf("the prompt is %q", v.Prompt)
			}
			if last := v.Tools[len(v.Tools)-1]; len(v.Tools) != 2 || last.Description != "List." || last.Bytes < 50 {
				t.Errorf("the tools are %+v", v.Tools)
			}
			if code, _ := post(t, url, "{"); code != 400 {
				t.Errorf("half a request is answered with %d", code)
			}
			if _, err := s.View(); err == nil {
				t.Error("half a request is not reported")
			}
		})
	}
}

// Messages and Gemini have answers that are not streams, and both count tokens.
func TestPlainAnswers(t *testing.T) {
	for _, api := range apis {
		s, err := api.start(standin.Script{Final: "That is all."})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		path := map[string][2]string{
			"messages":  {"/v1/messages", "/v1/messages/count_tokens"},
			"responses": {"", "/v1/models"},
			"gemini":    {"/v1beta/models/stand-in:generateContent", "/v1beta/models/stand-in:countTokens"},
		}[api.name]
		for i, p := range path {
			if p == "" {
				continue
			}
			_, got := post(t, s.URL+p, strings.Replace(api.other, `"stream": true, `, "", 1))
			if !json.Valid([]byte(got)) || i == 0 && !strings.Contains(got, "That is all.") {
				t.Errorf("%s: %s", p, got)
			}
		}
	}
}

// The figures are read and written without a change.
func TestFigures(t *testing.T) {
	text, err := os.ReadFile("figures.tsv")
	if err != nil {
		t.Fatal(err)
	}
	f := standin.Recorded()
	if diff := cmp.Diff(string(text), f.String()); diff != "" {
		t.Error(diff)
	}
	r := f.Row("list_panes, 40 panes")
	before := r.Now[0]
	r.Now[0] = standin.Cell{Form: "text", Bytes: 2144}
	for _, want := range []string{before.String(), "text 2144"} {
		if !strings.Contains(f.String(), want) {
			t.Errorf("without %q:\n%s", want, f)
		}
	}
	if table := f.Markdown(false); !strings.Contains(table, "json → 2,144 |") || strings.Contains(table, "revision") {
		t.Errorf("the table is\n%s", table)
	}
}
