package server

import (
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"tmuxmcp/tmux"
)

const retryDelay = 100 * time.Millisecond

// retryReads runs a reading tool once more if tmux broke during it. Calls that would fail
// again, such as for a target that does not exist, are not repeated.
func (s *Server) retryReads(next mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		res, err := next(ctx, req)
		t := s.tools[req.Params.Name]
		if err == nil || t == nil || t.kind.tier != Readonly || t.selfBounded || !transient(err) {
			return res, err
		}
		s.cfg.Log.WarnContext(ctx, "retry", "tool", req.Params.Name, "cause", causeOf(err))
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(retryDelay):
			return next(ctx, req)
		}
	}
}

// transient reports whether the same call may well succeed: the server exited during it
// (another may have replaced it), or the system could not start a process.
func transient(err error) bool {
	return errors.Is(err, tmux.ErrServerGone) || errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.ENOMEM)
}
