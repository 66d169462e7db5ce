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
	ctx         context.Context
	ready, stop []*match.Matcher
	look        match.Search
	start       time.Time
	reached     string // "" unless a line has
	line        string // that one
	err         error
}

func newAwaited(ctx context.Context, in Output) (*awaited, error) {
	a := &awaited{ctx: ctx, start: time.Now()}
	var err error
	if a.ready, err = match.All(ctx, "ready", in.Ready, in.Regex, false); err != nil {
		return nil, err
	}
	a.stop, err = match.All(ctx, "stop", in.Stop, in.Regex, false)
	return a, err
}

// until is Until of [shell.Options]. A failure may follow what looks like a success before the
// caller has heard of that; then the failure counts, as for waits for a text. Matching that takes
// too long ends, and the wait goes on without it.
func (a *awaited) until(line string) bool {
	if a.err != nil || a.reached == reachedStop {
		return a.reached != ""
	}
	line = strings.TrimRight(line, " ") // as tmux returns it
	a.look.Most = match.MaxTime + time.Since(a.start)/10
	for _, m := range []struct {
		patterns []*match.Matcher
		reached  string
	}{{a.stop, reachedStop}, {a.ready, reachedReady}} {
		if m.reached == a.reached {
			break
		}
		var i int
		if i, a.err = a.look.First(a.ctx, m.patterns, []string{line}); a.err != nil {
			break
		}
		if i >= 0 {
			a.reached, a.line = m.reached, line
			break
		}
	}
	return a.reached != ""
}
