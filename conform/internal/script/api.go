package script

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tmuxmcp/conform/internal/adapter"
	"tmuxmcp/conform/internal/child"
)

// exchange notes what passes between a script and its adapter during one call.
type exchange struct {
	adapter *adapter.Client
	sent    []adapter.Request
	heard   []string
}

func (e *exchange) Ask(ctx context.Context, r adapter.Request) (json.RawMessage, error) {
	raw, err := e.adapter.Ask(ctx, r)
	e.sent, e.heard = append(e.sent, r), append(e.heard, cmp.Or(e.adapter.Heard(), noAnswer))
	return raw, err
}

// api makes a call of the script's wrapper.
func (c *caller) api(ctx context.Context, dir string, args []string) outcome {
	call, err := adapter.Parse(args)
	if err != nil {
		return outcome{err: misused(err.Error())}
	}
	if c.adapter.Load() == nil && c.unopened == nil {
		c.unopened = c.openAdapter(ctx)
	}
	var targets []string
	if call.Word == "fields" {
		targets = c.targets(ctx, dir)
	}
	var said adapter.Answer
	passed := exchange{adapter: c.adapter.Load()}
	if err = c.unopened; err == nil {
		said, err = call.Do(ctx, &passed, targets)
	} else {
		passed.sent, passed.heard = call.Requests(targets), []string{noAnswer}
	}
	if ctx.Err() != nil {
		late := &adapter.Failure{Kind: adapter.TimedOut, Text: fmt.Sprintf("no answer within the script's %v", c.req.Timeout)}
		if f := new(adapter.Failure); errors.As(err, &f) {
			late.Stderr = f.Stderr
		}
		err = late
	}
	return outcome{
		stdout: said.JSON, stderr: said.Stderr, code: said.Code, err: err, api: true,
		sent: passed.sent, raw: strings.Join(passed.heard, "\n"),
	}
}

// openAdapter starts the adapter of the script's wrapper, and has it use the script's server.
func (c *caller) openAdapter(ctx context.Context) error {
	a, err := c.startAdapter(ctx, nil)
	if err != nil {
		return err
	}
	return adapter.Open(ctx, a, programOf(c.req.Dir), c.socket, c.req.Target.Version)
}

// startAdapter starts the process of an adapter, without opening a server. It passes messages to
// trace unless that is nil.
func (c *caller) startAdapter(ctx context.Context, trace func(string)) (*adapter.Client, error) {
	program := programOf(c.req.Dir)
	a, err := adapter.Start(ctx, adapter.Config{
		Words: c.req.API, Dir: c.req.APIDir, Temp: c.req.Dir, Trace: trace,
		Env: append(slices.Clip(c.env),
			pathWith(program),
			"MCP_CONFORM_TMUX="+program, "MCP_CONFORM_SOCKET="+c.socket, "MCP_CONFORM_VERSION="+c.req.Target.Version,
			c.adapterEnv()),
	})
	if err != nil {
		return nil, err
	}
	c.adapter.Store(a)
	return a, nil
}

// adapterEnv returns the variable of the adapter that depends on the run.
func (c *caller) adapterEnv() string { return "MCP_CONFORM_TRANSPORT=" + string(c.req.Transport) }

// targets returns the id of an object of each kind that the script's server has now, as tmux lists
// them.
func (c *caller) targets(ctx context.Context, dir string) []string {
	ids := []string{"server"}
	for _, list := range [][]string{
		{"list-panes", "-a", "-F", "#{pane_id}\n#{window_id}\n#{session_id}"},
		{"list-clients", "-F", "#{client_name}"},
	} {
		out, _, _, err := child.Run(ctx, dir, c.env, c.req.Target.Path, onServer(c.socket, list...)...)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if err != nil || lines[0] == "" {
			continue
		}
		ids = append(ids, lines[:min(len(lines), strings.Count(list[len(list)-1], "\n")+1)]...)
	}
	return ids
}

// offerAPI starts the adapter and returns its description, and whether it offers any of the verbs
// in the request: it calls them on a server of the target.
func (c *caller) offerAPI(ctx context.Context) (child.Message, error) {
	a, err := c.startAdapter(ctx, nil)
	if late := new(adapter.Failure); errors.As(err, &late) && late.Kind == adapter.TimedOut {
		late.Text += fmt.Sprintf(" within %v", c.req.Timeout)
	}
	if err != nil {
		return child.Message{}, err
	}
	m := child.Message{Described: &a.Described}
	if err := c.startSession(ctx); err != nil {
		return m, nil // the scripts will show what is wrong with this tmux
	}
	if err := adapter.Open(ctx, a, programOf(c.req.Dir), c.socket, c.req.Target.Version); err != nil {
		return m, err
	}
	m.OffersNone = adapter.OffersNone(ctx, a, c.req.Names)
	return m, nil
}

// startSession starts a server for [adapter.Probes].
func (c *caller) startSession(ctx context.Context) error {
	args := []string{"new-session", "-d", "-x", "80", "-y", "24", "exec sleep 600", ";", "new-window", "-d", "exec sleep 600"}
	_, _, _, err := child.Run(ctx, c.req.Dir, c.env, c.req.Target.Path, onServer(c.socket, args...)...)
	return err
}

// checkAPI starts the adapter and returns its description, and what it answers to each verb on a
// server of the target.
func (c *caller) checkAPI(ctx context.Context) (child.Message, error) {
	var check adapter.Check
	a, err := c.startAdapter(ctx, check.Trace)
	if err != nil {
		return child.Message{}, err
	}
	m := child.Message{Described: &a.Described}
	err = adapter.Open(ctx, a, programOf(c.req.Dir), c.socket, c.req.Target.Version)
	if _, _, _, none := child.Run(ctx, c.req.Dir, c.env, c.req.Target.Path, onServer(c.socket, "list-sessions")...); err == nil && none == nil {
		err = errors.New("it has started the tmux server, which it must not")
	}
	if check.Opened(err); err == nil {
		if err := c.startSession(ctx); err != nil {
			return m, fmt.Errorf("start a session of tmux %s: %w", c.req.Target.Version, err)
		}
		check.Verbs(ctx, a)
		check.Closed(a.Close())
	}
	if m.Findings = check.Findings; !c.req.Verbose {
		for i := range m.Findings {
			m.Findings[i].Messages = nil
		}
	}
	return m, nil
}
