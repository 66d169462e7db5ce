package wire

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Transports are both ways to a server, and what earlier calls have shown of it. Commands given
// as text go through exec, since they may name files, which the tmux program opens. Both take the
// same words and return the same bytes; the tests run over each of them.
type Transports struct {
	native *nativeTransport
	Exec   *ExecTransport
	Only   bool // never fall back to Exec
	// Refused is set if no native calls are made: from the start, or since one has shown that the
	// server does not speak the protocol as expected.
	Refused bool
	Logger  *slog.Logger // may be nil

	mu sync.Mutex // never held during a call to a server
	// proven is set once a native call has shown that the server speaks the protocol. hostile is
	// set once a server has asked for a file that it should not: the tmux program, which would
	// open any file, is then not run with commands in text.
	proven, hostile bool
}

// NewTransports returns both ways to the server at a socket.
func NewTransports(at Socket, program *ExecTransport) *Transports {
	program.socket, program.lean = at, leanEnvironment(program.Env)
	return &Transports{native: newNativeTransport(at, program.Env), Exec: program, Refused: !NativeUsable}
}

// Ask runs a command over the native transport.
func (t *Transports) Ask(ctx context.Context, words ...string) (Reply, error) {
	return t.native.run(ctx, Request{Words: words, Needs: needsNone})
}

// Run sends one command list to the server and returns what the tmux client program would
// have printed. It sends nothing to a server that does not answer.
func (t *Transports) Run(ctx context.Context, req Request) (Reply, error) {
	if err := t.Exec.socket.silent(ctx); err != nil {
		return Reply{Code: -1}, err
	}
	began := time.Now()
	rep, err := t.send(ctx, req)
	if errors.As(err, new(*lateError)) {
		t.Exec.socket.fellSilent(began)
	}
	return rep, err
}

func (t *Transports) send(ctx context.Context, req Request) (Reply, error) {
	native, answer, err := t.useNative(ctx, req)
	switch {
	case err != nil:
		return Reply{Code: -1}, err
	case answer != nil:
		return *answer, nil
	case req.Text && t.isHostile():
		return Reply{Code: -1}, fmt.Errorf("%w: the server asked for a file that no command names; commands in text are refused, because the tmux program would open it", errAsked)
	case req.Text || !native:
		return t.Exec.run(ctx, req)
	}
	rep, err := t.native.run(ctx, req)
	t.learn(rep, err)
	if rep.noServer() && req.StartsServer {
		return t.Exec.run(ctx, req)
	}
	return rep, err
}

// learn records what a native call has shown, for later calls.
func (t *Transports) learn(rep Reply, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case errors.Is(err, errAsked):
		t.hostile = true
	case errors.Is(err, ErrProtocol) && !t.Only && !t.hostile:
		// The server may have run the list, so this call fails; later ones use exec.
		t.refuse(err)
	case rep.noServer():
		t.proven = false
	}
}

// Private reports whether only the server sees the words of the next request, unlike the
// arguments of a program.
func (t *Transports) Private() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.Only || t.hostile || t.proven
}

func (t *Transports) isHostile() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.hostile
}

// useNative reports whether to use the native transport. Until that is known, each call finds
// out for itself, within its own context. A request with a proof is its own probe: useNative
// then returns the answer, too.
func (t *Transports) useNative(ctx context.Context, req Request) (native bool, answer *Reply, err error) {
	t.mu.Lock()
	native, refused := t.Only || t.hostile || t.proven, t.Refused
	t.mu.Unlock()
	if native || refused {
		return native, nil, nil
	}
	probe := req
	if req.Proof == "" {
		nonce := rand.Text()
		probe = Request{Words: []string{"display-message", "-p", nonce}, Needs: needsNone, Proof: nonce + "\n"}
	}
	rep, err := t.native.run(ctx, probe)
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err == nil && bytes.HasPrefix(rep.Stdout, []byte(probe.Proof)): // a hook may follow it
		t.proven = true
		if req.Proof != "" {
			answer = &rep
		}
	case errors.Is(err, errAsked):
		t.hostile = true
		return false, nil, err
	case err != nil && !errors.Is(err, ErrProtocol) && !errors.Is(err, ErrTooMuch):
		return false, nil, err
	case err == nil && rep.noServer():
		// No server to test; let the tmux program report that.
		return false, nil, nil
	default:
		t.refuse(fmt.Errorf("exit %d, output %.40q, stderr %.80q, error %v", rep.Code, rep.Stdout, rep.Stderr, err))
	}
	return t.proven, answer, nil
}

// refuse makes later calls use the tmux program.
func (t *Transports) refuse(why error) {
	if !t.Refused && t.Logger != nil {
		t.Logger.Debug("tmux: the server does not speak the protocol as expected, using the tmux program from here on", "error", why)
	}
	t.Refused, t.proven = true, false
}
