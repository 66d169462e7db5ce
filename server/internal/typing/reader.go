package typing

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"tmuxmcp/internal/pause"
	"tmuxmcp/internal/runner"
	"tmuxmcp/server/internal/caller"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/tmux"
)

// What is typed in several bursts is for the program that read the first. If that ends at an
// Escape, the rest would be commands for the shell below it. Each later burst is typed only if
// the foreground process group of the terminal is still the same, or one that the program has
// started since: it is read here right before, where the system shows it, and tmux compares
// the program's name in the list that types.

// settles is how long a program must have been running to be more than a part of a shell's
// prompt, which runs some and then reads what was typed meanwhile.
const settles = 500 * time.Millisecond

// reader is a pane that gets what is typed, with the program that reads it.
type reader struct {
	ID           tmux.PaneID `tmux:"pane_id"`
	PID          int         `tmux:"pane_pid"`
	TTY          string      `tmux:"pane_tty"`
	Command      string      `tmux:"pane_current_command"`
	Synchronized bool        `tmux:"pane_synchronized"`

	sees    bool // whether its processes can be seen from here
	program runner.Reader
}

// readers returns the pane that on names, with the panes that are synchronized with it. A
// program that has just been started gets a moment to end. There are none if there is no such
// pane.
func (t *Typist) readers(ctx context.Context, on tmux.Target) ([]reader, error) {
	all, err := tmux.List[reader](ctx, t.Tmux, tmux.DisplayMessage{Target: on})
	if err != nil || all[0].ID == "" {
		return nil, err
	}
	if pane := all[0]; pane.Synchronized {
		others, err := tmux.List[reader](ctx, t.Tmux, tmux.ListPanes{Target: pane.ID, Filter: tmux.And("#{pane_synchronized}", tmux.Not(tmux.MatchEqual("pane_id", string(pane.ID))))})
		if err := target.NoneIsEmpty(err); err != nil {
			return nil, err
		}
		all = append(all, others...)
	}
	sees := caller.Sees(ctx, t.Tmux)
	for i := range all {
		r := &all[i]
		t.keyboard.terminals.add(t.Tmux, r.ID, terminal{pid: r.PID, tty: r.TTY})
		for begun := time.Now(); sees; {
			r.program = runner.ReaderOf(r.PID, r.TTY)
			most := settles // for what is not known, as it ends
			if r.program.Known() {
				most = 4 * settles // for one after the other
			}
			if r.program.IsShell() && r.program.Prompt || r.program.Age >= settles || time.Since(begun) >= most {
				break
			}
			if err := pause.For(ctx, 10*time.Millisecond); err != nil {
				return nil, err
			}
		}
		r.sees = sees && r.program.Known()
	}
	return all, nil
}

// still returns an error if another program reads now than one that has read what was typed
// before, as far as that is known.
func still(readers []reader) error {
	for _, r := range readers {
		if !r.sees {
			continue
		}
		if now := runner.ReaderOf(r.PID, r.TTY); now.Known() && !r.program.Leads(now) {
			return r.replaced(now.Name)
		}
	}
	return nil
}

// renamed takes over the commands that tmux sees in the panes now. Another name need not mean that
// another program reads: the program may have renamed itself or started one. If only tmux can see
// the program it does, except after a shell, in which a program was started.
func renamed(readers []reader, now []*string) error {
	for i := range readers {
		r, is := &readers[i], *now[i]
		if was := r.Command; was != is && !r.sees && !slices.Contains(runner.ShellNames(), was) {
			return r.replaced(is)
		}
		r.Command = is
	}
	return nil
}

// replaced returns the fault for a pane in which another program reads.
func (r reader) replaced(now string) error {
	was, ended := cmp.Or(r.Command, "the program"), "no longer reads there"
	if r.sees && r.program.Ended() {
		ended = "has ended"
	}
	return reply.Faultf(reply.KindRefused, "%s %s, and %s would read the rest in pane %s", reply.Named(was, ""), ended, reply.Named(now, ""), r.ID).
		Suggest("capture_pane shows what it left; type the rest only if it is for that")
}

// shellReads is the condition that the program in a pane has the name of a shell.
var shellReads = tmux.Format("#{m/r:^(" + strings.Join(runner.ShellNames(), "|") + ")$,#{pane_current_command}}")

// terminals are the panes that were typed into lately, with what it takes to look up their
// programs without asking tmux.
type terminals struct {
	mu   sync.Mutex
	last map[string]terminal // by socket and pane
}

type terminal struct {
	pid   int
	tty   string
	typed time.Time // when this server last typed there; zero if it has not
}

// mostTerminals bounds their number; beyond it, all are forgotten.
const mostTerminals = 1000

func (k *terminals) add(srv *tmux.Server, pane tmux.PaneID, at terminal) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.last == nil || len(k.last) >= mostTerminals {
		k.last = map[string]terminal{}
	}
	key := srv.SocketPath() + " " + string(pane)
	if at.typed.IsZero() {
		at.typed = k.last[key].typed
	}
	k.last[key] = at
}

func (k *terminals) of(srv *tmux.Server, pane tmux.PaneID) (terminal, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	at, ok := k.last[srv.SocketPath()+" "+string(pane)]
	return at, ok
}

// takesEnter reports whether the program in a pane is known to take an Enter for itself that
// follows a text at once, or known not to. If its terminal is another one by now, nothing is
// known.
func (k *terminals) takesEnter(ctx context.Context, srv *tmux.Server, pane tmux.PaneID) (takes, known bool) {
	at, ok := k.of(srv, pane)
	if !ok || !caller.Sees(ctx, srv) {
		return false, false
	}
	return runner.AtOnce(at.pid, at.tty)
}
