package tmux

import "context"

// DetachClient detaches clients from their sessions.
type DetachClient struct {
	Target  Target `flag:"t"` // a client
	Session Target `flag:"s"` // all clients of a session
	Others  bool   `flag:"a"` // all clients except Target
	HangUp  bool   `flag:"P"` // send SIGHUP to the client's parent process too
	// Exec is a shell command line that replaces the client.
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

// SwitchClient switches a client to another session, window or pane.
type SwitchClient struct {
	Client Target `flag:"c"`
	// Target is a session, or a pane.
	Target   Target `flag:"t"`
	Last     bool   `flag:"l"` // the client's previous session
	Next     bool   `flag:"n"`
	Previous bool   `flag:"p"`
	// Order is the order for Next and Previous: name, size, creation or activity.
	Order string `flag:"O" since:"3.7"`
	// ToggleReadOnly toggles the client's flags read-only and ignore-size.
	ToggleReadOnly bool `flag:"r"`
	// KeyTable is the table in which the client's next key is looked up.
	KeyTable string `flag:"T"`
	KeepZoom bool   `flag:"Z"`
	// NoEnvironment does not update the session's environment.
	NoEnvironment bool `flag:"E"`
}

// RefreshClient redraws a client, or changes one of its settings.
type RefreshClient struct {
	// Clipboard requests the terminal's clipboard and stores it in a paste buffer.
	Clipboard bool `flag:"l"`
	// ClipboardPane also pastes it into this pane.
	ClipboardPane Target `flag:"l" since:"3.3" until:"3.6"`
	Target        Target `flag:"t"` // a client
	StatusOnly    bool   `flag:"S"`
	// Size is that of a control mode client, "80x24", or of one of its windows, "@0:80x24".
	Size string `flag:"C"`
	// PaneStates are actions of a control mode client on panes: "%0:pause", or with
	// continue, on or off.
	PaneStates []string `flag:"A"`
	// Subscribe lists formats whose changes are reported to a control mode client, each as
	// "name:what:format".
	Subscribe []string `flag:"B"`
	// Reports are terminal responses that a control mode client passes on, each as "%0:"
	// and an escape sequence.
	Reports []string `flag:"r" since:"3.5"`
	// Flags are the client flags: see ClientFlags of [AttachSession].
	Flags string `flag:"f"`
	// Features is the older way to set Flags.
	Features    string `flag:"F"`
	TrackCursor bool   `flag:"c"` // undo Down, Left, Right and Up
	// Down, Left, Right and Up move the visible part of a window larger than the client.
	Down  bool `flag:"D"`
	Left  bool `flag:"L"`
	Right bool `flag:"R"`
	Up    bool `flag:"U"`
	By    int  `arg:""` // how far; 0 means 1
}

func (DetachClient) commandName() string  { return "detach-client" }
func (SuspendClient) commandName() string { return "suspend-client" }
func (LockClient) commandName() string    { return "lock-client" }
func (SwitchClient) commandName() string  { return "switch-client" }
func (RefreshClient) commandName() string { return "refresh-client" }

// Clients returns the clients attached to any session.
func (s *Server) Clients(ctx context.Context) ([]Client, error) {
	return listAll[Client](ctx, s, ListClients{})
}

// Info returns the client's state. It fails with [ErrNotFound] if the client is gone.
func (r ClientRef) Info(ctx context.Context) (Client, error) {
	// list-clients has filters only from tmux 3.4 on, and clients are few.
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

// Switch switches the client to another session, or to a pane and its session.
func (r ClientRef) Switch(ctx context.Context, to Target) error {
	if to == nil {
		return argumentError("switch %s: no target", r.Name)
	}
	return r.srv.run(ctx, SwitchClient{Client: r, Target: to})
}

// Detach detaches the client.
func (r ClientRef) Detach(ctx context.Context) error {
	return r.srv.run(ctx, DetachClient{Target: r})
}
