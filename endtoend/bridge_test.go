package endtoend

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"
)

// bridge serves streamable HTTP on loopback for programs that speak MCP on standard input
// and output: one per session, and one per running request of revision 2026-07-28, which
// has no sessions.
type bridge struct {
	*stage
	mu       sync.Mutex
	sessions map[string]*process
	idle     []*process // without a session
}

// newBridge returns the URL of a bridge.
func newBridge(s *stage) string {
	b := &bridge{stage: s, sessions: map[string]*process{}}
	srv := httptest.NewServer(b)
	s.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, p := range append(slices.Collect(maps.Values(b.sessions)), b.idle...) {
			p.end()
		}
	})
	return srv.URL + "/mcp"
}

// process is a running server.
type process struct {
	in     io.WriteCloser
	cmd    *exec.Cmd
	record *record
	ended  chan struct{}

	mu      sync.Mutex
	streams []*stream // of HTTP, the last one for messages that belong to no request
	waiting [][]byte  // until there is one
}

// stream is the body of an HTTP response.
type stream struct {
	id       string // of the request that it answers; empty for a GET
	messages chan []byte
}

func (b *bridge) start() (*process, error) {
	p := &process{ended: make(chan struct{})}
	p.cmd = exec.Command(b.server[0], b.server[1:]...)
	p.cmd.Env = b.env
	var err error
	if p.record, err = newRecord(b.records); err != nil {
		return nil, err
	}
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.ended)
		for r := bufio.NewReader(out); ; {
			line, err := r.ReadBytes('\n')
			if err != nil {
				break
			}
			p.record.write(true, line)
			p.deliver(bytes.ReplaceAll(bytes.TrimSpace(line), []byte(ours), []byte(theirs)))
		}
		p.cmd.Wait()
	}()
	return p, nil
}

// end lets the server finish.
func (p *process) end() {
	p.in.Close()
	select {
	case <-p.ended:
	case <-time.After(time.Minute):
		p.cmd.Process.Kill()
	}
}

// The suite subscribes to its own resource.
const (
	theirs = "test://watched-resource"
	ours   = "tmux://sessions"
)

type envelope struct {
	ID     json.RawMessage
	Method string
	Error  *struct{ Code int }
	Params struct {
		Meta struct {
			Revision string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	}
}

// deliver sends a message of the server to the stream of its request. A message that
// belongs to none, or to an unknown one, goes to the newest.
func (p *process) deliver(line []byte) {
	var m envelope
	json.Unmarshal(line, &m)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.streams {
		if m.Method == "" && s.id == string(m.ID) {
			s.messages <- line
			return
		}
	}
	if n := len(p.streams); n > 0 {
		p.streams[n-1].messages <- line
	} else {
		p.waiting = append(p.waiting, line)
	}
}

func (p *process) open(id string) *stream {
	s := &stream{id: id, messages: make(chan []byte, 10_000)}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, line := range p.waiting {
		s.messages <- line
	}
	p.streams, p.waiting = append(p.streams, s), nil
	return s
}

func (p *process) close(s *stream) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, other := range p.streams {
		if other == s {
			p.streams = append(p.streams[:i], p.streams[i+1:]...)
			return
		}
	}
}

func (b *bridge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var m envelope
	json.Unmarshal(body, &m)
	const modern = "2026-07-28"
	asks := len(m.ID) > 0 && m.Method != ""
	if version := r.Header.Get("MCP-Protocol-Version"); version >= modern {
		if named := m.Params.Meta.Revision; named != "" && named != version {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32020,"message":"the header says %s"}}`, m.ID, version)
			return
		}
		b.mu.Lock()
		var p *process
		if n := len(b.idle); n > 0 {
			p, b.idle = b.idle[n-1], b.idle[:n-1]
		}
		b.mu.Unlock()
		if p == nil {
			if p, err = b.start(); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
		}
		if p.exchange(w, r, body, m, asks, true); r.Context().Err() != nil {
			p.end() // it may still be at work
			return
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.idle = append(b.idle, p)
		return
	}
	id := r.Header.Get("Mcp-Session-Id")
	b.mu.Lock()
	p := b.sessions[id]
	b.mu.Unlock()
	switch {
	case m.Method == "initialize":
		if p, err = b.start(); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		id = rand.Text()
		b.mu.Lock()
		b.sessions[id] = p
		b.mu.Unlock()
		w.Header().Set("Mcp-Session-Id", id)
	case id == "":
		http.Error(w, "no session", http.StatusBadRequest)
		return
	case p == nil:
		http.Error(w, "no such session", http.StatusNotFound)
		return
	}
	if r.Method == http.MethodDelete {
		b.mu.Lock()
		delete(b.sessions, id)
		b.mu.Unlock()
		p.end()
		return
	}
	p.exchange(w, r, body, m, asks, false)
}

// exchange passes a message to the server, and the server's messages to the client until
// the answer to a request.
func (p *process) exchange(w http.ResponseWriter, r *http.Request, body []byte, m envelope, asks, modern bool) {
	var s *stream
	if asks || r.Method == http.MethodGet {
		s = p.open(string(m.ID))
		defer p.close(s)
	}
	if r.Method == http.MethodPost {
		var line bytes.Buffer
		if json.Compact(&line, bytes.ReplaceAll(body, []byte(theirs), []byte(ours))) != nil {
			line.Reset()
			line.WriteString("not JSON")
		}
		p.record.write(false, line.Bytes())
		if _, err := p.in.Write(append(line.Bytes(), '\n')); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	if s == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	for begun := false; ; begun = true {
		if r.Method == http.MethodGet {
			out.Flush()
		}
		var line []byte
		select {
		case line = <-s.messages:
		case <-p.ended:
			return
		case <-r.Context().Done():
			return
		}
		var answer envelope
		json.Unmarshal(line, &answer)
		last := asks && answer.Method == "" && string(answer.ID) == s.id
		if last && !begun {
			w.Header().Set("Content-Type", "application/json")
			if modern && answer.Error != nil {
				w.WriteHeader(statusOf(answer.Error.Code))
			}
			w.Write(line)
			return
		}
		fmt.Fprintf(w, "data: %s\n\n", line)
		out.Flush()
		if last {
			return
		}
	}
}

// statusOf returns the status that revision 2026-07-28 requires with an error.
func statusOf(code int) int {
	switch code {
	case -32601:
		return http.StatusNotFound
	case -32600, -32602, -32020, -32021, -32022:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// TestBridge tests the bridge itself.
func TestBridge(t *testing.T) {
	t.Parallel()
	url := newBridge(newStage(t))
	post := func(session, body string) (string, *http.Response) {
		t.Helper()
		req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader([]byte(body)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Mcp-Session-Id", session)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text), res
	}
	_, res := post("", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"probe","version":"1"}}}`)
	session := res.Header.Get("Mcp-Session-Id")
	if text, res := post(session, `{"jsonrpc":"2.0","id":"a","method":"ping"}`); text != `{"jsonrpc":"2.0","id":"a","result":{}}` || res.StatusCode != 200 {
		t.Errorf("a ping is answered with %s %q", res.Status, text)
	}
	if _, res := post("other", `{"jsonrpc":"2.0","id":"a","method":"ping"}`); res.StatusCode != 404 {
		t.Errorf("a session that does not exist: %s", res.Status)
	}
}
