package tmux

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

// Transport selects how commands are sent to a tmux server. All transports give the same
// results and differ only in speed.
type Transport string

const (
	// TransportAuto uses native if the server turns out to speak the protocol as expected,
	// and exec from then on if it does not.
	TransportAuto Transport = "auto"
	// TransportExec runs the tmux program for every command list.
	TransportExec Transport = "exec"
	// TransportNative speaks tmux's client protocol over the socket, without spawning a
	// process. The tmux program is still used to start a server, and to send commands given
	// as text, since they may name files.
	TransportNative Transport = "native"
)

// ParseTransport parses the name of a transport: auto, exec or native; "" is auto.
func ParseTransport(s string) (Transport, error) {
	switch t := Transport(s); t {
	case "":
		return TransportAuto, nil
	case TransportAuto, TransportExec, TransportNative:
		return t, nil
	}
	return "", argumentError("unknown transport %q: want auto, exec or native", s)
}

// transports are both ways to a server, and what is known of them. Commands given as text
// go through exec, since they may name files, which the tmux program opens. Both take the
// same words and return the same bytes; the tests run over each of them.
type transports struct {
	native *nativeTransport
	exec   *execTransport
	only   bool // TransportNative: never fall back to exec
	logger *slog.Logger

	mu sync.Mutex // never held during a call to a server
	// proven and refused record what native calls have shown; both are false until a server
	// was asked, except that TransportExec refuses native calls from the start. hostile is
	// set once a server has asked for a file that it should not: the tmux program, which
	// would open any file, is then not run with commands in text.
	proven, refused, hostile bool
}

// run sends one command list to the server and returns what the tmux client program would
// have printed. It sends nothing to a server that does not answer.
func (t *transports) run(ctx context.Context, req request) (reply, error) {
	if err := t.exec.socket.silent(ctx); err != nil {
		return reply{code: -1}, err
	}
	began := time.Now()
	rep, err := t.send(ctx, req)
	if errors.As(err, new(*lateError)) {
		t.exec.socket.fellSilent(began)
	}
	return rep, err
}

func (t *transports) send(ctx context.Context, req request) (reply, error) {
	native, err := t.useNative(ctx)
	switch {
	case err != nil:
		return reply{code: -1}, err
	case req.text && t.isHostile():
		return reply{code: -1}, fmt.Errorf("%w: the server asked for a file that no command names; commands in text are refused, because the tmux program would open it", errAsked)
	case req.text || !native:
		return t.exec.run(ctx, req)
	}
	rep, err := t.native.run(ctx, req)
	t.learn(rep, err)
	if rep.noServer() && req.startsServer {
		return t.exec.run(ctx, req)
	}
	return rep, err
}

// learn records what a native call has shown, for later calls.
func (t *transports) learn(rep reply, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case errors.Is(err, errAsked):
		t.hostile = true
	case errors.Is(err, errProtocol) && !t.only && !t.hostile:
		// The server may have run the list, so this call fails; later ones use exec.
		t.refuse(err)
	case rep.noServer():
		t.proven = false
	}
}

// private reports whether only the server sees the words of the next request, unlike the
// arguments of a program.
func (t *transports) private() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.only || t.hostile || t.proven
}

func (t *transports) isHostile() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.hostile
}

// useNative reports whether to use the native transport. Until that is known, each call
// finds out for itself, within its own context.
func (t *transports) useNative(ctx context.Context) (bool, error) {
	t.mu.Lock()
	native, refused := t.only || t.hostile || t.proven, t.refused
	t.mu.Unlock()
	if native || refused {
		return native, nil
	}
	known := rand.Text()
	rep, err := t.native.run(ctx, request{words: []string{"display-message", "-p", known}, needs: needsNone})
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err == nil && bytes.HasPrefix(rep.stdout, []byte(known+"\n")): // a hook may follow it
		t.proven = true
	case errors.Is(err, errAsked):
		t.hostile = true
		return false, err
	case err != nil && !errors.Is(err, errProtocol) && !errors.Is(err, ErrTooMuch):
		return false, err
	case err == nil && rep.noServer():
		// No server to test; let the tmux program report that.
		return false, nil
	default:
		t.refuse(fmt.Errorf("exit %d, output %.40q, stderr %.80q, error %v", rep.code, rep.stdout, rep.stderr, err))
	}
	return t.proven, nil
}

// refuse makes later calls use the tmux program.
func (t *transports) refuse(why error) {
	if !t.refused && t.logger != nil {
		t.logger.Debug("tmux: the server does not speak the protocol as expected, using the tmux program from here on", "error", why)
	}
	t.refused, t.proven = true, false
}
