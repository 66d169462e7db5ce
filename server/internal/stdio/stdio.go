// Package stdio serves MCP over a pair of streams, one JSON-RPC message per line. It does
// not depend on any tool: mcp-go's server behind it gets each message that passed the
// checks.
//
// mcp-go's own stdio server is not used: it runs calls in a fixed pool, forgets the
// cancellation of a queued call, cancels all calls at the end of the input, and sends
// progress after the answer.
//
// # The model
//
// One goroutine reads lines. It checks each message (jsonrpc.go), so that the order of
// requests and their cancellations is known, and whether its revision has the method
// (methods.go). It answers methods that need nobody else, such as initialize or tools/list,
// at once; each other request gets a goroutine, so that a waiting tool delays nothing.
//
// Answers are written whole, in the order in which they are ready, by another goroutine
// (outbox.go); the answers to a batch are written together. While a client leaves 16 MB of
// them unread, nothing more is read from it, and no call begins ([Room]).
//
// The session (session.go) is the client: it counts the running requests, to refuse a
// flood, holds the server's requests to the client, such as a question to the user, and is
// mcp-go's client session.
//
// mcp-go flattens an error into a code and loses the error. [KeepError], a hook for mcp-go,
// keeps it, and [Transport.Explain] turns it into what the client gets.
//
// The bytes of an id and of a progress token are returned to the client unchanged, and the
// result of a call is encoded here (jsonrpc.go), in one pass.
package stdio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/tidwall/gjson"
)

// limits bound what is kept for a client. The messages of the running requests, together
// with the answers that wait for the rest of a batch, may take twice as much as one
// message.
type limits struct {
	message int           // bytes of a message from the client
	held    int           // bytes of answers waiting for the client to read them
	grace   time.Duration // for requests still running at the end of the input
}

// usual are the limits, except in tests.
var usual = limits{message: 32 << 20, held: 16 << 20, grace: 10 * time.Second}

const jsonSpace = " \t\r\n"

// ErrCancelled is the cause of the context of a request that the client cancelled.
var ErrCancelled = errors.New("cancelled by the client")

// Transport connects one client to an MCP server.
type Transport struct {
	MCP *mcpserver.MCPServer
	// Explain returns what the client gets for the error that ended a request, or nil to
	// leave that to MCP.
	Explain func(r Request, err error) *mcp.JSONRPCErrorDetails
	// Log gets errors, without anything that the client sent.
	Log *slog.Logger
}

// Request describes a client's request.
type Request struct {
	Method string
	Params json.RawMessage
	// Modern is set from revision 2026-07-28 on.
	Modern bool
}

// Serve answers the messages in in until in or ctx ends. At the end of in it still answers
// pending requests for a few seconds; when ctx ends, it cancels running requests at once.
func (t *Transport) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	return t.serve(ctx, newSession(usual), in, out)
}

func (t *Transport) serve(ctx context.Context, sess *session, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := t.MCP.RegisterSession(ctx, sess); err != nil {
		return fmt.Errorf("register the session: %w", err)
	}
	defer t.MCP.UnregisterSession(context.WithoutCancel(ctx), sess.SessionID())
	ctx = t.MCP.WithContext(context.WithValue(ctx, sessionKey{}, sess), sess)
	written := make(chan struct{})
	go func() {
		defer close(written)
		sess.out.write(out, cancel)
	}()

	lines := make(chan []byte)
	readErr := make(chan error, 1)
	go func() {
		readErr <- readLines(ctx, in, sess.message, lines)
		close(lines)
	}()
	var requests sync.WaitGroup
	for reading := true; reading; {
		var line []byte
		sess.room(ctx)
		select {
		case line, reading = <-lines:
			if reading {
				t.receive(ctx, sess, line, &requests)
			}
		case <-ctx.Done():
			reading = false
		}
	}
	sess.leave()
	go func() {
		requests.Wait()
		sess.out.close()
	}()
	select {
	case <-written:
	case <-ctx.Done():
	case <-time.After(sess.grace):
	}
	cancel()
	// A cancelled call kills its child and returns.
	select {
	case <-written:
	case <-time.After(time.Second):
		t.Log.Warn("some calls did not end when they were cancelled, or the client does not read their answers")
	}
	// Not awaited if ctx ended first: a blocked read cannot be interrupted.
	select {
	case err := <-readErr:
		return err
	default:
		return nil
	}
}

// readLines sends the lines of in until in or ctx ends. The read itself may outlive ctx,
// since it cannot be interrupted. A line longer than limit is truncated, but stays longer
// than limit.
func readLines(ctx context.Context, in io.Reader, limit int, lines chan<- []byte) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(r, limit)
		if len(bytes.Trim(line, jsonSpace)) > 0 {
			select {
			case lines <- line:
			case <-ctx.Done():
				return nil
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read from the client: %w", err)
		}
	}
}

// readLine reads to the end of a line, keeping little more than limit bytes.
func readLine(r *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line) <= limit {
			line = append(line, part...)
		}
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

// maxBatch is how many messages a batch may hold.
const maxBatch = 100

// receive handles one line. Slow requests get a goroutine, but are registered for
// cancellation before it starts.
func (t *Transport) receive(ctx context.Context, sess *session, line []byte, requests *sync.WaitGroup) {
	switch {
	case len(line) > sess.message:
		sess.out.put(protocolError(nil, mcp.PARSE_ERROR, fmt.Sprintf("the message is longer than %d MB", sess.message>>20)))
	case !validJSON(line):
		sess.out.put(protocolError(nil, mcp.PARSE_ERROR, "the message is not JSON"))
	case bytes.TrimLeft(line, jsonSpace)[0] == '[':
		t.receiveBatch(ctx, sess, line, requests)
	default:
		m, err := parseMessage(line)
		t.take(ctx, sess, m, err, requests, sess.out.put)
	}
}

// receiveBatch handles a batch, which only revision 2025-03-26 allows. Its answers are sent
// together.
func (t *Transport) receiveBatch(ctx context.Context, sess *session, line []byte, requests *sync.WaitGroup) {
	entries := gjson.ParseBytes(line).Array()
	refuse := func(why string) { sess.out.put(protocolError(nil, mcp.INVALID_REQUEST, why)) }
	switch {
	case sess.revision != mcp.ProtocolVersion20250326:
		refuse("batches are only part of revision 2025-03-26, which this session does not use: send one message a line")
		return
	case len(entries) == 0 || len(entries) > maxBatch:
		refuse(fmt.Sprintf("a batch must hold 1 to %d messages", maxBatch))
		return
	}
	answers := make([][]byte, len(entries))
	var open sync.WaitGroup
	open.Add(len(entries))
	for i, entry := range entries {
		m, err := parseMessage([]byte(entry.Raw))
		if err == nil && m.method == string(mcp.MethodInitialize) {
			err = errors.New("initialize must not be part of a batch")
		}
		t.take(ctx, sess, m, err, requests, func(answer []byte) {
			answers[i] = answer
			sess.holds(len(answer))
			open.Done()
		})
	}
	requests.Go(func() {
		open.Wait()
		answers = slices.DeleteFunc(answers, func(a []byte) bool { return a == nil })
		if len(answers) > 0 {
			sess.out.put(slices.Concat([]byte{'['}, bytes.Join(answers, []byte{','}), []byte{']'}))
		}
		for _, a := range answers {
			sess.holds(-len(a))
		}
	})
}

// take handles one message; broken says what is wrong with it. reply is called with the
// answer, or nil if there is none.
func (t *Transport) take(ctx context.Context, sess *session, m message, broken error, requests *sync.WaitGroup, reply func([]byte)) {
	switch {
	case broken != nil:
		reply(protocolError(m.id, mcp.INVALID_REQUEST, broken.Error()))
	case !m.isCall:
		sess.answered(m)
		reply(nil)
	case m.id == nil && m.method == "notifications/cancelled":
		sess.cancel(m.cancelled())
		reply(nil)
	case m.id == nil:
		t.answer(ctx, sess, m)
		reply(nil)
	default:
		var wrong *mcp.JSONRPCErrorDetails
		if m.era, wrong = m.check(sess.revision); wrong != nil {
			reply(encodeError(m.id, *wrong))
			return
		}
		ctx, cancel := context.WithCancelCause(ctx)
		if refusal := sess.started(m, cancel); refusal != nil {
			cancel(nil)
			reply(refusal)
			return
		}
		run := func() {
			defer cancel(nil)
			if m.method == string(mcp.MethodSubscriptionsListen) { // otherwise it would never end
				defer context.AfterFunc(sess.present, func() { cancel(nil) })()
			}
			answer := t.answer(ctx, sess, m)
			sess.finished(m)
			reply(answer)
		}
		if methods[m.method].atOnce {
			run()
		} else {
			requests.Go(run)
		}
	}
}

// answer runs a request and returns its answer: nil for a notification, and if the client
// no longer waits for it.
func (t *Transport) answer(ctx context.Context, sess *session, m message) (line []byte) {
	req := &request{id: m.idValue(), progressToken: m.progressToken()}
	fail := func(code int, msg string) []byte { return protocolError(m.id, code, msg) }
	defer func() {
		if p := recover(); p != nil {
			// The text of a panic may repeat what the client sent.
			t.Log.ErrorContext(ctx, "request panicked", "method", m.method, "panic", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
			line = fail(mcp.INTERNAL_ERROR, m.method+" failed inside this server; its log has the details")
		}
	}()
	forward, err := m.forward()
	if err != nil {
		return fail(mcp.INVALID_REQUEST, err.Error())
	}
	response := t.MCP.HandleMessage(context.WithValue(ctx, requestKey{}, req), forward)
	if m.id == nil || context.Cause(ctx) == ErrCancelled {
		return nil
	}
	if req.err != nil {
		if details := t.Explain(Request{m.method, m.params, m.era == modern}, req.err); details != nil {
			return encodeError(m.id, *details)
		}
	}
	if r, ok := response.(mcp.JSONRPCResponse); ok {
		if hello, ok := r.Result.(mcp.InitializeResult); ok {
			sess.revision = hello.ProtocolVersion
		}
	}
	if line, err = encodeResponse(m.id, response); err != nil {
		return fail(mcp.INTERNAL_ERROR, m.method+": "+err.Error())
	}
	return line
}
