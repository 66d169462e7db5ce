package server

import (
	"context"
	"fmt"
)

// fault is an error in the words of this program: something the caller asked
// for cannot be done. What tmux refused stays a *tmux.Error until mw_errors.
type fault struct {
	kind       string // _meta error_type
	msg        string // one sentence, with no value that may be secret
	suggestion string // what to do instead; may be empty
	cause      error
}

// The error types of faults.
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
	// kindPaneGone: the pane that was waited for or followed ended meanwhile.
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

func (f *fault) Error() string { return f.msg }
func (f *fault) Unwrap() error { return f.cause }

// argumentFault says what is wrong with an argument.
func argumentFault(name, format string, args ...any) *fault {
	return faultf(kindValidation, name+" "+format, args...)
}

// bindFault is what is wrong with the arguments of a call.
type bindFault struct {
	fault
	waitForPrevious bool
}

// withClient adds to a refusal of wait_for_previous whose flag that is.
func (f *bindFault) withClient(ctx context.Context) error {
	if f.waitForPrevious {
		client := "the client"
		if c := clientOf(ctx); c != "" {
			client = "the client (" + c + ")"
		}
		f.suggestion += "; wait_for_previous is a scheduling flag of " + client + " and no argument of a tool: leave it out"
	}
	return &f.fault
}
