package server_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

// screen is a pane that shows exactly what is written to it.
type screen struct {
	t    testing.TB
	srv  *tmux.Server
	pane string
	in   *os.File

	prints int
}

// newScreen starts a session with one pane of the given size. The pane's program prints
// what it is sent until it is asked to quit.
func newScreen(t testing.TB, srv *tmux.Server, name string, width, height int) *screen {
	t.Helper()
	s := &screen{t: t, srv: srv}
	command := s.program()
	s.pane = testserver.Run(t, srv, "new-session", "-d", "-s", name, "-x", strconv.Itoa(width), "-y", strconv.Itoa(height), "-P", "-F", "#{pane_id}", command)
	// tmux 3.2 does not heed the size of its first session.
	testserver.Run(t, srv, "resize-window", "-t", s.pane, "-x", strconv.Itoa(width), "-y", strconv.Itoa(height))
	return s
}

// program makes a command that prints what is written to s.in.
func (s *screen) program() string {
	s.t.Helper()
	fifo := filepath.Join(s.t.TempDir(), "in")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		s.t.Fatal(err)
	}
	// Opened for both, so that neither end waits for the other.
	in, err := os.OpenFile(fifo, os.O_RDWR, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { in.Close() })
	s.in = in
	return "stty -echo; exec cat <" + fifo
}

// print writes to the screen, and returns once tmux has drawn it, as shown by the title
// that is set after it.
func (s *screen) print(text string) {
	s.t.Helper()
	s.prints++
	title := "printed " + strconv.Itoa(s.prints)
	if _, err := s.in.WriteString(text + "\x1b]2;" + title + "\x1b\\"); err != nil {
		s.t.Fatal(err)
	}
	testserver.Wait(s.t, s.srv, s.pane, "end of what was printed", func() bool {
		return testserver.Run(s.t, s.srv, "display-message", "-p", "-t", s.pane, "#{pane_title}") == title
	})
}

// window makes a window in session a, and returns its pane.
func (p *peer) window(shell string) (pane string) {
	p.t.Helper()
	return ok[struct {
		ID string `json:"active_pane_id"`
	}](p, "create_window", args(p.t, "session_name", "a", "shell", shell)).ID
}

// onScreen returns a tmux server with a screen of 40x10, and a client.
func onScreen(t testing.TB) (*tmux.Server, *screen, *peer) {
	t.Helper()
	srv := testserver.New(t)
	return srv, newScreen(t, srv, "a", 40, 10), serve(t, configFor(srv))
}

// served returns a tmux server with a silent session a, and a client.
func served(t testing.TB) (*tmux.Server, *peer) {
	t.Helper()
	srv := testserver.New(t)
	session(t, srv, "a")
	return srv, serve(t, configFor(srv))
}

// wait begins a call and returns once it is waiting: it has reported progress.
func (p *peer) wait(name, args string) (<-chan reply, string) {
	p.t.Helper()
	p.mu.Lock()
	token := "token-" + strconv.Itoa(p.nextID+1)
	p.mu.Unlock()
	c, id := p.begin("tools/call", map[string]any{
		"name": name, "arguments": json.RawMessage(args), "_meta": map[string]any{"progressToken": token},
	})
	testtool.Eventually(p.t, name+" waits", func() bool { return len(p.progressOf(token)) > 0 || len(c) > 0 })
	return c, id
}

type progress struct {
	Token    string  `json:"progressToken"`
	Progress float64 `json:"progress"`
	Total    float64 `json:"total"`
	Message  string  `json:"message"`
}

// notified returns the parameters of all notifications of a method so far.
func (p *peer) notified(method string) []json.RawMessage {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []json.RawMessage
	for _, raw := range p.messages {
		var m struct {
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		if json.Unmarshal(raw, &m) == nil && m.Method == method {
			all = append(all, m.Params)
		}
	}
	return all
}

func (p *peer) progressOf(token string) []progress {
	var all []progress
	for _, raw := range p.notified("notifications/progress") {
		var n progress
		if json.Unmarshal(raw, &n) == nil && n.Token == token {
			all = append(all, n)
		}
	}
	return all
}

// warnings returns the texts of all warnings so far, one per line.
func (p *peer) warnings() string {
	var b strings.Builder
	for _, raw := range p.notified("notifications/message") {
		b.Write(raw)
		b.WriteByte('\n')
	}
	return b.String()
}

// decode reads the structured content of a reply.
func decode[T any](p *peer, name string, r reply) T {
	p.t.Helper()
	res := p.toolResult(name, r)
	if res.IsError {
		p.t.Fatalf("%s: %s", name, res.text())
	}
	var v T
	if err := json.Unmarshal(res.Structured, &v); err != nil {
		p.t.Fatal(err)
	}
	return v
}
