package stdio

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/tidwall/gjson"

	"tmuxmcp/server/params"
)

// session is the client at the other end of the streams.
type session struct {
	notifications chan mcp.JSONRPCNotification
	lost          context.CancelFunc // called when the client reads no more
	gone          chan struct{}      // closed when the client writes no more
	initialized   atomic.Bool
	level         atomic.Value // mcp.LoggingLevel
	info          atomic.Value // mcp.Implementation
	capabilities  atomic.Value // mcp.ClientCapabilities

	writing sync.Mutex
	out     io.Writer

	// revision of MCP, empty before initialize. Only what reads messages touches it.
	revision string

	mu      sync.Mutex
	running map[string]context.CancelCauseFunc // by the keys of the ids
	load    int                                // bytes of their messages
	lastAsk int64
	asked   map[int64]chan answer // our own requests
	// acknowledged is what follows the acknowledgements of subscriptions/listen, by the ids of
	// the requests.
	acknowledged map[any]func()
}

func newSession(out io.Writer, lost context.CancelFunc) *session {
	return &session{
		out: out, lost: lost, gone: make(chan struct{}), notifications: make(chan mcp.JSONRPCNotification, 100),
		running: map[string]context.CancelCauseFunc{}, asked: map[int64]chan answer{}, acknowledged: map[any]func(){},
	}
}

// answer is what the client says to a request of ours.
type answer struct {
	result json.RawMessage
	err    error
}

var (
	_ mcpserver.SessionWithLogging     = (*session)(nil)
	_ mcpserver.SessionWithClientInfo  = (*session)(nil)
	_ mcpserver.SessionWithElicitation = (*session)(nil)
)

func (c *session) SessionID() string                                   { return "stdio" }
func (c *session) Initialize()                                         { c.initialized.Store(true) }
func (c *session) Initialized() bool                                   { return c.initialized.Load() }
func (c *session) NotificationChannel() chan<- mcp.JSONRPCNotification { return c.notifications }
func (c *session) SetLogLevel(l mcp.LoggingLevel)                      { c.level.Store(l) }
func (c *session) SetClientInfo(i mcp.Implementation)                  { c.info.Store(i) }
func (c *session) SetClientCapabilities(caps mcp.ClientCapabilities)   { c.capabilities.Store(caps) }
func (c *session) GetLogLevel() mcp.LoggingLevel                       { return loadOr(&c.level, mcp.LoggingLevelWarning) }
func (c *session) GetClientInfo() mcp.Implementation                   { return loadOr(&c.info, mcp.Implementation{}) }
func (c *session) GetClientCapabilities() mcp.ClientCapabilities {
	return loadOr(&c.capabilities, mcp.ClientCapabilities{})
}

func loadOr[T any](v *atomic.Value, other T) T {
	if x, ok := v.Load().(T); ok {
		return x
	}
	return other
}

// write sends one message of ours.
func (c *session) write(msg any) {
	if line, err := params.Marshal(msg); err == nil {
		c.send(line)
	}
}

// send writes a line, whole; nil is none.
func (c *session) send(line []byte) {
	if line == nil {
		return
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if _, err := c.out.Write(append(line, '\n')); err != nil {
		c.lost()
	}
}

// forward sends what mcp-go notifies on its own.
func (c *session) forward(ctx context.Context) {
	for {
		select {
		case n := <-c.notifications:
			c.write(n)
			if n.Method == mcp.MethodNotificationSubscriptionsAcknowledged {
				c.mu.Lock()
				f := c.acknowledged[n.Params.Meta[mcp.MetaKeySubscriptionID]]
				delete(c.acknowledged, n.Params.Meta[mcp.MetaKeySubscriptionID])
				c.mu.Unlock()
				if f != nil {
					f()
				}
			}
		case <-ctx.Done():
			return
		}
	}
}

// Requests under way may be so many, and their messages so large, together.
const (
	maxRunning = 10_000
	maxLoad    = 2 * maxMessage
)

// codeBusy is JSON-RPC's first code for errors of a server's own.
const codeBusy = -32000

// started notes that a request runs, unless it is refused with an answer.
func (c *session) started(m message, cancel context.CancelCauseFunc) (refusal []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running[m.key] != nil {
		return protocolError(m.id, mcp.INVALID_REQUEST, "a request with this id is still running")
	}
	if len(c.running) >= maxRunning || c.load+len(m.params) > maxLoad {
		return protocolError(m.id, codeBusy, "too many requests are running: wait for their answers")
	}
	c.running[m.key] = cancel
	c.load += len(m.params)
	return nil
}

func (c *session) finished(m message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.running, m.key)
	c.load -= len(m.params)
}

func (c *session) cancel(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel := c.running[key]; cancel != nil {
		cancel(ErrCancelled)
	}
}

// answered hands the client's answer to the request of ours that waits for it.
func (c *session) answered(m message) {
	var id int64
	if json.Unmarshal(m.id, &id) != nil {
		return
	}
	c.mu.Lock()
	waiting := c.asked[id]
	delete(c.asked, id)
	c.mu.Unlock()
	if waiting == nil {
		return
	}
	a := answer{result: m.result}
	if m.err != nil {
		a.err = errors.New(gjson.GetBytes(m.err, "message").String())
	}
	waiting <- a
}

// ask sends a request to the client and waits for the answer.
func (c *session) ask(ctx context.Context, method string, params, result any) error {
	waiting := make(chan answer, 1)
	c.mu.Lock()
	c.lastAsk++
	id := c.lastAsk
	c.asked[id] = waiting
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.asked, id)
		c.mu.Unlock()
	}()
	c.write(map[string]any{"jsonrpc": mcp.JSONRPC_VERSION, "id": id, "method": method, "params": params})
	select {
	case <-ctx.Done():
		c.write(map[string]any{"jsonrpc": mcp.JSONRPC_VERSION, "method": "notifications/cancelled", "params": map[string]any{"requestId": id}})
		return context.Cause(ctx)
	case <-c.gone:
		return fmt.Errorf("%s: the client went away", method)
	case a := <-waiting:
		if a.err != nil {
			return fmt.Errorf("%s: %w", method, a.err)
		}
		return json.Unmarshal(a.result, result)
	}
}

// RequestElicitation asks the user of the client.
func (c *session) RequestElicitation(ctx context.Context, req mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	var result mcp.ElicitationResult
	if err := c.ask(ctx, string(mcp.MethodElicitationCreate), req.Params, &result); err != nil {
		return nil, err
	}
	return &result, nil
}

// request is what is known of a request while it runs.
type request struct {
	id            any
	progressToken json.RawMessage
	err           error // the error behind a JSON-RPC error
}

type (
	requestKey struct{}
	sessionKey struct{}
)

// KeepError is the hook of mcp-go's that remembers an error which mcp-go is about to
// flatten into a code.
func KeepError(ctx context.Context, _ any, _ mcp.MCPMethod, _ any, err error) {
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		r.err = err
	}
}

// RequestID is the JSON-RPC id of the request that ctx belongs to, or nil.
func RequestID(ctx context.Context) any {
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		return r.id
	}
	return nil
}

// ProgressToken is the progress token of the request that ctx belongs to, as the
// client wrote it, or nil. mcp-go may have rounded a number.
func ProgressToken(ctx context.Context) json.RawMessage {
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		return r.progressToken
	}
	return nil
}

// AfterAcknowledging calls f once the subscriptions/listen request that ctx belongs to has been
// acknowledged, which must come before anything else of its stream.
func AfterAcknowledging(ctx context.Context, id any, f func()) {
	if sess, ok := ctx.Value(sessionKey{}).(*session); ok {
		sess.mu.Lock()
		defer sess.mu.Unlock()
		sess.acknowledged[id] = f
		context.AfterFunc(ctx, func() {
			sess.mu.Lock()
			defer sess.mu.Unlock()
			delete(sess.acknowledged, id)
		})
	}
}

// Notify writes a notification to the client of a request before it returns, and so
// before the request's answer: a client may drop the connection over progress of a
// request that it holds finished. It reports whether ctx belongs to a request at all.
func Notify(ctx context.Context, method string, params map[string]any) bool {
	sess, ok := ctx.Value(sessionKey{}).(*session)
	if ok {
		sess.write(map[string]any{"jsonrpc": mcp.JSONRPC_VERSION, "method": method, "params": params})
	}
	return ok
}
