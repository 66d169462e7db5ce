package server

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/stdio"
	"tmuxmcp/server/params"
)

// bindFault returns the fault for arguments that do not fit the tool.
func bindFault(ctx context.Context, err *params.Error) *reply.Fault {
	f := reply.Faultf(reply.KindValidation, "%s", err.Message)
	if err.Unknown != nil {
		f.Suggestion = "it takes " + strings.Join(err.Takes, ", ")
	}
	if slices.Contains(err.Unknown, "wait_for_previous") {
		client := "the client"
		if c := stdio.ClientName(ctx); c != "" {
			client = "the client (" + c + ")"
		}
		f.Suggestion += "; wait_for_previous is a scheduling flag of " + client + " and no argument of a tool: leave it out"
	}
	return f
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
