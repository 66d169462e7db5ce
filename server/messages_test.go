package server_test

import (
	"fmt"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/server"
)

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
	srv := testserver.New(t)
	session(t, srv, "a")
	p := connect(t, configFor(srv))
	p.send("%s", initialize("2025-03-26"))
	wait := func(id, channel string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"wait_for_channel","arguments":{"channel":"` + channel +
			`"},"_meta":{"progressToken":9007199254740993}}}`
	}
	p.send(`[%s,%s,%s]`, wait(`"\u0061"`, "never"), wait("900719925474099300001", "soon"), `{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	p.send(`[%s]`, `{"jsonrpc":"2.0","id":4,"method":"ping"}`)
	testtool.Eventually(t, "the second batch is answered", func() bool { return len(p.lines(`[`+pong("4")+`]`)) == 1 })
	testtool.Eventually(t, "progress comes with the token's bytes", func() bool { return len(p.lines(`"progressToken":9007199254740993,`)) > 1 })
	p.send("%s", wait(`"a"`, "never"))
	testtool.Eventually(t, "an id in use is refused", func() bool {
		return len(p.lines(refusal(`"a"`, -32600, "a request with this id is still running"))) == 1
	})
	if got := p.lines(`"id":3`); len(got) > 0 {
		t.Errorf("a part of a batch was answered alone: %q", got)
	}
	// 900719925474099300000 is another request, and "a" the same.
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":900719925474099300000}}`)
	p.send(`[{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}]`)
	testserver.Run(t, srv, "wait-for", "-S", "soon")
	testtool.Eventually(t, "the rest of the batch is answered", func() bool { return len(p.lines(`[{"jsonrpc":"2.0","id":900719925474099300001,"result":`)) == 1 })
	got := p.lines("Channel 'soon' was signalled")[0]
	if !strings.HasSuffix(got, `,`+pong("3")+`]`) || strings.Contains(got, `"id":"`) {
		t.Errorf("the batch is answered with %s", got)
	}
}

func TestConsentComesInABatch(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	session(t, srv, "a")
	cfg := configFor(srv)
	cfg.Caller = server.Caller{Socket: srv.SocketPath(), Pane: "%0"}
	p := connect(t, cfg)
	p.send("%s", strings.Replace(initialize("2025-03-26"), `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1))
	_, id := p.begin("tools/call", map[string]any{"name": "send_keys", "arguments": map[string]any{"pane_id": "%0", "keys": "hello"}})
	testtool.Eventually(t, "the user is asked", func() bool { return len(p.asks()) == 1 })
	p.send(`[{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"allow":true}}}]`, p.asks()[0])
	testtool.Eventually(t, "the call is answered", func() bool { return len(p.lines(`"id":`+id+`,"result"`)) == 1 })
	testserver.WaitScreen(t, srv, "%0", "hello")
}
