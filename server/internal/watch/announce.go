package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"tmuxmcp/internal/terminal"
	"tmuxmcp/server/internal/caller"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/tmux"
)

type client struct {
	Name    string `tmux:"client_name"`
	PID     int    `tmux:"client_pid"`
	TTY     string `tmux:"client_tty"`
	Control bool   `tmux:"client_control_mode"`
}

// announce announces what an agent is doing now. A client that has gone or cannot be reached
// does not affect the others.
func (w *watcher) announce(ctx context.Context, a *agent) error {
	if w.Exec != "" {
		w.run(ctx, a)
	}
	if !w.Bell && !w.Message {
		return nil
	}
	ctx, cancel := tmux.WithTimeout(ctx, lookTime)
	defer cancel()
	clients, err := tmux.List[client](ctx, w.srv, tmux.ListClients{})
	if err := target.NoneIsEmpty(err); err != nil && !gone(err) {
		w.problem("list the clients: %v", err)
	}
	sees := caller.Sees(ctx, w.srv)
	rung := false
	for _, c := range clients {
		if c.Control {
			continue
		}
		if w.Bell && sees && ring(c.TTY, c.PID) {
			rung = true
		}
		if w.Message {
			err := w.message(ctx, c.Name, a)
			if err != nil && !errors.Is(err, tmux.ErrNotFound) {
				w.problem("show a message to %s: %v", c.Name, err)
			}
			if unsupported := new(tmux.UnsupportedError); errors.As(err, &unsupported) {
				w.Message = false // not again
			}
		}
	}
	if w.Bell && !rung && w.screen != nil {
		_, err := w.screen.out.WriteString("\a")
		return err
	}
	return nil
}

func (w *watcher) problem(format string, args ...any) {
	fmt.Fprintf(w.Err, "tmux-mcp: "+format+"\n", args...)
}

// messageTime is how long a message is shown, unless a key is pressed.
const messageTime = 5 * time.Second

// undrawn escapes text for tmux's drawing step, which takes "#[" for the beginning of a style once
// formats have been expanded.
func undrawn(text string) string { return strings.ReplaceAll(text, "#", "##") }

// message shows a message in a client's status line. Before tmux 3.6 what the client shows
// freezes as long as a message is there, so it is there only for the user's display-time.
func (w *watcher) message(ctx context.Context, name string, a *agent) error {
	live, err := w.srv.Supports(ctx, tmux.FeatureOf(tmux.DisplayMessage{}, "Live"))
	if err != nil {
		return err
	}
	e := eventOf(a.Agent)
	text := fmt.Sprintf("%s in %s: %s", e.Agent, e.Place, a.state)
	if a.question != "" {
		text += ": " + a.question
	}
	m := tmux.DisplayMessage{Client: w.srv.Client(name), Message: tmux.Literal(undrawn(terminal.Visible(reply.Flat(text))))}
	if live {
		delay := messageTime
		m.Live, m.Delay = true, &delay
	}
	_, err = w.srv.Do(ctx, m)
	return err
}

// Variables are set for the command of [Options.Exec].
var Variables = []string{"TMUX_MCP_PANE", "TMUX_MCP_PLACE", "TMUX_MCP_AGENT", "TMUX_MCP_STATE", "TMUX_MCP_QUESTION"}

// mostRuns bounds the commands that run at once.
const mostRuns = 8

type runs struct {
	sync.WaitGroup
	slots chan struct{}
}

// run runs the command, which ends after ExecTime or with the watcher. What it leaves in its
// process group ends too.
func (w *watcher) run(ctx context.Context, a *agent) {
	select {
	case w.runs.slots <- struct{}{}:
	default:
		w.problem("%d commands of --exec are still running: none is run for pane %s", mostRuns, a.ID)
		return
	}
	e := eventOf(a.Agent)
	values := []string{string(e.PaneID), e.Place, e.Agent, string(a.state), a.question}
	env := append([]string{}, w.Env...)
	for i, name := range Variables {
		env = append(env, name+"="+values[i])
	}
	w.runs.Go(func() {
		defer func() { <-w.runs.slots }()
		ctx, cancel := context.WithTimeout(ctx, w.ExecTime)
		defer cancel()
		cmd := exec.CommandContext(ctx, "sh", "-c", w.Exec)
		cmd.Env = env
		var said lastLine
		out := io.MultiWriter(w.Err, &said)
		cmd.Stdout, cmd.Stderr = out, out
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
		cmd.WaitDelay = time.Second // for what has left the group and holds the output
		err := cmd.Start()
		if err == nil {
			err = cmd.Wait()
			// Process numbers are handed out in turn: this one is not another group's yet.
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
		if err != nil && !errors.Is(err, exec.ErrWaitDelay) && !errors.Is(ctx.Err(), context.Canceled) {
			if last := said.last(); last != "" && w.screen != nil { // which shows one line
				err = fmt.Errorf("%w: %s", err, last)
			}
			w.problem("--exec for pane %s: %v", e.PaneID, err)
		}
	})
}
