package testserver

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"tmuxmcp/tmux"
)

// Person is a client of a tmux server, on a terminal of its own, at which somebody types.
type Person struct {
	t        testing.TB
	srv      *tmux.Server
	terminal *os.File
	pid      string
}

// Arrive attaches a person to a session, with more arguments of attach-session, and returns
// once the second in which the client started is over: tmux counts its activity in seconds.
func Arrive(t testing.TB, srv *tmux.Server, session string, args ...string) *Person {
	t.Helper()
	before := clients(t, srv)
	cmd := exec.Command(srv.Binary(), append([]string{"-u", "-S", srv.SocketPath(), "attach-session", "-t", session}, args...)...)
	cmd.Env = []string{"TERM=xterm-256color", "PATH=" + os.Getenv("PATH")}
	p := &Person{t: t, srv: srv, terminal: OnTerminal(t, cmd), pid: strconv.Itoa(cmd.Process.Pid)}
	Wait(t, srv, session, "client", func() bool {
		return slices.Contains(clients(t, srv), p.pid) && !slices.Contains(before, p.pid) &&
			p.field("client_created") < Run(t, srv, "display-message", "-p", "%s")
	})
	return p
}

func clients(t testing.TB, srv *tmux.Server) []string {
	t.Helper()
	return strings.Fields(Run(t, srv, "list-clients", "-F", "#{client_pid}"))
}

func (p *Person) field(token string) string {
	p.t.Helper()
	for line := range strings.Lines(Run(p.t, p.srv, "list-clients", "-F", "#{client_pid} #{"+token+"}")) {
		if pid, value, _ := strings.Cut(strings.TrimSpace(line), " "); pid == p.pid {
			return value
		}
	}
	p.t.Fatalf("the client %s is gone", p.pid)
	return ""
}

// Write types, and does not wait for tmux to read it.
func (p *Person) Write(text string) {
	p.t.Helper()
	if _, err := p.terminal.WriteString(text); err != nil {
		p.t.Error(err)
	}
}

// Type types, and returns once tmux has noticed that keys came in this second or the last one.
func (p *Person) Type(text string) {
	p.t.Helper()
	now := Run(p.t, p.srv, "display-message", "-p", "%s")
	p.Write(text)
	Wait(p.t, p.srv, "", "key", func() bool { return p.field("client_activity") >= now })
}

// Hold keeps a key pressed, from when tmux has noticed it until the test ends or it is
// released.
func (p *Person) Hold(key string) (release func()) {
	p.t.Helper()
	over, done := make(chan struct{}), make(chan struct{})
	release = sync.OnceFunc(func() { close(over); <-done })
	go func() {
		defer close(done)
		for {
			select {
			case <-over:
				return
			case <-time.After(100 * time.Millisecond):
				p.Write(key)
			}
		}
	}()
	p.t.Cleanup(release)
	p.Type(key)
	return release
}
