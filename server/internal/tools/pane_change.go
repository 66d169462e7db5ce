package tools

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"

	"tmuxmcp/server/internal/closing"
	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/launch"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/tool"
	"tmuxmcp/tmux"
)

func splitWindow(st *launch.Starter) *tool.Tool {
	return tool.New(tool.Decl{
		Name: "split_window", Title: "Split tmux Window", Kind: tool.Shell, Set: tool.Windows, Core: true,
		Aim: target.Default(target.Pane), Harm: guard.Harmless,
		Hint: "open a new pane or terminal, start a dev server",
		Desc: "Open a new pane (terminal) beside another by splitting that, without moving the focus. Runs a shell, or the command given in shell, " +
			"such as a dev server. Splits pane_id, else the active pane of the window, else the caller's pane.",
	}, func(ctx context.Context, c tool.Call, in splitWindowIn) (*rows.Pane, error) {
		cmd := tmux.SplitWindow{
			Target: c.On.Target, Detached: true, Size: tmux.Size(in.Size),
			Right:  in.Direction == "left" || in.Direction == "right",
			Before: in.Direction == "left" || in.Direction == "above",

			Command: launch.ShellCommand(in.Shell),
		}
		var err error
		if cmd.Dir, cmd.Env, err = in.PrepareBeside(ctx, c.Tmux, st.Path, cmd.Target, "pane_current_path"); err != nil {
			return nil, err
		}
		listed, err := rows.List[rows.Pane](ctx, c.Source, new(tmux.Batch), cmd)
		if err != nil {
			return nil, err
		}
		return &listed[0], st.Started(ctx, c.Tmux, &listed[0], in.Shell)
	})
}

type splitWindowIn struct {
	PaneID tmux.PaneID `json:"pane_id,omitempty" desc:"like %1"`
	target.SelectWindow
	Direction string      `json:"direction,omitempty" enum:"above,below,left,right" desc:"default: below"`
	Size      launch.Size `json:"size,omitempty" desc:"cells, or a percentage such as 30%"`
	Shell     string      `json:"shell,omitempty" desc:"command line instead of a shell"`
	launch.Spawn
	target.OnSocket
}

func (in splitWindowIn) Selected() target.Selection {
	s := in.SelectWindow.Selected()
	s.Pane = in.PaneID
	return s
}

var resizePane = tool.New(tool.Decl{
	Name: "resize_pane", Title: "Resize Pane", Kind: tool.Changes, Set: tool.Panes,
	Aim: target.Need(target.Pane), Harm: guard.Disturbs,
	Desc: "Resize a pane in columns or rows, as far as the window allows, or zoom it: zoom=true fills the window with it, zoom=false restores the layout.",
}, func(ctx context.Context, c tool.Call, in resizePaneIn) (*rows.Pane, error) {
	if in.Zoom != nil {
		return zoom(ctx, c, *in.Zoom)
	}
	cmd := tmux.ResizePane{Target: c.On.Target}
	if in.Height != nil {
		cmd.Height = tmux.Cells(*in.Height)
	}
	if in.Width != nil {
		cmd.Width = tmux.Cells(*in.Width)
	}
	p, err := rows.Find[rows.Pane](ctx, c.Source, c.On.Selection, cmd)
	if err != nil || !reply.Value(p.PaneFloatingFlag) {
		return p, err
	}
	// tmux takes the sizes of a floating pane with its border.
	var border bool
	if in.Height != nil && *in.Height > p.PaneHeight {
		cmd.Height, border = tmux.Cells(2**in.Height-p.PaneHeight), true
	}
	if in.Width != nil && *in.Width > p.PaneWidth {
		cmd.Width, border = tmux.Cells(2**in.Width-p.PaneWidth), true
	}
	if !border {
		return p, nil
	}
	cmd.Target = p.PaneID
	return rows.Find[rows.Pane](ctx, c.Source, target.Selection{Pane: p.PaneID}, cmd)
})

type resizePaneIn struct {
	target.SelectPane
	Height *int  `json:"height,omitempty" min:"1" desc:"rows"`
	Width  *int  `json:"width,omitempty" min:"1" desc:"columns"`
	Zoom   *bool `json:"zoom,omitempty"`
	target.OnSocket
}

func (in resizePaneIn) Check(tool.Limits) error {
	switch sized := in.Height != nil || in.Width != nil; {
	case sized && in.Zoom != nil:
		return reply.Faultf(reply.KindValidation, "zoom cannot be combined with height or width")
	case !sized && in.Zoom == nil:
		return reply.Faultf(reply.KindValidation, "resize_pane needs height, width or zoom")
	}
	return nil
}

// zoom makes a pane fill its window, or makes sure that it does not.
func zoom(ctx context.Context, c tool.Call, on bool) (*rows.Pane, error) {
	at := c.On.Target
	// resize-pane -Z only toggles, and window_zoomed_flag is the window's.
	condition, zoomed := tmux.Format("#{&&:#{window_zoomed_flag},#{pane_active}}"), []tmux.Command{tmux.ResizePane{Target: at, ToggleZoom: true}}
	if on {
		condition, zoomed = tmux.Not(condition), append([]tmux.Command{tmux.SelectPane{Target: at}}, zoomed...)
	}
	p, err := rows.Find[rows.Pane](ctx, c.Source, c.On.Selection, append([]tmux.Command{tmux.Require{Target: at, Condition: condition}}, zoomed...)...)
	if errors.Is(err, tmux.ErrUnmet) {
		return rows.Find[rows.Pane](ctx, c.Source, c.On.Selection)
	}
	return p, err
}

var selectPane = tool.New(tool.Decl{
	Name: "select_pane", Title: "Select Pane", Kind: tool.Creates, Set: tool.Panes,
	Aim: target.Need(target.Pane), Harm: guard.Harmless,
	Desc: "Focus a pane: make it the active one of its window, by pane_id or by direction from the active pane. Rarely needed: tools take a pane_id.",
}, func(ctx context.Context, c tool.Call, in selectPaneIn) (*rows.Pane, error) {
	s, at := c.On.Selection, c.On.Target
	if s.Pane == "" && (in.Direction == "next" || in.Direction == "previous") {
		return selectBeside(ctx, c, s, at, in.Direction == "next")
	}
	cmd := tmux.SelectPane{Target: at}
	if s.Pane == "" {
		cmd.Up, cmd.Down = in.Direction == "up", in.Direction == "down"
		cmd.Left, cmd.Right = in.Direction == "left", in.Direction == "right"
		cmd.Last = in.Direction == "last"
	}
	return rows.Find[rows.Pane](ctx, c.Source, s, cmd)
})

type selectPaneIn struct {
	PaneID    tmux.PaneID `json:"pane_id,omitempty" desc:"like %1"`
	Direction string      `json:"direction,omitempty" enum:"up,down,left,right,last,next,previous"`
	target.SelectWindow
	target.OnSocket
}

func (in selectPaneIn) Check(tool.Limits) error {
	if in.PaneID == "" && in.Direction == "" {
		return reply.Faultf(reply.KindValidation, "select_pane needs pane_id or direction")
	}
	return nil
}

func (in selectPaneIn) Selected() target.Selection {
	if in.PaneID != "" {
		return target.Selection{Pane: in.PaneID}
	}
	return in.SelectWindow.Selected()
}

// selectBeside makes the pane after, or before, the active pane of a window the active one.
// tmux up to 3.3 counts "+" from a pane of another window, so the pane is determined here.
func selectBeside(ctx context.Context, c tool.Call, s target.Selection, window tmux.Target, next bool) (*rows.Pane, error) {
	type row struct {
		ID     tmux.PaneID `tmux:"pane_id"`
		Active bool        `tmux:"pane_active"`
	}
	panes, err := tmux.List[row](ctx, c.Tmux, tmux.ListPanes{Target: window})
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(panes, func(p row) bool { return p.Active })
	if next {
		at++
	} else {
		at += len(panes) - 1
	}
	return rows.Find[rows.Pane](ctx, c.Source, s, tmux.SelectPane{Target: panes[at%len(panes)].ID})
}

var swapPane = tool.New(tool.Decl{
	Name: "swap_pane", Title: "Swap Pane", Kind: tool.Creates, Set: tool.Panes,
	Aim: target.Need(target.Pane), Harm: guard.Disturbs,
	Desc: "Swap the positions of two panes, also across windows. Moves the focus and ends zoom. Returns the source pane.",
}, func(ctx context.Context, c tool.Call, in swapPaneIn) (*rows.Pane, error) {
	return rows.Find[rows.Pane](ctx, c.Source, c.On.Selection, tmux.SwapPane{Source: in.SourcePaneID, Target: in.TargetPaneID})
})

type swapPaneIn struct {
	SourcePaneID tmux.PaneID `json:"source_pane_id"`
	TargetPaneID tmux.PaneID `json:"target_pane_id"`
	target.OnSocket
}

func (in swapPaneIn) Check(tool.Limits) error {
	switch {
	case !in.SourcePaneID.Valid():
		return reply.Argument("source_pane_id", "must be a pane's id, such as %%3")
	case !in.TargetPaneID.Valid():
		return reply.Argument("target_pane_id", "must be a pane's id, such as %%3")
	case in.SourcePaneID == in.TargetPaneID:
		return reply.Argument("target_pane_id", "must differ from source_pane_id")
	}
	return nil
}

func (in swapPaneIn) SelectedAll() []target.Selection {
	return []target.Selection{{Pane: in.SourcePaneID}, {Pane: in.TargetPaneID}}
}

var killPane = tool.New(tool.Decl{
	Name: "kill_pane", Title: "Kill Pane", Kind: tool.Destroys, Set: tool.Panes,
	Aim: target.Need(target.Pane), Harm: guard.Ends,
	Desc: "Close a pane and hang up its program. Closing the last pane of a window closes the window.",
}, func(ctx context.Context, c tool.Call, in killPaneIn) (t reply.PaneText, err error) {
	if err := closes(ctx, c, tmux.KillPane{Target: c.On.Target}); err != nil {
		return t, err
	}
	return reply.PaneText{Result: reply.Say("Pane killed: %s", in.PaneID), PaneID: string(in.PaneID)}, nil
})

type killPaneIn struct {
	target.SelectPaneID
	target.OnSocket
}

func respawnPane(st *launch.Starter) *tool.Tool {
	return tool.New(tool.Decl{
		Name: "respawn_pane", Title: "Respawn Pane", Kind: tool.Shell, Set: tool.Panes,
		Aim: target.Need(target.Pane), Harm: guard.Ends,
		Hint: "restart a dead pane",
		Desc: "Restart the program of a pane in place, the same command or a new one, for a pane that is dead or hangs. kill=true hangs up a running " +
			"program; otherwise the call fails if one is running.",
	}, func(ctx context.Context, c tool.Call, in respawnPaneIn) (*rows.Pane, error) {
		cmd := tmux.RespawnPane{Target: c.On.Target, Kill: in.Kill, Command: launch.ShellCommand(in.Shell)}
		var err error
		// Again after Check: since then the user may have been asked, and the directory removed.
		if cmd.Dir, cmd.Env, err = in.Prepare(st.Path); err != nil {
			return nil, err
		}
		var p *rows.Pane
		err = closing.Panes(ctx, c.Tmux, c.Guard.Aim.FilterFor(c.On.Selection), func() (err error) {
			p, err = rows.Find[rows.Pane](ctx, c.Source, c.On.Selection, cmd)
			return err
		})
		if err == nil {
			err = st.Started(ctx, c.Tmux, p, in.Shell)
		}
		return p, err
	})
}

type respawnPaneIn struct {
	target.SelectPaneID
	Kill  bool   `json:"kill" default:"true"`
	Shell string `json:"shell,omitempty" desc:"another command line"`
	launch.Spawn
	target.OnSocket
}

func (in respawnPaneIn) Check(l tool.Limits) error {
	_, _, err := in.Prepare(l.Path)
	return err
}

var setPaneTitle = tool.New(tool.Decl{
	Name: "set_pane_title", Title: "Set Pane Title", Kind: tool.Changes, Set: tool.Panes,
	Aim: target.Need(target.Pane), Harm: guard.Harmless,
	Desc: "Set the title of a pane. The program in the pane can change it again.",
}, func(ctx context.Context, c tool.Call, in setPaneTitleIn) (*rows.Pane, error) {
	return rows.Find[rows.Pane](ctx, c.Source, c.On.Selection, tmux.SelectPane{Target: c.On.Target, Title: &in.Title})
})

type setPaneTitleIn struct {
	Title string `json:"title" desc:"literal text"`
	target.SelectPane
	target.OnSocket
}

func (in setPaneTitleIn) Check(tool.Limits) error {
	if strings.ContainsFunc(in.Title, unicode.IsControl) {
		return reply.Argument("title", "must not contain control characters: tmux would keep the old title")
	}
	return nil
}
