package launch

import (
	"context"
	"errors"
	"time"

	"tmuxmcp/internal/pause"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/tmux"
)

// UntilServerEnds creates a session. A tmux server that has just lost its last one may
// still be exiting, and take the command with it; then it is tried again.
func UntilServerEnds(ctx context.Context, srv *tmux.Server, create func() error) error {
	if f := reply.LostFault(srv.SocketPath()); f != nil {
		return f
	}
	err := create()
	for try := 0; try < 50 && errors.Is(err, tmux.ErrServerGone); try++ {
		if err := pause.For(ctx, 10*time.Millisecond); err != nil {
			return err
		}
		err = create()
	}
	return err
}

// sessionSizes: the first window of a detached session gets the requested size. Before 3.6 it gets
// the size of a client attached to another session, if there is one; in 3.2 it is always 80x23.
var sessionSizes = tmux.Feature{Name: "sizes of detached sessions", Since: tmux.Version{Major: 3, Minor: 6}}

// ResizeFirst gives the only window of a new session the size that was asked for, where
// tmux does not.
func ResizeFirst(ctx context.Context, srv *tmux.Server, made tmux.SessionID, width, height int) error {
	if has, err := srv.Supports(ctx, sessionSizes); has || err != nil || width == 0 && height == 0 {
		return err
	}
	_, err := srv.Do(ctx, resizing(tmux.TargetSpec(string(made)+":"), width, height)...)
	return err
}

// resizing returns the commands that give a window a size until a client looks at it. By
// itself, a new window has the size of a client, even of one attached to another session.
func resizing(target tmux.Target, width, height int) []tmux.Command {
	return []tmux.Command{
		tmux.ResizeWindow{Target: target, Width: width, Height: height},
		tmux.SetOption{Target: target, Window: true, Unset: true, Name: "window-size"},
	}
}
