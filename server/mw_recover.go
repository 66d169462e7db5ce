package server

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// recoverPanics answers a call whose handler panicked, and logs the stack.
func (s *Server) recoverPanics(next mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (res *mcp.CallToolResult, err error) {
		defer func() {
			if p := recover(); p != nil {
				// A panic value may repeat an argument, unless it is one of Go's own.
				what := fmt.Sprintf("%T", p)
				if own, ok := p.(runtime.Error); ok {
					what = own.Error()
				}
				s.cfg.Log.ErrorContext(ctx, "tool panicked", "tool", req.Params.Name, "panic", what, "stack", string(debug.Stack()))
				res, err = s.errorResult(faultf("Internal", "%s failed inside this server; its log has the details", req.Params.Name), false), nil
			}
		}()
		return next(ctx, req)
	}
}
