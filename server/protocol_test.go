package server_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/server"
)

// metaOf returns the _meta of a request of revision 2026-07-28, with other members or
// without some.
func metaOf(version string, more string) string {
	return `"_meta":{"io.modelcontextprotocol/protocolVersion":` + version + `,"io.modelcontextprotocol/clientCapabilities":{}` + more + `}`
}

// TestMethodsOfRevisions: each revision has its methods and no others; a missing parameter,
// or one of the wrong type, is an error, and every message gets exactly one answer.
func TestMethodsOfRevisions(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	session(t, srv, "a")
	methods := map[string]struct {
		params  string // that are right, without _meta
		wrong   string // of the wrong type, if any can be
		missing int    // the code when there are none; 0 if there need not be
		has     func(revision string) bool
	}{
		"ping":                     {`{}`, "", 0, func(r string) bool { return r != modern }},
		"logging/setLevel":         {`{"level":"info"}`, `{"level":7}`, -32602, func(r string) bool { return r != modern }},
		"resources/subscribe":      {`{"uri":"tmux://sessions"}`, `{"uri":[]}`, -32602, func(r string) bool { return r != modern }},
		"resources/unsubscribe":    {`{"uri":"tmux://sessions"}`, `{"uri":[]}`, -32602, func(r string) bool { return r != modern }},
		"server/discover":          {`{}`, "", 0, func(r string) bool { return r == modern }},
		"subscriptions/listen":     {`{"notifications":{}}`, `{"notifications":[]}`, 0, func(r string) bool { return r == modern }},
		"tools/list":               {`{}`, `{"cursor":1}`, 0, nil},
		"tools/call":               {`{"name":"list_panes"}`, `{"name":1}`, -32602, nil},
		"prompts/list":             {`{}`, `{"cursor":1}`, 0, nil},
		"prompts/get":              {`{"name":"interrupt_gracefully","arguments":{"pane_id":"%0"}}`, `{"name":"interrupt_gracefully","arguments":[]}`, -32602, nil},
		"resources/list":           {`{}`, `{"cursor":1}`, 0, nil},
		"resources/templates/list": {`{}`, `{"cursor":1}`, 0, nil},
		"resources/read":           {`{"uri":"tmux://sessions"}`, `{"uri":{}}`, -32602, nil},
		"completion/complete":      {`{"ref":{"type":"ref/prompt","name":"interrupt_gracefully"},"argument":{"name":"pane_id","value":""}}`, `{"ref":1,"argument":[]}`, -32602, nil},
		"tasks/list":               {`{}`, `{}`, 0, func(string) bool { return false }},
		"tasks/get":                {`{"taskId":"1"}`, `{}`, 0, func(string) bool { return false }},
		"sampling/createMessage":   {`{}`, `{}`, 0, func(string) bool { return false }},
		"elicitation/create":       {`{}`, `{}`, 0, func(string) bool { return false }},
		"notifications/cancelled":  {`{}`, `{}`, 0, func(string) bool { return false }},
		"Tools/List":               {`{}`, `{}`, 0, func(string) bool { return false }},
		"":                         {`{}`, `{}`, 0, func(string) bool { return false }},
	}
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			c := &client{peer: start(t, srv, nil), revision: revision, capabilities: `{}`}
			c.hello()
			of := func(params string) json.RawMessage {
				if revision != modern || strings.Contains(params, `"_meta"`) {
					return json.RawMessage(params)
				}
				return json.RawMessage(strings.Replace("{"+metaOf(`"`+modern+`"`, "")+","+params[1:], ",}", "}", 1))
			}
			for method, m := range methods {
				has := m.has == nil || m.has(revision)
				check := func(what, params string, code int) {
					t.Helper()
					if !has {
						code = -32601
					}
					r := c.request(method, of(params))
					if got := codeOf(r); got != code {
						t.Errorf("%s with %s params: code %d, want %d: %+v", method, what, got, code, r.Error)
					}
					if r.Error != nil && (r.Error.Message == "" || strings.ContainsAny(r.Error.Message, "\n&") || strings.Contains(r.Error.Message, "json:") || strings.Contains(r.Error.Message, "Go ")) {
						t.Errorf("%s with %s params: %q is no sentence", method, what, r.Error.Message)
					}
				}
				check("right", m.params, 0)
				if m.wrong != "" {
					check("wrong", m.wrong, -32602)
				}
				check("no", `{}`, m.missing)
			}
			if r := c.request("initialize", of(`{}`)); revision == modern && codeOf(r) != -32601 {
				t.Errorf("initialize: %+v", r)
			}
		})
	}
}

func codeOf(r reply) int {
	if r.Error != nil {
		return r.Error.Code
	}
	return 0
}

// TestAskingHoldsNoSlot: while the user is asked about as many calls as may work on a tmux
// server at a time, others work on it.
func TestAskingHoldsNoSlot(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	session(t, srv, "a")
	cfg := configFor(srv)
	cfg.Caller = server.Caller{Pane: "%0", Socket: srv.SocketPath()}
	c := &client{peer: connect(t, cfg), revision: "2025-11-25", capabilities: `{"elicitation":{}}`}
	c.hello()
	const calls = 70
	var waiting []<-chan reply
	for i := range calls {
		tool, args := "clear_pane", map[string]any{"pane_id": "%0"}
		if i%2 == 0 {
			tool, args = "send_keys", map[string]any{"pane_id": "%0", "keys": "x"}
		}
		w, _ := c.begin("tools/call", map[string]any{"name": tool, "arguments": args})
		waiting = append(waiting, w)
	}
	testtool.Eventually(t, "the user is asked about all", func() bool { return len(c.asks()) == calls })
	ok[rows](c.peer, "list_panes", `{}`)
	if r := c.request("resources/read", map[string]any{"uri": "tmux://sessions"}); r.Error != nil {
		t.Errorf("%+v", r.Error)
	}
	agreed := 0
	for i, id := range c.asks() {
		answer := fmt.Sprintf(`"result":{"action":%q}`, []string{"accept", "decline", "cancel"}[i%3])
		if i%10 == 9 {
			answer = `"error":{"code":-1,"message":"no"}`
		} else if i%3 == 0 {
			agreed++
		}
		c.send(`{"jsonrpc":"2.0","id":%s,%s}`, id, answer)
	}
	done := 0
	for _, w := range waiting {
		if r := c.await(w); r.Error != nil {
			t.Errorf("%+v", r.Error)
		} else if !strings.Contains(string(r.Result), `"isError":true`) {
			done++
		}
	}
	if done != agreed {
		t.Errorf("%d calls are done, and the user agreed to %d", done, agreed)
	}
	// All slots are there again: as many calls that wait for a frozen server would not be.
	start := time.Now()
	for range 3 * calls {
		w, _ := c.begin("tools/call", map[string]any{"name": "list_panes", "arguments": map[string]any{}})
		waiting = append(waiting, w)
	}
	for _, w := range waiting[calls:] {
		c.await(w)
	}
	t.Logf("%d calls after that took %v", 3*calls, time.Since(start))
}
