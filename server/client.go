package server

import (
	"cmp"
	"context"
	"errors"
	"io"
	"regexp"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/tidwall/gjson"

	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/stdio"
	"tmuxmcp/server/runner"
	"tmuxmcp/tmux"
)

// Serve speaks JSON-RPC, one message per line, until in or ctx ends, as described in
// package stdio. Then it removes what this server left in tmux.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	go runner.Sweep()
	s.screens.Serve()
	defer s.Close()
	defer s.removeBuffers()
	t := stdio.Transport{MCP: s.mcp, Explain: s.explain, Log: s.cfg.Log}
	return t.Serve(ctx, in, out)
}

// Close removes the files of a server that is no longer used. Serve calls it at its end.
func (s *Server) Close() { s.jobs.Close() }

// bufferName matches the paste buffers that this program creates. No other buffer is ever
// shown, pasted or deleted, since it may hold the user's clipboard.
var bufferName = regexp.MustCompile(`^libtmux_mcp_[0-9a-f]{32}_[A-Za-z0-9_.-]{1,64}$`)

// madeBuffer records that a tmux server holds one of our buffers, to be removed when this
// program ends.
func (s *Server) madeBuffer(srv *tmux.Server) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.withBuffers == nil {
		s.withBuffers = map[string]*tmux.Server{}
	}
	s.withBuffers[srv.SocketPath()] = srv
}

// removalTime bounds the removal of buffers at the end, per server.
var removalTime = 4 * time.Second

// removeBuffers deletes our buffers on the servers where some were created. Other servers
// are not contacted.
func (s *Server) removeBuffers() {
	s.mu.Lock()
	servers := s.withBuffers
	s.withBuffers = nil
	s.mu.Unlock()
	for socket, srv := range servers {
		ctx, cancel := context.WithTimeout(context.Background(), removalTime)
		type buffer struct {
			Name string `tmux:"buffer_name"`
		}
		buffers, err := tmux.List[buffer](ctx, srv, tmux.ListBuffers{Filter: tmux.MatchToken("buffer_name", "libtmux_mcp_*", tmux.Match{Glob: true})})
		for _, b := range buffers {
			if bufferName.MatchString(b.Name) {
				err = srv.Buffer(b.Name).Delete(ctx)
			}
		}
		if err != nil {
			s.cfg.Log.Debug("remove buffers", "socket", socket, "cause", reply.Cause(err))
		}
		cancel()
	}
}

// explain returns what a client gets for an error; nil leaves that to mcp-go.
func (s *Server) explain(r stdio.Request, err error) *mcp.JSONRPCErrorDetails {
	f, _ := reply.FaultOf(err)
	uri := gjson.GetBytes(r.Params, "uri").String()
	var misfit *mcpserver.UnparsableMessageError
	switch {
	case errors.Is(err, mcpserver.ErrToolNotFound):
		f = unknownTool(gjson.GetBytes(r.Params, "name").String(), s)
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
