package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"tmuxmcp/internal/pause"
	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/tmux"
)

const retryDelay = 100 * time.Millisecond

// run runs one call from a client or in a batch. A read that failed because tmux broke is
// repeated once, the call is logged, an error or a panic becomes a result, and what is too
// large is truncated.
func (s *Server) run(ctx context.Context, req mcp.CallToolRequest) (res *mcp.CallToolResult, err error) {
	defer func() {
		if p := recover(); p != nil {
			res, err = s.panicked(ctx, req.Params.Name, p), nil
		}
	}()
	start := time.Now()
	res, err = s.attempt(ctx, req)
	if t := s.tools[req.Params.Name]; transient(err) && t.Kind.Tier == Readonly && !t.SelfBounded {
		s.cfg.Log.WarnContext(ctx, "retry", "tool", t.Name, "cause", reply.Cause(err))
		if pause.For(ctx, retryDelay) == nil {
			res, err = s.attempt(ctx, req)
		}
	}
	args, _ := rawArguments(req)
	s.audit.Record(ctx, req.Params.Name, args, start, err)
	if err != nil {
		res, err = s.failed(ctx, req.Params.Name, err)
	}
	if err != nil || res == nil {
		return res, err
	}
	return s.form.Limit(ctx, res), nil
}

// attempt runs the tool that a request names, if this server offers it.
func (s *Server) attempt(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	t, ok := s.tools[req.Params.Name]
	if !ok {
		return nil, s.unknownTool(req.Params.Name)
	}
	if f := refusal(s.cfg, t); f != nil {
		return nil, f
	}
	// A request may be cancelled before it runs.
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	return s.call(ctx, t, req)
}

// transient reports whether the same call may well succeed: the server exited during it
// (another may have replaced it), or the system could not start a process.
func transient(err error) bool {
	return errors.Is(err, tmux.ErrServerGone) || errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.ENOMEM)
}

// panicked answers a call whose handler panicked, and logs the stack.
func (s *Server) panicked(ctx context.Context, tool string, p any) *mcp.CallToolResult {
	// A panic value may repeat an argument, unless it is one of Go's own.
	what := fmt.Sprintf("%T", p)
	if own, ok := p.(runtime.Error); ok {
		what = own.Error()
	}
	s.cfg.Log.ErrorContext(ctx, "tool panicked", "tool", tool, "panic", what, "stack", string(debug.Stack()))
	return s.form.Error(reply.Faultf("Internal", "%s failed inside this server; its log has the details", tool), false)
}

// failed turns an error into a result with isError: one sentence and the suggestion on a
// separate line, with the error's type in _meta. Structured content stays unset, because
// clients check it against the schema of a success. A forged request state is the client's
// fault, not the model's, and stays a protocol error.
func (s *Server) failed(ctx context.Context, tool string, err error) (*mcp.CallToolResult, error) {
	var q *guard.Question
	if errors.As(err, &q) {
		return q.ToolResult(), nil
	}
	f, expected := reply.FaultOf(err)
	f = advised(s, f)
	if f.Kind == reply.KindForged {
		return nil, f
	}
	level := slog.LevelWarn
	if !expected {
		level = slog.LevelError
	}
	s.cfg.Log.Log(ctx, level, "tool failed", "tool", tool, "type", f.Kind, "cause", reply.Cause(err))
	return s.form.Error(f, expected), nil
}
