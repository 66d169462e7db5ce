package server_test

import (
	"cmp"
	"encoding/json"
	"maps"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/server"
)

const modern = "2026-07-28"

// revisions are the revisions of MCP; clients ask their user from 2025-06-18 on.
var revisions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", modern}

// client is a peer that speaks one revision.
type client struct {
	*peer
	revision, capabilities string
	name                   string // "probe" if empty
	more                   string // further members of _meta
}

func (c *client) hello() {
	c.t.Helper()
	if c.revision == modern {
		var found struct{ SupportedVersions []string }
		r := c.request("server/discover", c.params(nil))
		if r.Error != nil || json.Unmarshal(r.Result, &found) != nil || len(found.SupportedVersions) != len(revisions) {
			c.t.Fatalf("server/discover: %+v %s", r.Error, r.Result)
		}
		return
	}
	r := c.request("initialize", json.RawMessage(`{"protocolVersion":"`+c.revision+`","capabilities":`+c.capabilities+`,"clientInfo":{"name":"`+cmp.Or(c.name, "probe")+`","version":"1"}}`))
	if r.Error != nil || !strings.Contains(string(r.Result), `"protocolVersion":"`+c.revision+`"`) {
		c.t.Fatalf("initialize of %s: %+v %s", c.revision, r.Error, r.Result)
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// params adds what the revision requires in every request.
func (c *client) params(p map[string]any) map[string]any {
	if c.revision != modern {
		return p
	}
	p = maps.Clone(p)
	if p == nil {
		p = map[string]any{}
	}
	meta := `{"io.modelcontextprotocol/protocolVersion":"` + modern + `","io.modelcontextprotocol/clientCapabilities":` + c.capabilities +
		`,"io.modelcontextprotocol/clientInfo":{"name":"` + cmp.Or(c.name, "probe") + `","version":"1"}` + c.more + `}`
	p["_meta"] = json.RawMessage(meta)
	return p
}

// call makes a call and lets the user answer its question. An empty answer means none.
func (c *client) call(tool string, args map[string]any, answer string) (res result, asked int) {
	c.t.Helper()
	seen := len(c.asks())
	params := map[string]any{"name": tool, "arguments": args}
	for range 5 {
		waiting, _ := c.begin("tools/call", c.params(params))
		r, ok := reply{}, false
		for deadline := time.Now().Add(time.Minute); !ok; {
			select {
			case r, ok = <-waiting:
			case <-time.After(time.Millisecond):
				if time.Now().After(deadline) {
					c.t.Fatalf("%s by %s: no answer in 30 s", tool, c.revision)
				}
				if ids := c.asks(); len(ids) > seen {
					seen++
					asked++
					if answer != "" {
						c.send(`{"jsonrpc":"2.0","id":%s,"result":%s}`, ids[len(ids)-1], answer)
					}
				}
			}
		}
		var m struct {
			ResultType    string
			InputRequests map[string]json.RawMessage
			RequestState  string
		}
		if json.Unmarshal(r.Result, &res) != nil || json.Unmarshal(r.Result, &m) != nil {
			c.t.Fatalf("%s by %s: %+v", tool, c.revision, r)
		}
		if m.ResultType != "input_required" || answer == "" {
			return res, asked
		}
		answers := map[string]any{}
		for id, ask := range m.InputRequests {
			if empty := strings.Contains(string(ask), `"properties":{}`); empty == (c.name == "codex-mcp-client") {
				c.t.Errorf("%s gets the form %s", c.name, ask)
			}
			answers[id] = json.RawMessage(answer)
			asked++
		}
		params["inputResponses"], params["requestState"] = answers, m.RequestState
		res = result{}
	}
	c.t.Fatalf("%s by %s asks again and again", tool, c.revision)
	return res, asked
}

// TestConsentInEveryRevision: whatever the user or the client does, a call of a guarded
// tool ends, and has an effect only after a yes.
func TestConsentInEveryRevision(t *testing.T) {
	t.Parallel()
	guarded := []struct {
		tool, args string
	}{
		{"send_keys", `{"pane_id":"%0","keys":"x"}`},
		{"clear_pane", `{"pane_id":"%0"}`},
		{"respawn_pane", `{"pane_id":"%0","shell":"exec cat"}`},
		{"set_option", `{"option":"@mcp-x","value":"1"}`}, // not guarded
	}
	for _, revision := range append(revisions, "codex", "codex "+modern) {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			srv := testserver.New(t)
			session(t, srv, "a")
			cfg := configFor(srv)
			cfg.Results = server.ResultsText
			cfg.Caller = server.Caller{Pane: "%0", Socket: srv.SocketPath()}
			s := newServer(t, cfg)
			name, form := "probe", "empty"
			if words := strings.Fields(revision); words[0] == "codex" {
				name, form = "codex-mcp-client", "codex"
				revision = append(words, "2025-06-18")[1]
			}
			canAsk := revision >= "2025-06-18"
			capabilities := `{}`
			if canAsk {
				capabilities = `{"elicitation":{}}`
			}
			c := &client{peer: connectTo(t, s), revision: revision, capabilities: capabilities, name: name}
			c.hello()
			for _, g := range guarded {
				var args map[string]any
				if err := json.Unmarshal([]byte(g.args), &args); err != nil {
					t.Fatal(err)
				}
				free := g.tool == "set_option"
				// Each answer, and to which form it is a yes: to an empty one, or to codex's.
				answers := [][2]string{
					{`{"action":"decline"}`}, {`{"action":"cancel"}`}, {`{"action":"decline","content":{"allow":true}}`}, {`{"action":"accept","content":{"allow":false}}`},
					{`{"action":"accept","content":{}}`, "empty"}, {`{"action":"accept"}`, "empty"}, {`{"action":"accept","content":null}`, "empty"},
					{`{"action":"accept","content":{"allow":true}}`, "empty codex"}, {`{"action":"accept","content":{"x":true}}`}, {`{"action":"accept","content":{"allow":"true"}}`}, {`{"action":"accept","content":{"allow":null}}`},
					{`{"action":"accept","content":{"Allow":true}}`}, {`{"action":"accept","content":[true]}`}, {`{"action":"accept","content":"no"}`}, {``},
				}
				if revision != modern { // there the whole call is refused: see TestNamesAreExact
					answers = append(answers, [2]string{`{"action":"decline","action":"accept"}`}, [2]string{`{"Action":"accept"}`}, [2]string{`{"action":"accept"},"error":null`, "empty"})
				}
				for i, one := range answers {
					if !testtool.Full && g.tool != guarded[0].tool && i%3 != 0 { // all of them to one tool
						continue
					}
					answer := one[0]
					if s.SetConsentWait(time.Minute); answer == "" {
						s.SetConsentWait(300 * time.Millisecond)
					}
					res, asked := c.call(g.tool, args, answer)
					works := free || canAsk && strings.Contains(one[1], form)
					wantAsked := 0
					if canAsk && !free && (answer != "" || revision != modern) {
						wantAsked = 1
					}
					if open := canAsk && !free && answer == "" && revision == modern; open {
						continue // it ended with the question
					}
					if res.IsError == works || asked != wantAsked {
						t.Errorf("%s, answer %s: error %t, asked %d times: %s", g.tool, answer, res.IsError, asked, res.text())
					}
					if !works && !strings.Contains(res.text(), "refusing to ") {
						t.Errorf("%s, answer %s: %s", g.tool, answer, res.text())
					}
				}
			}
			// A client that goes away while the question is open.
			c.begin("tools/call", c.params(map[string]any{"name": "clear_pane", "arguments": map[string]any{"pane_id": "%0"}}))
			c.in.Close()
			select {
			case <-c.done:
			case <-time.After(30 * time.Second):
				t.Error("the server does not end with its input")
			}
		})
	}
}

// TestAnAnswerIsForOneCall: what the user agreed to cannot be used for anything else.
func TestAnAnswerIsForOneCall(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	session(t, srv, "a")
	cfg := configFor(srv)
	cfg.Caller = server.Caller{Pane: "%0", Socket: srv.SocketPath()}
	s := newServer(t, cfg)
	c := &client{peer: connectTo(t, s), revision: modern, capabilities: `{"elicitation":{}}`}
	c.hello()
	ask := func(params map[string]any) (state string, res result) {
		t.Helper()
		waiting, _ := c.begin("tools/call", c.params(params))
		r := c.await(waiting)
		var m struct{ RequestState string }
		if json.Unmarshal(r.Result, &m) != nil || json.Unmarshal(r.Result, &res) != nil {
			t.Fatalf("%+v", r)
		}
		return m.RequestState, res
	}
	yes := map[string]any{"consent": map[string]any{"action": "accept"}}
	// It counts once, also if it comes twice at once, and for a time.
	var states []string
	for range 2 {
		state, _ := ask(map[string]any{"name": "send_keys", "arguments": map[string]any{"pane_id": "%0", "keys": "counted"}})
		states = append(states, state, state)
	}
	if states[0] == "" || states[0] == states[2] {
		t.Errorf("the same call is asked about twice with the states %q", states)
	}
	var waiting []<-chan reply
	for _, state := range states {
		answer, _ := c.begin("tools/call", c.params(map[string]any{"name": "send_keys", "arguments": map[string]any{"pane_id": "%0", "keys": "counted"}, "requestState": state, "inputResponses": yes}))
		waiting = append(waiting, answer)
	}
	used := 0
	for _, answer := range waiting {
		if res := string(c.await(answer).Result); strings.Contains(res, "used already") && strings.Contains(res, "call again") {
			used++
		}
	}
	testserver.WaitScreen(t, srv, "%0", "counted\ncounted\ncounted\ncounted")
	// Programs on the way may write the arguments anew, and ask again without an answer.
	args := `{"pane_id":"%0","keys":"ünwritten <twice>"}`
	state, _ := ask(map[string]any{"name": "send_keys", "arguments": json.RawMessage(args)})
	if again, _ := ask(map[string]any{"name": "send_keys", "arguments": json.RawMessage(args), "requestState": state, "inputResponses": map[string]any{}}); again == "" || again == state {
		t.Errorf("without an answer, the question comes again with the state %q", again)
	}
	rewritten := `{ "keys": "\u00fcnwritten \u003ctwice>", "pane_id": "%0" }`
	if _, res := ask(map[string]any{"name": "send_keys", "arguments": json.RawMessage(rewritten), "requestState": state, "inputResponses": yes}); !strings.Contains(res.text(), "Keys sent") {
		t.Errorf("the same arguments in another order get %s", res.text())
	}
	const shown = "counted\ncounted\ncounted\ncounted\nünwritten <twice>\nünwritten <twice>" // with cat's echo
	testserver.WaitScreen(t, srv, "%0", shown)
	s.SetAnswerWait(-time.Nanosecond)
	state, _ = ask(map[string]any{"name": "send_keys", "arguments": map[string]any{"pane_id": "%0", "keys": "late"}})
	if _, res := ask(map[string]any{"name": "send_keys", "arguments": map[string]any{"pane_id": "%0", "keys": "late"}, "requestState": state, "inputResponses": yes}); used != 2 ||
		!strings.Contains(res.text(), "came after") {
		t.Errorf("%d of 2 answers that came again are refused, one that came late gets %s", used, res.text())
	}
	s.SetAnswerWait(time.Minute)
	state, _ = ask(map[string]any{"name": "send_keys", "arguments": map[string]any{"pane_id": "%0", "keys": "harmless"}})
	if state == "" {
		t.Fatal("no question was asked")
	}
	for name, forged := range map[string]struct {
		method string
		params map[string]any
	}{
		"other arguments": {"tools/call", map[string]any{"name": "send_keys", "arguments": map[string]any{"pane_id": "%0", "keys": "rm"}, "requestState": state}},
		"another tool":    {"tools/call", map[string]any{"name": "kill_pane", "arguments": map[string]any{"pane_id": "%0"}, "requestState": state}},
		"more":            {"tools/call", map[string]any{"name": "send_keys", "arguments": map[string]any{"pane_id": "%0", "keys": "harmless"}, "requestState": state + "x"}},
		"less":            {"tools/call", map[string]any{"name": "send_keys", "arguments": map[string]any{"pane_id": "%0", "keys": "harmless"}, "requestState": state[1:]}},
		"nothing asked":   {"tools/call", map[string]any{"name": "list_panes", "arguments": map[string]any{}, "requestState": state}},
		"short":           {"tools/call", map[string]any{"name": "list_panes", "arguments": map[string]any{}, "requestState": "x"}},
		"a prompt":        {"prompts/get", map[string]any{"name": "interrupt_gracefully", "arguments": map[string]any{"pane_id": "%0"}, "requestState": state}},
		"a resource":      {"resources/read", map[string]any{"uri": "tmux://sessions", "requestState": state}},
	} {
		forged.params["inputResponses"] = yes
		if r := c.request(forged.method, c.params(forged.params)); r.Error == nil || r.Error.Code != -32602 || !strings.Contains(r.Error.Message, "requestState is not one that this server gave") {
			t.Errorf("%s: a forged state is answered with %s %+v", name, r.Result, r.Error)
		}
	}
	for _, other := range []map[string]any{
		{"name": "kill_pane", "arguments": map[string]any{"pane_id": "%0"}, "inputResponses": yes},
		{"name": "kill_pane", "arguments": map[string]any{"pane_id": "%0"}, "inputResponses": yes, "requestState": ""},
	} {
		if again, res := ask(other); again == "" || again == state || res.IsError {
			t.Errorf("%v is not asked about: %s", other, res.text())
		}
	}
	// The user is asked about a whole call.
	for _, part := range []map[string]any{
		{"name": "call_destructive_tools_batch", "arguments": map[string]any{"operations": []any{map[string]any{"tool": "kill_pane", "arguments": map[string]any{"pane_id": "%0"}}}}},
		{"name": "send_keys_batch", "arguments": map[string]any{"operations": []any{map[string]any{"keys": "x", "pane_id": "%0"}}}},
	} {
		if again, res := ask(part); again != "" || !strings.Contains(res.text(), "call it by itself") {
			t.Errorf("%v: %s", part, res.text())
		}
	}
	if got := testserver.Run(t, srv, "list-panes", "-a", "-F", "#{pane_id}") + strings.TrimSpace(testserver.Run(t, srv, "capture-pane", "-p", "-t", "%0")); got != "%0"+shown {
		t.Errorf("left are %q", got)
	}
}

// TestNoMessageUnasked: from 2026-07-28 on, a log message is sent only to clients that ask
// for it.
func TestNoMessageUnasked(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	session(t, srv, "a")
	for more, want := range map[string]int{
		"": 0, `,"io.modelcontextprotocol/logLevel":"error"`: 0, `,"io.modelcontextprotocol/logLevel":"info"`: 1,
	} {
		c := &client{peer: start(t, srv, nil), revision: modern, capabilities: `{}`, more: more}
		c.hello()
		waiting, _ := c.begin("tools/call", c.params(map[string]any{"name": "wait_for_text", "arguments": map[string]any{"pane_id": "%0", "timeout": 0.1}}))
		if r := c.await(waiting); r.Error != nil {
			t.Fatalf("%+v", r.Error)
		}
		if messages := len(c.notified("notifications/message")); messages != want {
			t.Errorf("with %q there are %d messages, want %d", more, messages, want)
		}
	}
}

// TestWaitsInEveryRevision: progress is reported, and a call that is
// cancelled is not answered.
func TestWaitsInEveryRevision(t *testing.T) {
	t.Parallel()
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			srv := testserver.New(t)
			session(t, srv, "a")
			c := &client{peer: start(t, srv, nil), revision: revision, capabilities: `{}`, more: `,"progressToken":"mine"`}
			c.hello()
			wait := func(timeout float64) map[string]any {
				params := c.params(map[string]any{"name": "wait_for_text", "arguments": map[string]any{"pane_id": "%0", "timeout": timeout}})
				if revision != modern {
					params["_meta"] = map[string]any{"progressToken": "mine"}
				}
				return params
			}
			waiting, _ := c.begin("tools/call", wait(1.2))
			if r := c.await(waiting); r.Error != nil {
				t.Fatalf("%+v", r.Error)
			}
			if len(c.progressOf("mine")) == 0 {
				t.Error("there was no progress")
			}
			_, id := c.begin("tools/call", wait(20))
			c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id)
			waiting, _ = c.begin("tools/call", c.params(map[string]any{"name": "list_panes", "arguments": map[string]any{}}))
			if r := c.await(waiting); r.Error != nil {
				t.Fatalf("%+v", r.Error)
			}
			testtool.Eventually(t, "the cancelled call has let go of tmux", func() bool { return tmuxCalls(t, c.process.Process.Pid) == 0 })
			c.mu.Lock()
			if c.waiting[id] == nil {
				t.Error("the cancelled call was answered")
			}
			c.mu.Unlock()
		})
	}
}

// TestALostCallerIsAskedOnce: a call that acts on two panes, either of which may be the
// agent's own, asks one question. A second one would need another answer, and never end.
func TestALostCallerIsAskedOnce(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("looks for the programs of other processes in /proc")
	}
	cat, err := filepath.EvalSymlinks(testtool.Path(t, "cat"))
	if err != nil {
		t.Fatal(err)
	}
	srv := testserver.New(t)
	session(t, srv, "a")
	testserver.Run(t, srv, "split-window", "-d", "-t", "%0", "exec cat")
	cfg := configFor(srv)
	cfg.Results = server.ResultsText
	cfg.Caller = server.Caller{Socket: srv.SocketPath(), Lost: true, Client: cat}
	for _, revision := range []string{"2025-11-25", modern} {
		c := &client{peer: connect(t, cfg), revision: revision, capabilities: `{"elicitation":{}}`}
		c.hello()
		args := map[string]any{"source_pane_id": "%0", "target_pane_id": "%1"}
		for answer, works := range map[string]bool{`{"action":"decline"}`: false, `{"action":"accept"}`: true} {
			if res, asked := c.call("swap_pane", args, answer); asked != 1 || res.IsError == works {
				t.Errorf("%s, answer %s: asked %d times: %s", revision, answer, asked, res.text())
			}
		}
	}
}
