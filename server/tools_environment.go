package server

import (
	"context"

	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/tmux"
)

// environmentPlace returns the environment of a session and the session's id, or the global
// environment if no session is named.
func (c *call) environmentPlace(ctx context.Context, s target.SelectSession) (p place, e tmux.Environment, err error) {
	p = place{scope: tmux.ServerOptions, asked: s.Selected()}
	if s.SessionID != "" {
		p.asked.Name = ""
	}
	if !p.asked.Zero() {
		p.scope = tmux.SessionOptions
		err = c.find(ctx, &p)
	}
	return p, c.Tmux.EnvironmentAt(p.target), err
}

// environmentInfo is what new panes get besides the environment of the server.
type environmentInfo struct {
	Variables map[string]string `json:"variables" exact:"true"`
	Removed   []string          `json:"removed" exact:"true" desc:"kept from new panes"`
	SessionID *string           `json:"session_id"`
}

var showEnvironment = newTool(tool{
	name: "show_environment", title: "Show tmux Environment", kind: reads, set: setOptions,
	aim:  target.Nowhere,
	desc: "Show the environment variables that tmux gives to new panes: the global ones, or with a session its own, which take precedence.",
}, func(ctx context.Context, c *call, in target.OfSession) (info environmentInfo, err error) {
	p, e, err := c.environmentPlace(ctx, in.SelectSession)
	if err != nil {
		return info, err
	}
	var vars *[]tmux.Variable
	id, err := p.do(ctx, c, func(b *tmux.Batch) { vars = tmux.ReadEnvironment(b, e) })
	if err != nil {
		return info, err
	}
	info = environmentInfo{Variables: map[string]string{}, Removed: []string{}, SessionID: id}
	for _, v := range *vars {
		switch {
		case v.Hidden: // hidden from programs, and so from here
		case v.Removed:
			info.Removed = append(info.Removed, v.Name)
		default:
			info.Variables[v.Name] = v.Value
		}
	}
	return info, nil
})

// environmentSet is a variable after a change.
type environmentSet struct {
	Name      string  `json:"name"`
	Value     *string `json:"value" exact:"true"`
	Status    string  `json:"status"`
	SessionID *string `json:"session_id"`
}

var setEnvironment = newTool(tool{
	name: "set_environment", title: "Set tmux Environment", kind: presets, set: setOptions,
	aim: target.Nowhere, harm: guard.Harmless,
	desc: "Set an environment variable for panes created later, globally or in one session. Running programs do not see it. unset=true forgets it; " +
		"remove=true keeps it from new panes even if it is set globally.",
}, func(ctx context.Context, c *call, in setEnvironmentIn) (out environmentSet, err error) {
	out = environmentSet{Name: in.Name, Value: in.Value, Status: "set"}
	if in.Unset {
		out.Status = "unset"
	}
	if in.Remove {
		out.Status = "removed"
	}
	if in.Unset && in.Remove || (in.Value == nil) != (in.Unset || in.Remove) {
		return out, reply.Argument("value", "or unset or remove must be given, and one of them alone")
	}
	p, e, err := c.environmentPlace(ctx, in.SelectSession)
	if err != nil {
		return out, err
	}
	set := e.Setting(tmux.SetEnvironment{Name: in.Name, Value: in.Value, Unset: in.Unset, Remove: in.Remove})
	out.SessionID, err = p.do(ctx, c, func(b *tmux.Batch) { tmux.Add(b, set) })
	return out, err
})

type setEnvironmentIn struct {
	Name   string  `json:"name" desc:"variable"`
	Value  *string `json:"value,omitempty" desc:"required unless unset or remove"`
	Unset  bool    `json:"unset,omitempty"`
	Remove bool    `json:"remove,omitempty"`
	target.SelectSession
	target.OnSocket
}
