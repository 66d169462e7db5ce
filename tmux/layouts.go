package tmux

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"tmuxmcp/tmux/layout"
)

// SelectLayout arranges the panes of a window. Layouts are validated before tmux sees them:
// 3.3 and 3.7 do not survive every malformed one.
type SelectLayout struct {
	Target   Target `flag:"t"` // a pane or window
	Spread   bool   `flag:"E"` // instead: even out the panes beside the target
	Next     bool   `flag:"n"` // as [NextLayout]
	Previous bool   `flag:"p"` // as [PreviousLayout]
	Undo     bool   `flag:"o"` // instead: undo the last layout change
	// Layout is the layout; empty means the window's last named layout.
	Layout layout.Layout `arg:""`
}

// NextLayout arranges the panes of a window in the next named layout.
type NextLayout struct {
	Target Target `flag:"t"`
}

// PreviousLayout arranges the panes of a window in the previous named layout.
type PreviousLayout struct {
	Target Target `flag:"t"`
}

func (SelectLayout) commandName() string   { return "select-layout" }
func (NextLayout) commandName() string     { return "next-layout" }
func (PreviousLayout) commandName() string { return "previous-layout" }

func (c SelectLayout) check(version func() (Version, error)) error {
	if c.Layout == "" {
		return nil
	}
	if c.Layout.Named() {
		var since Version
		if strings.HasSuffix(string(c.Layout), "-mirrored") {
			since = MirroredLayouts.Since
		}
		return need(version, "layout "+string(c.Layout), since, Version{})
	}
	if _, err := layout.Parse(c.Layout); err != nil {
		return argumentError("%v", err)
	}
	if c.Layout[0] == '{' {
		return need(version, "layout "+string(c.Layout[:30])+"…", JSONLayouts.Since, Version{})
	}
	return nil
}

// SelectLayout arranges the window's panes. It fails if a custom layout and the window have
// different numbers of panes, because tmux would drop cells.
func (r WindowRef) SelectLayout(ctx context.Context, to layout.Layout) (Window, error) {
	cmd := SelectLayout{Target: r, Layout: to}
	if to.Named() || to == "" {
		return after[Window](ctx, r.srv, cmd, r.self())
	}
	root, err := layout.Parse(to)
	if err != nil {
		return Window{}, argumentError("%v", err)
	}
	var b Batch
	before := AddRows[Window](&b, r.self())
	Add(&b, Require{Target: r, Condition: MatchEqual("window_panes", strconv.Itoa(root.Panes()))})
	Add(&b, cmd)
	rows := AddRows[Window](&b, r.self())
	if err = b.Do(ctx, r.srv); errors.Is(err, ErrUnmet) && len(*before) > 0 {
		err = argumentError("a layout of %d panes for window %s, which has %d", root.Panes(), r.ID, (*before)[0].PaneCount)
	}
	return first(r.srv, *rows, err, r.self(), Object{"window", string(r.ID)})
}

// UndoLayout undoes the last change of the window's layout.
func (r WindowRef) UndoLayout(ctx context.Context) (Window, error) {
	return after[Window](ctx, r.srv, SelectLayout{Target: r, Undo: true}, r.self())
}

// SpreadPanes makes the pane and its neighbours the same size.
func (r PaneRef) SpreadPanes(ctx context.Context) (Window, error) {
	return after[Window](ctx, r.srv, SelectLayout{Target: r, Spread: true},
		ListWindows{Target: r, Filter: "#{window_active}"})
}
