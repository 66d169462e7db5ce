package tmux

// PaneID is the id of a pane: a percent sign and a number, as in "%3". It is
// unique for the life of a tmux server and survives every move of the pane.
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

func validID(sigil byte, s string) bool {
	if len(s) < 2 || s[0] != sigil {
		return false
	}
	for _, c := range []byte(s[1:]) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// A Target names the object a command works on: the value of a -t or -s flag.
// Ids and the reference types ([SessionRef], [WindowRef], [PaneRef],
// [ClientRef]) are targets, and so are the rows that embed them. [Named] and
// [TargetSpec] cover the rest.
type Target interface {
	// TargetSpec is the text tmux is given.
	TargetSpec() string
}

func (id PaneID) TargetSpec() string    { return string(id) }
func (id WindowID) TargetSpec() string  { return string(id) }
func (id SessionID) TargetSpec() string { return string(id) }

// TargetSpec is a target in tmux's own syntax, for example "main:2.1", "{last}"
// or "=work:". Nothing is quoted or checked: tmux matches it as it pleases, by
// prefix and by pattern too. Prefer ids.
type TargetSpec string

func (t TargetSpec) TargetSpec() string { return string(t) }

// Named is the session of exactly this name, matched neither as a prefix nor as
// a pattern.
type Named string

func (n Named) TargetSpec() string { return "=" + string(n) + ":" }

// SessionRef is a session of a server, known by its id. It is a handle, not a
// copy of the session's state; making one costs nothing and asks tmux nothing.
type SessionRef struct {
	srv *Server
	ID  SessionID `json:"session_id"`
}

// WindowRef is a window of a server, known by its id.
type WindowRef struct {
	srv *Server
	ID  WindowID `json:"window_id"`
}

// PaneRef is a pane of a server, known by its id.
type PaneRef struct {
	srv *Server
	ID  PaneID `json:"pane_id"`
}

// ClientRef is a client of a server, known by its name: its terminal
// ("/dev/pts/3"), or "client-" and its process id where it has none.
type ClientRef struct {
	srv  *Server
	Name string `json:"client_name"`
}

// BufferRef is a paste buffer of a server, known by its name.
type BufferRef struct {
	srv  *Server
	Name string `json:"buffer_name"`
}

func (r SessionRef) TargetSpec() string { return string(r.ID) }
func (r WindowRef) TargetSpec() string  { return string(r.ID) }
func (r PaneRef) TargetSpec() string    { return string(r.ID) }
func (r ClientRef) TargetSpec() string  { return r.Name }

// Server is the server that the session belongs to.
func (r SessionRef) Server() *Server { return r.srv }

// Server is the server that the window belongs to.
func (r WindowRef) Server() *Server { return r.srv }

// Server is the server that the pane belongs to.
func (r PaneRef) Server() *Server { return r.srv }

// Server is the server that the client is attached to.
func (r ClientRef) Server() *Server { return r.srv }

// Server is the server that holds the buffer.
func (r BufferRef) Server() *Server { return r.srv }

// ref is what the row decoder fills the embedded reference types through.
type ref interface {
	bind(srv *Server, value string)
}

func (r *SessionRef) bind(srv *Server, v string) { r.srv, r.ID = srv, SessionID(v) }
func (r *WindowRef) bind(srv *Server, v string)  { r.srv, r.ID = srv, WindowID(v) }
func (r *PaneRef) bind(srv *Server, v string)    { r.srv, r.ID = srv, PaneID(v) }
func (r *ClientRef) bind(srv *Server, v string)  { r.srv, r.Name = srv, v }
func (r *BufferRef) bind(srv *Server, v string)  { r.srv, r.Name = srv, v }

// Session is the session with the given id. It is not looked up.
func (s *Server) Session(id SessionID) SessionRef { return SessionRef{s, id} }

// Window is the window with the given id. It is not looked up.
func (s *Server) Window(id WindowID) WindowRef { return WindowRef{s, id} }

// Pane is the pane with the given id. It is not looked up.
func (s *Server) Pane(id PaneID) PaneRef { return PaneRef{s, id} }

// Client is the client with the given name. It is not looked up.
func (s *Server) Client(name string) ClientRef { return ClientRef{s, name} }

// Buffer is the paste buffer with the given name. It is not looked up.
func (s *Server) Buffer(name string) BufferRef { return BufferRef{s, name} }
