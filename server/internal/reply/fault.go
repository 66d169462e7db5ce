package reply

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"tmuxmcp/internal/guarded"
	"tmuxmcp/server/internal/lost"
	"tmuxmcp/server/internal/params"
	"tmuxmcp/server/internal/stdio"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/follow"
)

// Fault is an error worded by this program: the caller's request cannot be carried out.
// Errors from tmux remain a *tmux.Error until [FaultOf].
type Fault struct {
	Kind       string // _meta error_type
	Message    string // one sentence, without values that may be secret
	Suggestion string // what to do instead; may be empty
	// lines are lines of a pane, shown below the suggestion.
	lines []string
	Cause error
}

// Error types of faults.
const (
	KindValidation  = "ValidationError"
	KindNotFound    = "ObjectNotFound"
	KindPane        = "PaneNotFound"
	kindAmbiguous   = "AmbiguousTarget"
	KindRefused     = "Refused"
	KindTier        = "TierDenied"
	KindTimeout     = "Timeout"
	KindUnsupported = "Unsupported"
	KindNoServer    = "NoServer"
	KindTmux        = "TmuxError"
	// KindUnexpected: an error unknown to this program.
	KindUnexpected = "Unexpected"
	// KindAsked: the user is asked, and the client calls again with the answer.
	KindAsked = "Asked"
	// KindForged: an answer has a request state that does not belong to this call.
	KindForged = "ForgedState"
	// KindNotBegun: a command was not started, so it has not run.
	KindNotBegun = "not_begun"
	// KindUnproven: a prompt was typed but cannot be shown to have been accepted.
	KindUnproven = "unproven"
	// KindPaneGone: the pane being waited for or followed has ended.
	KindPaneGone = "pane_gone"
)

// Faultf returns a fault of a kind with a message.
func Faultf(kind, format string, args ...any) *Fault {
	return &Fault{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Suggest adds what the caller should do instead.
func (f *Fault) Suggest(format string, args ...any) *Fault {
	f.Suggestion = fmt.Sprintf(format, args...)
	return f
}

// Showing adds lines of a pane, if there are any, with words to introduce them.
func (f *Fault) Showing(words string, lines []string) *Fault {
	if len(lines) > 0 {
		f.Suggestion, f.lines = strings.TrimPrefix(f.Suggestion+"; "+words+":", "; "), lines
	}
	return f
}

// Text returns what a client gets: the message, and the suggestion on a separate line.
func (f *Fault) Text() string {
	msg := Said(f.Message)
	if f.Suggestion != "" {
		msg += "\n" + Said(f.Suggestion)
	}
	for _, line := range f.lines {
		msg += "\n" + Legible(line, "\t")
	}
	return msg
}

// maxSaid bounds a message, in bytes: it may name what the caller or a program chose.
const maxSaid = 900

// Said makes a message legible, and truncates a long one.
func Said(s string) string {
	return params.Short(Legible(params.Short(s, maxSaid), "\n\t"), maxSaid)
}

func (f *Fault) Error() string { return f.Message }
func (f *Fault) Unwrap() error { return f.Cause }

// Argument returns the fault for an invalid argument.
func Argument(name, format string, args ...any) *Fault {
	return Faultf(KindValidation, name+" "+format, args...)
}

// Cause returns what the log says about an error. The full message may repeat what the
// client sent, which may be a secret; only the client gets it.
func Cause(err error) string {
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
	for _, known := range append(append([]error{follow.ErrEnded, guarded.Err}, tmux.Kinds()...), context.DeadlineExceeded, context.Canceled, stdio.ErrCancelled) {
		if errors.Is(err, known) {
			return cause + known.Error()
		}
	}
	var f *Fault
	if errors.As(err, &f) {
		return cause + f.Kind
	}
	return fmt.Sprintf("%s%T", cause, err)
}

// FaultOf returns an error as a fault, worded for the caller. It is expected if the caller
// can do something about it.
func FaultOf(err error) (f *Fault, expected bool) {
	if errors.As(err, &f) {
		return f, true
	}
	// Drop mcp-go's wrapping of an error from tmux.
	var e *tmux.Error
	if errors.As(err, &e) {
		err = e
	}
	f, expected = &Fault{Kind: KindTmux, Message: "tmux error: " + err.Error(), Cause: err}, true
	if e != nil && e.Pending {
		f.Suggestion = "it may still happen: look before you repeat it"
	}
	switch {
	case errors.Is(err, exec.ErrNotFound):
		f.Message, expected = "tmux is not installed, or not where it was: "+err.Error(), false
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, tmux.ErrNoAnswer):
		f.Kind = KindTimeout
	case errors.Is(err, context.Canceled), errors.Is(err, stdio.ErrCancelled):
		f.Kind, f.Message = "Cancelled", "the call was cancelled"
	case errors.Is(err, tmux.ErrUntrusted):
		f.Kind = KindRefused
	case errors.Is(err, tmux.ErrNoServer):
		if e != nil {
			if f := LostFault(e.Socket); f != nil {
				return f, true
			}
		}
		f.Kind, f.Suggestion = KindNoServer, "create_session starts one; list_servers finds others"
	case errors.Is(err, tmux.ErrUnsupported):
		f.Kind, f.Message = KindUnsupported, err.Error()
	case errors.Is(err, tmux.ErrArgument) && e == nil: // refused before tmux was asked
		f.Kind, f.Message = KindValidation, err.Error()
	case e != nil && slices.Contains([]string{"pane", "window", "session"}, e.Object.Kind):
		if tmux.PaneID(e.Object.Name).Valid() {
			return PaneNotFound(e.Object.Name), true
		}
		return ObjectNotFound(e.Object.String()), true
	case errors.Is(err, tmux.ErrArgument):
		f.Kind = KindValidation
		if strings.HasPrefix(e.Stderr, "error creating ") {
			f.Suggestion = "Make the directory of the socket, or use another socket"
		}
	case e != nil && errors.Is(err, tmux.ErrAmbiguous):
		f.Kind, f.Suggestion = kindAmbiguous, "Target by id"
	case e != nil && e.Stderr == "client is read-only": // from tmux 3.7 on
		f.Kind, f.Suggestion = KindRefused, "the one client that is attached there is read-only, and then tmux presses no keys: paste_text types text, and Enter after it"
	case e != nil, errors.Is(err, tmux.ErrUnknownOption): // an abbreviation, refused before tmux was asked
	default:
		f.Kind, f.Message, expected = KindUnexpected, "Unexpected error: "+err.Error(), false
	}
	return f, expected
}

// LostFault returns the fault for a tmux server that runs without its socket, or nil if there is no
// such server.
func LostFault(socket string) *Fault {
	text, hint := lost.Server(socket)
	if text == "" {
		return nil
	}
	return Faultf(KindNoServer, "%s", text).Suggest("%s", hint)
}

// Within makes a look that tmux must answer within a time.
func Within[T any](ctx context.Context, most time.Duration, look func(ctx context.Context) (T, error)) (T, error) {
	bound, cancel := tmux.WithTimeout(ctx, most)
	defer cancel()
	seen, err := look(bound)
	switch {
	case err != nil && ctx.Err() != nil:
		return seen, context.Cause(ctx)
	case errors.Is(err, context.DeadlineExceeded):
		f := Faultf(KindTimeout, "tmux did not answer within %.0fs: the tmux server is unresponsive", most.Seconds())
		f.Cause = err
		return seen, f
	}
	return seen, err
}

// LastWords adds the last lines of a pane.
func (f *Fault) LastWords(lines []string) *Fault {
	maxLines, maxBytes := 5, 500
	lines = slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return l == "" || strings.HasPrefix(l, "Pane is dead") })
	lines, _, _ = Limited(lines, &maxLines, &maxBytes)
	return f.Showing("its last lines were", lines)
}

// PaneNotFound returns the fault for a pane that does not exist.
func PaneNotFound(id string) *Fault {
	return Faultf(KindPane, "Pane not found: %s", id).Suggest("Call list_panes to see which panes exist")
}

// ObjectNotFound returns the fault for another object that does not exist; what begins with its
// kind: session, window or pane.
func ObjectNotFound(what string) *Fault {
	kind, _, _ := strings.Cut(what, " ")
	return Faultf(KindNotFound, "Object not found: %s", what).Suggest("Call list_%ss to see which %[1]ss exist", kind)
}
