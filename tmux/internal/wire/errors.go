package wire

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"tmuxmcp/internal/guarded"
	"tmuxmcp/internal/lazy"
)

// Kinds of failure. Package tmux exports and documents them.
var (
	ErrNoServer        = errors.New("no tmux server")
	ErrServerGone      = errors.New("tmux server exited")
	ErrNoAnswer        = errors.New("tmux has not answered")
	ErrNotFound        = errors.New("not found")
	ErrNoSession       = fmt.Errorf("no session: %w", ErrNotFound)
	ErrExists          = errors.New("already exists")
	ErrAmbiguous       = errors.New("ambiguous")
	ErrNoSpace         = errors.New("no space for pane")
	ErrNotInMode       = errors.New("not in a mode")
	ErrUnknownOption   = errors.New("unknown option")
	ErrUnmet           = errors.New("condition not met")
	ErrBadValue        = errors.New("bad value")
	ErrRunning         = errors.New("still running")
	ErrNoInput         = errors.New("no input")
	ErrLastLink        = errors.New("linked to one session only")
	ErrNoTerminal      = errors.New("not a terminal")
	ErrUsage           = errors.New("bad usage")
	ErrUnsupported     = errors.New("not supported by this tmux")
	ErrArgument        = errors.New("invalid argument")
	ErrNoClient        = errors.New("no client")
	ErrOutside         = errors.New("not inside tmux")
	ErrVersionMismatch = errors.New("tmux client and server versions differ")
	ErrUntrusted       = errors.New("not trusted")
	ErrExhausted       = errors.New("out of resources")
	ErrTooMuch         = errors.New("too much output")
)

// Argument returns an [ErrArgument] with its reason.
func Argument(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrArgument, fmt.Sprintf(format, args...))
}

// Names that no option has. Package tmux makes tmux read an option of such a name if a condition
// is false.
const (
	Unmet   = "condition-is-not-met"
	Unasked = "guard-is-not-met"
)

// Exhausted wraps a system error that means a resource has run out in an ErrExhausted that
// says what to do. It returns other errors unchanged.
func Exhausted(err error) error {
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

// Creating begins tmux's message that it cannot make its socket. tmux then exits with 0.
const Creating = "^error creating "

// kinds maps tmux's messages to kinds of failure. "^" anchors a text at the beginning of a
// line; anchored texts are looked for first, because what follows them may be a name that
// reads like another error. Otherwise the first match wins. Different wordings of one
// message are listed together.
var kinds = []struct {
	err   error
	texts []string
}{
	{ErrNoServer, []string{"^no server running on ", "^error connecting to "}},
	{ErrArgument, []string{Creating}},
	{ErrVersionMismatch, []string{"^protocol version mismatch", "^server version is too old"}},
	{ErrServerGone, []string{"^server exited", "^lost server", "^[lost tty]"}},
	{ErrAmbiguous, []string{"^ambiguous "}},
	{ErrExists, []string{"^duplicate session: ", " in use", "^same index: ", "^session already exists", "already linked", "already set: ", "window is already linked", "duplicate buffer", " already exists", " is already added"}},
	{ErrUnmet, []string{"^invalid option: " + Unmet}},
	{guarded.Err, []string{"^invalid option: " + Unasked}},
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

// exhaustedText matches tmux's messages that it or its client has run out of a resource.
var exhaustedText = lazy.Regexp(`^(error connecting to |create |fork failed|socketpair ).*(Too many open files|Cannot allocate memory|Resource temporarily unavailable)\)?$`)

// KindOf returns the kind of failure that tmux reports with this text, or nil if unknown.
func KindOf(stderr string) error {
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

// ObjectIn returns the kind and the name of the object that, according to tmux's message, does
// not exist.
func ObjectIn(stderr string) (kind, name string) {
	m := missing().FindStringSubmatch(stderr)
	for i := 1; i < len(m); i += 2 {
		if m[i] == "table" {
			m[i] = "key table"
		}
		if m[i] != "" {
			return m[i], m[i+1]
		}
	}
	return "", ""
}
