package tmux

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// NewSession creates a session with one window of one pane, and starts the server if none
// is running. The session is detached, as the clients of this package have no terminal: see
// [SessionRef.Attach].
type NewSession struct {
	// Name is the name of the session; if empty, a number. tmux stores backslashes doubled,
	// control bytes as vis(3) writes them (3.7 refuses these), and before 3.7 "_" for each
	// ":" and ".".
	Name string `flag:"s,literal,utf8"`
	// Group is a session whose windows to share or, as a [TargetSpec], the name of a
	// session group, which is created if it does not exist.
	Group Target `flag:"t"`
	// Detached is for [Server.Script], as for a key binding, where a session is attached to the
	// client that runs the command unless this is set.
	Detached   bool   `flag:"d"`
	WindowName string `flag:"n,literal,utf8"`
	// Dir is the working directory of the session and its first pane; if empty, that of
	// this process.
	Dir string `flag:"c,literal"`
	Env Env    `flag:"e"`
	// Width and Height are the size of a detached session, 80x24 by default. tmux 3.2
	// always makes it 80x23.
	Width  int `flag:"x"`
	Height int `flag:"y"`
	// Attach attaches to the session if it exists already.
	Attach bool `flag:"A"`
	// DetachOthers, with Attach, is as in [AttachSession].
	DetachOthers bool `flag:"D"`
	// HangUp, with Attach, is as in [AttachSession].
	HangUp bool `flag:"X"`
	// NoEnvironment does not apply the option update-environment.
	NoEnvironment bool `flag:"E"`
	// ClientFlags are as in [AttachSession].
	ClientFlags string `flag:"f"`
	Print       bool   `flag:"P"`
	Format      Format `flag:"F"`
	// Command is what the first pane runs: see [SplitWindow].
	Command []string `arg:""`
}

// AttachSession attaches the tmux client that runs it to a session. That needs a terminal,
// which the clients of this package do not have: it is for key bindings, and for
// [SessionRef.Attach], which attaches the terminal of this process.
type AttachSession struct {
	Target Target `flag:"t"`
	// Dir becomes the session's working directory for new windows.
	Dir          string `flag:"c,literal"`
	DetachOthers bool   `flag:"d"` // detach the session's other clients
	HangUp       bool   `flag:"x"` // and send SIGHUP to their parent processes
	// NoEnvironment does not update the session's environment.
	NoEnvironment bool `flag:"E"`
	// ClientFlags are set on the client: a comma separated list of active-pane,
	// ignore-size, no-detach-on-destroy, no-output, pause-after=SECONDS, read-only and
	// wait-exit, each with a "!" before it to turn it off.
	ClientFlags string `flag:"f"`
	ReadOnly    bool   `flag:"r"` // the flags read-only and ignore-size
	// Nested is for [SessionRef.Attach]: it attaches in a pane of another server too.
	Nested bool `flag:"-"`
}

// HasSession fails with [ErrNotFound] if there is no such session.
type HasSession struct {
	Target Target `flag:"t"`
}

// KillSession destroys a session, and its windows that are in no other session.
type KillSession struct {
	Target Target `flag:"t"`
	// Others destroys every session except the target.
	Others bool   `flag:"a"`
	Filter Format `flag:"f" since:"3.8"` // with Others: only sessions it is true for
	// Group destroys all sessions of the target's group.
	Group bool `flag:"g" since:"3.7"`
	// ClearAlerts destroys nothing; it clears the alerts in all windows of the session.
	ClearAlerts bool `flag:"C"`
}

// RenameSession renames a session. The name is stored as by [NewSession].
type RenameSession struct {
	Target Target `flag:"t"`
	Name   string `arg:"required,literal,utf8"`
}

// LockSession runs the lock command in all clients of a session.
type LockSession struct {
	Target Target `flag:"t"`
}

func (NewSession) commandName() string    { return "new-session" }
func (AttachSession) commandName() string { return "attach-session" }
func (HasSession) commandName() string    { return "has-session" }
func (KillSession) commandName() string   { return "kill-session" }
func (RenameSession) commandName() string { return "rename-session" }
func (LockSession) commandName() string   { return "lock-session" }

func (c NewSession) rows(f Format) (Command, []Scope) {
	c.Print, c.Format = true, f
	return c, paneScopes
}

// detached returns the command as this package sends it.
func (c NewSession) detached() Command {
	c.Detached = true
	return c
}

// check refuses an empty name, as tmux 3.3 to 3.6 do; other versions accept it.
func (c RenameSession) check(func() (Version, error)) error {
	if c.Name == "" {
		return argumentError("an empty session name")
	}
	return nil
}

// NewSession creates a detached session, and starts the server if none is running. It fails
// with [ErrArgument] if opts.Dir is known not to be a directory (see [SessionRef.NewWindow]).
//
// The session is called exactly opts.Name, so that a name read from tmux can be used again. A
// name that this tmux would change is an [ErrArgument]: one with a single backslash, since tmux
// stores them in pairs, or with ":", "." or a control character before 3.7.
//
// Its window has the index in the option base-index until it is moved: see the example Index
// in example_sessions_test.go.
func (s *Server) NewSession(ctx context.Context, opts NewSession) (Session, error) {
	if err := cmp.Or(keepSessionName(ctx, s, &opts.Name), checkDir(ctx, s, &opts.Dir)); err != nil {
		return Session{}, fmt.Errorf("new-session: %w", err)
	}
	return one[Session](ctx, s, opts)
}

// keepSessionName replaces a name by the text that this tmux stores as that name, and refuses a
// name that it does not store for any.
func keepSessionName(ctx context.Context, s *Server, name *string) error {
	if !strings.ContainsAny(*name, `:.\$`) && !strings.ContainsFunc(*name, isControl) {
		return nil
	}
	v, err := s.Version(ctx)
	if err != nil {
		return err
	}
	text := unescape(*name, false)
	switch refuses := plainNames.In(v) && strings.ContainsFunc(text, isControl); {
	case refuses && text == *name:
		return argumentError("tmux %s takes no control characters in the name of a session: %q", v, *name)
	case refuses || v.storedSession(text) != *name:
		return argumentError("tmux %s would change the name of a session, %q, to %q; pass the latter", v, *name, v.storedSession(*name))
	}
	*name = text
	return nil
}

// Sessions returns all sessions of the server, ordered by name.
func (s *Server) Sessions(ctx context.Context) ([]Session, error) {
	return List[Session](ctx, s, ListSessions{})
}

// SessionNamed returns the session with exactly this name. It fails with [ErrNotFound] if
// there is none.
func (s *Server) SessionNamed(ctx context.Context, name string) (Session, error) {
	return oneSession(ctx, s, "session_name", name)
}

func oneSession(ctx context.Context, s *Server, token, value string) (Session, error) {
	cmd := ListSessions{Filter: MatchEqual(token, value)}
	rows, err := List[Session](ctx, s, cmd)
	return first(s, rows, err, cmd, Object{"session", value})
}

// HasSession reports whether a session exists. Use [Named] for an exact name. It fails with
// [ErrNoServer] if no server is running.
func (s *Server) HasSession(ctx context.Context, target Target) (bool, error) {
	_, err := s.Do(ctx, HasSession{Target: target})
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Info returns the session's state. It fails with [ErrNotFound] if the session is gone.
func (r SessionRef) Info(ctx context.Context) (Session, error) {
	if err := r.checkTarget(); err != nil {
		return Session{}, err
	}
	return oneSession(ctx, r.srv, "session_id", string(r.ID))
}

// Windows returns the windows linked into the session, ordered by index.
func (r SessionRef) Windows(ctx context.Context) ([]Window, error) {
	return List[Window](ctx, r.srv, ListWindows{Target: r})
}

// Panes returns the panes of the session's windows, in order.
func (r SessionRef) Panes(ctx context.Context) ([]Pane, error) {
	return List[Pane](ctx, r.srv, ListPanes{Target: r, Session: true})
}

// Clients returns the clients attached to the session.
func (r SessionRef) Clients(ctx context.Context) ([]Client, error) {
	return List[Client](ctx, r.srv, ListClients{Target: r})
}

// ActiveWindow returns the session's current window.
func (r SessionRef) ActiveWindow(ctx context.Context) (Window, error) {
	return one[Window](ctx, r.srv, r.active())
}

func (r SessionRef) active() ListWindows {
	return ListWindows{Target: r, Filter: "#{window_active}"}
}

// Linked returns the target for a window in this session. A window linked into several
// sessions has an index and flags in each; for its bare id tmux picks the session used
// last.
func (r SessionRef) Linked(id WindowID) Target {
	return place{r.handle, string(r.ID) + ":" + string(id), cmp.Or(r.checkTarget(), id.checkTarget())}
}

// At returns the target for an index in this session, whether or not a window has it. A
// negative one, which tmux counts from the current window, is an [ErrArgument] when the
// target is used.
func (r SessionRef) At(index int) Target {
	err := r.checkTarget()
	if index < 0 {
		err = argumentError("%d is not the index of a window", index)
	}
	return place{r.handle, string(r.ID) + ":" + strconv.Itoa(index), err}
}

// NewWindow creates a window in the session, by default at the next free index. opts.Target
// may be another place in the session: see [SessionRef.At].
//
// tmux silently uses the user's home directory in place of one that it cannot enter. NewWindow
// fails with [ErrArgument] for such an opts.Dir where it can tell: on Linux, for a server of
// this user that has the same file system as this process. A relative one is resolved here.
func (r SessionRef) NewWindow(ctx context.Context, opts NewWindow) (Window, error) {
	if err := checkDir(ctx, r.srv, &opts.Dir); err != nil {
		return Window{}, fmt.Errorf("new-window: %w", err)
	}
	if opts.Target == nil {
		opts.Target = r
	}
	if err := checkTarget(opts.Target, r.srv); err != nil {
		return Window{}, fmt.Errorf("new-window: %w", err)
	}
	if id, _, _ := strings.Cut(opts.Target.TargetSpec(), ":"); strings.HasPrefix(id, "$") && id != string(r.ID) {
		return Window{}, argumentError("new-window: target %s is in another session than %s", opts.Target.TargetSpec(), r.ID)
	}
	if !opts.SelectExisting {
		return one[Window](ctx, r.srv, opts)
	}
	// tmux prints nothing if it finds the window.
	var b Batch
	made := AddRows[Window](&b, opts)
	all := AddRows[Window](&b, ListWindows{Target: r})
	names := AddRows[struct {
		Whole string `tmux:"window_name,whole"`
	}](&b, ListWindows{Target: r})
	if err := b.Do(ctx, r.srv); err != nil {
		return Window{}, err
	}
	if len(*made) > 0 {
		return (*made)[0], nil
	}
	for i, name := range *names {
		if name.Whole == opts.Name || unescape(name.Whole, false) == opts.Name { // stored as vis(3) writes it, from 3.7 on
			return (*all)[i], nil
		}
	}
	return Window{}, notFound(r.srv, "new-window", Object{"window", opts.Name})
}

// Rename renames the session. A name that this tmux would change is an [ErrArgument]: see
// [Server.NewSession].
func (r SessionRef) Rename(ctx context.Context, name string) error {
	if err := keepSessionName(ctx, r.srv, &name); err != nil {
		return fmt.Errorf("rename-session: %w", err)
	}
	return r.srv.run(ctx, RenameSession{Target: r, Name: name})
}

// Kill destroys the session, and its windows that are in no other session. With the last
// session the server exits, unless its option exit-empty is off.
func (r SessionRef) Kill(ctx context.Context) error {
	return r.srv.run(ctx, KillSession{Target: r})
}

// KillOthers destroys every session except this one.
func (r SessionRef) KillOthers(ctx context.Context) error {
	return r.srv.run(ctx, KillSession{Target: r, Others: true})
}

// DetachClients detaches all clients of the session. It is a no-op if there are none.
func (r SessionRef) DetachClients(ctx context.Context) error {
	// detach-client itself treats a missing session as one without clients.
	err := r.srv.run(ctx, HasSession{Target: r}, DetachClient{Session: r})
	if errors.Is(err, ErrNoClient) {
		return nil
	}
	return err
}

// NextWindow makes the window with the next index the current one and returns it.
func (r SessionRef) NextWindow(ctx context.Context) (Window, error) {
	return after[Window](ctx, r.srv, NextWindow{Target: r}, r.active())
}

// LastWindow makes the previously current window the current one again and returns it.
func (r SessionRef) LastWindow(ctx context.Context) (Window, error) {
	return after[Window](ctx, r.srv, LastWindow{Target: r}, r.active())
}

// RenumberWindows renumbers the session's windows without gaps.
func (r SessionRef) RenumberWindows(ctx context.Context) error {
	// move-window -r silently does nothing if the session is gone.
	return r.srv.run(ctx, HasSession{Target: r}, MoveWindow{Target: r, Renumber: true})
}
