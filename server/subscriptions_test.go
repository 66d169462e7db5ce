package server_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/server"
)

const updatedMethod = `"method":"notifications/resources/updated"`

// quoted is a text in JSON.
func quoted(s string) string {
	raw, _ := json.Marshal(s)
	return string(raw)
}

// updates counts the notifications received for a resource.
func (p *peer) updates(uri string) int {
	n := 0
	for _, l := range p.lines(updatedMethod) {
		if strings.Contains(l, `"uri":`+quoted(uri)) {
			n++
		}
	}
	return n
}

// updatedBy waits until a resource's notification arrives after something was done.
func (p *peer) updatedBy(uri, what string, do func()) {
	p.t.Helper()
	before := p.updates(uri)
	do()
	testtool.Eventually(p.t, what+" is notified for "+uri, func() bool { return p.updates(uri) > before })
}

func TestSubscriptions(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	session(t, srv, "a")
	s := newScreen(t, srv, "b", 40, 10)
	cfg := configFor(srv)
	cfg.Results = server.ResultsText // resources have all properties all the same
	subscribed, p := servedBy(t, cfg)
	subscribed.SetReading(oneReading / 6)
	content, state := "tmux://panes/"+s.pane+"/content", "tmux://panes/%25"+s.pane[1:]
	const sessions = "tmux://sessions"
	for _, uri := range []string{content, state, sessions, content} {
		if r := p.request("resources/subscribe", map[string]string{"uri": uri}); r.Error != nil {
			t.Fatalf("%s: %s", uri, r.Error.Message)
		}
	}
	p.updatedBy(content, "output", func() { s.print("shown\n") })
	p.updatedBy(state, "a title", func() { testserver.Run(t, srv, "select-pane", "-t", s.pane, "-T", "other") })
	p.updatedBy(sessions, "a session", func() { session(t, srv, "c") })
	time.Sleep(2 * oneReading) // for a notification that must not come
	silent := p.updates(content) + p.updates(state)
	testserver.Run(t, srv, "new-window", "-d", "-t", "a", "cat")
	time.Sleep(2 * oneReading) // for a notification that must not come
	if n := p.updates(content) + p.updates(state); n != silent {
		t.Errorf("%d notifications while nothing happened", n-silent)
	}

	if r := p.request("resources/unsubscribe", map[string]string{"uri": content}); r.Error != nil {
		t.Fatal(r.Error.Message)
	}
	before := p.updates(content)
	p.updatedBy(state, "a title", func() {
		s.print("more\n")
		testserver.Run(t, srv, "select-pane", "-t", s.pane, "-T", "third")
	})
	time.Sleep(oneReading) // for a notification that must not come
	if n := p.updates(content); n != before {
		t.Error("notified after unsubscribing")
	}
	p.updatedBy(state, "its end", func() { testserver.Run(t, srv, "kill-pane", "-t", s.pane) })
	p.updatedBy(sessions, "the end of tmux", func() { testserver.End(t, srv) })
	p.updatedBy(sessions, "its beginning", func() { session(t, srv, "again") })
}

// oneReading is longer than a resource is not looked at.
const oneReading = 300 * time.Millisecond

// TestSubscriptionsFollowAPane: everything drawn on either screen, and a pane whose tmux
// server starts again.
func TestSubscriptionsFollowAPane(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	s := newScreen(t, srv, "b", 40, 10)
	p := serve(t, configFor(srv))
	content := "tmux://panes/%25" + s.pane[1:] + "/content"
	if r := p.request("resources/subscribe", map[string]string{"uri": content}); r.Error != nil {
		t.Fatal(r.Error.Message)
	}
	for _, c := range []struct{ what, drawn string }{
		{"a line above the cursor", "one\ntwo\n\x1b[2Achanged\r\n"},
		{"the alternate screen", "\x1b[?1049h\x1b[Halternate"},
		{"a cleared screen", "\x1b[2J"},
	} {
		p.updatedBy(content, c.what, func() { s.print(c.drawn) })
	}
	p.updatedBy(content, "a long line", func() { s.print("\x1b[?1049l" + strings.Repeat("long ", 7) + "\n") })
	p.updatedBy(content, "its size", func() { testserver.Run(t, srv, "resize-window", "-t", s.pane, "-x", "20", "-y", "5") })
	p.updatedBy(content, "its end", func() { testserver.End(t, srv) })
	p.updatedBy(content, "another pane of its id", func() { session(t, srv, "again") })
}

// listen opens a stream of revision 2026-07-28.
func (p *peer) listen(id string, uris ...string) {
	raw, _ := json.Marshal(uris)
	p.send(`{"jsonrpc":"2.0","id":%s,"method":"subscriptions/listen","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"probe","version":"1"}},"notifications":{"resourceSubscriptions":%s}}}`, id, raw)
}

// stream returns what has arrived on a stream.
func (p *peer) stream(id string) []string {
	return p.lines(`"io.modelcontextprotocol/subscriptionId":` + id)
}

// TestListen is the same for revision 2026-07-28, where a request is a stream.
func TestListen(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	s := newScreen(t, srv, "b", 40, 10)
	p := serve(t, configFor(srv))
	content := "tmux://panes/" + s.pane + "/content"
	listen, of := p.listen, p.stream
	listen(`"one"`, content, "tmux://nothing", "tmux://panes/%99")
	listen(`72`, "tmux://sessions", content)
	testtool.Eventually(t, "both are acknowledged", func() bool { return len(of(`"one"`)) > 0 && len(of("72")) > 0 })
	for i := range 3 {
		p.updatedBy(content, "output", func() { s.print(fmt.Sprintf("line %d\n", i)) })
	}
	testtool.Eventually(t, "both are notified", func() bool { return len(of(`"one"`)) > 1 && len(of("72")) > 1 })
	for id, uris := range map[string]string{`"one"`: `[` + quoted(content) + `]`, "72": `["tmux://sessions",` + quoted(content) + `]`} {
		first := of(id)[0]
		if !strings.Contains(first, `"method":"notifications/subscriptions/acknowledged"`) || !strings.Contains(first, `"resourceSubscriptions":`+uris) {
			t.Errorf("the stream %s begins with %s", id, first)
		}
	}
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"one"}}`)
	p.request("ping", struct{}{})
	time.Sleep(200 * time.Millisecond) // for one that must not come
	before := len(of(`"one"`))
	p.updatedBy(content, "output", func() { s.print("last\n") })
	if n := len(of(`"one"`)); n != before {
		t.Error("notified after the stream was cancelled")
	}
	// An id that float64 does not hold, too.
	for _, id := range append(slices.Repeat([]string{"73", `"s\u00e9"`}, 50), "1234567890123456789") {
		before := len(p.lines(`"id":` + id + `,"result"`))
		if id == "73" {
			listen(id, "tmux://nothing", "tmux://panes/%99")
		} else {
			listen(id)
		}
		testtool.Eventually(t, "an empty stream ends", func() bool { return len(p.lines(`"id":`+id+`,"result"`)) > before })
		key := strings.ReplaceAll(id, `\u00e9`, "é")
		of := p.stream(key)
		if last := of[len(of)-2:]; !strings.Contains(last[0], `"method":"notifications/subscriptions/acknowledged"`) || !strings.Contains(last[0], `"notifications":{}`) || !strings.Contains(last[1], `"result":`) {
			t.Fatalf("a stream of nothing is %q", last)
		}
	}

	// The end of the input ends a stream, too.
	p.in.Close()
	select {
	case <-p.done:
	case <-time.After(time.Minute):
		t.Fatal("it did not end with its input")
	}
	if n := len(p.lines(`"id":72,"result"`)); n != 1 {
		t.Errorf("the stream was answered %d times", n)
	}
}

// TestSubscriptionsAreBounded: how many, and what is left of them.
func TestSubscriptionsAreBounded(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	session(t, srv, "a")
	pane := newScreen(t, srv, "b", 40, 10)
	s, p := promptly(t, srv)
	content := "tmux://panes/" + pane.pane + "/content"
	if r := p.request("resources/subscribe", map[string]string{"uri": content}); r.Error != nil {
		t.Fatal(r.Error.Message)
	}
	p.listen("70", slices.Repeat([]string{content}, 300)...)
	for i := range 199 {
		p.listen(fmt.Sprint(1000+i), content)
	}
	testtool.Eventually(t, "all are acknowledged", func() bool { return len(p.lines("notifications/subscriptions/acknowledged")) == 200 })
	if n := strings.Count(p.stream("70")[0], "tmux://"); n != 1 {
		t.Errorf("one resource is acknowledged %d times", n)
	}
	if n := len(p.lines(`"notifications":{}`)); n != 1 {
		t.Errorf("%d streams are one too many", n)
	}
	if r := p.request("resources/subscribe", map[string]string{"uri": "tmux://sessions"}); r.Error == nil || !strings.Contains(r.Error.Message, "too many subscriptions (limit 200)") {
		t.Errorf("one more: %v", r.Error)
	}
	// One of the 200 again, by many at once.
	var again []<-chan reply
	for range 50 {
		c, _ := p.begin("resources/subscribe", map[string]string{"uri": content})
		again = append(again, c)
	}
	for _, c := range again {
		if r := p.await(c); r.Error != nil {
			t.Errorf("subscribing to the same again: %s", r.Error.Message)
		}
	}
	if n := s.Subscriptions(); n != 200 {
		t.Errorf("there are %d subscriptions", n)
	}
	for range 2 {
		if r := p.request("resources/unsubscribe", map[string]string{"uri": content}); r.Error != nil {
			t.Error(r.Error.Message)
		}
		if n := s.Subscriptions(); n != 199 {
			t.Errorf("after unsubscribing, there are %d subscriptions", n)
		}
	}
	if r := p.request("resources/subscribe", map[string]string{"uri": content}); r.Error != nil {
		t.Error(r.Error.Message)
	}
	p.updatedBy(content, "output", func() { pane.print("shown\n") })
	p.in.Close()
	<-p.done
	// The streams end with their requests, in goroutines of their own.
	testtool.Eventually(t, "no subscriptions are left of a session", func() bool { return s.Subscriptions() == 0 })
	testtool.Eventually(t, "nothing is connected to tmux", func() bool {
		left := testserver.Run(t, srv, "list-clients")
		if testserver.Run(t, srv, "display-message", "-p", "-t", pane.pane, "#{pane_output_generation}") != "" {
			left += testserver.Run(t, srv, "wait-for", "-E", "-l", "pane-activity")
		}
		return left == ""
	})
}
