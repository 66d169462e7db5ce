package server

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"tmuxmcp/tmux"
)

var splitWindow = tool[splitWindowIn, *paneInfo]{
	name: "split_window", title: "Split tmux Window", kind: creates, set: setWindows, core: true,
	desc: "Create a pane by splitting one in two: pane_id, else a window's active pane, else the caller's, else the active one. " +
		"It runs a shell, or the command in shell, and does not become active.",
	run: func(ctx context.Context, c *call, in splitWindowIn) (*paneInfo, error) {
		cmd := tmux.SplitWindow{
			Detached: true, Size: tmux.Size(in.Size),
			Right:  in.Direction == "left" || in.Direction == "right",
			Before: in.Direction == "left" || in.Direction == "above",
		}
		if in.Shell != "" {
			cmd.Command = []string{in.Shell}
		}
		var err error
		if cmd.Dir, cmd.Env, err = in.prepare(c); err != nil {
			return nil, err
		}
		s := in.windowSelect.selection()
		s.pane = in.PaneID
		if !s.zero() {
			if s, err = c.resolve(ctx, "split_window", s); err != nil {
				return nil, err
			}
		}
		if cmd.Target, err = c.spec(s); err != nil {
			return nil, err
		}
		rows, err := c.listPanes(ctx, cmd)
		if err != nil {
			return nil, err
		}
		return &rows[0], nil
	},
}

type splitWindowIn struct {
	PaneID tmux.PaneID `json:"pane_id,omitempty" desc:"%N"`
	windowSelect
	Direction string    `json:"direction,omitempty" enum:"above,below,left,right" desc:"absent: below"`
	Size      splitSize `json:"size,omitempty" desc:"cells, or N%"`
	Shell     string    `json:"shell,omitempty" desc:"command line"`
	spawn
	socket
}

// splitSize is a number of lines or columns, or a part of what is split.
type splitSize tmux.Size

func (splitSize) schema() string { return `"anyOf":[{"type":"integer"},{"type":"string"}]` }

func (z *splitSize) bind(raw json.RawMessage) error {
	s, _ := scalarText(raw)
	digits, percent := strings.CutSuffix(s, "%")
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || n < 1 || percent && n > 100 {
		return errors.New("must be a number of cells from 1 on, or a percentage such as 30%")
	}
	*z = splitSize(s)
	return nil
}

var resizePane = tool[resizePaneIn, *paneInfo]{
	name: "resize_pane", title: "Resize Pane", kind: changes, set: setPanes,
	desc: "Set the size of a pane, as far as its window has room, or zoom it: zoom true makes it fill the window, false ends that.",
	run: func(ctx context.Context, c *call, in resizePaneIn) (*paneInfo, error) {
		switch sized := in.Height != nil || in.Width != nil; {
		case sized && in.Zoom != nil:
			return nil, faultf(kindValidation, "zoom cannot be combined with height or width")
		case !sized && in.Zoom == nil:
			return nil, faultf(kindValidation, "resize_pane needs height, width or zoom")
		}
		s, target, err := c.disturb(ctx, "resize_pane", in.selection())
		if err != nil {
			return nil, err
		}
		if in.Zoom != nil {
			return c.zoom(ctx, s, target, *in.Zoom)
		}
		cmd := tmux.ResizePane{Target: target}
		if in.Height != nil {
			cmd.Height = tmux.Cells(*in.Height)
		}
		if in.Width != nil {
			cmd.Width = tmux.Cells(*in.Width)
		}
		return c.findPane(ctx, s, cmd)
	},
}

type resizePaneIn struct {
	paneSelect
	Height *int  `json:"height,omitempty" min:"1"`
	Width  *int  `json:"width,omitempty" min:"1"`
	Zoom   *bool `json:"zoom,omitempty"`
	socket
}

// zoom makes a pane the one that fills its window, or sees to it that it is not.
// tmux's own flag is the window's, and resize-pane -Z only toggles it.
func (c *call) zoom(ctx context.Context, s selection, pane tmux.Target, on bool) (*paneInfo, error) {
	toggle := tmux.ResizePane{Target: pane, ToggleZoom: true}
	cmd := tmux.IfShell{Target: pane, Condition: "#{&&:#{window_zoomed_flag},#{pane_active}}", Test: true}
	var err error
	if on {
		cmd.Else, err = c.tmux.Script(ctx, tmux.SelectPane{Target: pane}, toggle)
	} else {
		cmd.Then, err = c.tmux.Script(ctx, toggle)
	}
	if err != nil {
		return nil, err
	}
	p, err := c.findPane(ctx, s, cmd)
	return p, inside(err, toggle)
}

// disturb makes the target of a tool that changes a pane, with the person's
// consent when that is the caller's own.
func (c *call) disturb(ctx context.Context, tool string, s selection) (selection, tmux.Target, error) {
	s, err := c.resolve(ctx, tool, s)
	if err != nil {
		return s, nil, err
	}
	if s.pane != "" {
		err = c.protect(ctx, disturbs, s.pane)
	} else {
		err = c.protectIn(ctx, disturbs, s.paneFilter())
	}
	if err != nil {
		return s, nil, err
	}
	target, err := c.spec(s)
	return s, target, err
}

var selectPane = tool[selectPaneIn, *paneInfo]{
	name: "select_pane", title: "Select Pane", kind: changes, set: setPanes,
	desc: "Make a pane its window's active one: pane_id, or by direction from the active pane of a window. Tools do not need that: they take a pane_id.",
	run: func(ctx context.Context, c *call, in selectPaneIn) (*paneInfo, error) {
		if in.PaneID == "" && in.Direction == "" {
			return nil, faultf(kindValidation, "select_pane needs pane_id or direction")
		}
		s := in.windowSelect.selection()
		if in.PaneID != "" {
			s = selection{pane: in.PaneID}
		}
		s, err := c.resolve(ctx, "select_pane", s)
		if err != nil {
			return nil, err
		}
		target, err := c.spec(s)
		if err != nil {
			return nil, err
		}
		if s.pane == "" && (in.Direction == "next" || in.Direction == "previous") {
			return c.selectBeside(ctx, s, target, in.Direction == "next")
		}
		cmd := tmux.SelectPane{Target: target}
		if s.pane == "" {
			cmd.Up, cmd.Down = in.Direction == "up", in.Direction == "down"
			cmd.Left, cmd.Right = in.Direction == "left", in.Direction == "right"
			cmd.Last = in.Direction == "last"
		}
		return c.findPane(ctx, s, cmd)
	},
}

type selectPaneIn struct {
	PaneID    tmux.PaneID `json:"pane_id,omitempty" desc:"%N"`
	Direction string      `json:"direction,omitempty" enum:"up,down,left,right,last,next,previous"`
	windowSelect
	socket
}

// selectBeside makes the pane after the active one of a window the active one,
// or the one before it. tmux up to 3.3 counts "+" from a pane of another window,
// so the index is worked out here.
func (c *call) selectBeside(ctx context.Context, s selection, window tmux.Target, next bool) (*paneInfo, error) {
	step := "1"
	if !next {
		step = "#{e|-:#{window_panes},1}"
	}
	const place = "#{e|-:#{pane_index},#{pane-base-index}}"
	beside := "#{e|m:#{e|+:" + place + "," + step + "},#{window_panes}}"
	cmd := tmux.SelectPane{Target: tmux.TargetSpec("#{window_id}.#{e|+:" + beside + ",#{pane-base-index}}")}
	script, err := c.tmux.Script(ctx, cmd)
	if err != nil {
		return nil, err
	}
	p, err := c.findPane(ctx, s,
		tmux.ListPanes{Target: window, Filter: "0"}, // fails without such a window, which run-shell does not
		tmux.RunShell{Target: window, Commands: true, Template: tmux.Format(script)})
	return p, inside(err, cmd)
}

var swapPane = tool[swapPaneIn, *paneInfo]{
	name: "swap_pane", title: "Swap Pane", kind: creates, set: setPanes,
	desc: "Make two panes change places, in one window or in two. Answers with the source at its new place.",
	run: func(ctx context.Context, c *call, in swapPaneIn) (*paneInfo, error) {
		switch {
		case !in.SourcePaneID.Valid():
			return nil, argumentFault("source_pane_id", "must be a pane's id, such as %%3")
		case !in.TargetPaneID.Valid():
			return nil, argumentFault("target_pane_id", "must be a pane's id, such as %%3")
		case in.SourcePaneID == in.TargetPaneID:
			return nil, argumentFault("target_pane_id", "must be another pane than source_pane_id")
		}
		if err := c.protect(ctx, disturbs, in.SourcePaneID, in.TargetPaneID); err != nil {
			return nil, err
		}
		return c.findPane(ctx, selection{pane: in.SourcePaneID}, tmux.SwapPane{Source: in.SourcePaneID, Target: in.TargetPaneID})
	},
}

type swapPaneIn struct {
	SourcePaneID tmux.PaneID `json:"source_pane_id" desc:"%N"`
	TargetPaneID tmux.PaneID `json:"target_pane_id" desc:"%N"`
	socket
}

var killPane = tool[killPaneIn, paneText]{
	name: "kill_pane", title: "Kill Pane", kind: destroys, set: setPanes,
	desc: "End a pane with all that runs in it, and with its last pane the window.",
	run: func(ctx context.Context, c *call, in killPaneIn) (t paneText, err error) {
		s := selection{pane: in.PaneID}
		if err := s.required("kill_pane"); err != nil {
			return t, err
		}
		if err := c.protect(ctx, ends, s.pane); err != nil {
			return t, err
		}
		if _, err := c.tmux.Do(ctx, tmux.KillPane{Target: s.pane}); err != nil {
			return t, err
		}
		return paneText{Result: "Pane killed: " + string(s.pane), PaneID: string(s.pane)}, nil
	},
}

type killPaneIn struct {
	PaneID tmux.PaneID `json:"pane_id" desc:"%N"`
	socket
}

var respawnPane = tool[respawnPaneIn, *paneInfo]{
	name: "respawn_pane", title: "Respawn Pane", kind: discards, set: setPanes,
	desc: "Start a pane's program again, in place: the same command, or the one in shell. kill ends a program that still runs; without it tmux refuses then.",
	run: func(ctx context.Context, c *call, in respawnPaneIn) (*paneInfo, error) {
		s := selection{pane: in.PaneID}
		if err := s.required("respawn_pane"); err != nil {
			return nil, err
		}
		cmd := tmux.RespawnPane{Target: s.pane, Kill: in.Kill}
		if in.Shell != "" {
			cmd.Command = []string{in.Shell}
		}
		var err error
		if cmd.Dir, cmd.Env, err = in.prepare(c); err != nil {
			return nil, err
		}
		if err := c.protect(ctx, ends, s.pane); err != nil {
			return nil, err
		}
		return c.findPane(ctx, s, cmd)
	},
}

type respawnPaneIn struct {
	PaneID tmux.PaneID `json:"pane_id" desc:"%N"`
	Kill   bool        `json:"kill" default:"true"`
	Shell  string      `json:"shell,omitempty" desc:"command line"`
	spawn
	socket
}

var setPaneTitle = tool[setPaneTitleIn, *paneInfo]{
	name: "set_pane_title", title: "Set Pane Title", kind: changes, set: setPanes,
	desc: "Set the title of a pane, literal text. The program in the pane can change it again.",
	run: func(ctx context.Context, c *call, in setPaneTitleIn) (*paneInfo, error) {
		s, err := c.resolve(ctx, "set_pane_title", in.selection())
		if err != nil {
			return nil, err
		}
		target, err := c.spec(s)
		if err != nil {
			return nil, err
		}
		return c.findPane(ctx, s, tmux.SelectPane{Target: target, Title: &in.Title})
	},
}

type setPaneTitleIn struct {
	Title string `json:"title"`
	paneSelect
	socket
}
