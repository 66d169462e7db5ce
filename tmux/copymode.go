package tmux

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tmuxmcp/internal/nearest"
)

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

func (CopyMode) commandName() string { return "copy-mode" }

// CopyMode enters copy mode. The program keeps running; output shows when the mode ends.
func (r PaneRef) CopyMode(ctx context.Context) error {
	return r.srv.run(ctx, CopyMode{Target: r})
}

// copyCommands are the commands of copy mode, and the versions that have them.
var copyCommands = []struct {
	since, until Version
	names        string
}{
	{Version{}, Version{}, "append-selection append-selection-and-cancel back-to-indentation begin-selection " +
		"bottom-line cancel clear-selection copy-end-of-line copy-line copy-pipe " +
		"copy-pipe-and-cancel copy-pipe-no-clear copy-selection copy-selection-and-cancel " +
		"copy-selection-no-clear cursor-down cursor-down-and-cancel cursor-left cursor-right " +
		"cursor-up end-of-line goto-line halfpage-down halfpage-down-and-cancel halfpage-up " +
		"history-bottom history-top jump-again jump-backward jump-forward jump-reverse " +
		"jump-to-backward jump-to-forward jump-to-mark middle-line next-matching-bracket " +
		"next-paragraph next-space next-space-end next-word next-word-end other-end page-down " +
		"page-down-and-cancel page-up pipe pipe-and-cancel pipe-no-clear " +
		"previous-matching-bracket previous-paragraph previous-space previous-word " +
		"rectangle-off rectangle-on rectangle-toggle scroll-down scroll-down-and-cancel " +
		"scroll-up search-again search-backward search-backward-incremental " +
		"search-backward-text search-forward search-forward-incremental search-forward-text " +
		"search-reverse select-line select-word set-mark start-of-line stop-selection " +
		"top-line"},
	{Version{}, Version{Major: 3, Minor: 7}, "refresh-from-pane"},
	{Version{Major: 3, Minor: 3}, Version{}, "copy-end-of-line-and-cancel copy-line-and-cancel copy-pipe-end-of-line " +
		"copy-pipe-end-of-line-and-cancel copy-pipe-line copy-pipe-line-and-cancel " +
		"toggle-position"},
	{Version{Major: 3, Minor: 4}, Version{}, "next-prompt previous-prompt scroll-bottom scroll-middle scroll-top"},
	{Version{Major: 3, Minor: 6}, Version{}, "cursor-centre-horizontal cursor-centre-vertical selection-mode"},
	{Version{Major: 3, Minor: 7}, Version{}, "recentre-top-bottom scroll-exit-off scroll-exit-on scroll-exit-toggle " +
		"scroll-to-mouse"},
	{Version{Major: 3, Minor: 8}, Version{}, "line-numbers-off line-numbers-on line-numbers-toggle refresh-now refresh-off " +
		"refresh-on refresh-toggle"},
}

// CopyCommand runs a copy mode command such as "search-backward" or "copy-selection". It
// fails with [ErrNotInMode] if the pane is not in a mode, with [ErrArgument] if copy mode has
// no such command, and with an [UnsupportedError] if it has none in this tmux. A command with
// too few or too many arguments is silently ignored.
func (r PaneRef) CopyCommand(ctx context.Context, command string, args ...string) error {
	if err := checkCopyCommand(ctx, r.srv, command); err != nil {
		return fmt.Errorf("%s: %w", r.ID, err)
	}
	return r.srv.run(ctx, SendKeys{Target: r, Command: true, Keys: append([]string{command}, args...)})
}

// checkCopyCommand refuses a copy mode command that tmux would silently ignore.
func checkCopyCommand(ctx context.Context, s *Server, command string) error {
	var all []string
	for _, c := range copyCommands {
		names := strings.Fields(c.names)
		if slices.Contains(names, command) {
			return need(func() (Version, error) { return s.Version(ctx) }, command, c.since, c.until)
		}
		all = append(all, names...)
	}
	return argumentError("copy mode has no command %q%s", command, nearest.Meant(command, all))
}

// ExitMode exits all modes of the pane, such as copy mode. Without one, it is a no-op.
func (r PaneRef) ExitMode(ctx context.Context) error {
	return r.srv.run(ctx, CopyMode{Target: r, Cancel: true})
}
