package follow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/internal/wire"
)

// A Follower looks at panes again and again, and decides when another look is worth its
// cost: at once when a pane prints, if that is known without a look, and otherwise at
// intervals. [Panes] and [WaitFor] are built on it; use it if you have reasons of your own to
// look at a pane.
//
// From tmux 3.8 on, the server announces output. For older servers, on Linux, the kernel
// announces writes to the panes' terminals. Neither announces everything that may happen to
// a pane, such as its end, and the kernel misses what is written to /dev/tty. So panes also
// become due unannounced: often enough to notice within seconds what was not announced, and
// seldom enough to take about a hundredth of a processor while nothing happens.
//
// A Follower is not safe for concurrent use.
type Follower struct {
	srv  *tmux.Server
	due  *watcher
	last map[tmux.PaneID]*Look
}

// New returns a Follower that follows no pane yet. Panes that print continuously
// become due once per interval. It ends with [Follower.Close] or the context.
func New(ctx context.Context, srv *tmux.Server, interval time.Duration) *Follower {
	return &Follower{srv: srv, due: watch(ctx, srv, interval), last: map[tmux.PaneID]*Look{}}
}

// Close ends the Follower. What it has started in the background ends soon after; the kernel
// takes some milliseconds to stop watching a terminal. Panes can be looked at even then.
func (f *Follower) Close() { f.due.stop() }

// Forget stops following a pane: the next look at it is a first one.
func (f *Follower) Forget(pane tmux.PaneID) {
	delete(f.last, pane)
	f.due.forget(pane)
}

// Next waits until one of the panes is worth another look, and returns all that are; none
// if the deadline has passed, as the zero time always has. If the context ends, it returns
// its cause.
func (f *Follower) Next(ctx context.Context, deadline time.Time) ([]tmux.PaneID, error) {
	return f.due.next(ctx, deadline)
}

// Look looks at a pane as [LookAt] does, for what is new since the mark or, if that is
// nil, since the Follower's last look at the pane. The first look at a pane starts following
// it. If lines may be missing, New holds what the screen shows below the lines of the earlier
// look.
//
// If a pane that was followed no longer exists, the error is an [EndedError]. If another
// program runs in it, the error is one too, but the Look shows that program, which is
// followed from then on. A pane that remains after its program has ended is no error: see
// Dead of [PaneState].
func (f *Follower) Look(ctx context.Context, pane tmux.PaneID, since *Mark) (*Look, error) {
	if since != nil && since.Pane != pane {
		return nil, wire.Argument("a mark of pane %s, for pane %s", since.Pane, pane)
	}
	last := f.last[pane]
	if since != nil {
		last = nil
	} else if last != nil {
		since = last.Mark()
	}
	began := time.Now()
	l, err := LookAt(ctx, f.srv, pane, since)
	switch {
	case err != nil && last != nil:
		return nil, f.gone(ctx, pane, last, err)
	case err != nil:
		return nil, err
	}
	f.last[pane] = l
	f.due.looked(l.PaneState, began, l.Printed)
	switch {
	case l.Respawned && !l.Dead:
		err = endedAs(l.ID, PaneRespawned, last)
	case l.Missed && last != nil:
		l.New = below(last.Tail(), l.New)
	case l.Missed && since != nil:
		l.New = since.below(l.New)
	}
	l.NewRows = l.NewRows[len(l.NewRows)-len(l.New):]
	return l, err
}

// gone returns the error for a look that failed: an EndedError if the pane or the server,
// which was there before, is not.
func (f *Follower) gone(ctx context.Context, pane tmux.PaneID, last *Look, err error) error {
	notFound := errors.Is(err, tmux.ErrNotFound)
	if !notFound && !errors.Is(err, tmux.ErrNoServer) && !errors.Is(err, tmux.ErrServerGone) {
		return err
	}
	f.Forget(pane)
	e := endedAs(pane, PaneClosed, last)
	if e.Err = err; !notFound || ends(ctx, f.srv) {
		e.How = ServerExited
	}
	return e
}

// ends reports whether the server is gone, or about to go: it closes everything first, and
// answers for a moment.
func ends(ctx context.Context, srv *tmux.Server) bool {
	type row struct {
		ID tmux.PaneID `tmux:"pane_id"`
	}
	for range 10 {
		rows, err := tmux.List[row](ctx, srv, tmux.ListPanes{All: true})
		switch {
		case errors.Is(err, tmux.ErrNoServer), errors.Is(err, tmux.ErrServerGone):
			return true
		case err != nil && !errors.Is(err, tmux.ErrNoSession), len(rows) > 0, !sleep(ctx, 20*time.Millisecond):
			return false
		}
	}
	return false
}

// sleep waits, and reports whether the context has not ended meanwhile.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// below returns the lines of screen that follow the lines ending earlier, for a screen
// whose position is unknown, as after a resize or a cleared history. The last of the
// earlier lines may have been continued.
func below(earlier, screen []string) []string {
	for n := min(len(earlier), len(screen)); n > 0; n-- {
		last, now := earlier[len(earlier)-1], screen[n-1]
		if slices.Equal(earlier[len(earlier)-n:len(earlier)-1], screen[:n-1]) && strings.HasPrefix(now, last) {
			if now != last {
				n--
			}
			return screen[n:]
		}
	}
	return screen
}

// below does what the function does, for the lines of a mark, which has only digests of them.
func (m *Mark) below(screen []string) []string {
	var earlier []uint64
	for line := range m.rows.lines() {
		earlier = append(earlier, line.digest)
	}
	for len(earlier) > 0 && earlier[len(earlier)-1] == 0 {
		earlier = earlier[:len(earlier)-1]
	}
	for n := min(len(earlier), len(screen)); n > 0; n-- {
		is := func(i int) bool { return digestOf(screen[i]) == earlier[len(earlier)-n+i] }
		same := 0
		for same < n-1 && is(same) {
			same++
		}
		switch {
		case same < n-1:
		case is(n - 1):
			return screen[n:]
		case m.typed != "" && strings.HasPrefix(screen[n-1], m.typed):
			return screen[n-1:]
		}
	}
	return screen
}

// Ending is how a pane ended.
type Ending string

const (
	// ProgramExited: the program has ended, and its pane remains: see the option
	// remain-on-exit.
	ProgramExited Ending = "program exited"
	// PaneClosed: the pane no longer exists, because its program has ended or somebody has
	// killed it.
	PaneClosed Ending = "pane closed"
	// PaneRespawned: another program runs in the pane.
	PaneRespawned Ending = "pane respawned"
	// ServerExited: the tmux server is gone, or about to go.
	ServerExited Ending = "server exited"
)

// ErrEnded: what ran in a pane that was followed has ended. See [EndedError].
var ErrEnded = errors.New("ended")

// EndedError reports that what ran in a pane has ended. It is an [ErrEnded].
type EndedError struct {
	Pane tmux.PaneID
	How  Ending
	// Status is the exit status of the program, and Signal the name or number of the signal
	// that killed it, from tmux 3.3 on. Both are nil if unknown, as they may remain in some
	// builds of tmux 3.3a, and unless How is ProgramExited.
	Status *int
	Signal *string
	// Last holds the last lines that were read: what the last look showed, after some lines
	// above the screen. Lines printed after that look are missing.
	Last []string
	// Err is tmux's error about the pane or server; nil if the pane exists.
	Err error
}

// Error says how the pane ended, and quotes its last lines.
func (e *EndedError) Error() string {
	with := ""
	switch {
	case e.Status != nil:
		with = fmt.Sprintf(" with status %d", *e.Status)
	case e.Signal != nil:
		with = " by signal " + *e.Signal
	}
	return fmt.Sprintf("pane %s: %s%s%s", e.Pane, e.How, with, quoteLast(e.Last))
}

func (e *EndedError) Is(target error) bool { return target == ErrEnded }

func (e *EndedError) Unwrap() error { return e.Err }

// endedAs returns the error for a pane with its last look, if there was one.
func endedAs(pane tmux.PaneID, how Ending, last *Look) *EndedError {
	e := &EndedError{Pane: pane, How: how}
	if last != nil {
		e.Last = last.withoutNotice(last.Tail())
	}
	return e
}

// quoteLast returns the end of an error message that quotes the last lines of a pane.
func quoteLast(lines []string) string {
	const most, longest = 10, 200
	if len(lines) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("; its last lines:")
	for _, line := range lines[max(0, len(lines)-most):] {
		if len(line) > longest {
			line = strings.ToValidUTF8(line[:longest], "") + "..."
		}
		b.WriteString("\n\t" + line)
	}
	return b.String()
}
