package server

import (
	"context"
	"errors"
	"os/exec"
	"regexp"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"tmuxmcp/tmux"
)

// mapErrors turns an error into a result with isError: one sentence, the
// suggestion on a line of its own, and both with the error's type in _meta.
// Structured content stays unset, for clients check it against the schema of
// a success.
func (s *Server) mapErrors(next mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		res, err := next(ctx, req)
		if err == nil {
			return res, nil
		}
		f, expected := faultOf(err)
		if expected {
			s.cfg.Log.WarnContext(ctx, "tool failed", "tool", req.Params.Name, "type", f.kind, "error", f.msg)
		} else {
			s.cfg.Log.ErrorContext(ctx, "tool failed", "tool", req.Params.Name, "type", f.kind, "error", f.msg)
		}
		return errorResult(f, expected), nil
	}
}

func errorResult(f *fault, expected bool) *mcp.CallToolResult {
	msg := f.msg
	meta := map[string]any{"error_type": f.kind, "expected": expected}
	if f.suggestion != "" {
		msg += "\n" + f.suggestion
		meta["suggestion"] = f.suggestion
	}
	res := mcp.NewToolResultError(msg)
	res.Meta = mcp.NewMetaFromMap(meta)
	return res
}

// notFound is what tmux says about a target that does not exist.
var notFound = regexp.MustCompile(`^can't find (pane|window|session): =?(.*?):?$`)

// faultOf says an error in the words a caller gets. It is expected when the
// caller can do something about it.
func faultOf(err error) (f *fault, expected bool) {
	if errors.As(err, &f) {
		return f, true
	}
	// What mcp-go put around an error of tmux is not told.
	var e *tmux.Error
	if errors.As(err, &e) {
		err = e
	}
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return &fault{kind: kindTmux, msg: "tmux is not installed, or not where it was: " + err.Error(), cause: err}, false
	case errors.Is(err, context.DeadlineExceeded):
		return &fault{kind: kindTimeout, msg: "tmux error: " + err.Error(), cause: err}, true
	case errors.Is(err, context.Canceled), errors.Is(err, errCancelledByClient):
		return &fault{kind: "Cancelled", msg: "the call was cancelled", cause: err}, true
	case errors.Is(err, tmux.ErrNoServer):
		f = &fault{kind: kindNoServer, msg: "tmux error: " + err.Error(), cause: err}
		return f.suggest("create_session starts one; list_servers finds others"), true
	case errors.Is(err, tmux.ErrUnsupported):
		return &fault{kind: kindUnsupported, msg: err.Error(), cause: err}, true
	case errors.Is(err, tmux.ErrArgument) && e == nil: // tmux was not asked
		return &fault{kind: kindValidation, msg: err.Error(), cause: err}, true
	case e != nil:
		if m := notFound.FindStringSubmatch(e.Stderr); m != nil {
			if tmux.PaneID(m[2]).Valid() {
				return paneNotFound(m[2]), true
			}
			return objectNotFound(m[1] + " " + m[2]), true
		}
		f = &fault{kind: kindTmux, msg: "tmux error: " + err.Error(), cause: err}
		switch {
		case errors.Is(err, tmux.ErrArgument):
			f.kind = kindValidation
		case errors.Is(err, tmux.ErrAmbiguous):
			f.kind = kindAmbiguous
			f.suggestion = "Target by id"
		}
		return f, true
	case errors.Is(err, tmux.ErrUnknownOption): // an abbreviation, which tmux was not asked
		return &fault{kind: kindTmux, msg: "tmux error: " + err.Error(), cause: err}, true
	}
	return &fault{kind: "Unexpected", msg: "Unexpected error: " + err.Error(), cause: err}, false
}
