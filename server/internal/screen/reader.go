// Package screen looks at panes: since a mark, until something happens, for a text.
package screen

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"tmuxmcp/internal/pause"
	"tmuxmcp/internal/runner"
	"tmuxmcp/server/internal/agents"
	"tmuxmcp/server/internal/caller"
	"tmuxmcp/server/internal/ledger"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/follow"
)

// Reader looks at panes, for tools that wait, follow or search. It is safe for concurrent
// use.
type Reader struct {
	// WaitMax bounds every wait. It is at most MaxWait.
	WaitMax time.Duration
	// LookTime bounds one look at a pane: a hanging server must not use up all of the time.
	LookTime time.Duration
	// MatchTime bounds the matching of a search.
	MatchTime time.Duration
	// Agents finds the agents whose states a wait can be for.
	Agents *agents.Finder
	// Ledger has what was typed, and what of that has been reported to have ended.
	Ledger *ledger.Ledger
	// cursors are the short cursors that clients have; nil until the server is serving.
	cursors   *cursors
	bookmarks bookmarks
}

// bookmarks are how far this server has read the panes that it typed into or waited for. A
// wait continues from there, so that nothing is lost while a model thinks between two
// calls.
type bookmarks struct {
	mu   sync.Mutex
	last map[string]Bookmark // by socket and pane
}

// Bookmark is how far a pane was read, and what was typed but may not have appeared yet.
type Bookmark struct {
	Mark     *follow.Mark
	at       time.Time // when the look began
	echo     *Echo
	prompt   bool      // the cursor was at the prompt of a shell
	above    rowsAbove // at that look
	size     [2]int    // of the pane, and what its screen showed; unset in a cursor
	text     []string
	line     int       // the number of what had been typed in the ledger
	typed    bool      // that line was typed at it
	returned *returned // what run_command has returned since
}

// maxBookmarks bounds the number of panes; beyond it, one of them is forgotten.
const maxBookmarks = 1000

func (r *Reader) bookmark(srv *tmux.Server, l *follow.Look, began time.Time, prompt bool) Bookmark {
	b := Bookmark{Mark: l.Mark(), at: began, prompt: prompt, above: above(l)}
	line, _ := r.Ledger.Of(b.pane(srv))
	b.line = line.Number()
	return b
}

// pane returns the pane of a bookmark, as the ledger knows it.
func (b Bookmark) pane(srv *tmux.Server) ledger.Pane {
	return ledger.Pane{Socket: srv.SocketPath(), ID: string(b.Mark.Pane), PID: b.Mark.PID}
}

// Typed records what was typed into a pane, how the pane looked just before, and when that
// began. before is the bookmark of what the same call has typed there already; its zero value
// if it has not.
func (r *Reader) Typed(ctx context.Context, srv *tmux.Server, l *follow.Look, what Echo, began time.Time, before Bookmark) Bookmark {
	b := before
	if b.Mark == nil {
		b = r.bookmark(srv, l, began, false)
		b.size, b.text = [2]int{l.Width, l.Height}, l.Lines()
	}
	b.echo = what.at(caller.PID(ctx, srv, l.PaneState), l, b.echo, time.Since(began))
	b.prompt = b.echo.prompt != ""
	if line, counts := b.echo.line(l, what, began); counts {
		b.line, b.typed = r.Ledger.Typed(b.pane(srv), line, l.CursorIn()), true
	}
	r.bookmarks.set(srv, b)
	return b
}

// Bookmark returns how far a pane was read, or the zero bookmark.
func (r *Reader) Bookmark(srv *tmux.Server, pane tmux.PaneID) Bookmark {
	return r.bookmarks.of(srv, pane)
}

func (p *bookmarks) set(srv *tmux.Server, at Bookmark) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last == nil {
		p.last = map[string]Bookmark{}
	}
	key := srv.SocketPath() + " " + string(at.Mark.Pane)
	if _, known := p.last[key]; !known && len(p.last) >= maxBookmarks {
		for other := range p.last {
			delete(p.last, other)
			break
		}
	}
	p.last[key] = at
}

// of returns how far a pane was read, or the zero bookmark.
func (p *bookmarks) of(srv *tmux.Server, pane tmux.PaneID) Bookmark {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last[srv.SocketPath()+" "+string(pane)]
}

// lookSince looks at a pane. It must be the pane of the earlier look and run the same
// program.
func lookSince(ctx context.Context, srv *tmux.Server, pane tmux.Target, since *follow.Mark) (*follow.Look, error) {
	l, err := follow.LookAt(ctx, srv, pane, since)
	if err != nil {
		return nil, err
	}
	switch {
	case since != nil && since.Pane != l.ID:
		return nil, otherPaneOf(since, l.ID)
	case l.Respawned && !l.Dead:
		return nil, Respawned(l, since.PID, nil)
	}
	return l, nil
}

// otherPaneOf returns the error for a cursor of another pane than the one to look at.
func otherPaneOf(since *follow.Mark, pane tmux.PaneID) error {
	return reply.Faultf(reply.KindValidation, "cursor pane %s does not match requested pane %s", since.Pane, pane).
		Suggest("leave the target out, or begin without a cursor")
}

// died returns the error that ends a wait, or following a pane, if the pane's program has
// ended but the pane remains. It quotes the last lines.
func died(l *follow.Look) *reply.Fault {
	status := ""
	if l.DeadStatus != nil {
		status = fmt.Sprintf(" with status %d", *l.DeadStatus)
	}
	return reply.Faultf(reply.KindPaneGone, "pane_gone: pane %s died: its program ended%s", l.ID, status).
		Suggest("capture_pane still reads it; respawn_pane starts it again").LastWords(l.Tail())
}

// Respawned returns the fault for a pane that now runs another program.
func Respawned(l *follow.Look, pid int, last []string) *reply.Fault {
	now := "none"
	if l.PID != nil {
		now = strconv.Itoa(*l.PID)
	}
	return reply.Faultf(reply.KindPaneGone, "pane_gone: pane %s was respawned (pid %d -> %s): what was there is gone", l.ID, pid, now).
		Suggest("call again to look at the new program").LastWords(last)
}

// closed returns the fault for a pane that no longer exists.
func closed(srv *tmux.Server, ended *follow.EndedError) *reply.Fault {
	f := reply.Faultf(reply.KindPaneGone, "pane_gone: pane %s was closed during the wait", ended.Pane)
	if ended.How == follow.ServerExited {
		f.Message = "pane_gone: pane " + string(ended.Pane) + " died with its tmux server on " + srv.SocketPath()
	}
	f.Cause = ended.Err
	return f.Suggest("list_panes shows which panes are left").LastWords(ended.Last)
}

// IsServerGone reports whether an error means that the tmux server is not there, or ends.
func IsServerGone(err error) bool {
	return errors.Is(err, tmux.ErrNoServer) || errors.Is(err, tmux.ErrServerGone)
}

// IsGone reports whether an error means that something, or the whole server, is not there.
func IsGone(err error) bool { return IsServerGone(err) || errors.Is(err, tmux.ErrNotFound) }

// MaxWait is the longest time that a tool can be asked to wait.
const MaxWait = 300 * time.Second

// WaitAgain is what to do after the longest wait of a tool that does nothing but wait.
const WaitAgain = "the wait can be repeated"

// Budget returns how long a waiting tool may wait: what the caller asked for, up to this
// server's limit. The error for more than can be asked for says what to do after the wait.
func (r *Reader) Budget(seconds float64, afterwards string) (time.Duration, error) {
	if seconds <= 0 {
		return 0, reply.Argument("timeout", "must be above 0")
	}
	if seconds > MaxWait.Seconds() && r.WaitMax == MaxWait {
		return 0, reply.Argument("timeout", "must be at most %v seconds", MaxWait.Seconds()).Suggest("pass at most %v; %s", MaxWait.Seconds(), afterwards)
	}
	return min(time.Duration(seconds*float64(time.Second)), r.WaitMax), nil
}

type news struct {
	PaneID tmux.PaneID
	Lines  []string
	Missed bool   // lines may have been missed
	Cursor string // from which a later call continues
}

// News returns what is new in a pane since a bookmark; without one, all that its screen
// shows.
func (r *Reader) News(ctx context.Context, src rows.Source, pane tmux.Target, since Bookmark) (*news, error) {
	began := time.Now()
	l, err := lookSince(ctx, src.Tmux, pane, since.Mark)
	switch {
	case err != nil:
		return nil, err
	case l.Dead:
		return nil, died(l)
	}
	pid := caller.PID(ctx, src.Tmux, l.PaneState)
	line, _ := r.Ledger.Of(inLedger(src.Tmux, l))
	var submitted []ledger.Submission
	if since.Mark != nil {
		submitted = line.SubmittedSince(since.at)
	}
	l, wiped, err := r.wiped(ctx, src.Tmux, pane, since, l, submitted)
	if err != nil {
		return nil, err
	}
	same := false // what is left of the cursor
	if since.Mark != nil {
		typed := l.Mark().Typed()
		same = runner.SameButDigits(since.Mark.Typed(), typed) && (since.prompt || typed != "")
	}
	prompt := atPrompt(pid, l, since.prompt && same)
	n := &news{PaneID: l.ID, Lines: l.New, Missed: l.Missed, Cursor: r.cursorFor(src.Form, r.bookmark(src.Tmux, l, began, prompt))}
	switch {
	case since.Mark == nil:
		n.Lines = l.Lines()
	case wiped:
		n.Lines, n.Missed = l.Lines(), true
	case same && prompt && redrawn(l, since.above, len(submitted) > 0):
		n.Lines, n.Missed = nil, false
	}
	return n, nil
}

// wiped looks at a pane again for as long as lines that were submitted since a bookmark may
// have cleared its screen, and reports whether they have. The shell may not have read them
// yet, and at the look at which it has, tmux may not have passed on what it printed.
func (r *Reader) wiped(ctx context.Context, srv *tmux.Server, pane tmux.Target, since Bookmark, l *follow.Look, submitted []ledger.Submission) (*follow.Look, bool, error) {
	began, sure := time.Now(), 0
	pid := caller.PID(ctx, srv, l.PaneState)
	line, _ := r.Ledger.Of(inLedger(srv, l))
	for d := range pause.Growing(20 * time.Millisecond) {
		if !cleared(l, since, submitted) || time.Since(began) > 2*readWait {
			break
		}
		now, _ := promptOf(pid, l, line)
		read := line.Ran || line.Read || now == ledger.EmptyPrompt || inForeground(pid)
		shown := l.Printed || line.Read || time.Since(line.At) >= readWait
		if sure++; !read || !shown {
			sure = 0
		}
		if sure == 2 {
			return l, true, nil
		}
		if err := pause.For(ctx, d); err != nil {
			return nil, false, err
		}
		var err error
		if l, err = lookSince(ctx, srv, pane, since.Mark); err != nil {
			return nil, false, err
		}
	}
	return l, false, nil
}
