package server

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"tmuxmcp/internal/pause"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/tmux"
)

// places are how far this server has read the panes that it typed into or waited for. A
// wait continues from there, so that nothing is lost while a model thinks between two
// calls.
type places struct {
	mu   sync.Mutex
	last map[string]bookmark // by socket and pane
}

// bookmark is how far a pane was read, and what was typed but may not have appeared yet.
type bookmark struct {
	mark   *tmux.Mark
	echo   *echo
	prompt bool // the cursor was at the prompt of a shell
}

// maxPlaces bounds the number of panes; beyond it, one of them is forgotten.
const maxPlaces = 1000

func (p *places) set(srv *tmux.Server, at bookmark) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last == nil {
		p.last = map[string]bookmark{}
	}
	key := srv.SocketPath() + " " + string(at.mark.Pane)
	if _, known := p.last[key]; !known && len(p.last) >= maxPlaces {
		for other := range p.last {
			delete(p.last, other)
			break
		}
	}
	p.last[key] = at
}

// of returns how far a pane was read, or the zero bookmark.
func (p *places) of(srv *tmux.Server, pane tmux.PaneID) bookmark {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last[srv.SocketPath()+" "+string(pane)]
}

// lookSince looks at a pane. It must be the pane of the earlier look and run the same
// program; if the program differs, the look is returned with the error.
func (c *call) lookSince(ctx context.Context, pane tmux.Target, since *tmux.Mark) (*tmux.Look, error) {
	l, err := c.Tmux.LookAt(ctx, pane, since)
	if err != nil {
		return nil, err
	}
	if since != nil && since.Pane != l.ID {
		return nil, reply.Faultf(reply.KindValidation, "cursor pane %s does not match requested pane %s", since.Pane, l.ID).
			Suggest("leave the target out, or begin without a cursor")
	}
	if since != nil && since.PID != l.PID && l.PID != "" && since.PID != "" && !l.Dead {
		return l, respawned(l, since.PID, nil)
	}
	return l, nil
}

// died returns the error that ends a wait, or following a pane, if the pane's program has
// ended but the pane remains. It quotes the last lines.
func died(l *tmux.Look) *reply.Fault {
	status := ""
	if l.DeadStatus != nil {
		status = fmt.Sprintf(" with status %d", *l.DeadStatus)
	}
	return reply.Faultf(reply.KindPaneGone, "pane_gone: pane %s died: its program ended%s", l.ID, status).
		Suggest("capture_pane still reads it, respawn_pane starts it again").LastWords(l.Tail())
}

// respawned is like died, for a pane that now runs another program.
func respawned(l *tmux.Look, pid string, last []string) *reply.Fault {
	return reply.Faultf(reply.KindPaneGone, "pane_gone: pane %s was respawned (pid %s -> %s): what was there is gone", l.ID, pid, l.PID).
		Suggest("call again to look at the new program").LastWords(last)
}

// closed is like died, for a pane that no longer exists. The cause is tmux's error.
func (c *call) closed(ctx context.Context, pane tmux.PaneID, last []string, err error) *reply.Fault {
	f := reply.Faultf(reply.KindPaneGone, "pane_gone: pane %s was closed during the wait", pane)
	if !errors.Is(err, tmux.ErrNotFound) || c.serverEnds(ctx) {
		f.Message = "pane_gone: pane " + string(pane) + " died with its tmux server on " + c.Tmux.SocketPath()
	}
	f.Cause = err
	return f.Suggest("list_panes shows which panes are left").LastWords(last)
}

// isServerGone reports whether an error means that the tmux server is not there, or ends.
func isServerGone(err error) bool {
	return errors.Is(err, tmux.ErrNoServer) || errors.Is(err, tmux.ErrServerGone)
}

// isGone reports whether an error means that something, or the whole server, is not there.
func isGone(err error) bool { return isServerGone(err) || errors.Is(err, tmux.ErrNotFound) }

// serverEnds reports whether the tmux server is gone, or about to go: it closes everything
// first, and answers for a moment.
func (c *call) serverEnds(ctx context.Context) bool {
	for range 10 {
		rows, err := tmux.List[target.IDs](ctx, c.Tmux, tmux.ListPanes{All: true})
		switch {
		case isServerGone(err):
			return true
		case target.NoneIsEmpty(err) != nil, len(rows) > 0, pause.For(ctx, 20*time.Millisecond) != nil:
			return false
		}
	}
	return false
}

// maxWait is the longest time that a tool can be asked to wait.
const maxWait = 300 * time.Second

// budget returns how long a waiting tool may wait: what the caller asked for, up to this
// server's limit.
func (s *Server) budget(seconds float64) (time.Duration, error) {
	if seconds <= 0 {
		return 0, reply.Argument("timeout", "must be above 0")
	}
	if seconds > maxWait.Seconds() && s.cfg.WaitMax == maxWait {
		return 0, reply.Argument("timeout", "must be at most %v seconds", maxWait.Seconds()).Suggest("wait again, or detach a command with run_command")
	}
	return min(time.Duration(seconds*float64(time.Second)), s.cfg.WaitMax), nil
}
