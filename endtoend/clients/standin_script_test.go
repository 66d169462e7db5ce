package clients

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/internal/test/cases"
)

// An apiCase is an API that clients use, a case of testdata/apis.txtar.
type apiCase struct{ cases.Case }

func apis(t *testing.T) (all []apiCase) {
	t.Helper()
	for _, c := range cases.Load(t, "testdata/apis.txtar", "path", "tool", "held", "plain", "count") {
		all = append(all, apiCase{c})
	}
	return all
}

func (a apiCase) start(t *testing.T, script Script) *Server {
	t.Helper()
	s, err := start(script, served[a.Name])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// request is one with the results of calls.
func (a apiCase) request(results ...string) string {
	var b strings.Builder
	for n, text := range results {
		b.WriteString(strings.NewReplacer("{ID}", fmt.Sprintf("call_%04d", n), "{TEXT}", text).Replace(a.Texts["result"]))
	}
	return strings.ReplaceAll(a.Texts["first"], "{RESULTS}", b.String())
}

// post sends a request. The events of a stream must be JSON, except the last of Chat
// Completions.
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
		if data, ok := strings.CutPrefix(line, "data: "); ok && data != "[DONE]\n" && !json.Valid([]byte(data)) {
			t.Errorf("not JSON: %s", line)
		}
	}
	return res.StatusCode, string(text)
}

// A script is followed call by call, by the results that a request carries.
func TestScript(t *testing.T) {
	for _, api := range apis(t) {
		t.Run(api.Name, func(t *testing.T) {
			s := api.start(t, Script{Server: "tmux", Final: "That is all.", Calls: []Call{
				{Tool: "list_panes", Args: `{"fields": []}`},
				{Tool: "kill_pane", Next: func(read []string) string { return fmt.Sprintf(`{"pane_id": %q}`, read[0]) }},
			}})
			if !strings.HasPrefix(s.URL, "http://127.0.0.1:") {
				t.Errorf("it listens at %s", s.URL)
			}
			url := s.URL + api.One("path")
			for _, step := range []struct{ body, want string }{
				{api.Texts["other"], "That is all."},
				{api.request(), api.One("tool")},
				{api.request(), "fields"}, // the client repeats its request
				{api.request("%7"), api.One("held")},
				{api.request("%7"), "%7"},
				{api.request("%7", "refused"), "That is all."},
			} {
				if code, got := post(t, url, step.body); code != 200 || !strings.Contains(got, step.want) {
					t.Errorf("%s\nis answered with %d, without %s:\n%s", step.body, code, step.want, got)
				}
			}
			v, err := s.View()
			if err != nil || !v.Ended || len(v.Requests) != 6 {
				t.Errorf("after the last call: %v, ended %t, %d requests", err, v.Ended, len(v.Requests))
			}
			if !slices.Equal(v.Results, []string{"%7", "refused"}) {
				t.Errorf("the results are %q", v.Results)
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

// Answers may also be no streams, except those of Responses; and some APIs count tokens or
// list models.
func TestPlainAnswers(t *testing.T) {
	for _, api := range apis(t) {
		s := api.start(t, Script{Final: "That is all."})
		for kind, want := range map[string]string{"plain": "That is all.", "count": ""} {
			path := api.One(kind)
			if path == "" {
				continue
			}
			_, got := post(t, s.URL+path, strings.Replace(api.Texts["other"], `"stream": true, `, "", 1))
			if !json.Valid([]byte(got)) || !strings.Contains(got, want) {
				t.Errorf("%s: %s", path, got)
			}
		}
	}
}
