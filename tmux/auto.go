package tmux

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sync"
)

// Transport is a way to send commands to a tmux server. Both ways give the same results and differ
// only in speed.
type Transport string

const (
	// TransportAuto is native where the server proves to speak the protocol as
	// expected, and exec from then on where it does not.
	TransportAuto Transport = "auto"
	// TransportExec runs the tmux program for every command list.
	TransportExec Transport = "exec"
	// TransportNative speaks tmux's client protocol over the socket, with no
	// process. A server is still started by the tmux program, and commands that are given
	// as text still go through it, since they may name files.
	TransportNative Transport = "native"
)

// ParseTransport parses the name of a transport: auto, exec or native. An empty name is auto.
func ParseTransport(s string) (Transport, error) {
	switch t := Transport(s); t {
	case "":
		return TransportAuto, nil
	case TransportAuto, TransportExec, TransportNative:
		return t, nil
	}
	return "", argumentError("unknown transport %q: want auto, exec or native", s)
}

// autoTransport chooses between native and exec. Commands that are given as text may name files,
// which the tmux program opens: they go through it.
type autoTransport struct {
	native, exec transport
	only         bool // exec is no way out: TransportNative
	logger       *slog.Logger

	mu sync.Mutex // never held while a server is asked
	// proven and refused are what native calls have shown. Neither is set before there was a
	// server to ask. A hostile server asked for a file that it should not: it gets nothing from
	// the tmux program, which would open any.
	proven, refused, hostile bool
}

func (t *autoTransport) run(ctx context.Context, req request) (reply, error) {
	native, err := t.useNative(ctx)
	switch {
	case err != nil:
		return reply{code: -1}, err
	case req.text && t.isHostile():
		return reply{code: -1}, fmt.Errorf("%w: the server asked for a file that no command names, so the tmux program, which would open it, is not run with commands in text", errAsked)
	case req.text || !native:
		return t.exec.run(ctx, req)
	}
	rep, err := t.native.run(ctx, req)
	t.learn(rep, err)
	if rep.noServer() && req.starts {
		return t.exec.run(ctx, req)
	}
	return rep, err
}

// learn notes what a native call has shown for the next ones.
func (t *autoTransport) learn(rep reply, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case errors.Is(err, errAsked):
		t.hostile = true
	case errors.Is(err, errProtocol) && !t.only && !t.hostile:
		// Whether the server has run the list cannot be known, so this call
		// fails; the next ones take the other way.
		t.refuse(err)
	case rep.noServer():
		t.proven = false
	}
}

func (t *autoTransport) private() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.only || t.hostile || t.proven
}

func (t *autoTransport) isHostile() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.hostile
}

// useNative reports whether to go the native way. As long as that is not known, each call
// finds out for itself, in its own time.
func (t *autoTransport) useNative(ctx context.Context) (bool, error) {
	t.mu.Lock()
	native, refused := t.only || t.hostile || t.proven, t.refused
	t.mu.Unlock()
	if native || refused {
		return native, nil
	}
	nonce := make([]byte, 16)
	rand.Read(nonce)
	known := hex.EncodeToString(nonce)
	rep, err := t.native.run(ctx, request{words: []string{"display-message", "-p", known}, needs: needsNone})
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err == nil && rep.code == 0 && bytes.Equal(rep.stdout, []byte(known+"\n")):
		t.proven = true
	case errors.Is(err, errAsked):
		t.hostile = true
		return false, err
	case err != nil && !errors.Is(err, errProtocol) && !errors.Is(err, ErrTooMuch):
		return false, err
	case err == nil && rep.noServer():
		// Nothing to prove it on, so the tmux program may say the same.
		return false, nil
	default:
		t.refuse(fmt.Errorf("exit %d, output %.40q, stderr %.80q, error %v", rep.code, rep.stdout, rep.stderr, err))
	}
	return t.proven, nil
}

// refuse has calls use the tmux program from here on.
func (t *autoTransport) refuse(why error) {
	if !t.refused && t.logger != nil {
		t.logger.Debug("tmux: the server does not speak the protocol as expected, using the tmux program from here on", "error", why)
	}
	t.refused, t.proven = true, false
}
