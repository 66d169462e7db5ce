package tmux

import (
	"strconv"
	"strings"
)

// PaneID is the id of a pane: a percent sign and a number, such as "%3". It is unique for
// the life of a tmux server, and a pane keeps it wherever it is moved. Valid ids name the
// same pane if and only if they are equal: tmux also takes "%03" for "%3", but that is not
// valid here.
type PaneID string

// WindowID is the id of a window: an at sign and a number, as in "@1".
type WindowID string

// SessionID is the id of a session: a dollar sign and a number, as in "$0".
type SessionID string

// Valid reports whether the id has the form tmux gives to panes.
func (id PaneID) Valid() bool { return validID('%', string(id)) }

// Valid reports whether the id has the form tmux gives to windows.
func (id WindowID) Valid() bool { return validID('@', string(id)) }

// Valid reports whether the id has the form tmux gives to sessions.
func (id SessionID) Valid() bool { return validID('$', string(id)) }

// validID reports whether s is the one way to write an id.
func validID(sigil byte, s string) bool {
	if s == "" || s[0] != sigil {
		return false
	}
	n, err := strconv.ParseUint(s[1:], 10, 32)
	return err == nil && strconv.FormatUint(n, 10) == s[1:]
}

// A Target names the object a command works on. Ids, references ([SessionRef], [WindowRef],
// [PaneRef], [ClientRef]) and the rows that embed them are targets. [Named] and
// [TargetSpec] cover the rest. A reference of another server, on another socket, is an
// [ErrArgument]. For a command on a window or a pane, a session stands for its
// current window, and a window for its active pane.
type Target interface {
	// TargetSpec returns the target in tmux's syntax.
	TargetSpec() string
}

func (id PaneID) TargetSpec() string    { return string(id) }
func (id WindowID) TargetSpec() string  { return string(id) }
func (id SessionID) TargetSpec() string { return string(id) }

// TargetSpec is a target in tmux's own syntax, such as "main:2.1", "{last}" or "=work:". It
// is passed on unchanged, and tmux also matches it as a prefix and a pattern. Prefer ids.
type TargetSpec string

func (t TargetSpec) TargetSpec() string { return string(t) }

// Named is the session with exactly this name, never matched as a prefix or pattern. tmux
// takes a name that is empty, begins with "$" or contains ":", as sessions may be called from
// tmux 3.7 on, for something else; that is an [ErrArgument]. See [Server.SessionNamed].
type Named string

func (n Named) TargetSpec() string { return "=" + string(n) + ":" }

func (n Named) checkTarget() error {
	if n == "" || n[0] == '$' || strings.Contains(string(n), ":") {
		return argumentError("%q names no session in a target; SessionNamed finds any name", string(n))
	}
	return nil
}

// place is a target in a session, or the error that there is none.
type place struct {
	handle
	spec string
	err  error
}

func (p place) TargetSpec() string { return p.spec }
func (p place) checkTarget() error { return p.err }

// handle is what the references have in common.
type handle struct{ srv *Server }

// Server returns the server that the object belongs to, or nil for a zero reference.
func (h handle) Server() *Server { return h.srv }

// SessionRef refers to a session of a server by its id. It is a handle, not a copy of the
// session's state. Making one sends nothing to tmux.
type SessionRef struct {
	handle
	ID SessionID `json:"session_id"`
}

// WindowRef refers to a window of a server by its id.
type WindowRef struct {
	handle
	ID WindowID `json:"window_id"`
}

// PaneRef refers to a pane of a server by its id.
type PaneRef struct {
	handle
	ID PaneID `json:"pane_id"`
}

// ClientRef refers to a client of a server by its name: its terminal ("/dev/pts/3") or, if
// it has none, "client-" and its process id.
type ClientRef struct {
	handle
	Name string `json:"client_name"`
}

// BufferRef refers to a paste buffer of a server by its name.
type BufferRef struct {
	handle
	Name string `json:"buffer_name"`
}

func (r SessionRef) TargetSpec() string { return string(r.ID) }
func (r WindowRef) TargetSpec() string  { return string(r.ID) }
func (r PaneRef) TargetSpec() string    { return string(r.ID) }
func (r ClientRef) TargetSpec() string  { return r.Name }

// ref is how the row decoder fills in embedded references.
type ref interface {
	bind(srv *Server, value string)
}

func (r *SessionRef) bind(srv *Server, v string) { r.srv, r.ID = srv, SessionID(v) }
func (r *WindowRef) bind(srv *Server, v string)  { r.srv, r.ID = srv, WindowID(v) }
func (r *PaneRef) bind(srv *Server, v string)    { r.srv, r.ID = srv, PaneID(v) }
func (r *ClientRef) bind(srv *Server, v string)  { r.srv, r.Name = srv, v }
func (r *BufferRef) bind(srv *Server, v string)  { r.srv, r.Name = srv, v }

// Session returns a reference to the session with the given id, without looking it up.
func (s *Server) Session(id SessionID) SessionRef { return SessionRef{handle{s}, id} }

// Window returns a reference to the window with the given id, without looking it up.
func (s *Server) Window(id WindowID) WindowRef { return WindowRef{handle{s}, id} }

// Pane returns a reference to the pane with the given id, without looking it up.
func (s *Server) Pane(id PaneID) PaneRef { return PaneRef{handle{s}, id} }

// Client returns a reference to the client with the given name, without looking it up.
func (s *Server) Client(name string) ClientRef { return ClientRef{handle{s}, name} }

// Buffer returns a reference to the paste buffer of the given name, without a lookup.
func (s *Server) Buffer(name string) BufferRef { return BufferRef{handle{s}, name} }
