// Package closing closes panes, and names the programs that outlive them.
package closing

import (
	"context"
	"slices"
	"time"

	"tmuxmcp/internal/pause"
	"tmuxmcp/server/internal/caller"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/tmux"
)

// tmux does not end the programs of a pane that it closes: it hangs up their terminal. Most
// then exit; those that do not are named, where the system shows them.

// endsWithin is how long a program may take to exit before it is reported as surviving.
const endsWithin = 500 * time.Millisecond

// mostSurvivors bounds the programs that are named.
const mostSurvivors = 5

type paneProgram struct {
	PID int    `tmux:"pane_pid"`
	TTY string `tmux:"pane_tty"`
}

// survivor is a program that runs on without its terminal.
type survivor struct {
	pid  int
	name string
}

// Panes runs a function that closes the panes that a filter keeps, and notes which of their
// programs still run a moment later.
func Panes(ctx context.Context, srv *tmux.Server, filter tmux.Format, do func() error) error {
	panes, err := tmux.List[paneProgram](ctx, srv, tmux.ListPanes{All: true, Filter: filter})
	if err != nil || !caller.Sees(ctx, srv) {
		panes = nil // do fails too, or there is nothing to close or to see
	}
	panes = slices.DeleteFunc(panes, func(p paneProgram) bool { return !p.known() })
	if err := do(); err != nil || len(panes) == 0 {
		return err
	}
	left := survivors(panes)
	begun := time.Now()
	for d := range pause.Growing(32 * time.Millisecond) {
		if len(left) == 0 || time.Since(begun) >= endsWithin {
			break
		}
		if pause.For(ctx, d) != nil {
			return nil // it is done, whoever waits for it
		}
		left = survivors(panes)
	}
	if len(left) == 0 {
		return nil
	}
	// A window may be in another session too.
	still, _ := tmux.List[paneProgram](ctx, srv, tmux.ListPanes{All: true})
	panes = slices.DeleteFunc(panes, func(p paneProgram) bool {
		return slices.ContainsFunc(still, func(s paneProgram) bool { return s.PID == p.PID })
	})
	note(ctx, survivors(panes))
	return nil
}

// note names the programs that still run.
func note(ctx context.Context, left []survivor) {
	if len(left) == 0 {
		return
	}
	var names []reply.Words
	for _, s := range left[:min(len(left), mostSurvivors)] {
		names = append(names, reply.Say("%s (pid %d)", reply.Named(s.name, "()"), s.pid))
	}
	if more := len(left) - len(names); more > 0 {
		names = append(names, reply.Say("%d more", more))
	}
	reply.Note(ctx, "still running without a terminal, as they ignore its end or need longer: %s", reply.Listed(names, ", "))
}
