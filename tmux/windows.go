package tmux

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"tmuxmcp/tmux/layout"
)

// NewWindow creates a window with one pane.
type NewWindow struct {
	// Target is a session, whose next free index is used; with After or Before, a window;
	// or an index: see [SessionRef.At].
	Target Target `flag:"t"`
	After  bool   `flag:"a"` // right after the target, moving others up
	Before bool   `flag:"b"`
	// Detached does not make it the current window.
	Detached bool `flag:"d"`
	// Name names the window and turns off its automatic renaming. tmux before 3.7 stores it
	// unchanged, later versions as for [RenameWindow].
	Name string `flag:"n,literal,utf8"`
	// Dir is the working directory; if empty, that of this process, since tmux would use
	// that of the client.
	Dir string `flag:"c,literal"`
	Env Env    `flag:"e"`
	// Replace destroys the window that has the index.
	Replace bool `flag:"k"`
	// SelectExisting creates no window if the session has one of this name, but selects it
	// unless Detached is set.
	SelectExisting bool `flag:"S"`
	// Empty creates a pane that runs nothing.
	Empty  bool   `flag:"E" since:"3.8"`
	Print  bool   `flag:"P"`
	Format Format `flag:"F"`
	// Command is what the pane runs: see [SplitWindow].
	Command []string `arg:""`
}

// KillWindow destroys a window, in all sessions it is linked into.
type KillWindow struct {
	Target Target `flag:"t"`
	// Others destroys every window of the session except the target.
	Others bool   `flag:"a"`
	Filter Format `flag:"f" since:"3.8"` // with Others: only windows it is true for
}

// RenameWindow renames a window, and turns its automatic renaming off. tmux stores
// backslashes doubled, and control bytes as vis(3) writes them; from 3.7 on it refuses the
// latter.
type RenameWindow struct {
	Target Target `flag:"t"`
	Name   string `arg:"required,literal,utf8"`
}

// SelectWindow makes a window its session's current one.
type SelectWindow struct {
	Target   Target `flag:"t"`
	Last     bool   `flag:"l"` // the previously current window
	Next     bool   `flag:"n"`
	Previous bool   `flag:"p"`
	// Toggle selects the last window if the target is already current.
	Toggle bool `flag:"T"`
}

// MoveWindow moves a window to another index or session. tmux refuses the index that the window
// has already, with [ErrExists], even with Replace.
type MoveWindow struct {
	Source Target `flag:"s"`
	// Target is the destination: a session, an index or, with After or Before, a window.
	Target   Target `flag:"t"`
	After    bool   `flag:"a"`
	Before   bool   `flag:"b"`
	Detached bool   `flag:"d"` // do not make it the current window
	Replace  bool   `flag:"k"` // destroy the window that has the index
	// Renumber moves nothing, but renumbers the windows of the session Target without gaps.
	Renumber bool `flag:"r"`
}

// LinkWindow links a window into another session, or into its own once more.
type LinkWindow struct {
	Source   Target `flag:"s"`
	Target   Target `flag:"t"` // as in [MoveWindow]
	After    bool   `flag:"a"`
	Before   bool   `flag:"b"`
	Detached bool   `flag:"d"`
	Replace  bool   `flag:"k"`
}

// UnlinkWindow removes a window from a session. Unless Kill is set, it fails with
// [ErrLastLink] if the window is in no other session.
type UnlinkWindow struct {
	Target Target `flag:"t"` // see [SessionRef.Linked]
	Kill   bool   `flag:"k"` // destroy it if it is linked nowhere else
}

// SwapWindow swaps two windows.
type SwapWindow struct {
	Source   Target `flag:"s"`
	Target   Target `flag:"t"`
	Detached bool   `flag:"d"` // do not make the target's index current
}

// RotateWindow moves each pane of a window to the place of the one before it.
type RotateWindow struct {
	Target   Target `flag:"t"`
	Down     bool   `flag:"D"`
	Up       bool   `flag:"U"` // the default
	KeepZoom bool   `flag:"Z"`
}

// LastWindow selects the previously current window of a session.
type LastWindow struct {
	Target Target `flag:"t"`
}

// NextWindow makes the window with the next index the current one.
type NextWindow struct {
	Target Target `flag:"t"`
	Alert  bool   `flag:"a"` // the next one with an alert
}

// PreviousWindow makes the window with the index before the current one.
type PreviousWindow struct {
	Target Target `flag:"t"`
	Alert  bool   `flag:"a"`
}

// ResizeWindow sets a window's size, and its option window-size to manual.
type ResizeWindow struct {
	Target   Target `flag:"t"`
	Width    int    `flag:"x"`
	Height   int    `flag:"y"`
	Largest  bool   `flag:"A"` // the size of the largest session it is in
	Smallest bool   `flag:"a"`
	Down     bool   `flag:"D"`
	Left     bool   `flag:"L"`
	Right    bool   `flag:"R"`
	Up       bool   `flag:"U"`
	// By is how many cells Down, Left, Right or Up move the edge; 0 means 1.
	By int `arg:""`
}

// RespawnWindow restarts the program of a window's first pane and destroys the other panes.
type RespawnWindow struct {
	Target Target `flag:"t"`
	Kill   bool   `flag:"k"` // terminate running programs; otherwise the call fails
	// Dir is the working directory; if empty, the one the window was started in.
	Dir   string `flag:"c,literal"`
	Env   Env    `flag:"e"`
	Empty bool   `flag:"E" since:"3.8"` // run nothing
	// Command is what to run; if empty, the same as before: see [SplitWindow].
	Command []string `arg:""`
}

// FindWindow shows, in a pane, the windows in which a text is found: in their names, titles
// and visible contents, or only in those that Name, Title and Content select. A client must
// be attached.
type FindWindow struct {
	Target     Target `flag:"t"` // the pane to show them in
	Content    bool   `flag:"C"`
	Name       bool   `flag:"N"`
	Title      bool   `flag:"T"`
	IgnoreCase bool   `flag:"i"`
	Regexp     bool   `flag:"r"`
	Zoom       bool   `flag:"Z"`
	// Match is a shell pattern, or with Regexp an extended regular expression.
	Match string `arg:"required,literal"`
}

func (NewWindow) commandName() string      { return "new-window" }
func (KillWindow) commandName() string     { return "kill-window" }
func (RenameWindow) commandName() string   { return "rename-window" }
func (SelectWindow) commandName() string   { return "select-window" }
func (MoveWindow) commandName() string     { return "move-window" }
func (LinkWindow) commandName() string     { return "link-window" }
func (UnlinkWindow) commandName() string   { return "unlink-window" }
func (SwapWindow) commandName() string     { return "swap-window" }
func (RotateWindow) commandName() string   { return "rotate-window" }
func (LastWindow) commandName() string     { return "last-window" }
func (NextWindow) commandName() string     { return "next-window" }
func (PreviousWindow) commandName() string { return "previous-window" }
func (ResizeWindow) commandName() string   { return "resize-window" }
func (RespawnWindow) commandName() string  { return "respawn-window" }
func (FindWindow) commandName() string     { return "find-window" }

func (c NewWindow) rows(f Format) (Command, []Scope) {
	c.Print, c.Format = true, f
	return c, paneScopes
}

// check refuses names that cannot be found: with -S, tmux up to 3.3 compares the name
// before formats are expanded, and from 3.7 on the name expanded twice. Escaped characters
// would not match, or would be run as a format.
func (c NewWindow) check(func() (Version, error)) error {
	if !c.SelectExisting {
		return nil
	}
	if c.Name == "" {
		return argumentError("SelectExisting needs Name")
	}
	if string(Literal(c.Name)) == c.Name {
		return nil
	}
	return argumentError("tmux cannot find a window named %q: the name contains #, a comma or }", c.Name)
}

// Windows returns all windows of the server, with a row for each session a window is linked
// into. There are none if the server has no session.
func (s *Server) Windows(ctx context.Context) ([]Window, error) {
	return listAll[Window](ctx, s, ListWindows{All: true})
}

// Info returns the window's state; for a window in several sessions, its state in the one
// used last. It fails with [ErrNotFound] if the window is gone.
func (r WindowRef) Info(ctx context.Context) (Window, error) {
	return one[Window](ctx, r.srv, r.self())
}

// self lists only this window. As a target of list-windows, its id stands for a session it
// is in.
func (r WindowRef) self() ListWindows {
	return ListWindows{Target: r, Filter: MatchEqual("window_id", string(r.ID))}
}

// Panes returns the window's panes in order.
func (r WindowRef) Panes(ctx context.Context) ([]Pane, error) {
	return List[Pane](ctx, r.srv, ListPanes{Target: r})
}

// ActivePane returns the window's active pane.
func (r WindowRef) ActivePane(ctx context.Context) (Pane, error) {
	return one[Pane](ctx, r.srv, r.active())
}

func (r WindowRef) active() ListPanes {
	return ListPanes{Target: r, Filter: "#{pane_active}"}
}

// Rename renames the window, and turns its automatic renaming off.
func (r WindowRef) Rename(ctx context.Context, name string) error {
	return r.srv.run(ctx, RenameWindow{Target: r, Name: name})
}

// Kill destroys the window in all sessions it is linked into.
func (r WindowRef) Kill(ctx context.Context) error {
	return r.srv.run(ctx, KillWindow{Target: r})
}

// KillOthers destroys every other window of the session.
func (r WindowRef) KillOthers(ctx context.Context) error {
	return r.srv.run(ctx, KillWindow{Target: r, Others: true})
}

// Select makes the window its session's current one. If it is in several sessions, use
// [SelectWindow] with [SessionRef.Linked].
func (r WindowRef) Select(ctx context.Context) error {
	return r.srv.run(ctx, SelectWindow{Target: r})
}

// Move moves the window to opts.Target and returns it in its new place. It fails with
// [ErrArgument] without a Target. With opts.Renumber, the default is the window's session.
func (r WindowRef) Move(ctx context.Context, opts MoveWindow) (Window, error) {
	switch {
	case opts.Target == nil && opts.Renumber:
		opts.Target = r
	case opts.Target == nil:
		return Window{}, noDestination(opts)
	}
	opts.Source = own(r, opts.Source)
	return after[Window](ctx, r.srv, opts, r.self())
}

// noDestination is the error for a missing Target: tmux would pick one, perhaps in another session.
func noDestination(cmd Command) error {
	return argumentError("%s: no Target; pass a session, or an index in it by its At", cmd.commandName())
}

// Link links the window into another session too, and returns it as it is in each session. It
// fails with [ErrArgument] without a Target.
func (r WindowRef) Link(ctx context.Context, opts LinkWindow) ([]Window, error) {
	if opts.Target == nil {
		return nil, noDestination(opts)
	}
	opts.Source = own(r, opts.Source)
	var b Batch
	Add(&b, opts)
	rows := AddRows[Window](&b, ListWindows{All: true, Filter: MatchEqual("window_id", string(r.ID))})
	err := b.Do(ctx, r.srv)
	return *rows, err
}

// Unlink removes the window from a session. It fails with [ErrLastLink] if it is in no
// other.
func (r WindowRef) Unlink(ctx context.Context, from SessionID) error {
	return r.srv.run(ctx, UnlinkWindow{Target: r.srv.Session(from).Linked(r.ID)})
}

// Rotate moves each of the window's panes to the place of the one before it or, with
// opts.Down, the one after it, and returns them in their new order.
func (r WindowRef) Rotate(ctx context.Context, opts RotateWindow) ([]Pane, error) {
	opts.Target = own(r, opts.Target)
	var b Batch
	Add(&b, opts)
	rows := AddRows[Pane](&b, ListPanes{Target: r})
	err := b.Do(ctx, r.srv)
	return *rows, err
}

// Unzoom shows all panes of the window again if one is zoomed.
func (r WindowRef) Unzoom(ctx context.Context) error { return unzoom(ctx, r.srv, r) }

// Resize sets the window's size, and its option window-size to manual. It fails with
// [ErrArgument] if opts has nothing to resize.
func (r WindowRef) Resize(ctx context.Context, opts ResizeWindow) (Window, error) {
	if (opts == ResizeWindow{By: opts.By}) {
		return Window{}, argumentError("resize-window %s: no size and no direction", r.ID)
	}
	opts.Target = own(r, opts.Target)
	return after[Window](ctx, r.srv, opts, r.self())
}

// Respawn restarts the window's program. Unless opts.Kill is set it fails with [ErrRunning]
// if a program is still running. opts.Dir is checked as by [SessionRef.NewWindow].
func (r WindowRef) Respawn(ctx context.Context, opts RespawnWindow) (Window, error) {
	if err := checkDir(ctx, r.srv, &opts.Dir); err != nil {
		return Window{}, fmt.Errorf("respawn-window: %w", err)
	}
	opts.Target = own(r, opts.Target)
	return after[Window](ctx, r.srv, opts, r.self())
}

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
	if c.Layout[0] == '{' { // and of more than 30 bytes, as all that are valid
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
