package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/launch"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/tool"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/layout"
)

func createWindow(st *launch.Starter) *tool.Tool {
	return tool.New(tool.Decl{
		Name: "create_window", Title: "Create tmux Window", Kind: tool.Shell, Set: tool.Windows,
		Aim: target.Default(target.Session), Harm: guard.Harmless,
		Hint: "open a new tab",
		Desc: "Open a new window (tab) in a tmux session, in the background unless attach is true, with a shell or the command given in shell. " +
			"To add a terminal beside an existing one use split_window.",
	}, func(ctx context.Context, c tool.Call, in createWindowIn) (*rows.Window, error) {
		cmd := tmux.NewWindow{
			Detached: !in.Attach, Name: in.WindowName, After: in.Direction == "after", Before: in.Direction == "before",
			Command: launch.ShellCommand(in.Shell),
		}
		if !c.On.Zero() {
			cmd.Target = c.On.Target
		} else if c.Here.Own() != "" {
			own, err := rows.Find[rows.Session](ctx, c.Source, target.Selection{})
			if err != nil {
				return nil, err
			}
			cmd.Target = tmux.TargetSpec(string(own.SessionID) + ":")
		}
		var err error
		if cmd.Dir, cmd.Env, err = in.PrepareBeside(ctx, c.Tmux, st.Path, cmd.Target, "session_path"); err != nil {
			return nil, err
		}
		listed, err := rows.List[rows.Window](ctx, c.Source, new(tmux.Batch), cmd)
		if err != nil {
			return nil, err
		}
		w := &listed[0]
		if w.ActivePaneID != nil {
			err = st.Started(ctx, c.Tmux, &rows.Pane{PaneID: *w.ActivePaneID}, in.Shell)
		}
		return w, err
	})
}

type createWindowIn struct {
	target.SelectSession
	WindowName string `json:"window_name,omitempty" desc:"default: the program's name"`
	Attach     bool   `json:"attach,omitempty"`
	Direction  string `json:"direction,omitempty" enum:"before,after" desc:"beside the current window; default: the next free index"`
	Shell      string `json:"shell,omitempty" desc:"command line instead of a shell"`
	launch.Spawn
	target.OnSocket
}

var selectWindow = tool.New(tool.Decl{
	Name: "select_window", Title: "Select tmux Window", Kind: tool.Creates, Set: tool.Windows,
	Aim: target.Need(target.Window), Harm: guard.Harmless,
	Desc: "Switch a session to a window (tab): by window_id, by window_index, or to the next, previous or last one. Changes what attached users see; " +
		"other tools work on any window without it.",
}, func(ctx context.Context, c tool.Call, in selectWindowIn) (*rows.Window, error) {
	s := c.On.Selection
	at, err := s.Linked(c.Here.Own())
	if err != nil {
		return nil, err
	}
	var cmd tmux.Command = tmux.SelectWindow{Target: at}
	if s.Window == "" && s.Index == "" {
		cmd = map[string]tmux.Command{
			"next": tmux.NextWindow{Target: at}, "previous": tmux.PreviousWindow{Target: at}, "last": tmux.LastWindow{Target: at},
		}[in.Direction]
	}
	// The current window of the target's session: a session that shares the window may
	// have another current one.
	listed, err := rows.List[rows.Window](ctx, c.Source, rows.BatchOf(cmd), tmux.ListWindows{Target: at, Filter: "#{window_active}"})
	return rows.FirstOf(ctx, c.Source, s, listed, err)
})

type selectWindowIn struct {
	target.SelectWindow
	Direction string `json:"direction,omitempty" enum:"next,previous,last"`
	target.OnSocket
}

func (in selectWindowIn) Check(tool.Limits) error {
	if in.WindowID == "" && in.WindowIndex == "" && in.Direction == "" {
		return reply.Faultf(reply.KindValidation, "select_window needs window_id, window_index or direction")
	}
	return nil
}

var renameWindow = tool.New(tool.Decl{
	Name: "rename_window", Title: "Rename tmux Window", Kind: tool.Changes, Set: tool.Windows,
	Aim: target.Need(target.Window), Harm: guard.Harmless,
	Desc: "Rename a tmux window. Turns automatic renaming off for it.",
}, func(ctx context.Context, c tool.Call, in renameWindowIn) (*rows.Window, error) {
	return rows.Find[rows.Window](ctx, c.Source, c.On.Selection, tmux.RenameWindow{Target: c.On.Target, Name: in.NewName})
})

type renameWindowIn struct {
	NewName string `json:"new_name" desc:"literal text"`
	target.SelectWindow
	target.OnSocket
}

var killWindow = tool.New(tool.Decl{
	Name: "kill_window", Title: "Kill tmux Window", Kind: tool.Destroys, Set: tool.Windows,
	Aim: target.Need(target.Window), Harm: guard.Ends,
	Desc: "Close a tmux window and hang up the programs in its panes, in every session it is linked into.",
}, func(ctx context.Context, c tool.Call, in killWindowIn) (t reply.Text, err error) {
	if err := closes(ctx, c, tmux.KillWindow{Target: c.On.Target}); err != nil {
		return t, err
	}
	return reply.Text{Result: reply.Say("Window killed: %s", in.WindowID)}, nil
})

type killWindowIn struct {
	WindowID tmux.WindowID `json:"window_id"`
	target.OnSocket
}

func (in killWindowIn) Selected() target.Selection { return target.Selection{Window: in.WindowID} }

var selectLayout = tool.New(tool.Decl{
	Name: "select_layout", Title: "Select tmux Layout", Kind: tool.Changes, Set: tool.Windows,
	Aim: target.Need(target.Window), Harm: guard.Disturbs,
	Hint: "arrange panes",
	Desc: "Arrange the panes of a window evenly, in a grid or around a main pane. Names: even-horizontal, even-vertical, main-horizontal, " +
		"main-vertical, tiled, from tmux 3.5 main-horizontal-mirrored, main-vertical-mirrored; or a layout string with as many panes as the window has.",
}, func(ctx context.Context, c tool.Call, in selectLayoutIn) (*rows.Window, error) {
	cmd := tmux.SelectLayout{Target: c.On.Target, Layout: layout.Layout(in.Layout)}
	if in.MainSize != "" {
		return rows.Find[rows.Window](ctx, c.Source, c.On.Selection, launch.SetMainSize(c.On.Target, in.Layout, in.MainSize), cmd)
	}
	if in.panes == 0 {
		return rows.Find[rows.Window](ctx, c.Source, c.On.Selection, cmd)
	}
	// tmux drops surplus panes of a layout, so it is only given one that fits.
	w, err := rows.Find[rows.Window](ctx, c.Source, c.On.Selection, tmux.Require{Target: cmd.Target, Condition: tmux.MatchEqual("window_panes", fmt.Sprint(in.panes))}, cmd)
	if errors.Is(err, tmux.ErrUnmet) {
		if w, err = rows.Find[rows.Window](ctx, c.Source, c.On.Selection); err == nil {
			err = reply.Argument("layout", "is of %d panes, and window %s has %d", in.panes, w.WindowID, w.PaneCount)
		}
	}
	return w, err
})

type selectLayoutIn struct {
	Layout   string      `json:"layout" desc:"name or layout string"`
	MainSize launch.Size `json:"main_size,omitempty" desc:"of the main pane; stays set for the window"`
	target.SelectWindow
	target.OnSocket

	panes int // of a custom layout, set by Check
}

func (in *selectLayoutIn) Check(tool.Limits) (err error) {
	if err := launch.CheckMainSize("main_size", in.Layout, in.MainSize); err != nil {
		return err
	}
	in.panes, err = launch.PanesOfLayout(in.Layout)
	return err
}

var resizeWindow = tool.New(tool.Decl{
	Name: "resize_window", Title: "Resize tmux Window", Kind: tool.Changes, Set: tool.Windows,
	Aim: target.Need(target.Window), Harm: guard.Disturbs,
	Desc: "Set the size of a window in columns and rows, even if nobody is attached. The window keeps that size. To resize one pane use resize_pane.",
}, func(ctx context.Context, c tool.Call, in resizeWindowIn) (*rows.Window, error) {
	return rows.Find[rows.Window](ctx, c.Source, c.On.Selection, tmux.ResizeWindow{Target: c.On.Target, Width: in.Width, Height: in.Height})
})

type resizeWindowIn struct {
	target.SelectWindow
	Width  int `json:"width,omitempty" min:"0" desc:"columns"`
	Height int `json:"height,omitempty" min:"0" desc:"rows"`
	target.OnSocket
}

func (in resizeWindowIn) Check(tool.Limits) error {
	if in.Width == 0 && in.Height == 0 {
		return reply.Faultf(reply.KindValidation, "resize_window needs width or height")
	}
	return nil
}

var moveWindow = tool.New(tool.Decl{
	Name: "move_window", Title: "Move tmux Window", Kind: tool.Creates, More: tool.Destroys, Set: tool.Windows,
	Aim: target.Need(target.Window), Harm: guard.Disturbs,
	Desc: "Move a window to another index or session, where it becomes the current window. Programs keep running. Moving a session's last " +
		"window ends that session, which needs the tier destructive.",
}, func(ctx context.Context, c tool.Call, in moveWindowIn) (*rows.Window, error) {
	s := c.On.Selection
	var to target.Selection
	var err error
	if d := in.DestinationSession; tmux.SessionID(d).Valid() {
		to.Session = tmux.SessionID(d)
	} else if d != "" {
		if to, err = target.Resolve(ctx, c.Tmux, c.Guard.Tool, target.Session, target.Selection{Name: d}); err != nil {
			return nil, err
		}
	}
	source, err := s.Linked(c.Here.Own())
	if err != nil {
		return nil, err
	}
	if to.Zero() {
		to.Session, to.Name = s.Session, s.Name
	}
	to.Index = in.DestinationIndex
	return moveTo(ctx, c, s, source, to)
})

// moveTo moves the selected window and returns its new place. If to names no session, the
// window stays in its own.
func moveTo(ctx context.Context, c tool.Call, s target.Selection, source tmux.Target, to target.Selection) (*rows.Window, error) {
	if to.Session == "" && to.Name == "" {
		// Only tmux knows which session that is.
		own, err := tmux.List[target.IDs](ctx, c.Tmux, tmux.DisplayMessage{Target: source})
		if err != nil {
			return nil, err
		}
		if own[0].Window == "" {
			return nil, target.Missing(ctx, c.Tmux, s)
		}
		to.Session = own[0].Session
		source = tmux.TargetSpec(string(to.Session) + ":" + string(own[0].Window))
	}
	there, err := to.TargetFor(c.Here.Own())
	if err != nil {
		return nil, err
	}
	var b tmux.Batch
	// Fails if there is no such window.
	before := tmux.AddRows[rows.Window](&b, tmux.ListWindows{Target: source, Filter: s.WindowFilter()})
	// A session ends with its last window. Only tmux knows whether this is it.
	last := c.Guard.Permit(guard.Destructive, "it moves the last window of a session, which ends with that")
	if last != nil {
		same := tmux.MatchEqual("session_name", to.Name)
		if to.Session != "" {
			same = tmux.MatchEqual("session_id", string(to.Session))
		}
		tmux.Add(&b, tmux.Require{Target: source, Condition: tmux.Or("#{!=:#{session_windows},1}", same)})
	}
	tmux.Add(&b, tmux.MoveWindow{Source: source, Target: there})
	after := tmux.AddRows[rows.Window](&b, tmux.ListWindows{All: true})
	linked := rows.LinkRows(&b)
	err = b.Do(ctx, c.Tmux)
	if (err == nil || errors.Is(err, tmux.ErrUnmet)) && len(*before) == 0 {
		return nil, target.Missing(ctx, c.Tmux, s)
	}
	if errors.Is(err, tmux.ErrUnmet) {
		return nil, last
	}
	if err != nil {
		return nil, err
	}
	was := (*before)[0]
	listed := slices.DeleteFunc(*after, func(w rows.Window) bool {
		return w.WindowID != was.WindowID || to.Session != "" && w.SessionID != to.Session || to.Session == "" && w.SessionName != to.Name ||
			to.Index != "" && strconv.Itoa(w.WindowIndex) != to.Index
	})
	return rows.FirstOf(ctx, c.Source, s, rows.Complete[rows.Window](c.Source, listed, *linked), nil)
}

type moveWindowIn struct {
	target.SelectWindow
	DestinationIndex   string `json:"destination_index,omitempty" desc:"default: the next free one"`
	DestinationSession string `json:"destination_session,omitempty" desc:"name or $N; default: the same session"`
	target.OnSocket
}

func (in moveWindowIn) Check(tool.Limits) error {
	if in.DestinationIndex != "" && !target.IsIndex(in.DestinationIndex) {
		return reply.Argument("destination_index", "must be a number")
	}
	return nil
}
