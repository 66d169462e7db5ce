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
	// process. A server is still started by the tmux program.
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
	return "", argumentError("transport %q; there are auto, exec and native", s)
}

// autoTransport chooses between native and exec.
type autoTransport struct {
	native, exec transport
	logger       *slog.Logger

	mu sync.Mutex
	// only is set when exec is no way out: TransportNative, or a server that asked for
	// a file that it should not.
	only bool
	// proven and refused are what the first native call showed. Neither is set
	// before there was a server to ask.
	proven, refused bool
}

func (t *autoTransport) run(ctx context.Context, req request) (reply, error) {
	native, err := t.useNative(ctx)
	if err != nil {
		return reply{code: -1}, err
	}
	if !native {
		return t.exec.run(ctx, req)
	}
	rep, err := t.native.run(ctx, req)
	if t.learn(rep, err); rep.noServer() && req.starts {
		return t.exec.run(ctx, req)
	}
	return rep, err
}

// learn notes what a native call has shown for the next ones.
func (t *autoTransport) learn(rep reply, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case errors.Is(err, ErrUntrusted):
		t.only = true
	case errors.Is(err, errProtocol) && !t.only:
		// Whether the server has run the list cannot be known, so this call
		// fails; the next ones take the other way.
		t.refused = true
		t.log(err)
	case rep.noServer():
		t.proven = false
	}
}

func (t *autoTransport) private() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.only || t.proven
}

// useNative reports whether to go the native way, and finds out if that is not
// known yet. The error is that of a server that gets nothing either way.
func (t *autoTransport) useNative(ctx context.Context) (bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.only || t.proven || t.refused {
		return !t.refused, nil
	}
	nonce := make([]byte, 16)
	rand.Read(nonce)
	known := hex.EncodeToString(nonce)
	rep, err := t.native.run(ctx, request{words: []string{"display-message", "-p", known}, needs: needsNone})
	switch {
	case err == nil && rep.code == 0 && bytes.Equal(rep.stdout, []byte(known+"\n")):
		t.proven = true
	case errors.Is(err, ErrUntrusted):
		t.only = true
		return false, err
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case err == nil && rep.noServer():
		// Nothing to prove it on, so the tmux program may say the same.
		return false, nil
	default:
		t.refused = true
		t.log(fmt.Errorf("exit %d, output %.40q, stderr %.80q, error %v", rep.code, rep.stdout, rep.stderr, err))
	}
	return t.proven, nil
}

func (t *autoTransport) log(err error) {
	if t.logger != nil {
		t.logger.Debug("tmux: the server does not speak the protocol as expected, using the tmux program from here on", "error", err)
	}
}
