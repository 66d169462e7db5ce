package stdio

import (
	"context"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// ClientName returns the name and version of the client that a request came from, or "".
func ClientName(ctx context.Context) string {
	if c, ok := mcpserver.ClientSessionFromContext(ctx).(mcpserver.SessionWithClientInfo); ok {
		if info := c.GetClientInfo(); info.Name != "" {
			return info.Name + " " + info.Version
		}
	}
	return ""
}

// Left reports whether the client that a request came from writes no more: it has ended, or
// its connection is lost, and perhaps nobody reads the answer.
func Left(ctx context.Context) bool {
	sess, ok := ctx.Value(sessionKey{}).(*session)
	return ok && sess.present.Err() != nil
}

// Progress reports the progress of a request to its client, if that asked for it. It only
// grows, as the protocol demands, also if a call waits for one thing after another.
func Progress(ctx context.Context, done, total float64, msg string) {
	r := requestOf(ctx)
	token := r.progressToken
	if len(token) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reported != nil && done <= *r.reported {
		done = *r.reported + 0.001
	}
	r.reported = &done
	Notify(ctx, "notifications/progress", map[string]any{
		"progressToken": token, "progress": done, "total": total, "message": msg,
	})
}

// Waited reports how much of its budget a wait that began at start has used.
func Waited(ctx context.Context, on string, start time.Time, budget time.Duration) {
	elapsed, total := time.Since(start).Seconds(), budget.Seconds()
	Progress(ctx, elapsed, total, fmt.Sprintf("Waiting on %s: %.1fs elapsed, %.1fs left", on, elapsed, max(0, total-elapsed)))
}

// Warn sends a request's client a warning, which does not fail the request, unless the
// client asked for errors only. From revision 2026-07-28 on, it is sent only to clients that
// asked for it.
func Warn(ctx context.Context, msg string) {
	level := mcp.LoggingLevelWarning
	if info := mcpserver.RequestProtocolInfoFromContext(ctx); info != nil && info.Modern {
		if info.LogLevel == "" || !level.ShouldSendTo(info.LogLevel) {
			return
		}
	} else if l, ok := mcpserver.ClientSessionFromContext(ctx).(mcpserver.SessionWithLogging); ok && !level.ShouldSendTo(l.GetLogLevel()) {
		return
	}
	Notify(ctx, "notifications/message", map[string]any{"level": level, "logger": "tmux-mcp", "data": msg})
}
