package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"strings"
	"syscall"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"tmuxmcp/server/stdio"
	"tmuxmcp/tmux"
)

// mapErrors turns an error into a result with isError: one sentence and the suggestion on a
// separate line, with the error's type in _meta. Structured content stays unset, because
// clients check it against the schema of a success. A forged request state is the client's
// fault, not the model's, and stays a protocol error.
func (s *Server) mapErrors(next mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		res, err := next(ctx, req)
		if err == nil {
			return res, nil
		}
		f, expected := faultOf(err)
		if f.ask != nil {
			return f.ask.ToolResult(), nil
		}
		if f.kind == kindForged {
			return nil, f
		}
		level := slog.LevelWarn
		if !expected {
			level = slog.LevelError
		}
		s.cfg.Log.Log(ctx, level, "tool failed", "tool", req.Params.Name, "type", f.kind, "cause", causeOf(err))
		return s.errorResult(f, expected), nil
	}
}

// causeOf returns what the log says about an error. The full message may repeat what the
// client sent, which may be a secret; only the client gets it.
func causeOf(err error) string {
	var cause string
	var e *tmux.Error
	if errors.As(err, &e) {
		cause = e.Command + ": "
	}
	var errno syscall.Errno
	var program *exec.Error
	switch {
	case errors.As(err, &errno):
		return cause + errno.Error()
	case errors.As(err, &program):
		return cause + program.Error()
	}
	for _, known := range append(tmux.Kinds(), context.DeadlineExceeded, context.Canceled, stdio.ErrCancelled) {
		if errors.Is(err, known) {
			return cause + known.Error()
		}
	}
	var f *fault
	if errors.As(err, &f) {
		return cause + f.kind
	}
	return fmt.Sprintf("%s%T", cause, err)
}

func (s *Server) errorResult(f *fault, expected bool) *mcp.CallToolResult {
	res := mcp.NewToolResultError(f.text())
	// Some clients show a model the whole error.
	if s.cfg.Results != ResultsJSON {
		return res
	}
	meta := map[string]any{"error_type": f.kind, "expected": expected}
	if f.suggestion != "" {
		meta["suggestion"] = legible(f.suggestion, "\n\t")
	}
	res.Meta = mcp.NewMetaFromMap(meta)
	return res
}

// faultOf returns an error as a fault, worded for the caller. It is expected if the caller
// can do something about it.
func faultOf(err error) (f *fault, expected bool) {
	if errors.As(err, &f) {
		return f, true
	}
	// Drop mcp-go's wrapping of an error from tmux.
	var e *tmux.Error
	if errors.As(err, &e) {
		err = e
	}
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return &fault{kind: kindTmux, msg: "tmux is not installed, or not where it was: " + err.Error(), cause: err}, false
	case errors.Is(err, context.DeadlineExceeded):
		return &fault{kind: kindTimeout, msg: "tmux error: " + err.Error(), cause: err}, true
	case errors.Is(err, context.Canceled), errors.Is(err, stdio.ErrCancelled):
		return &fault{kind: "Cancelled", msg: "the call was cancelled", cause: err}, true
	case errors.Is(err, tmux.ErrUntrusted):
		return &fault{kind: kindRefused, msg: "tmux error: " + err.Error(), cause: err}, true
	case errors.Is(err, tmux.ErrNoServer):
		f = &fault{kind: kindNoServer, msg: "tmux error: " + err.Error(), cause: err}
		return f.suggest("create_session starts one; list_servers finds others"), true
	case errors.Is(err, tmux.ErrUnsupported):
		return &fault{kind: kindUnsupported, msg: err.Error(), cause: err}, true
	case errors.Is(err, tmux.ErrArgument) && e == nil: // refused before tmux was asked
		return &fault{kind: kindValidation, msg: err.Error(), cause: err}, true
	case e != nil:
		switch what := e.Object; what.Kind {
		case "pane", "window", "session":
			if tmux.PaneID(what.Name).Valid() {
				return paneNotFound(what.Name), true
			}
			return objectNotFound(what.String()), true
		}
		f = &fault{kind: kindTmux, msg: "tmux error: " + err.Error(), cause: err}
		switch {
		case errors.Is(err, tmux.ErrArgument):
			f.kind = kindValidation
			if strings.HasPrefix(e.Stderr, "error creating ") {
				f.suggestion = "Make the directory of the socket, or use another socket"
			}
		case errors.Is(err, tmux.ErrAmbiguous):
			f.kind = kindAmbiguous
			f.suggestion = "Target by id"
		}
		return f, true
	case errors.Is(err, tmux.ErrUnknownOption): // an abbreviation, refused before tmux was asked
		return &fault{kind: kindTmux, msg: "tmux error: " + err.Error(), cause: err}, true
	}
	return &fault{kind: kindUnexpected, msg: "Unexpected error: " + err.Error(), cause: err}, false
}
