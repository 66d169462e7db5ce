package tmux

import "context"

// DetachClient detaches clients from their sessions.
type DetachClient struct {
	Target  Target `flag:"t"` // a client
	Session Target `flag:"s"` // all clients of a session
	Others  bool   `flag:"a"` // all clients but Target
	HangUp  bool   `flag:"P"` // send SIGHUP to the client's parent process too
	// Exec is a command line for the shell that replaces the client.
	Exec string `flag:"E"`
}

// SuspendClient stops a client as its terminal's suspend key would.
type SuspendClient struct {
	Target Target `flag:"t"`
}

// LockClient runs the lock command in a client.
type LockClient struct {
	Target Target `flag:"t"`
}

// SwitchClient makes a client show another session, window or pane.
type SwitchClient struct {
	Client Target `flag:"c"`
	// Target is a session, or a pane.
	Target   Target `flag:"t"`
	Last     bool   `flag:"l"` // the session it showed before
	Next     bool   `flag:"n"`
	Previous bool   `flag:"p"`
	// Order is what Next and Previous go by: name, size, creation or activity.
	Order string `flag:"O" since:"3.7"`
	// ToggleReadOnly makes the client read-only and its size ignored, or no longer.
	ToggleReadOnly bool `flag:"r"`
	// KeyTable is where the client's next key is looked up.
	KeyTable string `flag:"T"`
	KeepZoom bool   `flag:"Z"`
	// NoEnvironment leaves the session's environment as it is.
	NoEnvironment bool `flag:"E"`
}

// RefreshClient redraws a client, or sets something about it.
type RefreshClient struct {
	// Clipboard asks the terminal for its clipboard, which becomes a buffer.
	Clipboard bool `flag:"l"`
	// ClipboardPane gets it pasted besides.
	ClipboardPane Target `flag:"l" since:"3.3" until:"3.6"`
	Target        Target `flag:"t"` // a client
	StatusOnly    bool   `flag:"S"`
	// Size is that of a control mode client, "80x24", or of one window there,
	// "@0:80x24".
	Size string `flag:"C"`
	// PaneStates are actions of a control mode client on panes: "%0:pause", or
	// with continue, on or off.
	PaneStates []string `flag:"A"`
	// Subscribe are formats whose changes are reported to a control mode client:
	// "name:what:format".
	Subscribe []string `flag:"B"`
	// Reports are answers of a terminal that a control mode client passes on:
	// "%0:" and an escape sequence.
	Reports []string `flag:"r" since:"3.5"`
	// Flags are as the ClientFlags of [AttachSession].
	Flags string `flag:"f"`
	// Features is the older way to set Flags.
	Features    string `flag:"F"`
	TrackCursor bool   `flag:"c"` // undo Down, Left, Right and Up
	// Down, Left, Right and Up move the visible part of a window that is larger
	// than the client.
	Down  bool `flag:"D"`
	Left  bool `flag:"L"`
	Right bool `flag:"R"`
	Up    bool `flag:"U"`
	By    int  `arg:""` // how far, 1 when 0
}

func (DetachClient) CommandName() string  { return "detach-client" }
func (SuspendClient) CommandName() string { return "suspend-client" }
func (LockClient) CommandName() string    { return "lock-client" }
func (SwitchClient) CommandName() string  { return "switch-client" }
func (RefreshClient) CommandName() string { return "refresh-client" }

// Clients returns the clients attached to any session.
func (s *Server) Clients(ctx context.Context) ([]Client, error) {
	return listAll[Client](ctx, s, ListClients{})
}

// Info returns the client's state. It fails with [ErrNotFound] if the client is gone.
func (r ClientRef) Info(ctx context.Context) (Client, error) {
	// list-clients has filters only from tmux 3.4, and clients are few.
	all, err := r.srv.Clients(ctx)
	if err != nil {
		return Client{}, err
	}
	for _, c := range all {
		if c.Name == r.Name {
			return c, nil
		}
	}
	return Client{}, notFound(r.srv, "list-clients", r.object())
}

// Switch makes the client show another session, or the session of a pane with that pane selected.
func (r ClientRef) Switch(ctx context.Context, to Target) error {
	return r.srv.run(ctx, SwitchClient{Client: r, Target: to})
}

// Detach detaches the client.
func (r ClientRef) Detach(ctx context.Context) error {
	return r.srv.run(ctx, DetachClient{Target: r})
}
