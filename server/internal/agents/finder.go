package agents

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"tmuxmcp/internal/pause"
	"tmuxmcp/server/internal/caller"
	"tmuxmcp/server/internal/conversation"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/tmux"
)

// Pane is what, besides its screen, determines the state of an agent in a pane.
type Pane struct {
	ID      tmux.PaneID `tmux:"pane_id"`
	Session string      `tmux:"session_name"`
	Window  int         `tmux:"window_index"`
	Index   int         `tmux:"pane_index"`
	PID     int         `tmux:"pane_pid"`
	Dead    bool        `tmux:"pane_dead"`
	Command string      `tmux:"pane_current_command"`
	Started string      `tmux:"pane_start_command"`
	Title   string      `tmux:"pane_title"`
	X       int         `tmux:"cursor_x"`
	Y       int         `tmux:"cursor_y"`
	TTY     string      `tmux:"pane_tty"`
	// Activity is when the window last printed, in seconds.
	Activity int64 `tmux:"window_activity"`
}

// StatusOf determines the state of an agent from its pane. rows are all rows of the screen.
func (p Pane) StatusOf(program Program, ended bool, rows []string) Status {
	return Classify(View{Program: program, Ended: ended, Title: p.Title, Rows: rows, X: p.X, Y: p.Y})
}

// Finder finds agents. It remembers which ran in which panes, to notice when one has ended.
// It is safe for concurrent use.
type Finder struct {
	rules func() RuleSet
	// NoTranscripts is set if what agents write down must not be read.
	NoTranscripts bool
	// LookTime is how long tmux may take to answer a look of a wait.
	LookTime time.Duration
	// BeginsWithin is how long an agent may take to show that it has a prompt.
	BeginsWithin time.Duration

	mu    sync.Mutex
	panes map[string]ranHere // by socket and pane
}

// NewFinder returns a finder of these agents.
func NewFinder(rules RuleSet) *Finder {
	return &Finder{rules: func() RuleSet { return rules }, LookTime: lookTime, BeginsWithin: beginsWithin}
}

// Rules returns the rules of the agents that it finds.
func (f *Finder) Rules() RuleSet { return f.rules() }

const lookTime = 20 * time.Second

type ranHere struct {
	Program
	pid int // the pane's process
}

// mostKnown bounds the number of agents remembered.
const mostKnown = 1000

// Programs returns the agents of panes by pane id: those that are running, and those that
// ran there and have ended.
func (f *Finder) Programs(ctx context.Context, srv *tmux.Server, panes []Pane) (running, ended map[tmux.PaneID]Program) {
	at := f.rules().programsByName(panes)
	if caller.Sees(ctx, srv) {
		at = f.rules().programsAt(panes)
	}
	running, ended = map[tmux.PaneID]Program{}, map[tmux.PaneID]Program{}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.panes == nil || len(f.panes) > mostKnown {
		f.panes = map[string]ranHere{}
	}
	for _, p := range panes {
		key := srv.SocketPath() + " " + string(p.ID)
		if program, ok := at[p.PID]; ok && !p.Dead {
			running[p.ID], f.panes[key] = program, ranHere{program, p.PID}
			continue
		}
		// A pane of an earlier server may have had this id, but not also this process.
		// Newer tmux reports no process for a dead pane.
		if known, ok := f.panes[key]; ok && (known.pid == p.PID || p.Dead && p.PID <= 0) {
			ended[p.ID] = known.Program
		} else if words := strings.Fields(strings.Trim(p.Started, `"`)); p.Dead && len(words) > 0 {
			if r, _ := f.rules().Recognize("", words); r != nil {
				ended[p.ID] = Program{Name: r.Name, Rules: r}
			}
		}
	}
	return running, ended
}

// programsByName uses the names of the running commands. It does not detect programs run by
// an interpreter, or versions.
func (set RuleSet) programsByName(panes []Pane) map[int]Program {
	found := map[int]Program{}
	for _, pane := range panes {
		if r, _ := set.Recognize("", []string{pane.Command}); r != nil {
			found[pane.PID] = Program{Name: r.Name, Rules: r}
		}
	}
	return found
}

// Agent is an agent in a pane and its state at one moment.
type Agent struct {
	Pane
	Program
	Status
	// Rows are all rows of the screen.
	Rows []string
}

// lookAgain is the delay before another look at a screen that no rule matches: it may have
// been captured while the program was drawing it.
const lookAgain = 60 * time.Millisecond

// list lists panes, these as far as they exist or all, with what is needed to find the agents
// in them, and further tokens: each costs tmux for every pane, and the command, which counts
// only where processes cannot be seen, more than all others.
func list(ctx context.Context, srv *tmux.Server, ids []tmux.PaneID, also ...string) ([]Pane, error) {
	tokens := []string{"pane_id", "pane_pid", "pane_dead"}
	for _, token := range also {
		if !slices.Contains(tokens, token) {
			tokens = append(tokens, token)
		}
	}
	if !caller.Sees(ctx, srv) {
		tokens = append(tokens, "pane_current_command")
	}
	listed := func(ids []tmux.PaneID, tokens ...string) ([]Pane, error) {
		cmd := tmux.ListPanes{All: true}
		if len(ids) > 0 {
			cmd.Filter = tmux.MatchOneOf("pane_id", ids...)
		}
		var b tmux.Batch
		rows := tmux.AddRows[Pane](&b, cmd, tokens...)
		err := target.NoneIsEmpty(b.Do(ctx, srv))
		return target.UniqueBy(*rows, func(p Pane) tmux.PaneID { return p.ID }), err
	}
	panes, err := listed(ids, tokens...)
	if err != nil {
		return nil, err
	}
	var dead []tmux.PaneID
	for _, p := range panes {
		if p.Dead {
			dead = append(dead, p.ID)
		}
	}
	if dead == nil {
		return panes, nil
	}
	started, err := listed(dead, "pane_id", "pane_start_command")
	for _, d := range started {
		panes[slices.IndexFunc(panes, func(p Pane) bool { return p.ID == d.ID })].Started = d.Started
	}
	return panes, err
}

// In finds the agents in these panes, or in all panes of a tmux server, in two
// round trips, or three if a screen was not understood, and another one if a pane is dead.
func (f *Finder) In(ctx context.Context, srv *tmux.Server, ids []tmux.PaneID) ([]Agent, error) {
	panes, err := list(ctx, srv, ids)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if !slices.ContainsFunc(panes, func(p Pane) bool { return p.ID == id }) {
			return nil, reply.PaneNotFound(string(id))
		}
	}
	return f.among(ctx, srv, panes)
}

// among finds the agents in panes that were listed.
func (f *Finder) among(ctx context.Context, srv *tmux.Server, panes []Pane) (seen []Agent, err error) {
	running, ended := f.Programs(ctx, srv, panes)
	for _, p := range panes {
		if program, ok := running[p.ID]; ok {
			seen = append(seen, Agent{Pane: p, Program: program, Status: Status{State: Unknown}})
		} else if program, ok := ended[p.ID]; ok {
			seen = append(seen, Agent{Pane: p, Program: program, Status: Status{State: Ended}})
		}
	}
	seen, err = f.read(ctx, srv, seen)
	if err == nil && slices.ContainsFunc(seen, func(s Agent) bool { return s.State == Unknown }) {
		if err = pause.For(ctx, lookAgain); err == nil {
			seen, err = f.read(ctx, srv, seen)
		}
	}
	return seen, err
}

// read reads where the agents are, and the states of those whose state is unknown: their
// screens, and what they say of themselves. It leaves out those whose pane has been closed.
// It is one list of commands, of which only a capture is for a single pane: tmux logs each.
func (f *Finder) read(ctx context.Context, srv *tmux.Server, seen []Agent) ([]Agent, error) {
	for {
		var ids []tmux.PaneID
		for _, s := range seen {
			if s.State == Unknown || s.Session == "" {
				ids = append(ids, s.ID)
			}
		}
		if ids == nil {
			return seen, nil
		}
		var b tmux.Batch
		placed := tmux.AddRows[Pane](&b, tmux.ListPanes{All: true, Filter: tmux.MatchOneOf("pane_id", ids...)}, sightTokens...)
		screens := map[tmux.PaneID]*[]byte{}
		for _, s := range seen {
			if s.State == Unknown {
				screens[s.ID] = tmux.Add(&b, tmux.CapturePane{Target: s.ID, Print: true})
			}
		}
		err := target.NoneIsEmpty(b.Do(ctx, srv))
		places := map[tmux.PaneID]Pane{}
		for _, p := range target.UniqueBy(*placed, func(p Pane) tmux.PaneID { return p.ID }) {
			places[p.ID] = p
		}
		for i := range seen {
			s := &seen[i]
			pane, ok := places[s.ID]
			if !ok {
				continue // closed, or the list was cut short
			}
			s.Pane = pane
			if screen := screens[s.ID]; screen != nil && *screen != nil {
				s.Rows = rowsOf(*screen)
				s.Status = f.StatusOf(ctx, pane, s.Program, s.Rows)
			}
		}
		var e *tmux.Error
		if !errors.As(err, &e) || !errors.Is(e, tmux.ErrNotFound) {
			return slices.DeleteFunc(seen, func(s Agent) bool { return s.Session == "" }), err
		}
		all := len(seen)
		seen = slices.DeleteFunc(seen, func(s Agent) bool { return string(s.ID) == e.Object.Name })
		if len(seen) == all {
			return seen, err
		}
	}
}

// StatusOf determines the status of an agent that runs in a pane, from the rows of its
// screen and from what it has written down of its state.
func (f *Finder) StatusOf(ctx context.Context, p Pane, program Program, rows []string) Status {
	s := p.StatusOf(program, false, rows)
	if !f.NoTranscripts {
		s.amend(conversation.StateOf(ctx, conversation.Agent{Name: program.Name, PIDs: program.PIDs}))
	}
	return s
}

// writer returns the agent as package conversation knows it.
func (s Agent) writer() conversation.Agent {
	return conversation.Agent{Name: s.Name, PIDs: s.PIDs, Screen: s.Rows}
}

// amend corrects the status by what the agent has written down. That counts more than the
// screen, which lags behind, except for a question.
func (s *Status) amend(said *conversation.State) {
	switch {
	case said == nil || s.State == Asks:
	case said.Doing == "busy":
		s.State = Working
	case said.Doing == "waiting" && s.Box != nil:
		s.State, s.Opening = Working, true
	case said.Doing == "waiting":
		s.State, s.Question = Asks, "waiting for "+reply.Legible(said.For, "")
	case said.Doing == "idle":
		s.State = Idle
	}
}
