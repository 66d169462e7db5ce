package server

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// notify sends a notification to the client of a call. Over stdio it is written
// before notify returns, and so before the call's answer: a client may drop the
// connection over progress of a call that it holds finished.
func (s *Server) notify(ctx context.Context, method string, params map[string]any) {
	sess, ok := ctx.Value(sessionKey{}).(*session)
	if !ok {
		// A client that went away is no failure of the call.
		_ = s.mcp.SendNotificationToClient(ctx, method, params)
		return
	}
	sess.write(map[string]any{"jsonrpc": mcp.JSONRPC_VERSION, "method": method, "params": params})
}

// progress tells the client how far a call is, if it asked to be told.
func (c *call) progress(ctx context.Context, done, total float64, msg string) {
	if c.progressToken == nil {
		return
	}
	c.s.notify(ctx, "notifications/progress", map[string]any{
		"progressToken": c.progressToken, "progress": done, "total": total, "message": msg,
	})
}

// warn tells the client something that is no error of the call, unless it asked
// for graver things only.
func (c *call) warn(ctx context.Context, msg string) {
	level := mcp.LoggingLevelWarning
	if l, ok := mcpserver.ClientSessionFromContext(ctx).(mcpserver.SessionWithLogging); ok && !level.ShouldSendTo(l.GetLogLevel()) {
		return
	}
	c.s.notify(ctx, "notifications/message", map[string]any{"level": level, "logger": "tmux-mcp", "data": msg})
}
