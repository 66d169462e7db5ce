package tmux

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Size is a width or height, or a position: [Cells] or [Percent].
type Size string

// Cells returns a size in columns or lines.
func Cells(n int) Size { return Size(strconv.Itoa(n)) }

// Percent returns a size in percent of the available space.
func Percent(n int) Size { return Size(strconv.Itoa(n) + "%") }

// checkSizes refuses sizes of 0, for which tmux takes 1.
func checkSizes(sizes ...Size) error {
	if slices.Contains(sizes, Cells(0)) || slices.Contains(sizes, Percent(0)) {
		return argumentError("a size of 0")
	}
	return nil
}

// SplitWindow creates a pane by splitting another one in two.
type SplitWindow struct {
	Target Target `flag:"t"` // the pane to split
	// Right puts the new pane to the right of the old one, and makes Size a width; by
	// default it goes below, and Size is a height.
	Right bool `flag:"h"`
	Below bool `flag:"v"` // the default
	// Before puts it to the left or above instead.
	Before bool `flag:"b"`
	// Full splits the whole window instead of the pane.
	Full bool `flag:"f"`
	Size Size `flag:"l"`
	// Detached leaves the active pane active.
	Detached bool `flag:"d"`
	Zoom     bool `flag:"Z"`
	// Dir is the working directory; if empty, that of this process, since tmux would use
	// that of the client.
	Dir string `flag:"c,literal"`
	Env Env    `flag:"e"`
	// Stdin creates a pane that runs nothing and shows Input.
	Stdin bool   `flag:"I"`
	Input []byte `flag:"-"`
	// Empty creates a pane that runs nothing. Before tmux 3.7, set Command to one empty string
	// instead, for which 3.7 and 3.7a run a shell that ends at once.
	Empty bool `flag:"E" since:"3.7"`
	// Keep keeps the pane after its program has ended, until a key is pressed.
	Keep bool `flag:"k" since:"3.7"`
	// KeepMessage is Keep with the text shown then, a value of the option
	// remain-on-exit-format.
	KeepMessage Format `flag:"m" since:"3.7"`
	// Style is a style for the pane, such as "bg=blue".
	Style               string `flag:"s" since:"3.7"`
	ActiveBorderStyle   string `flag:"S" since:"3.7"`
	InactiveBorderStyle string `flag:"R" since:"3.7"`
	// BorderLines is a value of the option pane-border-lines, for a floating pane.
	BorderLines string `flag:"B" since:"3.8"`
	Title       string `flag:"T,literal,utf8" since:"3.8"`
	// Wait makes the command wait until the pane's program ends, and exit with its status.
	Wait   bool   `flag:"W" since:"3.8"`
	Print  bool   `flag:"P"`
	Format Format `flag:"F"`
	// Command is what the pane runs; if empty, the option default-command or a login shell.
	// A single text is a command line for the shell in the option default-shell; several
	// are a program and its arguments, executed directly.
	Command []string `arg:""`
}

// NewPane creates a pane that floats above the others.
type NewPane struct {
	_      struct{} `since:"3.7"`
	Target Target   `flag:"t"` // a pane of the window
	Width  Size     `flag:"x"` // half of the window's by default
	Height Size     `flag:"y"` // a quarter of the window's by default
	Left   Size     `flag:"X"` // column of the upper left corner
	Top    Size     `flag:"Y"` // line of the upper left corner
	// Tiled makes the command the same as [SplitWindow].
	Tiled bool `flag:"L"`
	// AboveZoom keeps the pane visible above a zoomed one.
	AboveZoom bool `flag:"A" since:"3.8"`
	// Modal prevents other panes from being active while this one exists.
	Modal bool `flag:"O" since:"3.8"`
	// AllKeys also sends the prefix key to a modal pane.
	AllKeys bool `flag:"K" since:"3.8"`
	// CloseOnClick closes a modal pane on a click outside it.
	CloseOnClick bool `flag:"C" since:"3.8"`
	// CloseOnEscape closes a modal pane on Escape or C-c.
	CloseOnEscape bool `flag:"D" since:"3.8"`
	// Mouse resizes the pane with the mouse; it works only in a mouse key binding.
	Mouse bool `flag:"M" since:"3.8"`

	// The fields below are as in SplitWindow.

	Right               bool     `flag:"h"`
	Below               bool     `flag:"v"`
	Before              bool     `flag:"b"`
	Full                bool     `flag:"f"`
	Size                Size     `flag:"l"`
	Detached            bool     `flag:"d"`
	Zoom                bool     `flag:"Z"`
	Dir                 string   `flag:"c,literal"`
	Env                 Env      `flag:"e"`
	Stdin               bool     `flag:"I"`
	Input               []byte   `flag:"-"`
	Empty               bool     `flag:"E"`
	Keep                bool     `flag:"k"`
	KeepMessage         Format   `flag:"m"`
	Style               string   `flag:"s"`
	ActiveBorderStyle   string   `flag:"S"`
	InactiveBorderStyle string   `flag:"R"`
	BorderLines         string   `flag:"B" since:"3.8"`
	Title               string   `flag:"T,literal,utf8" since:"3.8"`
	Wait                bool     `flag:"W" since:"3.8"`
	Print               bool     `flag:"P"`
	Format              Format   `flag:"F"`
	Command             []string `arg:""`
}

// KillPane destroys a pane, and its window if it is the last one.
type KillPane struct {
	Target Target `flag:"t"`
	// Others destroys every pane of the window except the target.
	Others bool   `flag:"a"`
	Filter Format `flag:"f" since:"3.8"` // with Others: only panes it is true for
}

// SelectPane makes a pane the active pane of its window. If DisableInput or a later field
// is set, it changes a property of the pane instead and does not change the active pane.
type SelectPane struct {
	Target   Target `flag:"t"`
	Left     bool   `flag:"L"` // the pane to the left of the target, and so on
	Right    bool   `flag:"R"`
	Up       bool   `flag:"U"`
	Down     bool   `flag:"D"`
	Last     bool   `flag:"l"` // the previously active pane
	KeepZoom bool   `flag:"Z"`
	// DisableInput makes the pane ignore keys.
	DisableInput bool `flag:"d"`
	EnableInput  bool `flag:"e"`
	// Mark makes it the only marked pane or, if it is, unmarks it.
	Mark   bool `flag:"m"`
	Unmark bool `flag:"M"`
	// Title is the pane's new title.
	Title *string `flag:"T,literal,utf8"`
	// Style is a style for the pane, such as "bg=blue"; "default" removes it.
	Style string `flag:"P"`
	// ShowStyle prints the pane's style.
	ShowStyle bool `flag:"g"`
}

// LastPane selects the previously active pane of a window.
type LastPane struct {
	Target       Target `flag:"t"` // a window
	DisableInput bool   `flag:"d"` // instead: make it ignore keys
	EnableInput  bool   `flag:"e"`
	KeepZoom     bool   `flag:"Z"`
}

// ResizePane changes the size of a pane.
type ResizePane struct {
	Down   bool `flag:"D"` // move the lower edge, and so on
	Left   bool `flag:"L"`
	Right  bool `flag:"R"`
	Up     bool `flag:"U"`
	Width  Size `flag:"x"`
	Height Size `flag:"y"`
	// ToggleZoom makes the pane fill the window, or shows all panes again.
	ToggleZoom bool `flag:"Z"`
	// Trim removes the lines below the cursor.
	Trim bool `flag:"T"`
	// Mouse resizes the pane with the mouse; it works only in a mouse key binding.
	Mouse  bool   `flag:"M"`
	Target Target `flag:"t"`
	// By is how many cells Down, Left, Right and Up move the edge; 0 means 1.
	By int `arg:""`
}

// RespawnPane restarts the program of a pane.
type RespawnPane struct {
	Target Target `flag:"t"`
	Kill   bool   `flag:"k"` // terminate a running program; otherwise the call fails
	// Dir is the working directory; if empty, the one the pane was started in.
	Dir   string `flag:"c,literal"`
	Env   Env    `flag:"e"`
	Empty bool   `flag:"E" since:"3.8"` // run nothing
	// Command is what to run; if empty, the same as before: see [SplitWindow].
	Command []string `arg:""`
}

// DisplayPanes shows the numbers of panes. A client must be attached.
type DisplayPanes struct {
	// Target is the client to show them on; from tmux 3.8 on, a pane.
	Target Target `flag:"t"`
	// Source is the window whose panes are shown.
	Source Target `flag:"s" since:"3.8"`
	// Background returns without waiting for a choice.
	Background bool `flag:"b" until:"3.7"`
	// Duration is how long they stay, in whole milliseconds; 0 waits for a key.
	Duration *time.Duration `flag:"d,milliseconds"`
	// IgnoreKeys keeps the numbers open when a key is pressed.
	IgnoreKeys bool `flag:"N"`
	Kill       bool `flag:"k" since:"3.8"` // kill the pane they are shown in afterwards
	Unzoomed   bool `flag:"Z" since:"3.8"`
	// Template is the tmux command to run for the chosen pane; %% stands for its id.
	Template string `arg:""`
}

// ClockMode shows a clock in a pane.
type ClockMode struct {
	Target Target `flag:"t"`
}

func (SplitWindow) commandName() string  { return "split-window" }
func (NewPane) commandName() string      { return "new-pane" }
func (KillPane) commandName() string     { return "kill-pane" }
func (SelectPane) commandName() string   { return "select-pane" }
func (LastPane) commandName() string     { return "last-pane" }
func (ResizePane) commandName() string   { return "resize-pane" }
func (RespawnPane) commandName() string  { return "respawn-pane" }
func (DisplayPanes) commandName() string { return "display-panes" }
func (ClockMode) commandName() string    { return "clock-mode" }

func (c SplitWindow) rows(f Format) (Command, []Scope) {
	c.Print, c.Format = true, f
	return c, paneScopes
}

func (c NewPane) rows(f Format) (Command, []Scope) {
	c.Print, c.Format = true, f
	return c, paneScopes
}

func (c SplitWindow) stdin() []byte { return c.Input }
func (c NewPane) stdin() []byte     { return c.Input }
func (c SplitWindow) waits() bool   { return c.Wait }
func (c NewPane) waits() bool       { return c.Wait }
func (c DisplayPanes) waits() bool  { return !c.Background }

// Panes returns all panes of the server, with a row for each session their window is linked
// into. There are none if the server has no session; without a server it fails with
// [ErrNoServer].
func (s *Server) Panes(ctx context.Context) ([]Pane, error) {
	return listAll[Pane](ctx, s, ListPanes{All: true})
}

// PaneAt returns the pane that a target means, as a user gives one: a [TargetSpec] such as
// "%3", "work:1.0" or "=work:" (the active pane of the session with exactly this name). Of a
// session or window it is the active pane; if target is nil, tmux picks one. It fails with
// [ErrNotFound] if there is none.
func (s *Server) PaneAt(ctx context.Context, target Target) (Pane, error) {
	var b Batch
	Add(&b, HasSession{Target: target}) // display-message does not fail
	cmd := DisplayMessage{Target: target}
	rows := AddRows[Pane](&b, cmd)
	if err := b.Do(ctx, s); err != nil {
		return Pane{}, err
	}
	if (*rows)[0].ID == "" {
		return Pane{}, notFound(s, cmd.commandName(), Object{})
	}
	return (*rows)[0], nil
}

// Info returns the pane's state. It fails with [ErrNotFound] if the pane is gone.
func (r PaneRef) Info(ctx context.Context) (Pane, error) {
	return one[Pane](ctx, r.srv, r.self())
}

// self lists only this pane. As a target of list-panes, its id stands for its window.
func (r PaneRef) self() ListPanes {
	return ListPanes{Target: r, Filter: MatchEqual("pane_id", string(r.ID))}
}

// Split creates a pane next to or below this one. opts.Dir is checked as by
// [SessionRef.NewWindow].
func (r PaneRef) Split(ctx context.Context, opts SplitWindow) (Pane, error) {
	if err := cmp.Or(checkSizes(opts.Size), checkDir(ctx, r.srv, &opts.Dir)); err != nil {
		return Pane{}, fmt.Errorf("split-window: %w", err)
	}
	opts.Target = own(r, opts.Target)
	return one[Pane](ctx, r.srv, opts)
}

// Float creates a pane that floats above this one's window. It needs tmux 3.7. opts.Dir is
// checked as by [SessionRef.NewWindow].
func (r PaneRef) Float(ctx context.Context, opts NewPane) (Pane, error) {
	if err := cmp.Or(checkSizes(opts.Size, opts.Width, opts.Height), checkDir(ctx, r.srv, &opts.Dir)); err != nil {
		return Pane{}, fmt.Errorf("new-pane: %w", err)
	}
	opts.Target = own(r, opts.Target)
	return one[Pane](ctx, r.srv, opts)
}

// Kill destroys the pane, and its window if it is the last one.
func (r PaneRef) Kill(ctx context.Context) error {
	return r.srv.run(ctx, KillPane{Target: r})
}

// KillOthers destroys the window's other panes.
func (r PaneRef) KillOthers(ctx context.Context) error {
	return r.srv.run(ctx, KillPane{Target: r, Others: true})
}

// Select makes the pane the active pane of its window or, with opts.Left and the like, its
// neighbour, at the window's edge the one at the opposite edge. It fails with [ErrNotFound]
// if there is none. It ends the window's zoom unless opts.KeepZoom is set.
func (r PaneRef) Select(ctx context.Context, opts SelectPane) error {
	opts.Target = own(r, opts.Target)
	// tmux silently selects nothing for a pane that spans the window.
	spans := Format("")
	switch {
	case opts.Left || opts.Right:
		spans = And("#{pane_at_left}", "#{pane_at_right}")
	case opts.Up || opts.Down:
		spans = And("#{pane_at_top}", "#{pane_at_bottom}")
	default:
		return r.srv.run(ctx, opts)
	}
	alone := And(spans, Not("#{window_zoomed_flag}"), Not("#{pane_floating_flag}"))
	err := r.srv.run(ctx, ListPanes{Target: r, Filter: "0"}, Require{Target: r, Condition: Not(alone)}, opts)
	if errors.Is(err, ErrUnmet) {
		err = fmt.Errorf("select-pane %s: a pane in that direction: %w", r.ID, ErrNotFound)
	}
	return err
}

// SetTitle sets the pane's title, which programs in it can change again. It fails with
// [ErrArgument] for control characters, which tmux does not accept. tmux 3.7 and later
// store backslashes doubled.
func (r PaneRef) SetTitle(ctx context.Context, title string) error {
	type titled struct {
		Title string `tmux:"pane_title,whole"`
	}
	got, err := after[titled](ctx, r.srv, SelectPane{Target: r, Title: &title}, r.self())
	// tmux silently drops a title that it does not accept.
	if err == nil && got.Title != title && unescape(got.Title, false) != title {
		err = argumentError("tmux does not accept the title %q", title)
	}
	return err
}

// SetStyle sets the pane's style, such as "fg=white,bg=colour52"; "default" removes it. It
// fails with [ErrBadValue] if it is not a style.
func (r PaneRef) SetStyle(ctx context.Context, style string) error {
	// select-pane -P accepts anything; set-option refuses what is not a style.
	return r.srv.run(ctx,
		SetOption{Target: r, Pane: true, Name: "window-style", Value: &style},
		SetOption{Target: r, Pane: true, Name: "window-active-style", Value: &style})
}

// Resize resizes the pane, as far as the other panes leave room, and returns the result. It
// fails with [ErrArgument] if opts has nothing to resize.
func (r PaneRef) Resize(ctx context.Context, opts ResizePane) (Pane, error) {
	if (opts == ResizePane{By: opts.By}) {
		return Pane{}, argumentError("resize-pane %s: no size and no direction", r.ID)
	}
	if err := checkSizes(opts.Width, opts.Height); err != nil {
		return Pane{}, fmt.Errorf("resize-pane %s: %w", r.ID, err)
	}
	opts.Target = own(r, opts.Target)
	return after[Pane](ctx, r.srv, opts, r.self())
}

// Zoom makes the pane the active one and lets it fill its window. It is a no-op if it
// already does.
func (r PaneRef) Zoom(ctx context.Context) error {
	return zoom(ctx, r.srv, r, Require{Target: r, Condition: Not(zoomed)}, SelectPane{Target: r}, ResizePane{Target: r, ToggleZoom: true})
}

// Unzoom shows the window's other panes again if this pane is zoomed. It is a no-op
// otherwise. See also [WindowRef.Unzoom].
func (r PaneRef) Unzoom(ctx context.Context) error { return unzoom(ctx, r.srv, r) }

func unzoom(ctx context.Context, s *Server, target Target) error {
	return zoom(ctx, s, target, Require{Target: target, Condition: zoomed}, ResizePane{Target: target, ToggleZoom: true})
}

func zoom(ctx context.Context, s *Server, target Target, change ...Command) error {
	// Require alone would not report a target that does not exist.
	err := s.run(ctx, append([]Command{ListPanes{Target: target, Filter: "0"}}, change...)...)
	if errors.Is(err, ErrUnmet) {
		return nil
	}
	return err
}

// zoomed is the condition that a pane is zoomed: resize-pane -Z only toggles, and
// window_zoomed_flag is the window's.
const zoomed = "#{&&:#{window_zoomed_flag},#{pane_active}}"

// Respawn restarts the pane's program. Unless opts.Kill is set it fails with [ErrRunning]
// if the program is still running. opts.Dir is checked as by [SessionRef.NewWindow].
func (r PaneRef) Respawn(ctx context.Context, opts RespawnPane) (Pane, error) {
	if err := checkDir(ctx, r.srv, &opts.Dir); err != nil {
		return Pane{}, fmt.Errorf("respawn-pane: %w", err)
	}
	opts.Target = own(r, opts.Target)
	return after[Pane](ctx, r.srv, opts, r.self())
}
