package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// eofGrace is how long the requests that were read may still run after the end
// of the input.
const eofGrace = 10 * time.Second

// maxMessage bounds a message from the client.
const maxMessage = 32 << 20

var errCancelledByClient = errors.New("cancelled by the client")

// Serve speaks JSON-RPC, a message a line, until in ends or ctx does. Every
// request has a goroutine of its own, so that waiting tools delay nothing. At
// the end of in, what was asked is still answered, for a few seconds; when ctx
// ends, running calls are cancelled at once. Then what this server left in tmux
// is removed.
//
// mcp-go's own stdio server is not used: it runs calls in a fixed pool, forgets
// the cancellation of a queued one, cancels all at the end of the input, and
// sends progress after the answer.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	defer s.removeBuffers()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sess := newSession(out, cancel)
	if err := s.mcp.RegisterSession(ctx, sess); err != nil {
		return fmt.Errorf("register the session: %w", err)
	}
	defer s.mcp.UnregisterSession(context.WithoutCancel(ctx), sess.SessionID())
	ctx = s.mcp.WithContext(context.WithValue(ctx, sessionKey{}, sess), sess)
	go sess.forward(ctx)

	lines := make(chan []byte)
	readErr := make(chan error, 1)
	go func() {
		readErr <- readLines(ctx, in, lines)
		close(lines)
	}()
	var requests sync.WaitGroup
	for reading := true; reading; {
		var line []byte
		select {
		case line, reading = <-lines:
			if reading {
				s.receive(ctx, sess, line, &requests)
			}
		case <-ctx.Done():
			reading = false
		}
	}
	close(sess.gone)
	done := make(chan struct{})
	go func() { requests.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
	case <-time.After(eofGrace):
	}
	cancel()
	// A cancelled call kills its child and returns.
	select {
	case <-done:
	case <-time.After(time.Second):
		s.cfg.Log.Warn("some calls did not end when they were cancelled")
	}
	// Not awaited when ctx ended first: a blocked read cannot be interrupted.
	select {
	case err := <-readErr:
		return err
	default:
		return nil
	}
}

// readLines sends the lines of in until its end or that of ctx. The reading
// itself may outlive ctx, for nothing can interrupt it.
func readLines(ctx context.Context, in io.Reader, lines chan<- []byte) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(r)
		if len(bytes.TrimSpace(line)) > 0 {
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

// readLine reads to the end of a line. One that is too long comes back cut, so
// that it is answered as broken.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line) < maxMessage {
			line = append(line, part...)
		}
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

// message is what is looked at in a message before mcp-go gets it.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		RequestID json.RawMessage `json:"requestId"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// receive handles one message. Only requests take time, and they get a
// goroutine; their cancellation is known here before it starts.
func (s *Server) receive(ctx context.Context, sess *session, line []byte, requests *sync.WaitGroup) {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		// Parameters of odd types are for mcp-go to refuse, with the id.
		var kind *json.UnmarshalTypeError
		if !errors.As(err, &kind) {
			sess.write(protocolError(nil, mcp.PARSE_ERROR, "the message is not a JSON object, or longer than this server takes"))
			return
		}
	}
	id := string(m.ID)
	switch {
	case m.Method == "" && (m.Result != nil || m.Error != nil):
		sess.answered(m)
	case m.Method == "notifications/cancelled":
		sess.cancel(string(m.Params.RequestID))
	case id == "" || id == "null":
		s.mcp.HandleMessage(ctx, line)
	default:
		ctx, cancel := context.WithCancelCause(ctx)
		sess.started(id, cancel)
		requests.Go(func() {
			defer cancel(nil)
			defer sess.finished(id)
			s.answer(ctx, sess, m, line)
		})
	}
}

// answer runs a request and writes what it came to.
func (s *Server) answer(ctx context.Context, sess *session, m message, line []byte) {
	var id any
	json.Unmarshal(m.ID, &id)
	req := &request{id: id}
	defer func() {
		if p := recover(); p != nil {
			s.cfg.Log.ErrorContext(ctx, "request panicked", "method", m.Method, "panic", fmt.Sprint(p))
			sess.write(protocolError(id, mcp.INTERNAL_ERROR, m.Method+" failed inside this server"))
		}
	}()
	response := s.mcp.HandleMessage(context.WithValue(ctx, requestKey{}, req), line)
	if response == nil || context.Cause(ctx) == errCancelledByClient {
		return // the client does not wait for it any more
	}
	var f *fault
	switch {
	case errors.Is(req.err, mcpserver.ErrToolNotFound):
		var call struct {
			Params struct {
				Name string `json:"name"`
			} `json:"params"`
		}
		json.Unmarshal(line, &call)
		response = protocolError(id, mcp.INVALID_PARAMS, unknownTool(call.Params.Name, s).msg)
	case errors.Is(req.err, mcpserver.ErrResourceNotFound):
		response = protocolError(id, mcp.RESOURCE_NOT_FOUND, "there is no such resource")
	case req.err != nil && m.Method == string(mcp.MethodResourcesRead):
		f, _ = faultOf(req.err)
		code := mcp.INTERNAL_ERROR
		if f.kind == kindPane || f.kind == kindNotFound || f.kind == kindNoServer {
			code = mcp.RESOURCE_NOT_FOUND
		}
		response = protocolError(id, code, f.msg)
	case errors.As(req.err, &f):
		response = protocolError(id, mcp.INVALID_PARAMS, f.msg)
	}
	sess.write(response)
}

func protocolError(id any, code int, msg string) mcp.JSONRPCError {
	return mcp.JSONRPCError{JSONRPC: mcp.JSONRPC_VERSION, ID: mcp.NewRequestId(id), Error: mcp.NewJSONRPCErrorDetails(code, msg, nil)}
}
