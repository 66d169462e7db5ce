package tmux

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"golang.org/x/term"

	"tmuxmcp/tmux/internal/wire"
)

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
	// Size is the size of a control mode client, "80x24", or of one of its windows, "@0:80x24".
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

// detachDelay is how long a client may take to detach once the context has ended.
const detachDelay = 2 * time.Second

// Attach attaches the terminal of this process, its standard input, to the session, and
// returns once it is detached: by the user, because the session ends, or because the
// context does, which restores the terminal and whose error is then returned. Meanwhile the
// terminal is tmux's. opts may be zero.
//
// In a pane of this server (see [Server.CurrentPane]), Attach instead switches the client
// that shows the pane, and returns at once; of the options, only NoEnvironment has a meaning
// then, and others are an [ErrArgument]. In a pane of another server, according to the
// variable TMUX, it fails with [ErrArgument] unless opts.Nested is set: keys would go to the
// outer tmux first.
//
// It fails with [ErrNoTerminal] if standard input is no terminal, with [ErrNoClient] if no
// client shows the pane, and with [ErrServerGone] if the server exits. With any [Transport], it
// runs the tmux program, so other users can see opts in the list of processes.
func (r SessionRef) Attach(ctx context.Context, opts AttachSession) error {
	nested := opts.Nested
	opts.Nested = false
	plain := opts == AttachSession{NoEnvironment: opts.NoEnvironment}
	opts.Target = own(r, opts.Target)
	req, err := r.attaching(ctx, opts)
	if err != nil {
		return err
	}
	switch pane, err := r.srv.CurrentPane(ctx); {
	case err == nil && !plain:
		return fmt.Errorf("attach-session: %w", argumentError("options of a client that attaches: this process runs in %s of the same server, whose client switches", pane.ID))
	case err == nil:
		return r.show(ctx, pane, opts.NoEnvironment)
	case !errors.Is(err, ErrOutside):
		return err
	}
	fd := int(os.Stdin.Fd())
	if !term.IsTerminal(fd) {
		return fmt.Errorf("attach-session: standard input: %w", ErrNoTerminal)
	}
	if path, _ := SocketFromEnv(os.Environ()); path != "" && !nested {
		return fmt.Errorf("attach-session: %w", argumentError("this process runs in a pane of the tmux server on %s: set Nested to attach there, or unset TMUX", path))
	}
	before, err := term.GetState(fd)
	if err != nil {
		return fmt.Errorf("attach-session: standard input: %w", err)
	}
	// tmux restores the terminal itself, unless it does not answer.
	defer term.Restore(fd, before)
	return r.attach(ctx, req)
}

// attaching returns the request to attach, once it is known that the session exists.
func (r SessionRef) attaching(ctx context.Context, opts AttachSession) (wire.Request, error) {
	words, list, err := r.srv.encode(ctx, opts)
	if err != nil {
		return wire.Request{}, err
	}
	if err := r.srv.run(ctx, HasSession{Target: r}); err != nil {
		return wire.Request{}, err
	}
	guards, err := guardFor(ctx, words)
	if err != nil {
		return wire.Request{}, err
	}
	req, err := newRequest(slices.Concat(guards, list, []encoded{words}), nil)
	if err == nil && req.Stdin != nil {
		err = argumentError("%d bytes of arguments, and standard input is the terminal", len(req.Stdin))
	}
	return req, err
}

// attach runs the tmux program on the terminal.
func (r SessionRef) attach(ctx context.Context, req wire.Request) error {
	t := r.srv.transport.Exec
	if _, err := t.Reach(ctx, req); err != nil {
		return err
	}
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	stderr := &wire.BoundedWriter{GiveUp: giveUp}
	cmd := exec.CommandContext(ctx, t.Binary, slices.Concat(t.Flags, req.Words)...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = t.Env, os.Stdin, os.Stdin, stderr
	// Unlike one that is killed, a client that is asked to end waits for the server to restore
	// the terminal.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = detachDelay
	err := cmd.Run()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var exit *exec.ExitError
	if err == nil || !errors.As(err, &exit) {
		return wire.Exhausted(err)
	}
	text := string(stderr.Bytes())
	e := &Error{Command: "attach-session", Args: []string{"-t", string(r.ID)}, ExitCode: exit.ExitCode(), Stderr: text, Socket: r.srv.at.Path, Err: wire.KindOf(text), Object: objectIn(text)}
	// tmux says why on the terminal. A server that exits may still answer.
	if text == "" && r.srv.run(ctx, HasSession{Target: r}) != nil {
		e.Err = ErrServerGone
	}
	return e
}

// show switches the client that shows a pane to the session: of several the one that was
// used last.
func (r SessionRef) show(ctx context.Context, pane PaneRef, noEnvironment bool) error {
	type place struct {
		Session SessionID `tmux:"session_id"`
		Window  WindowID  `tmux:"window_id"`
	}
	type client struct {
		ClientRef `tmux:"client_name"`
		Session   SessionID `tmux:"session_id"`
		Window    WindowID  `tmux:"window_id"`
		Activity  time.Time `tmux:"client_activity"`
	}
	var b Batch
	places := AddRows[place](&b, ListPanes{All: true, Filter: MatchEqual("pane_id", string(pane.ID))})
	clients := AddRows[client](&b, ListClients{})
	if err := b.Do(ctx, r.srv); err != nil {
		return err
	}
	shows := func(c client) bool {
		return slices.Contains(*places, place{c.Session, c.Window})
	}
	*clients = slices.DeleteFunc(*clients, func(c client) bool { return !shows(c) })
	if len(*clients) == 0 {
		return fmt.Errorf("attach-session: %w shows %s, in which this process runs", ErrNoClient, pane.ID)
	}
	last := slices.MaxFunc(*clients, func(a, b client) int { return cmp.Compare(a.Activity.Unix(), b.Activity.Unix()) })
	return r.srv.run(ctx, SwitchClient{Client: last, Target: r, NoEnvironment: noEnvironment})
}
