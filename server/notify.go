package server

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"tmuxmcp/server/stdio"
)

// notify sends a notification to the client of a call.
func (s *Server) notify(ctx context.Context, method string, params map[string]any) {
	if !stdio.Notify(ctx, method, params) {
		// A client that is gone does not make the call fail.
		_ = s.mcp.SendNotificationToClient(ctx, method, params)
	}
}

// progress reports the progress of a call to the client, if it asked for that.
func (c *call) progress(ctx context.Context, done, total float64, msg string) {
	if c.progressToken == nil {
		return
	}
	token := any(c.progressToken)
	if raw := stdio.ProgressToken(ctx); raw != nil {
		token = raw
	}
	c.s.notify(ctx, "notifications/progress", map[string]any{
		"progressToken": token, "progress": done, "total": total, "message": msg,
	})
}

// warn sends the client a warning, which does not fail the call, unless the client asked
// for errors only. From revision 2026-07-28 on, it is sent only to clients that asked for
// it.
func (c *call) warn(ctx context.Context, msg string) {
	level := mcp.LoggingLevelWarning
	if info := mcpserver.RequestProtocolInfoFromContext(ctx); info != nil && info.Modern {
		if info.LogLevel == "" || !level.ShouldSendTo(info.LogLevel) {
			return
		}
	} else if l, ok := mcpserver.ClientSessionFromContext(ctx).(mcpserver.SessionWithLogging); ok && !level.ShouldSendTo(l.GetLogLevel()) {
		return
	}
	c.s.notify(ctx, "notifications/message", map[string]any{"level": level, "logger": "tmux-mcp", "data": msg})
}
