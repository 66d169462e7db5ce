package tmux

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"tmuxmcp/internal/guarded"
	"tmuxmcp/tmux/internal/wire"
)

// Kinds of failure, for errors.Is. They are the same for all supported versions, however
// these word their messages.
var (
	// ErrNoServer: nothing listens on the server's socket.
	ErrNoServer = wire.ErrNoServer
	// ErrServerGone: the server exited while it worked on the command.
	ErrServerGone = wire.ErrServerGone
	// ErrNoAnswer: the server has not answered an earlier call in time, and does not react yet,
	// so it was sent nothing. See [WithTimeout].
	ErrNoAnswer = wire.ErrNoAnswer
	// ErrNotFound: the target, buffer, client or file does not exist; see [Error.Object].
	ErrNotFound = wire.ErrNotFound
	// ErrNoSession: the server has no sessions, so there is no default target. It is an
	// [ErrNotFound] too.
	ErrNoSession = wire.ErrNoSession
	// ErrExists: the name or index is taken, be it by the object itself.
	ErrExists = wire.ErrExists
	// ErrAmbiguous: a command, option or target matches more than one.
	ErrAmbiguous = wire.ErrAmbiguous
	// ErrNoSpace: the window has no room for another or a larger pane.
	ErrNoSpace = wire.ErrNoSpace
	// ErrNotInMode: a copy mode command for a pane that is not in a mode.
	ErrNotInMode = wire.ErrNotInMode
	// ErrUnknownOption: there is no such option, or it is not set.
	ErrUnknownOption = wire.ErrUnknownOption
	// ErrUnmet: the condition of a [Require] is not true.
	ErrUnmet = wire.ErrUnmet
	// ErrBadValue: the option does not accept this value.
	ErrBadValue = wire.ErrBadValue
	// ErrRunning: the program of the pane or window is still running.
	ErrRunning = wire.ErrRunning
	// ErrNoInput: nothing reads what is typed into the pane: its program has ended, it never
	// had one, or its input is disabled (see [SelectPane]).
	ErrNoInput = wire.ErrNoInput
	// ErrLastLink: the window is linked into no other session.
	ErrLastLink = wire.ErrLastLink
	// ErrNoTerminal: the command attaches its client, which needs a terminal.
	ErrNoTerminal = wire.ErrNoTerminal
	// ErrUsage: tmux does not know the command or its arguments.
	ErrUsage = wire.ErrUsage
	// ErrUnsupported: this tmux is too old, or too new, for what was asked.
	// See [UnsupportedError].
	ErrUnsupported = wire.ErrUnsupported
	// ErrArgument: an argument that tmux cannot take, refused by tmux or beforehand.
	ErrArgument = wire.ErrArgument
	// ErrNoClient: the command needs an attached client, and there is none.
	ErrNoClient = wire.ErrNoClient
	// ErrOutside: this process is not known to run in a pane of the server, for the reason that
	// the error gives; see [FromEnv] and [Server.CurrentPane].
	ErrOutside = wire.ErrOutside
	// ErrVersionMismatch: the tmux program cannot talk to the running server, which has
	// another version.
	ErrVersionMismatch = wire.ErrVersionMismatch
	// ErrUntrusted: the server may be another user's, and nothing was sent to it; or it
	// asked for a file that no command names, and nothing was opened.
	ErrUntrusted = wire.ErrUntrusted
	// ErrExhausted: file descriptors, memory or processes have run out here or
	// machine-wide.
	ErrExhausted = wire.ErrExhausted
	// ErrTooMuch: a list of commands printed more than 16 MB, the limit of this package.
	// The rest was not read.
	ErrTooMuch = wire.ErrTooMuch
)

// Kinds returns all kinds of failure. A kind that also is another one comes before it.
func Kinds() []error {
	return []error{
		ErrNoServer, ErrServerGone, ErrNoAnswer, ErrNoSession, ErrNotFound, ErrExists, ErrAmbiguous, ErrNoSpace, ErrNotInMode, ErrUnmet, ErrUnknownOption, ErrBadValue,
		ErrRunning, ErrNoInput, ErrLastLink, ErrNoTerminal, ErrUsage, ErrUnsupported, ErrArgument, ErrNoClient, ErrOutside, ErrVersionMismatch, ErrUntrusted, ErrExhausted, ErrTooMuch,
	}
}

// Error reports a command that tmux refused or could not finish.
type Error struct {
	// Command is the name of the command that failed, "list-panes".
	Command string
	// Args are the command's arguments as tmux got them.
	Args []string
	// ExitCode is the exit status of the tmux client, or -1 if it was killed by a signal or
	// never started.
	ExitCode int
	// Stderr is what tmux wrote to standard error, without the last newline.
	Stderr string
	// Object is what does not exist, for an [ErrNotFound], [ErrNoClient] or
	// [ErrUnknownOption] that names it; otherwise zero.
	Object Object
	// Socket is the path of the server's socket.
	Socket string
	// Pending is set if the context ended before the server answered a list that changes
	// something: the server may still carry it out.
	Pending bool
	// Err is the kind (one of this package's Err values), an error of the operating system
	// or the context, or nil if tmux's message is unknown.
	Err error
}

// Object names something that does not exist.
type Object struct {
	// Kind is "pane", "window", "session", "client", "buffer", "option", "variable", "user"
	// or "key table".
	Kind string
	// Name is the name or id that was looked for: "%99", "work". It is the part of the
	// target that tmux did not find, without what [Named] adds: "7" for "main:7".
	Name string
}

// String returns the kind and the name, which is quoted unless it is one word.
func (o Object) String() string {
	if o.Name == "" || strings.ContainsFunc(o.Name, func(r rune) bool { return r == ' ' || !unicode.IsPrint(r) }) {
		return fmt.Sprintf("%s %q", o.Kind, o.Name)
	}
	return o.Kind + " " + o.Name
}

// Error returns the command's name and tmux's message on one line.
func (e *Error) Error() string {
	msg := strings.ReplaceAll(e.Stderr, "\n", "; ")
	switch {
	case errors.Is(e.Err, ErrNoServer):
		msg = "no tmux server on " + e.Socket
	case errors.Is(e.Err, ErrVersionMismatch), errors.Is(e.Err, ErrUnmet), errors.Is(e.Err, guarded.Err):
		msg = e.Err.Error()
	case msg == "" && e.Object != (Object{}):
		msg = fmt.Sprintf("%s: %v", e.Object, e.Err)
	case msg == "" && e.Err != nil:
		msg = e.Err.Error()
	case msg == "":
		msg = fmt.Sprintf("exit status %d", e.ExitCode)
	}
	if errors.Is(e.Err, ErrUntrusted) {
		return msg // whatever the command
	}
	// Parse errors name the command already; the others do not.
	if rest, ok := strings.CutPrefix(msg, "command "+e.Command+": "); ok {
		msg = rest
	}
	return e.Command + ": " + msg
}

func (e *Error) Unwrap() error { return e.Err }

// UnsupportedError reports what this tmux lacks and which version has it. It is an
// [ErrUnsupported].
type UnsupportedError struct {
	// What is the command, flag or token: "run-shell -E".
	What string
	// Since is the first version that has it; zero if there is no lower bound.
	Since Version
	// Until is the last version that has it; zero if there is no upper bound.
	Until Version
	// Have is the version in use.
	Have Version
}

func (e *UnsupportedError) Error() string {
	if e.Until != (Version{}) && e.Have.Compare(e.Until) > 0 {
		return fmt.Sprintf("%s was removed after tmux %s, this is tmux %s", e.What, e.Until, e.Have)
	}
	return fmt.Sprintf("%s needs tmux %s or later, this is tmux %s", e.What, e.Since, e.Have)
}

func (e *UnsupportedError) Is(target error) bool { return target == ErrUnsupported }

// argumentError returns an ErrArgument with its reason.
func argumentError(format string, args ...any) error { return wire.Argument(format, args...) }

// notFound returns the error for an object missing from a successful command's output.
func notFound(srv *Server, command string, what Object) error {
	return &Error{Command: command, Object: what, Socket: srv.at.Path, Err: ErrNotFound}
}

// objectIn returns the object that, according to tmux's message, does not exist.
func objectIn(stderr string) Object {
	kind, name := wire.ObjectIn(stderr)
	return Object{kind, name}
}
