package agents

import (
	"strings"
	"time"

	"tmuxmcp/tmux"
)

// Look is what a list of commands shows of a pane: all that the state of an agent there is
// read from.
type Look struct {
	pane   *[]Pane
	screen *[]byte
}

// placeTokens say where an agent is and determine its state. ProgramTokens say what runs in a
// pane, and cost tmux more than all the others.
var (
	placeTokens   = []string{"pane_id", "session_name", "window_index", "pane_index", "pane_pid", "pane_dead", "pane_title", "cursor_x", "cursor_y"}
	ProgramTokens = []string{"pane_current_command", "pane_start_command"}
	// sightTokens are for looking again and again.
	sightTokens = append([]string{"pane_tty", "window_activity"}, placeTokens...)
)

// AddLook appends the commands that look at a pane, which also ask for further tokens.
func AddLook(b *tmux.Batch, at tmux.Target, also ...string) Look {
	tokens := append(placeTokens[:len(placeTokens):len(placeTokens)], also...)
	return Look{
		pane:   tmux.AddRows[Pane](b, tmux.DisplayMessage{Target: at}, tokens...),
		screen: tmux.Add(b, tmux.CapturePane{Target: at, Print: true}),
	}
}

// Pane returns the pane; its ID is empty if there is none.
func (l Look) Pane() (p Pane) {
	if len(*l.pane) > 0 {
		p = (*l.pane)[0]
	}
	return p
}

// Rows returns all rows of the screen, blank ones included, so that the cursor's position
// holds; nil without a screen.
func (l Look) Rows() []string {
	if l.screen == nil || *l.screen == nil {
		return nil
	}
	return rowsOf(*l.screen)
}

func rowsOf(screen []byte) []string {
	return strings.Split(strings.TrimSuffix(string(screen), "\n"), "\n")
}

// Steady is a value that is looked at again and again, and since when it has been the same.
// What a screen shows counts only once it is steady: one that is being drawn may look like
// another.
type Steady[T comparable] struct {
	Value T
	Since time.Time
}

// Saw records what a look has found, and returns for how long it has been so.
func (s *Steady[T]) Saw(v T, at time.Time) time.Duration {
	if v != s.Value || s.Since.IsZero() {
		s.Value, s.Since = v, at
	}
	return at.Sub(s.Since)
}
