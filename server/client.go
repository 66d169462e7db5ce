package server

import (
	"context"
	"errors"
	"io"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/tidwall/gjson"

	"tmuxmcp/server/runner"
	"tmuxmcp/server/stdio"
)

// Serve speaks JSON-RPC, one message per line, until in or ctx ends, as described in
// package stdio. Then it removes what this server left in tmux.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	go runner.Sweep()
	s.cursors = newCursors()
	defer s.Close()
	defer s.removeBuffers()
	t := stdio.Transport{MCP: s.mcp, Explain: s.explain, Log: s.cfg.Log}
	return t.Serve(ctx, in, out)
}

// explain returns what a client gets for an error; nil leaves that to mcp-go.
func (s *Server) explain(r stdio.Request, err error) *mcp.JSONRPCErrorDetails {
	f, _ := faultOf(err)
	uri := gjson.GetBytes(r.Params, "uri").String()
	var misfit *mcpserver.UnparsableMessageError
	switch {
	case errors.Is(err, mcpserver.ErrToolNotFound):
		f = unknownTool(gjson.GetBytes(r.Params, "name").String(), s)
		f.kind = kindValidation
	case errors.As(err, &misfit):
		f = faultf(kindValidation, "%s", stdio.Misfit(misfit.Unwrap()))
	case errors.Is(err, mcpserver.ErrResourceNotFound) && uri == "":
		f = argumentFault("uri", "is required")
	case errors.Is(err, mcpserver.ErrResourceNotFound):
		f = faultf(kindNotFound, "there is no such resource")
	}
	details := mcp.NewJSONRPCErrorDetails(mcp.INTERNAL_ERROR, f.msg, nil)
	switch f.kind {
	case kindUnexpected:
		return nil
	case kindValidation, kindForged:
		details.Code = mcp.INVALID_PARAMS
	case kindPane, kindNotFound, kindNoServer:
		details.Code, details.Data = mcp.RESOURCE_NOT_FOUND, map[string]any{"uri": uri}
		if r.Modern {
			details.Code = mcp.INVALID_PARAMS
		}
	}
	return &details
}

// clientOf returns the name and version of the connected client, or "".
func clientOf(ctx context.Context) string {
	if c, ok := mcpserver.ClientSessionFromContext(ctx).(mcpserver.SessionWithClientInfo); ok {
		if info := c.GetClientInfo(); info.Name != "" {
			return info.Name + " " + info.Version
		}
	}
	return ""
}
