package tmux

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"tmuxmcp/internal/guarded"
	"tmuxmcp/internal/lazy"
)

// Kinds of failure, for errors.Is. They are the same for all supported versions, however
// these word their messages.
var (
	// ErrNoServer: nothing listens on the server's socket.
	ErrNoServer = errors.New("no tmux server")
	// ErrServerGone: the server exited while it worked on the command.
	ErrServerGone = errors.New("tmux server exited")
	// ErrNoAnswer: the server has not answered an earlier call in time, and does not react yet,
	// so it was sent nothing. See [WithTimeout].
	ErrNoAnswer = errors.New("tmux has not answered")
	// ErrNotFound: the target, buffer, client or file does not exist; see [Error.Object].
	ErrNotFound = errors.New("not found")
	// ErrNoSession: the server has no sessions, so there is no default target. It is an
	// [ErrNotFound] too.
	ErrNoSession = fmt.Errorf("no session: %w", ErrNotFound)
	// ErrExists: the name or index is taken.
	ErrExists = errors.New("already exists")
	// ErrAmbiguous: a command, option or target matches more than one.
	ErrAmbiguous = errors.New("ambiguous")
	// ErrNoSpace: the window has no room for another or a larger pane.
	ErrNoSpace = errors.New("no space for pane")
	// ErrNotInMode: a copy mode command for a pane that is not in a mode.
	ErrNotInMode = errors.New("not in a mode")
	// ErrUnknownOption: there is no such option, or it is not set.
	ErrUnknownOption = errors.New("unknown option")
	// ErrUnmet: the condition of a [Require] is not true.
	ErrUnmet = errors.New("condition not met")
	// ErrBadValue: the option does not accept this value.
	ErrBadValue = errors.New("bad value")
	// ErrRunning: the program of the pane or window is still running.
	ErrRunning = errors.New("still running")
	// ErrNoInput: nothing reads what is typed into the pane: its program has ended, it never
	// had one, or its input is disabled (see [SelectPane]).
	ErrNoInput = errors.New("no input")
	// ErrLastLink: the window is linked into no other session.
	ErrLastLink = errors.New("linked to one session only")
	// ErrNoTerminal: the command attaches its client, which needs a terminal.
	ErrNoTerminal = errors.New("not a terminal")
	// ErrUsage: tmux does not know the command or its arguments.
	ErrUsage = errors.New("bad usage")
	// ErrUnsupported: this tmux is too old, or too new, for what was asked.
	// See [UnsupportedError].
	ErrUnsupported = errors.New("not supported by this tmux")
	// ErrArgument: an argument that tmux cannot take, refused by tmux or beforehand.
	ErrArgument = errors.New("invalid argument")
	// ErrNoClient: the command needs an attached client, and there is none.
	ErrNoClient = errors.New("no client")
	// ErrOutside: this process is not known to run in a pane of the server, for the reason that
	// the error gives; see [FromEnv] and [Server.CurrentPane].
	ErrOutside = errors.New("not inside tmux")
	// ErrVersionMismatch: the tmux program cannot talk to the running server, which has
	// another version.
	ErrVersionMismatch = errors.New("tmux client and server versions differ")
	// ErrUntrusted: the server may be another user's, and nothing was sent to it; or it
	// asked for a file that no command names, and nothing was opened.
	ErrUntrusted = errors.New("not trusted")
	// ErrExhausted: file descriptors, memory or processes have run out here or
	// machine-wide.
	ErrExhausted = errors.New("out of resources")
	// ErrTooMuch: a list of commands printed more than 16 MB, the limit of this package.
	// The rest was not read.
	ErrTooMuch = errors.New("too much output")
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

func (o Object) String() string { return o.Kind + " " + o.Name }

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
func argumentError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrArgument, fmt.Sprintf(format, args...))
}

// exhausted wraps a system error that means a resource has run out in an ErrExhausted that
// says what to do. It returns other errors unchanged.
func exhausted(err error) error {
	var what string
	var errno syscall.Errno
	errors.As(err, &errno)
	switch errno {
	case syscall.EMFILE:
		what = "no file descriptors left in this process, raise ulimit -n"
	case syscall.ENFILE:
		what = "no file descriptors left on this machine, raise fs.file-max"
	case syscall.ENOMEM, syscall.ENOBUFS:
		what = "no memory left"
	case syscall.EAGAIN:
		what = "no more processes, raise ulimit -u"
	default:
		return err
	}
	return fmt.Errorf("%w: %s: %w", ErrExhausted, what, err)
}

// creating begins tmux's message that it cannot make its socket. tmux then exits with 0.
const creating = "^error creating "

// kinds maps tmux's messages to kinds of failure. "^" anchors a text at the beginning of a
// line; anchored texts are looked for first, because what follows them may be a name that
// reads like another error. Otherwise the first match wins. Different wordings of one
// message are listed together.
var kinds = []struct {
	err   error
	texts []string
}{
	{ErrNoServer, []string{"^no server running on ", "^error connecting to "}},
	{ErrArgument, []string{creating}},
	{ErrVersionMismatch, []string{"^protocol version mismatch", "^server version is too old"}},
	{ErrServerGone, []string{"^server exited", "^lost server", "^[lost tty]"}},
	{ErrAmbiguous, []string{"^ambiguous "}},
	{ErrExists, []string{"^duplicate session: ", " in use", "^session already exists", "already linked", "already set: ", "window is already linked", "duplicate buffer", " already exists", " is already added"}},
	{ErrUnmet, []string{"^invalid option: " + unmet}},
	{guarded.Err, []string{"^invalid option: " + unasked}},
	{ErrUnknownOption, []string{"^invalid option: ", "^unknown option: ", "^unknown variable: "}},
	{ErrBadValue, []string{
		"^unknown value: ", "^value is invalid: ", "^value is too ", "^bad colour: ", "^bad key: ", "^bad value: ", "^invalid style: ", "^not a suitable shell: ",
		"^invalid colour: ", "^empty value", "^not an array: ", "^bad array key: ",
	}},
	{ErrNoTerminal, []string{"not a terminal"}},
	{ErrRunning, []string{" still active"}},
	{ErrNoInput, []string{"^target pane has exited"}},
	{ErrLastLink, []string{"^window only linked to one session"}},
	{ErrArgument, []string{
		"^unknown key: ", "^invalid key: ", "^invalid type: ", "^invalid window name: ", "^invalid session name: ", "^invalid session: ", "^invalid session group name: ",
		"^command or window name given with target", "^can't specify pane here",
		"^source and target panes must be different", " owns the server",
	}},
	{ErrUsage, []string{"unknown flag", "unknown option --", "^unknown command", "^usage: ", "too few arguments", "too many arguments", "expects an argument", "invalid flag"}},
	{ErrNoClient, []string{"^no current client", "^can't find client", "^no client"}},
	{ErrNotInMode, []string{"^not in a mode", "^not in copy mode"}},
	{ErrNoSpace, []string{"no space for", "pane too small", "create pane failed"}},
	{ErrNoSession, []string{"^no current target"}},
	{ErrNotFound, []string{
		"^can't find ", "^no buffer", "^unknown buffer", "^no last window", "^no last pane", "^no last session",
		"^no next window", "^no previous window", "^no current session", "^no current window", "^no current pane",
		"^no alternate screen", "^no such ", "^unknown user: ", "^unknown group: ", " doesn't exist", "No such file or directory", "not found", "^no marked",
	}},
	// strtonum(3)'s complaints about a number, which follow its name.
	{ErrArgument, []string{" invalid", " too small", " too large", "size missing"}},
}

// exhaustedText matches tmux's messages that it, or its client, has run out of something.
var exhaustedText = lazy.Regexp(`^(error connecting to |create |fork failed|socketpair ).*(Too many open files|Cannot allocate memory|Resource temporarily unavailable)\)?$`)

// kindOf returns the kind of failure that tmux reports with this text, or nil if unknown.
func kindOf(stderr string) error {
	for line := range strings.Lines(stderr) {
		if exhaustedText().MatchString(line) {
			return ErrExhausted
		}
		for _, k := range kinds {
			for _, t := range k.texts {
				if begin, ok := strings.CutPrefix(t, "^"); ok && strings.HasPrefix(line, begin) {
					return k.err
				}
			}
		}
		for _, k := range kinds {
			for _, t := range k.texts {
				if t[0] != '^' && strings.Contains(line, t) {
					return k.err
				}
			}
		}
	}
	return nil
}

// missing matches tmux's messages about an object that does not exist.
var missing = lazy.Regexp(`(?m)^(?:` +
	`(?:can't find|no such) (pane|window|session|client): =?(.*?):?|` +
	`(?:unknown|no) (buffer|user):? (.+)|` +
	`(?:unknown|invalid) (option|variable): (.+)|` +
	`(table) (.+) doesn't exist)$`)

// objectIn returns the object that, according to tmux's message, does not exist.
func objectIn(stderr string) Object {
	m := missing().FindStringSubmatch(stderr)
	for i := 1; i < len(m); i += 2 {
		if m[i] == "table" {
			m[i] = "key table"
		}
		if m[i] != "" {
			return Object{m[i], m[i+1]}
		}
	}
	return Object{}
}

// notFound returns the error for an object missing from a successful command's output.
func notFound(srv *Server, command string, what Object) error {
	return &Error{Command: command, Object: what, Socket: srv.at.path, Err: ErrNotFound}
}
