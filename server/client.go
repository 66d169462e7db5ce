package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/tidwall/gjson"

	"tmuxmcp/server/runner"
	"tmuxmcp/server/stdio"
)

// Serve speaks JSON-RPC, a message a line, until in ends or ctx does, as package
// stdio describes it. Then it removes what this server left in tmux.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	go runner.Sweep()
	s.cursors = newCursors()
	defer s.Close()
	defer s.removeBuffers()
	t := stdio.Transport{MCP: s.mcp, Explain: s.explain, Log: s.cfg.Log}
	return t.Serve(ctx, in, out)
}

// explain is the JSON-RPC code and the message of an error; 0 leaves both to mcp-go.
func (s *Server) explain(method string, params json.RawMessage, err error) (code int, message string) {
	var f *fault
	switch {
	case errors.Is(err, mcpserver.ErrToolNotFound):
		return mcp.INVALID_PARAMS, unknownTool(gjson.GetBytes(params, "name").String(), s).msg
	case errors.Is(err, mcpserver.ErrResourceNotFound):
		return mcp.RESOURCE_NOT_FOUND, "there is no such resource"
	case method == string(mcp.MethodResourcesRead), method == string(mcp.MethodResourcesSubscribe):
		f, _ = faultOf(err)
		if f.kind == kindPane || f.kind == kindNotFound || f.kind == kindNoServer {
			return mcp.RESOURCE_NOT_FOUND, f.msg
		}
		return mcp.INTERNAL_ERROR, f.msg
	case errors.As(err, &f):
		return mcp.INVALID_PARAMS, f.msg
	}
	return 0, ""
}

// clientOf is the name and version of the connected client, or empty.
func clientOf(ctx context.Context) string {
	if c, ok := mcpserver.ClientSessionFromContext(ctx).(mcpserver.SessionWithClientInfo); ok {
		if info := c.GetClientInfo(); info.Name != "" {
			return info.Name + " " + info.Version
		}
	}
	return ""
}
