package agents

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"tmuxmcp/internal/pause"
	"tmuxmcp/internal/ttywatch"
	"tmuxmcp/server/internal/caller"
	"tmuxmcp/tmux"
)

// A Lookout looks at the agents of a tmux server again and again.
//
// tmux logs each command that a client sends, and keeps as many lines of that log as the
// option message-limit says, a thousand by default. The log is the user's, so a Lookout sends
// as few as it can. Where the server's processes can be seen it sends none while nothing
// happens: the kernel shows which programs run, which panes there are, and which agents write.
// It captures the screen of an agent that has written once that is silent, or at intervals
// while it is not. It also lists the panes now and then, as the kernel misses what is
// written to /dev/tty, and the names of sessions. Elsewhere such lists are all that it has,
// and so there are more of them; tmux shows in them which windows have printed.
type Lookout struct {
	finder *Finder
	srv    *tmux.Server
	ids    []tmux.PaneID // nil: all panes
	pace   Pace
	ctx    context.Context // of what watches terminals
	ttys   ttywatch.Watch

	panes       []Pane // by the last list
	leaders     leaders
	listed      time.Time
	searched    time.Time // for programs
	sights      map[tmux.PaneID]*sight
	interrupted bool // the last look has failed
}

// Pace is how often a [Lookout] does what, at most.
type Pace struct {
	// Search is the time between two searches for processes of agents.
	Search time.Duration
	// Silence is how long an agent that wrote must be silent to be captured.
	Silence time.Duration
	// Busy is the time between two captures of an agent that writes all the time.
	Busy time.Duration
	// Rest is the time between two lists of panes if nothing happens, and Blind where
	// nothing shows whether anything does.
	Rest, Blind time.Duration
}

// sight is an agent, as it was last seen.
type sight struct {
	Agent
	looked   time.Time // when its screen was last captured
	again    bool      // another capture has to confirm that
	activity int64     // of the window, when it was captured

	here   atomic.Bool  // the kernel counts its writes
	writes atomic.Int64 // so far
	ticked int64        // of writes: at the last look
	read   int64        // of writes: those that the last capture has for certain
	wrote  time.Time    // about when it last wrote
	remove func()       // stops the kernel
}

// NewLookout returns a Lookout at these panes, or if nil at all, until ctx ends.
func (f *Finder) NewLookout(ctx context.Context, srv *tmux.Server, ids []tmux.PaneID, pace Pace) *Lookout {
	return &Lookout{finder: f, srv: srv, ids: ids, pace: pace, ctx: ctx, sights: map[tmux.PaneID]*sight{}}
}

// Look returns the agents as they are now, in tmux's order.
func (l *Lookout) Look(ctx context.Context, now time.Time) ([]Agent, error) {
	seen, err := l.look(ctx, now)
	l.interrupted = err != nil
	return seen, err
}

func (l *Lookout) look(ctx context.Context, now time.Time) ([]Agent, error) {
	process, err := l.srv.Process(ctx)
	if err != nil {
		return nil, err
	}
	leaders, alive := leadersOf(process, l.leaders)
	lists := l.listed.IsZero() || l.interrupted || !alive || !leaders.equal(l.leaders) || now.Sub(l.listed) >= l.rest()
	if lists {
		if l.panes, err = list(ctx, l.srv, l.ids, sightTokens...); err != nil {
			return nil, err
		}
		l.listed, l.leaders = now, leaders
	}
	if lists || now.Sub(l.searched) >= l.pace.Search {
		l.search(ctx, lists)
		l.searched = now
	}
	due := l.due(now)
	if len(due) > 0 {
		if err := l.capture(ctx, due, now); err != nil {
			return nil, err
		}
	}
	var seen []Agent
	for _, p := range l.panes {
		s := l.sights[p.ID]
		if s == nil {
			continue
		}
		if s.State != Ended && !slices.Contains(due, s) {
			s.Status = l.finder.StatusOf(ctx, s.Pane, s.Program, s.Rows)
		}
		seen = append(seen, s.Agent)
	}
	return seen, nil
}

// rest returns the time between two lists if nothing happens.
func (l *Lookout) rest() time.Duration {
	if l.leaders.of == 0 {
		return l.pace.Blind
	}
	for _, s := range l.sights {
		if s.State != Ended && !s.here.Load() {
			return l.pace.Blind
		}
	}
	return l.pace.Rest
}

// search finds the agents in the panes. listed is set if these have just been listed.
func (l *Lookout) search(ctx context.Context, listed bool) {
	running, ended := l.finder.Programs(ctx, l.srv, l.panes)
	kept := map[tmux.PaneID]bool{}
	for _, p := range l.panes {
		program, runs := running[p.ID]
		status := Status{State: Unknown}
		if !runs {
			var ran bool
			if program, ran = ended[p.ID]; !ran {
				continue
			}
			status.State = Ended
		}
		kept[p.ID] = true
		s := l.sights[p.ID]
		switch {
		case s == nil || s.PID != p.PID || s.Name != program.Name || (s.State == Ended) == runs:
			l.forget(p.ID)
			s = &sight{Agent: Agent{Pane: p, Program: program, Status: status}, again: runs}
			if l.sights[p.ID] = s; runs {
				l.watch(s)
			}
		case listed:
			s.again = s.again || s.activity != p.Activity
			s.Session, s.Window, s.Index, s.Title, s.Dead = p.Session, p.Window, p.Index, p.Title, p.Dead
			fallthrough
		default:
			s.Program = program
		}
	}
	for id := range l.sights {
		if !kept[id] {
			l.forget(id)
		}
	}
}

// watch has the kernel count the writes to an agent's terminal.
func (l *Lookout) watch(s *sight) {
	if !caller.Sees(l.ctx, l.srv) {
		return
	}
	s.here.Store(true)
	remove, ok := l.ttys.Add(l.ctx, s.PID, s.TTY, func(over bool) {
		s.writes.Add(1)
		if over {
			s.here.Store(false)
		}
	})
	if s.remove = remove; !ok {
		s.here.Store(false)
	}
}

func (l *Lookout) forget(id tmux.PaneID) {
	if s := l.sights[id]; s != nil && s.remove != nil {
		s.remove()
	}
	delete(l.sights, id)
}

// due returns the agents whose screens may show something else than they did.
func (l *Lookout) due(now time.Time) (due []*sight) {
	for _, p := range l.panes {
		s := l.sights[p.ID]
		if s == nil || s.State == Ended {
			continue
		}
		writes := s.writes.Load()
		if writes != s.ticked {
			s.ticked, s.wrote = writes, now
		}
		silent := now.Sub(s.wrote) >= l.pace.Silence
		if s.again || writes != s.read && (silent || now.Sub(s.looked) >= l.pace.Busy) {
			s.read = writes
			if !silent {
				s.read-- // tmux may not have read it yet
			}
			due = append(due, s)
		}
	}
	return due
}

// capture reads the screens of agents. What was closed meanwhile is left out.
func (l *Lookout) capture(ctx context.Context, due []*sight, now time.Time) error {
	var seen []Agent
	unclear := false
	for _, s := range due {
		a := s.Agent
		a.Status, a.Rows = Status{State: Unknown}, nil
		seen = append(seen, a)
	}
	seen, err := l.finder.read(ctx, l.srv, seen)
	for _, a := range seen {
		unclear = unclear || a.State == Unknown && (l.sights[a.ID].State != Unknown || l.sights[a.ID].Rows == nil)
	}
	if err == nil && unclear {
		if err = pause.For(ctx, lookAgain); err == nil {
			seen, err = l.finder.read(ctx, l.srv, seen)
		}
	}
	if err != nil {
		return err
	}
	for _, s := range due {
		i := slices.IndexFunc(seen, func(a Agent) bool { return a.ID == s.ID })
		if i < 0 {
			l.forget(s.ID)
			l.listed = time.Time{}
			continue
		}
		was := s.Agent
		s.Agent, s.looked, s.activity = seen[i], now, seen[i].Activity
		if s.Dead {
			l.listed = time.Time{}
		}
		s.again = was.Rows == nil || s.State != was.State || s.Question != was.Question
	}
	return nil
}
