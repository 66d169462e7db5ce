package script

import (
	"context"
	"fmt"
	"strings"

	"tmuxmcp/conform/internal/adapter"
	"tmuxmcp/conform/internal/child"
)

// api makes a call of the script's wrapper.
func (c *caller) api(ctx context.Context, dir string, args []string) outcome {
	call, err := adapter.Parse(args)
	if err != nil {
		return outcome{err: misused(err.Error())}
	}
	if c.apiServer == nil {
		if c.apiServer, err = c.startAPI(ctx); err != nil {
			return outcome{err: err}
		}
	}
	var targets []string
	if call.Word == "fields" {
		targets = c.targets(ctx, dir)
	}
	said, err := call.Do(ctx, c.apiServer, targets)
	if ctx.Err() != nil {
		err = fmt.Errorf("no answer within the script's %v", c.req.Timeout)
	}
	return outcome{stdout: said.JSON, stderr: said.Stderr, code: said.Code, err: err, api: true}
}

// startAPI returns an adapter that uses the script's server.
func (c *caller) startAPI(ctx context.Context) (adapter.Asker, error) {
	a := &adapter.Library{Transport: c.req.Transport, Env: c.env}
	_, err := a.Ask(ctx, adapter.Request{Method: "open", Params: map[string]any{
		"tmux": c.req.Target.Path, "socket": c.socket, "version": c.req.Target.Version,
	}})
	return a, err
}

// targets returns an object of each kind that the script's server has now, as tmux itself lists
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
