// Package watch follows the agents of a tmux server for a user: it shows what each is doing,
// and announces when one asks something or becomes idle.
//
// It only reads tmux, except that it shows messages to clients, and rings bells on their
// terminals. It has no client, hooks, options or buffers in tmux.
package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tmuxmcp/server/internal/agents"
	"tmuxmcp/tmux"
)

// Options say what to watch and how to show it.
type Options struct {
	// States are the agent states that are printed and announced. If nil, all are printed,
	// and asks and idle are announced. A table on a terminal always has all agents.
	States []agents.State
	// JSON prints lines of JSON.
	JSON bool
	// Bell rings the terminals of the clients, and Message shows them a message.
	Bell, Message bool
	// Exec is a command for sh, run at each announcement with the environment Env and the
	// [Variables].
	Exec string
	Env  []string
	// Color colors a table.
	Color bool
	// Out is where everything is shown. If it is a terminal, that is a table, which is drawn
	// again and again, and below it what would go to Err: problems, and the output of
	// commands.
	Out, Err io.Writer

	// Every is the time between two looks, ExecTime how long a command may run. If zero, they
	// are what users need.
	Every, ExecTime time.Duration
}

// Bounds on one look, and on one command.
const (
	every    = time.Second
	lookTime = 5 * time.Second
	execTime = 30 * time.Second
)

type watcher struct {
	srv     *tmux.Server
	lookout *agents.Lookout
	Options
	screen *screen // nil if Out is no terminal, or for JSON
	runs   runs

	looked bool
	down   string   // why nothing is known; "" if something is
	agents []*agent // in tmux's order
}

type agent struct {
	agents.Agent // by the last look
	steady       agents.Steady[agents.State]
	state        agents.State // what counts; "" before the second look
	question     string
	since        time.Time
	known        agents.State // the last state that was not unknown
}

// Once prints the agents that there are.
func Once(ctx context.Context, srv *tmux.Server, finder *agents.Finder, o Options) error {
	seen, err := finder.In(ctx, srv, nil)
	if err != nil && !gone(err) {
		return err
	}
	if err != nil {
		fmt.Fprintln(o.Err, "tmux-mcp: "+noServer)
	}
	var events []event
	for _, s := range seen {
		if o.prints(s.State) {
			events = append(events, eventOf(s))
		}
	}
	return o.printAll(events)
}

// Run watches until ctx ends, or Out is closed, which is an error.
func Run(ctx context.Context, srv *tmux.Server, finder *agents.Finder, o Options) error {
	if o.Every == 0 {
		o.Every, o.ExecTime = every, execTime
	}
	ctx, cancel := context.WithCancel(ctx)
	lookout := finder.NewLookout(ctx, srv, nil, agents.Pace{
		Search: o.Every, Silence: o.Every * 3 / 2, Busy: 5 * o.Every, Rest: 30 * o.Every, Blind: 3 * o.Every,
	})
	w := &watcher{srv: srv, lookout: lookout, Options: o, screen: screenOn(o), runs: runs{slots: make(chan struct{}, mostRuns)}}
	if w.screen != nil {
		w.Err = w.screen
		defer w.screen.close()
	}
	defer w.runs.Wait()
	defer cancel()
	tick := time.NewTicker(o.Every)
	defer tick.Stop()
	resized := make(chan os.Signal, 1)
	if w.screen != nil {
		signal.Notify(resized, syscall.SIGWINCH)
		defer signal.Stop(resized)
	}
	err := w.look(ctx)
	for err == nil {
		select {
		case <-ctx.Done():
			return nil
		case <-resized:
			err = w.screen.draw(w)
		case <-tick.C:
			if closed(o.Out) {
				return syscall.EPIPE
			}
			err = w.look(ctx)
		}
	}
	return err
}

const noServer = "no tmux server"

// gone reports whether there is no tmux server.
func gone(err error) bool {
	return errors.Is(err, tmux.ErrNoServer) || errors.Is(err, tmux.ErrServerGone)
}

func (w *watcher) look(ctx context.Context) error {
	bounded, cancel := tmux.WithTimeout(ctx, lookTime)
	seen, err := w.lookout.Look(bounded, time.Now())
	cancel()
	was := w.down
	w.down = ""
	switch {
	case ctx.Err() != nil:
		return nil
	case gone(err):
		w.down = noServer
		err = w.update(ctx, nil)
	case errors.Is(err, tmux.ErrNoSession): // it is about to end, or has none
		err = w.update(ctx, nil)
	case err != nil && !w.looked:
		return err
	case err != nil: // it may answer again
		w.down, err = err.Error(), nil
	default:
		err = w.update(ctx, seen)
	}
	if w.down != "" && w.down != was && w.screen == nil {
		fmt.Fprintf(w.Err, "tmux-mcp: %s; waiting\n", w.down)
	}
	w.looked = true
	if err == nil {
		err = w.screen.draw(w)
	}
	return err
}

// update takes over what a look has seen.
func (w *watcher) update(ctx context.Context, seen []agents.Agent) error {
	now := time.Now()
	was := w.agents
	w.agents = nil
	for _, s := range seen {
		i := slices.IndexFunc(was, func(a *agent) bool { return a.ID == s.ID && a.PID == s.PID && a.Name == s.Name })
		if i < 0 {
			// A new agent has done nothing yet: that it waits for a prompt is no news.
			a := &agent{Agent: s, since: now, known: agents.Idle}
			a.steady.Saw(s.State, now)
			w.agents = append(w.agents, a)
			if !w.looked {
				a.state, a.question = s.State, s.Question
				a.keep()
				if err := w.print(a, ""); err != nil {
					return err
				}
			}
			continue
		}
		a := was[i]
		was = slices.Delete(was, i, i+1)
		w.agents = append(w.agents, a)
		before := a.state
		if a.sees(s, now) {
			if err := w.changed(ctx, a, before); err != nil {
				return err
			}
		}
	}
	for _, a := range was { // their panes are gone
		if before := a.state; before != agents.Ended {
			a.state, a.question, a.since, a.Status = agents.Ended, "", now, agents.Status{State: agents.Ended}
			if err := w.changed(ctx, a, before); err != nil {
				return err
			}
		}
	}
	return nil
}

// sees takes over a look and reports whether the agent's state, or its question, has
// changed: it has once two looks have seen that, as a screen that is being drawn may look
// like another one.
func (a *agent) sees(s agents.Agent, now time.Time) (changed bool) {
	last := a.Agent
	a.Agent = s
	switch lasted := a.steady.Saw(s.State, now); {
	case lasted == 0:
		return false
	case s.State != a.state:
		a.since = a.steady.Since
	case s.State == agents.Asks && s.Question != a.question && s.Question == last.Question:
		a.since = now
	default:
		return false
	}
	a.state, a.question = s.State, s.Question
	return true
}

// changed prints a change, and announces it.
func (w *watcher) changed(ctx context.Context, a *agent, before agents.State) error {
	news := a.state != a.known || a.state == agents.Asks
	a.keep()
	if err := w.print(a, before); err != nil {
		return err
	}
	if news && w.announces(a.state) {
		return w.announce(ctx, a)
	}
	return nil
}

// keep remembers the state, unless it is unknown.
func (a *agent) keep() {
	if a.state != agents.Unknown {
		a.known = a.state
	}
}

func (o Options) prints(s agents.State) bool { return o.States == nil || slices.Contains(o.States, s) }

func (o Options) announces(s agents.State) bool {
	if o.States == nil {
		return s == agents.Asks || s == agents.Idle
	}
	return slices.Contains(o.States, s)
}

// closed reports whether a pipe has no reader any more, or a terminal is gone.
func closed(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	fds := []unix.PollFd{{Fd: int32(f.Fd())}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0 && fds[0].Revents&(unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) != 0
}
