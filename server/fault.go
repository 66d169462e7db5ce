package server

import (
	"context"
	"fmt"
	"slices"
	"strings"

	mcpserver "github.com/mark3labs/mcp-go/server"

	"tmuxmcp/server/params"
)

// fault is an error worded by this program: the caller's request cannot be carried out.
// Errors from tmux remain a *tmux.Error until mw_errors.
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
	msg := legible(f.msg, "\n\t")
	if f.suggestion != "" {
		msg += "\n" + legible(f.suggestion, "\n\t")
	}
	for _, line := range f.lines {
		msg += "\n" + legible(line, "\t")
	}
	return msg
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
