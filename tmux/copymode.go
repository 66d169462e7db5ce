package tmux

import "context"

// CopyMode puts a pane in copy mode or, with Cancel, exits all its modes.
type CopyMode struct {
	Target Target `flag:"t"`
	// Source is the pane whose content is shown; nil means the target itself.
	Source Target `flag:"s"`
	// PageUp and PageDown scroll by a page.
	PageUp   bool `flag:"u"`
	PageDown bool `flag:"d" since:"3.5"`
	// ExitAtBottom exits the mode when it is scrolled to the bottom.
	ExitAtBottom bool `flag:"e"`
	// HidePosition hides the position indicator at the top right.
	HidePosition bool `flag:"H"`
	// Mouse starts a drag and Scroll follows the scrollbar; both work only in key bindings.
	Mouse  bool `flag:"M"`
	Scroll bool `flag:"S" since:"3.6"`
	// Kill kills the pane when the mode ends.
	Kill   bool `flag:"k" since:"3.8"`
	Cancel bool `flag:"q"`
}

func (CopyMode) CommandName() string { return "copy-mode" }

// CopyMode enters copy mode. The program keeps running; output shows when the mode ends.
func (r PaneRef) CopyMode(ctx context.Context) error {
	return r.srv.run(ctx, CopyMode{Target: r})
}

// CopyCommand runs a copy mode command such as "search-backward" or "copy-selection". It
// fails with [ErrNotInMode] if the pane is not in a mode. A command that the mode does not
// have is silently ignored.
func (r PaneRef) CopyCommand(ctx context.Context, command string, args ...string) error {
	return r.srv.run(ctx, SendKeys{Target: r, Command: true, Keys: append([]string{command}, args...)})
}

// ExitMode exits all modes of the pane, such as copy mode. Without one, it is a no-op.
func (r PaneRef) ExitMode(ctx context.Context) error {
	return r.srv.run(ctx, CopyMode{Target: r, Cancel: true})
}
