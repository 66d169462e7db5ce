package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"tmuxmcp/server/params"
	"tmuxmcp/server/stdio"
	"tmuxmcp/tmux"
)

// fault is an error worded by this program: the caller's request cannot be carried out.
// Errors from tmux remain a *tmux.Error until [faultOf].
type fault struct {
	kind       string // _meta error_type
	msg        string // one sentence, without values that may be secret
	suggestion string // what to do instead; may be empty
	// lines are lines of a pane, shown below the suggestion.
	lines []string
	cause error
	// ask ends the call with a question instead of an error.
	ask *mcpserver.InputRequestBuilder
}

// Error types of faults.
const (
	kindValidation  = "ValidationError"
	kindNotFound    = "ObjectNotFound"
	kindPane        = "PaneNotFound"
	kindAmbiguous   = "AmbiguousTarget"
	kindRefused     = "Refused"
	kindTier        = "TierDenied"
	kindTimeout     = "Timeout"
	kindUnsupported = "Unsupported"
	kindNoServer    = "NoServer"
	kindTmux        = "TmuxError"
	// kindUnexpected: an error unknown to this program.
	kindUnexpected = "Unexpected"
	// kindAsked: the user is asked, and the client calls again with the answer.
	kindAsked = "Asked"
	// kindForged: an answer has a request state that does not belong to this call.
	kindForged = "ForgedState"
	// kindNotBegun: a command was not started, so it has not run.
	kindNotBegun = "not_begun"
	// kindUnproven: a prompt was typed but cannot be shown to have been accepted.
	kindUnproven = "unproven"
	// kindPaneGone: the pane being waited for or followed has ended.
	kindPaneGone = "pane_gone"
)

func faultf(kind, format string, args ...any) *fault {
	return &fault{kind: kind, msg: fmt.Sprintf(format, args...)}
}

// suggest adds what the caller should do instead.
func (f *fault) suggest(format string, args ...any) *fault {
	f.suggestion = fmt.Sprintf(format, args...)
	return f
}

// showing adds lines of a pane, if there are any, with words to introduce them.
func (f *fault) showing(words string, lines []string) *fault {
	if len(lines) > 0 {
		f.suggestion, f.lines = strings.TrimPrefix(f.suggestion+"; "+words+":", "; "), lines
	}
	return f
}

// text returns what a client gets: the message, and the suggestion on a separate line.
func (f *fault) text() string {
	msg := said(f.msg)
	if f.suggestion != "" {
		msg += "\n" + said(f.suggestion)
	}
	for _, line := range f.lines {
		msg += "\n" + legible(line, "\t")
	}
	return msg
}

// maxSaid bounds a message, in bytes: it may name what the caller or a program chose.
const maxSaid = 900

func said(s string) string {
	return params.Short(legible(params.Short(s, maxSaid), "\n\t"), maxSaid)
}

func (f *fault) Error() string { return f.msg }
func (f *fault) Unwrap() error { return f.cause }

// argumentFault returns the fault for an invalid argument.
func argumentFault(name, format string, args ...any) *fault {
	return faultf(kindValidation, name+" "+format, args...)
}

// bindFault returns the fault for arguments that do not fit the tool.
func bindFault(ctx context.Context, err *params.Error) *fault {
	f := faultf(kindValidation, "%s", err.Message)
	if err.Unknown != nil {
		f.suggestion = "it takes " + strings.Join(err.Takes, ", ")
	}
	if slices.Contains(err.Unknown, "wait_for_previous") {
		client := "the client"
		if c := clientOf(ctx); c != "" {
			client = "the client (" + c + ")"
		}
		f.suggestion += "; wait_for_previous is a scheduling flag of " + client + " and no argument of a tool: leave it out"
	}
	return f
}

// failed turns an error into a result with isError: one sentence and the suggestion on a
// separate line, with the error's type in _meta. Structured content stays unset, because
// clients check it against the schema of a success. A forged request state is the client's
// fault, not the model's, and stays a protocol error.
func (s *Server) failed(ctx context.Context, tool string, err error) (*mcp.CallToolResult, error) {
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
	s.cfg.Log.Log(ctx, level, "tool failed", "tool", tool, "type", f.kind, "cause", causeOf(err))
	return s.errorResult(f, expected), nil
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
		meta["suggestion"] = said(f.suggestion)
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
	f, expected = &fault{kind: kindTmux, msg: "tmux error: " + err.Error(), cause: err}, true
	if e != nil && e.Pending {
		f.suggestion = "it may still happen: look before you repeat it"
	}
	switch {
	case errors.Is(err, exec.ErrNotFound):
		f.msg, expected = "tmux is not installed, or not where it was: "+err.Error(), false
	case errors.Is(err, context.DeadlineExceeded):
		f.kind = kindTimeout
	case errors.Is(err, context.Canceled), errors.Is(err, stdio.ErrCancelled):
		f.kind, f.msg = "Cancelled", "the call was cancelled"
	case errors.Is(err, tmux.ErrUntrusted):
		f.kind = kindRefused
	case errors.Is(err, tmux.ErrNoServer):
		if e != nil {
			if lost := lostFault(e.Socket); lost != nil {
				return lost, true
			}
		}
		f.kind, f.suggestion = kindNoServer, "create_session starts one; list_servers finds others"
	case errors.Is(err, tmux.ErrUnsupported):
		f.kind, f.msg = kindUnsupported, err.Error()
	case errors.Is(err, tmux.ErrArgument) && e == nil: // refused before tmux was asked
		f.kind, f.msg = kindValidation, err.Error()
	case e != nil && slices.Contains([]string{"pane", "window", "session"}, e.Object.Kind):
		if tmux.PaneID(e.Object.Name).Valid() {
			return paneNotFound(e.Object.Name), true
		}
		return objectNotFound(e.Object.String()), true
	case errors.Is(err, tmux.ErrArgument):
		f.kind = kindValidation
		if strings.HasPrefix(e.Stderr, "error creating ") {
			f.suggestion = "Make the directory of the socket, or use another socket"
		}
	case e != nil && errors.Is(err, tmux.ErrAmbiguous):
		f.kind, f.suggestion = kindAmbiguous, "Target by id"
	case e != nil, errors.Is(err, tmux.ErrUnknownOption): // an abbreviation, refused before tmux was asked
	default:
		f.kind, f.msg, expected = kindUnexpected, "Unexpected error: "+err.Error(), false
	}
	return f, expected
}
