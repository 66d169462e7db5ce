package server

import (
	"cmp"
	"context"
	"errors"
	"io"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/tidwall/gjson"

	"tmuxmcp/internal/runner"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/stdio"
)

// sweepEvery is how often a server removes what is left of jobs that are over.
var sweepEvery = time.Minute

// Serve speaks JSON-RPC, one message per line, until in or ctx ends, as described in
// package stdio. Then it removes what this server left in tmux.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	defer runner.KeepSwept(sweepEvery)()
	s.services.Screens.Serve()
	defer s.Close()
	defer s.services.Buffers.Remove(func(socket string, err error) {
		s.cfg.Log.Debug("remove buffers", "socket", socket, "cause", reply.Cause(err))
	})
	t := stdio.Transport{MCP: s.mcp, Explain: s.explain, Log: s.cfg.Log}
	return t.Serve(ctx, in, out)
}

// Close removes the files of a server that is no longer used, and what is left of jobs that are
// over. Serve calls it at its end.
func (s *Server) Close() {
	s.services.Jobs.Shells.Close()
	runner.Sweep()
}

// explain returns what a client gets for an error; nil leaves that to mcp-go.
func (s *Server) explain(r stdio.Request, err error) *mcp.JSONRPCErrorDetails {
	f, _ := reply.FaultOf(err)
	uri := gjson.GetBytes(r.Params, "uri").String()
	var misfit *mcpserver.UnparsableMessageError
	switch {
	case errors.Is(err, mcpserver.ErrToolNotFound):
		f = s.unknownTool(gjson.GetBytes(r.Params, "name").String())
		f.Kind = reply.KindValidation
	case errors.As(err, &misfit):
		f = reply.Faultf(reply.KindValidation, "%s", stdio.Misfit(misfit.Unwrap()))
	case errors.Is(err, mcpserver.ErrResourceNotFound) && uri == "":
		f = reply.Argument("uri", "is required")
	case errors.Is(err, mcpserver.ErrResourceNotFound):
		f = reply.Faultf(reply.KindNotFound, "there is no such resource")
		for _, known := range resources {
			if _, ok := known.variables(uri); ok {
				f.Message = cmp.Or(s.withheld(known), f).Message
			}
		}
	}
	details := mcp.NewJSONRPCErrorDetails(mcp.INTERNAL_ERROR, f.Message, nil)
	switch f.Kind {
	case reply.KindUnexpected:
		return nil
	case reply.KindValidation, reply.KindForged:
		details.Code = mcp.INVALID_PARAMS
	case reply.KindPane, reply.KindNotFound, reply.KindNoServer:
		details.Code, details.Data = mcp.RESOURCE_NOT_FOUND, map[string]any{"uri": uri}
		if r.Modern {
			details.Code = mcp.INVALID_PARAMS
		}
	}
	return &details
}
