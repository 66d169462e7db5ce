package tmux

import "context"

// SwapPane swaps two panes.
type SwapPane struct {
	Source Target `flag:"s"` // the marked pane if nil, or the active one if none is marked
	Target Target `flag:"t"`
	// Detached leaves the active pane active.
	Detached bool `flag:"d"`
	Down     bool `flag:"D"` // with the pane after the target, instead of Source
	Up       bool `flag:"U"`
	KeepZoom bool `flag:"Z"`
}

// JoinPane moves a pane into another window, by splitting a pane there.
type JoinPane struct {
	Source   Target `flag:"s"` // the marked pane if nil
	Target   Target `flag:"t"` // the pane to split
	Right    bool   `flag:"h"` // Right to Detached are as in [SplitWindow]
	Below    bool   `flag:"v"`
	Before   bool   `flag:"b"`
	Full     bool   `flag:"f"`
	Size     Size   `flag:"l"`
	Detached bool   `flag:"d"`
}

// MovePane is [JoinPane] or, from tmux 3.8 on and if DownBy or a later field is set, moves
// the floating pane Target.
type MovePane struct {
	Source   Target `flag:"s"`
	Target   Target `flag:"t"`
	Right    bool   `flag:"h"`
	Below    bool   `flag:"v"`
	Before   bool   `flag:"b"`
	Full     bool   `flag:"f"`
	Size     Size   `flag:"l"`
	Detached bool   `flag:"d"`
	DownBy   int    `flag:"D" since:"3.8"` // lines
	LeftBy   int    `flag:"L" since:"3.8"` // columns
	RightBy  int    `flag:"R" since:"3.8"`
	UpBy     int    `flag:"U" since:"3.8"`
	Left     Size   `flag:"X" since:"3.8"` // column of the upper left corner
	Top      Size   `flag:"Y" since:"3.8"`
	// Position is "top-left", "centre", "front" or another place that tmux's manual lists.
	Position string `flag:"P" since:"3.8"`
	// Z is the position in the stack of floating panes; 0 is the front.
	Z *int `flag:"z" since:"3.8"`
	// Mouse moves the pane with the mouse; it works only in a mouse key binding.
	Mouse bool `flag:"M" since:"3.8"`
}

// BreakPane moves a pane out of its window into a new one.
type BreakPane struct {
	Source Target `flag:"s"`
	// Target is where the window goes: see [NewWindow].
	Target   Target `flag:"t"`
	After    bool   `flag:"a"`
	Before   bool   `flag:"b"`
	Detached bool   `flag:"d"` // do not make it the current window
	// Name names the window and turns off its automatic renaming. tmux does not expand
	// formats in it, and 3.7 ignores it, so [Server.Do] refuses it there; Break renames the
	// window.
	Name string `flag:"n,utf8"`
	// Float makes the pane a floating one in its window instead.
	Float  bool   `flag:"W" since:"3.8"`
	Width  Size   `flag:"x" since:"3.8"`
	Height Size   `flag:"y" since:"3.8"`
	Left   Size   `flag:"X" since:"3.8"` // column of the upper left corner
	Top    Size   `flag:"Y" since:"3.8"`
	Print  bool   `flag:"P"`
	Format Format `flag:"F"`
}

func (SwapPane) commandName() string  { return "swap-pane" }
func (JoinPane) commandName() string  { return "join-pane" }
func (MovePane) commandName() string  { return "move-pane" }
func (BreakPane) commandName() string { return "break-pane" }

func (c BreakPane) rows(f Format) (Command, []Scope) {
	c.Print, c.Format = true, f
	return c, paneScopes
}

// withName returns the command with a name where this tmux needs one that it ignores, and refuses one
// that it would ignore.
func (c BreakPane) withName(version func() (Version, error)) (Command, error) {
	v, err := version()
	if err == nil && v.ignoresBrokenName() {
		if c.Name != "" {
			return nil, &UnsupportedError{What: "break-pane -n", Since: Version{Major: 3, Minor: 7, Letter: 'a'}, Have: v}
		}
		c.Name = "ignored"
	}
	return c, err
}

// Break moves the pane into a new window and returns the window. Without a Target, the window is
// in the pane's session, which takes one more round trip.
func (r PaneRef) Break(ctx context.Context, opts BreakPane) (Window, error) {
	opts.Source = own(r, opts.Source)
	if opts.Target == nil && !opts.Float {
		// tmux would pick a session, perhaps another one.
		in, err := one[struct {
			SessionRef `tmux:"session_id"`
		}](ctx, r.srv, r.self())
		if err != nil {
			return Window{}, err
		}
		opts.Target = in
	}
	v, err := r.srv.Version(ctx)
	if err != nil || opts.Name == "" || !v.ignoresBrokenName() {
		return one[Window](ctx, r.srv, opts)
	}
	name := opts.Name
	opts.Name = ""
	var b Batch
	Add(&b, opts)
	Add(&b, RenameWindow{Target: r, Name: name})
	rows := AddRows[Window](&b, DisplayMessage{Target: r})
	err = b.Do(ctx, r.srv)
	return first(r.srv, *rows, err, opts, r.object())
}
