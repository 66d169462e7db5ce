package jobs

import (
	"context"
	"strings"
	"time"

	"tmuxmcp/server/internal/match"
)

// Why a line ended the wait for a command.
const (
	reachedReady = "ready"
	reachedStop  = "stop"
)

// awaited finds the line that ends the wait for a command.
type awaited struct {
	ctx context.Context
	patterns
	look    match.Search
	start   time.Time
	lines   int
	reached string // "" unless a line has
	line    string // that one
	err     error
}

// until is Until of [shell.Options]. A failure may follow what looks like a success before the
// caller has heard of that; then the failure counts, as for waits for a text. Matching that takes
// too long ends, and the wait goes on without it.
func (a *awaited) until(line string) bool {
	if a.err != nil || a.reached == reachedStop {
		return a.reached != ""
	}
	if a.lines++; a.lines%100 == 1 { // to ask for the time takes as long as most lines do
		a.look.Most = match.MaxTime + time.Since(a.start)/10
	}
	line = strings.TrimRight(line, " ") // as tmux returns it
	if a.any(a.stop, line) {
		a.reached, a.line = reachedStop, line
	} else if a.err == nil && a.reached == "" && a.any(a.ready, line) {
		a.reached, a.line = reachedReady, line
	}
	return a.reached != ""
}

func (a *awaited) any(patterns []*match.Matcher, line string) bool {
	for _, m := range patterns {
		var is bool
		if is, a.err = a.look.Match(a.ctx, m, line); is || a.err != nil {
			return is
		}
	}
	return false
}
