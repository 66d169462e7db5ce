package stdio

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/tidwall/gjson"

	"tmuxmcp/server/internal/params"
)

// session is the client at the other end of the streams.
type session struct {
	limits
	clientState
	out     *outbox
	present context.Context // ends when the client writes no more
	leave   context.CancelFunc

	// revision of MCP, empty before initialize. Only used by the reader of messages.
	revision string

	mu      sync.Mutex
	running map[string]context.CancelCauseFunc // by the keys of the ids
	load    int                                // bytes of their messages, and of answers waiting for the rest of a batch
	lastAsk int64
	asked   map[int64]chan message // our own requests
}

// clientState is what the client says about itself, as mcp-go keeps it.
type clientState interface {
	mcpserver.SessionWithLogging
	mcpserver.SessionWithClientInfo
}

func newSession(l limits) *session {
	c := &session{
		limits: l, clientState: mcpserver.NewInProcessSession("stdio", nil), out: newOutbox(l.held),
		running: map[string]context.CancelCauseFunc{}, asked: map[int64]chan message{},
	}
	c.present, c.leave = context.WithCancel(context.Background())
	return c
}

var _ mcpserver.SessionWithElicitation = (*session)(nil)

// Initialize sets the level of messages that a client gets unless it asks for another.
func (c *session) Initialize() {
	c.clientState.Initialize()
	c.SetLogLevel(mcp.LoggingLevelWarning)
}

// NotificationChannel receives mcp-go's own notifications, which are dropped: they could
// come after an answer that they must precede. See [Notify].
func (c *session) NotificationChannel() chan<- mcp.JSONRPCNotification {
	return make(chan mcp.JSONRPCNotification, 1)
}

// write sends a message of ours.
func (c *session) write(msg any) {
	if line, err := params.Marshal(msg); err == nil {
		c.out.put(line)
	}
}

// room waits until the client has read enough of what was sent to it, or ctx ends.
func (c *session) room(ctx context.Context) {
	select {
	case <-c.out.room():
	case <-ctx.Done():
	}
}

// maxRunning is the maximum number of requests in progress.
const maxRunning = 10_000

// codeBusy is the first JSON-RPC code for server-defined errors.
const codeBusy = -32000

// started records a running request, or refuses it with an answer.
func (c *session) started(m message, cancel context.CancelCauseFunc) (refusal []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running[m.key] != nil {
		return protocolError(m.id, mcp.INVALID_REQUEST, "a request with this id is still running")
	}
	if len(c.running) >= maxRunning || c.load+len(m.params) > 2*c.message {
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

// holds records that n more bytes of answers wait for the rest of a batch.
func (c *session) holds(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.load += n
}

func (c *session) cancel(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel := c.running[key]; cancel != nil {
		cancel(ErrCancelled)
	}
}

// answered passes the client's answer to the request of ours that is waiting for it.
func (c *session) answered(m message) {
	var id int64
	if json.Unmarshal(m.id, &id) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if waiting := c.asked[id]; waiting != nil {
		delete(c.asked, id)
		waiting <- m
	}
}

// ask sends a request to the client and waits for the answer.
func (c *session) ask(ctx context.Context, method string, params, result any) error {
	waiting := make(chan message, 1)
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
	case <-c.present.Done():
		return fmt.Errorf("%s: the client went away", method)
	case m := <-waiting:
		if m.err != nil {
			return fmt.Errorf("%s: %s", method, gjson.GetBytes(m.err, "message"))
		}
		return json.Unmarshal(m.result, result)
	}
}

// RequestElicitation asks the client's user.
func (c *session) RequestElicitation(ctx context.Context, req mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	var result mcp.ElicitationResult
	if err := c.ask(ctx, string(mcp.MethodElicitationCreate), req.Params, &result); err != nil {
		return nil, err
	}
	return &result, nil
}

type request struct {
	id            any
	progressToken json.RawMessage
	err           error // the error behind a JSON-RPC error

	mu       sync.Mutex
	reported *float64 // the last progress
}

type (
	requestKey struct{}
	sessionKey struct{}
)

// requestOf returns the request that ctx belongs to, or an empty one.
func requestOf(ctx context.Context) *request {
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		return r
	}
	return new(request)
}

// KeepError keeps, as a hook of mcp-go, an error which mcp-go is about to flatten into
// a code.
func KeepError(ctx context.Context, _ any, _ mcp.MCPMethod, _ any, err error) {
	requestOf(ctx).err = err
}

// RequestID returns the JSON-RPC id of the request that ctx belongs to, or nil.
func RequestID(ctx context.Context) any { return requestOf(ctx).id }

// Room waits while the client leaves too much unread, or until ctx ends. Call it before
// producing an answer.
func Room(ctx context.Context) {
	if sess, ok := ctx.Value(sessionKey{}).(*session); ok {
		sess.room(ctx)
	}
}

// Notify sends a notification to the client of a request, before the request's answer: a
// client may drop the connection if it gets progress of a finished request. It waits while
// the client does not read. It reports whether ctx belongs to a request at all.
func Notify(ctx context.Context, method string, params map[string]any) bool {
	sess, ok := ctx.Value(sessionKey{}).(*session)
	if ok {
		sess.room(ctx)
		sess.write(map[string]any{"jsonrpc": mcp.JSONRPC_VERSION, "method": method, "params": params})
	}
	return ok
}
