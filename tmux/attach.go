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
)

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
// client shows the pane, and with [ErrServerGone] if the server exits. It runs the tmux
// program, whatever the [Transport], which shows opts to other users in the list of
// processes.
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
func (r SessionRef) attaching(ctx context.Context, opts AttachSession) (request, error) {
	words, list, err := r.srv.encode(ctx, opts)
	if err != nil {
		return request{}, err
	}
	if err := r.srv.run(ctx, HasSession{Target: r}); err != nil {
		return request{}, err
	}
	guards, err := guardFor(ctx, words)
	if err != nil {
		return request{}, err
	}
	req, err := newRequest(slices.Concat(guards, list, []encoded{words}), nil)
	if err == nil && req.stdin != nil {
		err = argumentError("%d bytes of arguments, and standard input is the terminal", len(req.stdin))
	}
	return req, err
}

// attach runs the tmux program on the terminal.
func (r SessionRef) attach(ctx context.Context, req request) error {
	t := r.srv.transport.exec
	if _, err := t.reach(ctx, req); err != nil {
		return err
	}
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	stderr := &boundedWriter{giveUp: giveUp}
	cmd := exec.CommandContext(ctx, t.binary, slices.Concat(t.flags, req.words)...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = t.env, os.Stdin, os.Stdin, stderr
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
		return exhausted(err)
	}
	text := string(stderr.bytes())
	e := &Error{Command: "attach-session", Args: []string{"-t", string(r.ID)}, ExitCode: exit.ExitCode(), Stderr: text, Socket: r.srv.at.path, Err: kindOf(text), Object: objectIn(text)}
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
