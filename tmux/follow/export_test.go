package follow

import (
	"time"

	"tmuxmcp/tmux"
)

// Announced reports whether something announces what a pane prints.
func (f *Follower) Announced(pane tmux.PaneID) bool { return f.due.panes[pane].announced }

// Looked records a look that found a state.
func (f *Follower) Looked(state PaneState) { f.due.looked(state, time.Now(), false) }

// Below returns the lines of a screen that follow earlier ones.
var Below = below
