package tools

import (
	"context"
	"errors"

	"tmuxmcp/server/internal/closing"
	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/launch"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/tool"
	"tmuxmcp/tmux"
)

func createSession(st *launch.Starter) *tool.Tool {
	return tool.New(tool.Decl{
		Name: "create_session", Title: "Create tmux Session", Kind: tool.Starts, Set: tool.Sessions, Core: true,
		Aim: target.Nowhere, Harm: guard.Harmless,
		Desc: "Create a new detached tmux session with one window and a shell, starting the server if needed. Returns session, window and pane. " +
			"Its environment applies to all panes created in it later.",
	}, func(ctx context.Context, c tool.Call, in createSessionIn) (*createdSession, error) {
		cmd := tmux.NewSession{WindowName: in.WindowName, Width: in.X, Height: in.Y}
		if in.SessionName != nil {
			if err := target.CheckSessionName("session_name", *in.SessionName); err != nil {
				return nil, err
			}
			cmd.Name = *in.SessionName
		}
		var err error
		if cmd.Dir, cmd.Env, err = in.Prepare(st.Path); err != nil {
			return nil, err
		}
		type made struct {
			rows.Session
			launch.Fleeting // the server may not live long enough to be asked later
		}
		var listed []made
		err = launch.UntilServerEnds(ctx, c.Tmux, func() (err error) {
			listed, err = tmux.List[made](ctx, c.Tmux, cmd)
			return err
		})
		if err != nil {
			return nil, err
		}
		if len(listed) == 0 {
			return nil, reply.Faultf(reply.KindTmux, "tmux made no session").Suggest("its configuration may end the server: start it by hand with tmux new-session to see what it says")
		}
		s := &createdSession{Session: rows.Complete[rows.Session](c.Source, []rows.Session{listed[0].Session}, nil)[0]}
		if err := launch.ResizeFirst(ctx, c.Tmux, s.SessionID, in.X, in.Y); err != nil && !screen.IsGone(err) {
			return nil, err
		}
		if s.ActivePaneID != nil {
			pane := rows.Pane{PaneID: *s.ActivePaneID}
			err = st.StartedSession(ctx, c.Tmux, &s.Session, &pane, listed[0].Fleeting)
			s.ActiveWindowID = pane.WindowID
		}
		return s, err
	})
}

type createdSession struct {
	rows.Session
	ActiveWindowID tmux.WindowID `json:"active_window_id"`
}

type createSessionIn struct {
	SessionName *string `json:"session_name,omitempty" desc:"default: a number"`
	WindowName  string  `json:"window_name,omitempty"`
	X           int     `json:"x,omitempty" min:"1" desc:"columns"`
	Y           int     `json:"y,omitempty" min:"1" desc:"rows"`
	launch.Spawn
	target.OnSocket
}

var renameSession = tool.New(tool.Decl{
	Name: "rename_session", Title: "Rename tmux Session", Kind: tool.Changes, Set: tool.Sessions,
	Aim: target.Need(target.Session), Harm: guard.Harmless,
	Desc: "Rename a tmux session.",
}, func(ctx context.Context, c tool.Call, in renameSessionIn) (*rows.Session, error) {
	// tmux may store a different spelling of the name, so the row is found by id.
	var b tmux.Batch
	before := tmux.AddRows[rows.Session](&b, tmux.ListSessions{Filter: c.On.Within()})
	tmux.Add(&b, tmux.RenameSession{Target: c.On.Target, Name: in.NewName})
	after := tmux.AddRows[rows.Session](&b, tmux.ListSessions{})
	if err := b.Do(ctx, c.Tmux); err != nil {
		return nil, err
	}
	for i, row := range *after {
		if len(*before) > 0 && row.SessionID == (*before)[0].SessionID {
			return &(*after)[i], nil
		}
	}
	return nil, target.Missing(ctx, c.Tmux, c.On.Selection)
})

type renameSessionIn struct {
	NewName string `json:"new_name" desc:"without : and ."`
	target.SelectSession
	target.OnSocket
}

func (in renameSessionIn) Check(tool.Limits) error {
	return target.CheckSessionName("new_name", in.NewName)
}

var killSession = tool.New(tool.Decl{
	Name: "kill_session", Title: "Kill tmux Session", Kind: tool.Destroys, Set: tool.Sessions,
	Aim: target.Need(target.Session), Harm: guard.Ends,
	Desc: "Kill a tmux session: close its windows and hang up the programs in them. Windows linked into other sessions survive.",
}, func(ctx context.Context, c tool.Call, in target.OfSession) (t reply.Text, err error) {
	var b tmux.Batch
	before := tmux.AddRows[rows.Session](&b, tmux.ListSessions{Filter: c.On.Within()})
	tmux.Add(&b, tmux.KillSession{Target: c.On.Target})
	if err := closing.Panes(ctx, c.Tmux, c.Guard.Aim.FilterFor(c.On.Selection), func() error { return b.Do(ctx, c.Tmux) }); err != nil {
		return t, err
	}
	for _, row := range *before {
		t.Result = reply.Say("Session killed: %s (%s)", row.SessionID, reply.Named(row.SessionName, "()"))
	}
	return t, nil
})

var killServer = tool.New(tool.Decl{
	Name: "kill_server", Title: "Kill tmux Server", Kind: tool.Destroys, Set: tool.Sessions,
	Aim: target.WholeServer, Harm: guard.Ends,
	Desc: "Kill the tmux server with all its sessions and hang up the programs in them. Not an error if no server is running.",
}, func(ctx context.Context, c tool.Call, in target.OnSocket) (t reply.Text, err error) {
	if _, err := c.Tmux.Info(ctx); errors.Is(err, tmux.ErrNoServer) {
		if f := reply.LostFault(c.Tmux.SocketPath()); f != nil {
			return t, f
		}
		t.Result = reply.Say("No tmux server ran on %s", c.Tmux.SocketPath())
		return t, nil
	}
	if err := closing.Panes(ctx, c.Tmux, "", func() error { return c.Tmux.Kill(ctx) }); err != nil {
		return t, err
	}
	t.Result = reply.Say("Server killed: %s", c.Tmux.SocketPath())
	return t, nil
})

// closes runs a command that closes the call's object.
func closes(ctx context.Context, c tool.Call, cmd tmux.Command) error {
	return closing.Panes(ctx, c.Tmux, c.Guard.Aim.FilterFor(c.On.Selection), func() error {
		_, err := c.Tmux.Do(ctx, cmd)
		return err
	})
}
