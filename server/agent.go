package server

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"tmuxmcp/internal/pause"
	"tmuxmcp/server/agents"
	"tmuxmcp/server/internal/caller"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/tmux"
)

// agentPane is what determines, besides its screen, the state of an agent in a pane.
type agentPane struct {
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
}

// statusOf determines the state of an agent from its pane. rows are all rows of the screen.
func (p agentPane) statusOf(program agents.Program, ended bool, rows []string) agents.Status {
	return agents.Classify(agents.View{Program: program, Ended: ended, Title: p.Title, Rows: rows, X: p.X, Y: p.Y})
}

// knownAgents remembers which agents ran in which panes, to notice when one has ended.
type knownAgents struct {
	mu    sync.Mutex
	panes map[string]knownAgent // by socket and pane
}

type knownAgent struct {
	agents.Program
	pid int // the pane's process
}

// mostKnownAgents bounds the number of agents remembered.
const mostKnownAgents = 1000

// programs returns the agents of panes by pane id: those that are running, and those that
// ran there and have ended.
func (c *call) programs(ctx context.Context, panes []agentPane) (running, ended map[tmux.PaneID]agents.Program) {
	k, at := &c.s.agents, agentsByName(panes)
	if caller.Sees(ctx, c.Tmux) {
		at = agentsAt(panes)
	}
	running, ended = map[tmux.PaneID]agents.Program{}, map[tmux.PaneID]agents.Program{}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.panes == nil || len(k.panes) > mostKnownAgents {
		k.panes = map[string]knownAgent{}
	}
	for _, p := range panes {
		key := c.Tmux.SocketPath() + " " + string(p.ID)
		if program, ok := at[p.PID]; ok && !p.Dead {
			running[p.ID], k.panes[key] = program, knownAgent{program, p.PID}
			continue
		}
		// A pane of an earlier server may have had this id, but not also this process.
		// Newer tmux reports no process for a dead pane.
		if known, ok := k.panes[key]; ok && (known.pid == p.PID || p.Dead && p.PID <= 0) {
			ended[p.ID] = known.Program
		} else if words := strings.Fields(strings.Trim(p.Started, `"`)); p.Dead && len(words) > 0 {
			if name, ok := agents.Recognise("", words); ok {
				ended[p.ID] = agents.Program{Name: name}
			}
		}
	}
	return running, ended
}

// agentsByName uses the names of the running commands. It does not detect programs run by an
// interpreter, or versions.
func agentsByName(panes []agentPane) map[int]agents.Program {
	found := map[int]agents.Program{}
	for _, pane := range panes {
		if name, ok := agents.Recognise("", []string{pane.Command}); ok {
			found[pane.PID] = agents.Program{Name: name}
		}
	}
	return found
}

// seenAgent is an agent in a pane and its state at one moment.
type seenAgent struct {
	agentPane
	agents.Program
	agents.Status
}

// lookAgain is the delay before another look at a screen that no rule matches: it may have
// been captured while the program was drawing it.
const lookAgain = 60 * time.Millisecond

// agentsIn finds the agents in these panes, or in all panes of the server, in two round
// trips, or three if a screen was not understood.
func (c *call) agentsIn(ctx context.Context, ids []tmux.PaneID) ([]seenAgent, error) {
	list := tmux.ListPanes{All: true}
	if len(ids) > 0 {
		list.Filter = tmux.MatchOneOf("pane_id", ids...)
	}
	panes, err := tmux.List[agentPane](ctx, c.Tmux, list)
	if err := target.NoneIsEmpty(err); err != nil {
		return nil, err
	}
	panes = target.UniqueBy(panes, func(p agentPane) tmux.PaneID { return p.ID })
	for _, id := range ids {
		if !slices.ContainsFunc(panes, func(p agentPane) bool { return p.ID == id }) {
			return nil, reply.PaneNotFound(string(id))
		}
	}
	running, ended := c.programs(ctx, panes)
	var seen []seenAgent
	for _, p := range panes {
		if program, ok := running[p.ID]; ok {
			seen = append(seen, seenAgent{p, program, agents.Status{State: agents.Unknown}})
		} else if program, ok := ended[p.ID]; ok {
			seen = append(seen, seenAgent{p, program, agents.Status{State: agents.Ended}})
		}
	}
	err = c.readAgents(ctx, seen)
	if err == nil && slices.ContainsFunc(seen, func(s seenAgent) bool { return s.State == agents.Unknown }) {
		if err = pause.For(ctx, lookAgain); err == nil {
			err = c.readAgents(ctx, seen)
		}
	}
	return seen, err
}

// readAgents looks at the screens of agents whose state is unknown.
func (c *call) readAgents(ctx context.Context, seen []seenAgent) error {
	var b tmux.Batch
	type look struct {
		of     *seenAgent
		pane   *[]agentPane
		screen *[]byte
	}
	var looks []look
	for i := range seen {
		if s := &seen[i]; s.State == agents.Unknown {
			looks = append(looks, look{s, tmux.Rows[agentPane](&b, tmux.DisplayMessage{Target: s.ID}),
				tmux.Add(&b, tmux.CapturePane{Target: s.ID, Print: true})})
		}
	}
	if looks == nil {
		return nil
	}
	// A pane that has ended ends the list: it and those after it stay unknown.
	if err := b.Do(ctx, c.Tmux); err != nil && !errors.Is(err, tmux.ErrNotFound) {
		return err
	}
	for _, l := range looks {
		if *l.screen != nil && len(*l.pane) > 0 {
			l.of.agentPane = (*l.pane)[0]
			l.of.Status = l.of.statusOf(l.of.Program, false, screenRows(*l.screen))
		}
	}
	return nil
}

// screenRows returns all rows of a captured screen, blank ones included, so that the
// cursor's position holds.
func screenRows(captured []byte) []string {
	return strings.Split(strings.TrimSuffix(string(captured), "\n"), "\n")
}
