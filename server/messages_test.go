package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"tmuxmcp/server"
	"tmuxmcp/tmux/tmuxtest"
)

// exchange is what a server answers to all of an input, a line each.
func exchange(t testing.TB, s *server.Server, input io.Reader) []string {
	t.Helper()
	var out lockedBuffer
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := s.Serve(ctx, input, &out); err != nil || ctx.Err() != nil {
		t.Fatalf("Serve: %v, %v", err, ctx.Err())
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

func initialize(revision string) string {
	return `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"` + revision + `","capabilities":{},"clientInfo":{"name":"probe","version":"1"}}}`
}

func refusal(id string, code int, why string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, id, code, why)
}

func pong(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":{}}` }

// lines are the messages from the server so far that contain a text.
func (p *peer) lines(text string) (all []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.messages {
		if strings.Contains(string(m), text) {
			all = append(all, strings.TrimSpace(string(m)))
		}
	}
	return all
}

func TestABatchWaitsOnlyForItself(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	p := connect(t, configFor(srv))
	p.send("%s", initialize("2025-03-26"))
	wait := func(id, channel string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"wait_for_channel","arguments":{"channel":"` + channel +
			`"},"_meta":{"progressToken":9007199254740993}}}`
	}
	p.send(`[%s,%s,%s]`, wait(`"\u0061"`, "never"), wait("900719925474099300001", "soon"), `{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	p.send(`[%s]`, `{"jsonrpc":"2.0","id":4,"method":"ping"}`)
	eventually(t, "the second batch is answered", func() bool { return len(p.lines(`[`+pong("4")+`]`)) == 1 })
	eventually(t, "progress comes with the token's bytes", func() bool { return len(p.lines(`"progressToken":9007199254740993,`)) > 1 })
	p.send("%s", wait(`"a"`, "never"))
	eventually(t, "an id in use is refused", func() bool {
		return len(p.lines(refusal(`"a"`, -32600, "a request with this id is still running"))) == 1
	})
	if got := p.lines(`"id":3`); len(got) > 0 {
		t.Errorf("a part of a batch was answered alone: %q", got)
	}
	// 900719925474099300000 is another request, and "a" the same.
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":900719925474099300000}}`)
	p.send(`[{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}]`)
	tmuxtest.Run(t, srv, "wait-for", "-S", "soon")
	eventually(t, "the rest of the batch is answered", func() bool { return len(p.lines(`[{"jsonrpc":"2.0","id":900719925474099300001,"result":`)) == 1 })
	got := p.lines("Channel 'soon' was signalled")[0]
	if !strings.HasSuffix(got, `,`+pong("3")+`]`) || strings.Contains(got, `"id":"`) {
		t.Errorf("the batch is answered with %s", got)
	}
}

func TestConsentComesInABatch(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	cfg := configFor(srv)
	cfg.Caller = server.Caller{Socket: srv.SocketPath(), Pane: "%0"}
	p := connect(t, cfg)
	p.send("%s", strings.Replace(initialize("2025-03-26"), `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1))
	_, id := p.begin("tools/call", map[string]any{"name": "send_keys", "arguments": map[string]any{"pane_id": "%0", "keys": "hello"}})
	eventually(t, "the user is asked", func() bool { return len(p.asks()) == 1 })
	p.send(`[{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"allow":true}}}]`, p.asks()[0])
	eventually(t, "the call is answered", func() bool { return len(p.lines(`"id":`+id+`,"result"`)) == 1 })
	tmuxtest.WaitScreen(t, srv, "%0", "hello")
}

// FuzzLines sends any line. Each answer is valid JSON on a line of its own, and
// each request has exactly one, with the bytes of its id.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":"\u0061","method":"tools/list"}`, `[1,{},{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}]`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_panes","arguments":{"x":[1e400]},"_meta":{"progressToken":1}}}`,
		`{"jsonrpc":"2.0","id":1.0,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"tmux://panes/%250"}}`, `{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, `{"jsonrpc":"2.0","id":-1,"result":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"},"notifications":{"toolsListChanged":true}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"run_and_wait","arguments":{}}}`, `{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}`,
	} {
		f.Add([]byte(seed))
	}
	srv := tmuxtest.New(f)
	cfg := configFor(srv)
	cfg.Tier, cfg.WaitMax = server.Readonly, 10*time.Millisecond
	cfg.Env = append(os.Environ(), "TMUX_TMPDIR="+f.TempDir())
	s, err := server.New(cfg)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		line = bytes.ReplaceAll(line, []byte("\n"), nil)
		for _, revision := range []string{"2025-03-26", "2025-06-18"} {
			const last = `"7f3a\u0000last"`
			input := initialize(revision) + "\n" + string(line) + "\n" + `{"jsonrpc":"2.0","id":` + last + `,"method":"ping"}`
			var got []string
			for _, l := range exchange(t, s, strings.NewReader(input))[1:] {
				if !utf8.ValidString(l) || !json.Valid([]byte(l)) {
					t.Fatalf("not JSON: %q", l)
				}
				if l != pong(last) && !strings.Contains(l, `"method":"notifications/`) {
					got = append(got, answerIDs(t, l)...)
				}
			}
			if want := wantedIDs(line, revision); !slices.Equal(got, want) {
				t.Errorf("%s: %q is answered for the ids %q, want %q", revision, line, got, want)
			}
		}
	})
}

// answerIDs are the ids that a line of the server's answers.
func answerIDs(t *testing.T, line string) (ids []string) {
	answers := []json.RawMessage{json.RawMessage(line)}
	if line[0] == '[' {
		json.Unmarshal([]byte(line), &answers)
	}
	for _, a := range answers {
		var m map[string]json.RawMessage
		if json.Unmarshal(a, &m) != nil || string(m["jsonrpc"]) != `"2.0"` || (m["result"] == nil) == (m["error"] == nil) || len(m) != 3 {
			t.Fatalf("no answer: %s", a)
		}
		ids = append(ids, string(m["id"]))
	}
	return ids
}

// wantedIDs are the ids that a line must be answered for, as the standard
// library's decoder sees it.
func wantedIDs(line []byte, revision string) (ids []string) {
	if len(bytes.Trim(line, " \t\r")) == 0 {
		return nil
	}
	var batch []json.RawMessage
	switch {
	case !utf8.Valid(line) || !json.Valid(line):
		return []string{"null"}
	case json.Unmarshal(line, &batch) == nil && batch != nil:
		if revision != "2025-03-26" || len(batch) == 0 || len(batch) > 100 {
			return []string{"null"}
		}
	default:
		batch = []json.RawMessage{line}
	}
	for _, raw := range batch {
		if id := wantedID(raw); id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

func wantedID(raw json.RawMessage) string {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if open, _ := dec.Token(); open != json.Delim('{') {
		return "null"
	}
	m := map[string]json.RawMessage{}
	for dec.More() {
		name, _ := dec.Token()
		var value json.RawMessage
		dec.Decode(&value)
		if m[name.(string)] != nil && slices.Contains([]string{"jsonrpc", "id", "method", "params", "result", "error"}, name.(string)) {
			return "null"
		}
		m[name.(string)] = value
	}
	var version string
	var method *string
	var id any
	numbers := json.NewDecoder(bytes.NewReader(m["id"]))
	numbers.UseNumber()
	numbers.Decode(&id)
	known := "null"
	switch v := id.(type) {
	case string:
		known = string(m["id"])
	case json.Number:
		if whole, dot, _ := strings.Cut(string(v), "."); !strings.ContainsAny(whole, "eE") && strings.Trim(dot, "0") == "" {
			known = string(m["id"])
		}
	}
	json.Unmarshal(m["jsonrpc"], &version)
	if json.Unmarshal(m["method"], &method) != nil {
		method = nil
	}
	var params any
	json.Unmarshal(m["params"], &params)
	switch params.(type) {
	case nil, map[string]any, []any:
	default:
		if version == "2.0" && method != nil {
			return known
		}
	}
	switch {
	case version != "2.0":
		return known
	case m["method"] == nil && (m["result"] != nil || m["error"] != nil):
		return ""
	case method == nil, m["id"] != nil:
		return known
	}
	return ""
}
