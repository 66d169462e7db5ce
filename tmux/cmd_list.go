package tmux

import "time"

// The scopes whose tokens the rows of each kind of list have.
var (
	paneScopes    = []Scope{PaneScope, WindowScope, SessionScope, ServerScope}
	clientScopes  = []Scope{ClientScope, PaneScope, WindowScope, SessionScope, ServerScope}
	bufferScopes  = []Scope{BufferScope, ServerScope}
	messageScopes = []Scope{PaneScope, WindowScope, SessionScope, ServerScope, ClientScope}
)

// ListSessions lists the sessions of the server, by default ordered by name.
type ListSessions struct {
	// Filter keeps the sessions for which it expands to something other than "" and "0".
	Filter  Format `flag:"f"`
	Format  Format `flag:"F"`
	Order   string `flag:"O" since:"3.7"` // index, name, size, creation or activity
	Reverse bool   `flag:"r" since:"3.7"`
}

// ListWindows lists the windows of a session or, with All, of the server. A window linked
// into several sessions has a row in each.
type ListWindows struct {
	Target  Target `flag:"t"` // a session; the most recently active one if nil
	All     bool   `flag:"a"`
	Filter  Format `flag:"f"`
	Format  Format `flag:"F"`
	Order   string `flag:"O" since:"3.7"` // index, name, size, creation or activity
	Reverse bool   `flag:"r" since:"3.7"`
}

// ListPanes lists the panes of a window, with Session of a session, with All of the server.
type ListPanes struct {
	Target  Target `flag:"t"`
	Session bool   `flag:"s"` // Target is a session
	All     bool   `flag:"a"`
	Filter  Format `flag:"f"`
	Format  Format `flag:"F"`
	Order   string `flag:"O" since:"3.7"` // index, name, size, creation or activity
	Reverse bool   `flag:"r" since:"3.7"`
}

// ListClients lists the attached clients. It fails with [ErrNoSession] if the server has no
// sessions; [Server.Clients] returns an empty list instead.
type ListClients struct {
	Target  Target `flag:"t"` // a session; the clients of all if nil
	Filter  Format `flag:"f" since:"3.4"`
	Format  Format `flag:"F"`
	Order   string `flag:"O" since:"3.7"` // index, name, size, creation or activity
	Reverse bool   `flag:"r" since:"3.7"`
}

// ListBuffers lists the paste buffers, by default newest first.
type ListBuffers struct {
	Filter  Format `flag:"f"`
	Format  Format `flag:"F"`
	Order   string `flag:"O" since:"3.7"` // name, size or creation
	Reverse bool   `flag:"r" since:"3.7"`
}

// DisplayMessage shows a message in the status line of a client or, with Print, prints it.
// It does not fail if the target does not exist: tokens are then empty. [PaneRef.Display]
// and the like do fail.
type DisplayMessage struct {
	Target Target `flag:"t"`
	// Client is the client that shows the message and that client tokens describe.
	Client Target `flag:"c" since:"3.3"`
	Print  bool   `flag:"p"`
	// All prints every token that has a value here, one per line.
	All bool `flag:"a"`
	// Verbose prints how the format is expanded.
	Verbose bool `flag:"v"`
	// Live keeps panes being drawn under the message.
	Live bool `flag:"C" since:"3.6"`
	// Stdin writes Input into an empty pane.
	Stdin bool   `flag:"I"`
	Input []byte `flag:"-"`
	// JSON checks that the message is JSON and prints it as JSON.
	JSON bool `flag:"j" since:"3.8"`
	// Format is an older way to set Message.
	Format  Format `flag:"F"`
	NoDelay bool   `flag:"N"` // a key press does not close the message; since 3.2
	// Delay is how long the message stays, in whole milliseconds; 0 waits for a key.
	Delay *time.Duration `flag:"d,milliseconds"`
	// Literal shows the message verbatim, not as a format.
	Literal bool `flag:"l" since:"3.4"`
	// Message is a format. Percent signs are literal, protected from tmux's strftime.
	Message Format `arg:"required,time"`
}

func (ListSessions) commandName() string   { return "list-sessions" }
func (ListWindows) commandName() string    { return "list-windows" }
func (ListPanes) commandName() string      { return "list-panes" }
func (ListClients) commandName() string    { return "list-clients" }
func (ListBuffers) commandName() string    { return "list-buffers" }
func (DisplayMessage) commandName() string { return "display-message" }

func (c DisplayMessage) stdin() []byte { return c.Input }

func (c ListSessions) rows(f Format) (Command, []Scope) { c.Format = f; return c, paneScopes }
func (c ListWindows) rows(f Format) (Command, []Scope)  { c.Format = f; return c, paneScopes }
func (c ListPanes) rows(f Format) (Command, []Scope)    { c.Format = f; return c, paneScopes }
func (c ListClients) rows(f Format) (Command, []Scope)  { c.Format = f; return c, clientScopes }
func (c ListBuffers) rows(f Format) (Command, []Scope)  { c.Format = f; return c, bufferScopes }
func (c DisplayMessage) rows(f Format) (Command, []Scope) {
	c.Print, c.Message = true, f
	return c, messageScopes
}
