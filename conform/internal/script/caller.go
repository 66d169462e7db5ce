package script

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"

	"tmuxmcp/conform/internal/adapter"
	"tmuxmcp/conform/internal/child"
	"tmuxmcp/internal/proctree"
)

// caller makes the calls of a script: of the tmux program, of a wrapper's adapter, and of the MCP
// server.
type caller struct {
	req    child.Request
	socket string
	env    []string
	ctx    context.Context
	cancel context.CancelFunc

	adapter   atomic.Pointer[adapter.Client]
	unopened  error // why the adapter does not use the script's server
	mcpServer atomic.Pointer[mcpServer]
	safety    string // the tier of mcpServer
}

// actions returns the commands that call the target. try, wait-until, conditions and evidence refer
// to their outcome.
func (c *caller) actions() map[string]func(ctx context.Context, dir string, args []string) outcome {
	return map[string]func(context.Context, string, []string) outcome{
		"tmux": c.tmux,
		"api":  c.api,
		"mcp":  c.mcp,

		"control":   c.control,
		"mcp-leave": c.mcpLeave,
	}
}

// onServer returns the arguments of a tmux client for a private server.
func onServer(socket string, args ...string) []string {
	return append([]string{"-u", "-S", socket, "-f", "/dev/null"}, args...)
}

// tmux runs the target's client program on the script's server.
func (c *caller) tmux(ctx context.Context, dir string, args []string) outcome {
	stdout, stderr, state, err := child.Run(ctx, dir, c.env, c.req.Target.Path, onServer(c.socket, args...)...)
	o := outcome{stdout: stdout, stderr: stderr, code: state.ExitCode()}
	var exit *exec.ExitError
	switch {
	case errors.Is(err, child.ErrTooMuch):
		o.err = err
	case ctx.Err() != nil:
		o.err = fmt.Errorf("no answer within the script's %v", c.req.Timeout)
	case errors.As(err, &exit) && !exit.Exited():
		o.err = fmt.Errorf("the tmux client died: %v", exit)
	case err != nil && exit == nil:
		o.err = err
	}
	return o
}

// controlEnd is printed by the last command that control sends.
const controlEnd = "mcp-conform-end"

// control runs a control client that attaches with the given flags, sends it lines of commands, and
// returns its output up to the answer to the last of them. It waits until the client is attached,
// as tmux may answer differently before. An empty line makes the client leave.
func (c *caller) control(ctx context.Context, dir string, args []string) outcome {
	words := onServer(c.socket, "-C", "attach-session")
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		n := 1
		if args[0] == "-t" && len(args) > 1 {
			n = 2
		}
		words, args = append(words, args[:n]...), args[n:]
	}
	if len(args) == 0 {
		return outcome{err: misused("usage: control [-r] [-t TARGET] LINE…")}
	}
	ctx, cancel := context.WithTimeout(ctx, c.req.Timeout/waitShare)
	defer cancel()
	user := client{cmd: exec.CommandContext(ctx, c.req.Target.Path, words...)}
	user.cmd.Dir, user.cmd.Env, user.cmd.WaitDelay = dir, c.env, time.Second
	if _, err := user.startControl(); err != nil {
		return outcome{err: err}
	}
	var text strings.Builder
	attached, ended := false, false
	sc := bufio.NewScanner(user.output)
	for !ended && text.Len() < child.MaxOutput && sc.Scan() {
		switch line := sc.Text(); {
		case !attached && strings.HasPrefix(line, "%session-changed "):
			attached = true
			text.Reset()
			io.WriteString(user.input, strings.Join(args, "\n")+"\ndisplay-message -p "+controlEnd+"\n")
		case line == controlEnd:
			ended = true
		default:
			text.WriteString(line + "\n")
		}
	}
	io.WriteString(user.input, "\n")
	user.input.(io.Closer).Close()
	go io.Copy(io.Discard, user.output)
	waitErr := user.cmd.Wait()
	o := outcome{stdout: strings.TrimSuffix(text.String(), lastLine(text.String()))}
	switch {
	case ctx.Err() != nil:
		o.stdout, o.err = text.String(), fmt.Errorf("the control client gave no answer within %v", c.req.Timeout/waitShare)
	case !ended && text.Len() >= child.MaxOutput:
		o.err = child.ErrTooMuch
	case !ended:
		o.stdout, o.err = text.String(), fmt.Errorf("the control client ended: %v", waitErr)
	}
	return o
}

// lastLine returns the last line of a text: the %begin of the command that prints controlEnd.
func lastLine(text string) string {
	return text[strings.LastIndexByte(strings.TrimSuffix(text, "\n"), '\n')+1:]
}

// cleanUp ends everything that the script has started.
func (c *caller) cleanUp() {
	c.cancel()
	if m := c.mcpServer.Load(); m != nil {
		m.End(0, 0)
	}
	if a := c.adapter.Load(); a != nil {
		a.Close()
	}
	if c.req.Keep {
		return
	}
	if !proctree.EndChildren() {
		// Some processes could not be signalled: ask tmux itself to end them.
		ctx, cancel := context.WithTimeout(context.Background(), child.GraceTime)
		defer cancel()
		cmd := exec.CommandContext(ctx, c.req.Target.Path, "-S", c.socket, "kill-server")
		cmd.Env = c.env
		cmd.Run()
	}
}
