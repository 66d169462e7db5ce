package tmux

import "context"

// CopyMode puts a pane in copy mode, or with Cancel ends its modes.
type CopyMode struct {
	Target Target `flag:"t"`
	// Source is the pane whose content is shown; the target itself when nil.
	Source Target `flag:"s"`
	// PageUp and PageDown scroll by a page.
	PageUp   bool `flag:"u"`
	PageDown bool `flag:"d" since:"3.5"`
	// ExitAtBottom ends the mode when it is scrolled to the bottom.
	ExitAtBottom bool `flag:"e"`
	// HidePosition hides the position indicator at the top right.
	HidePosition bool `flag:"H"`
	// Mouse starts a drag, Scroll follows the scrollbar: in key bindings only.
	Mouse  bool `flag:"M"`
	Scroll bool `flag:"S" since:"3.6"`
	// Kill ends the pane when the mode ends.
	Kill   bool `flag:"k" since:"3.8"`
	Cancel bool `flag:"q"`
}

func (CopyMode) CommandName() string { return "copy-mode" }

// CopyMode enters copy mode. The program keeps running; its output is drawn when the mode ends.
func (r PaneRef) CopyMode(ctx context.Context) error {
	return r.srv.run(ctx, CopyMode{Target: r})
}

// CopyCommand runs a copy mode command such as "search-backward" or "copy-selection". It fails
// with [ErrNotInMode] if the pane is in no mode. A command that the mode does not have is silently
// ignored.
func (r PaneRef) CopyCommand(ctx context.Context, command string, args ...string) error {
	return r.srv.run(ctx, SendKeys{Target: r, Command: true, Keys: append([]string{command}, args...)})
}

// ExitMode ends every mode of the pane, such as copy mode. It is a no-op if the pane is in none.
func (r PaneRef) ExitMode(ctx context.Context) error {
	return r.srv.run(ctx, CopyMode{Target: r, Cancel: true})
}
