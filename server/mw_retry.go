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

// retryReads runs a reading tool once more when tmux broke under it. What would
// fail again, such as a target that does not exist, is not asked twice.
func (s *Server) retryReads(next mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		res, err := next(ctx, req)
		d := s.decls[req.Params.Name]
		if err == nil || d.kind.tier != Readonly || d.selfBounded || !transient(err) {
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

// transient reports whether the same call may well succeed: the server went
// away under it (another may have taken its place), or the system had no room
// for a process.
func transient(err error) bool {
	return errors.Is(err, tmux.ErrServerGone) || errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.ENOMEM)
}
