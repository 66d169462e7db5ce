package options

import (
	"context"

	"tmuxmcp/internal/secret"
	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/tool"
	"tmuxmcp/tmux"
)

// environmentOf returns the environment of a session and the session's id, or the global
// environment if no session is named.
func environmentOf(ctx context.Context, c tool.Call, s target.SelectSession) (p optionTarget, e tmux.Environment, err error) {
	p = optionTarget{scope: tmux.ServerOptions, asked: s.Selected()}
	if s.SessionID != "" {
		p.asked.Name = ""
	}
	if !p.asked.Zero() {
		p.scope = tmux.SessionOptions
		err = p.resolve(ctx, c)
	}
	return p, c.Tmux.EnvironmentAt(p.target), err
}

// environmentInfo is what new panes get besides the environment of the server.
type environmentInfo struct {
	Variables map[string]*string `json:"variables" exact:"true" desc:"null: not shown"`
	Removed   []string           `json:"removed" exact:"true" desc:"kept from new panes"`
	SessionID *string            `json:"session_id"`
}

var showEnvironment = tool.New(tool.Decl{
	Name: "show_environment", Title: "Show tmux Environment", Kind: tool.Reads, Set: tool.Options,
	Aim:  target.Nowhere,
	Desc: "List the environment variables that tmux gives to new panes: the global ones, or a session's own, which take precedence. Shows a value only for name.",
}, func(ctx context.Context, c tool.Call, in showEnvironmentIn) (info environmentInfo, err error) {
	all := c.Guard.Permit(guard.Mutating, "it shows the values of variables, of which some may be secret") == nil
	if in.Values && !all {
		return info, reply.Faultf(reply.KindTier, "values=true needs the tier mutating: it shows the values of all variables, and some may be secret").
			Suggest("leave values out for the names, and give name for one value")
	}
	p, e, err := environmentOf(ctx, c, in.SelectSession)
	if err != nil {
		return info, err
	}
	var vars *[]tmux.Variable
	id, err := p.do(ctx, c, func(b *tmux.Batch) { vars = tmux.AddEnvironment(b, e) })
	err = target.NoServerIsEmpty(ctx, in.Name == "" && p.asked.Zero(), err)
	if err != nil {
		return info, err
	}
	info = environmentInfo{Variables: map[string]*string{}, Removed: []string{}, SessionID: id}
	for _, v := range *vars {
		switch named := in.Name != "" && in.Name == v.Name; {
		case in.Name != "" && !named, v.Hidden: // hidden from programs, and so from here
		case v.Removed:
			info.Removed = append(info.Removed, v.Name)
		case named && !all && secret.Variable(v.Name, v.Value):
			info.Variables[v.Name] = nil
			reply.Note(ctx, "the value looks like a secret, and is shown only in tier mutating")
		case in.Values, named:
			info.Variables[v.Name] = &v.Value
		default:
			info.Variables[v.Name] = nil
		}
	}
	switch {
	case in.Name != "" && len(info.Variables)+len(info.Removed) == 0:
		return info, reply.Faultf(reply.KindNotFound, "there is no variable %s", reply.OneLine(in.Name)).Suggest("without name, show_environment lists them")
	case in.Name == "" && !in.Values && len(info.Variables) > 0:
		how := reply.Words("name shows one value")
		if all {
			how += ", values=true all"
		}
		reply.Note(ctx, how)
	}
	return info, nil
})

type showEnvironmentIn struct {
	Name   string `json:"name,omitempty"`
	Values bool   `json:"values,omitempty"`
	target.SelectSession
	target.OnSocket
}

// environmentSet is a variable after a change.
type environmentSet struct {
	Name      string  `json:"name"`
	Value     *string `json:"value" exact:"true"`
	Status    string  `json:"status"`
	SessionID *string `json:"session_id"`
}

var setEnvironment = tool.New(tool.Decl{
	Name: "set_environment", Title: "Set tmux Environment", Kind: tool.Presets, Set: tool.Options,
	Aim: target.Nowhere, Harm: guard.Harmless,
	Desc: "Set an environment variable for panes created later, globally or in one session. Running programs do not see it. unset=true forgets it; " +
		"remove=true keeps it from new panes even if it is set globally.",
}, func(ctx context.Context, c tool.Call, in setEnvironmentIn) (out environmentSet, err error) {
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
	p, e, err := environmentOf(ctx, c, in.SelectSession)
	if err != nil {
		return out, err
	}
	set := e.Setting(tmux.SetEnvironment{Name: in.Name, Value: in.Value, Unset: in.Unset, Remove: in.Remove})
	out.SessionID, err = p.do(ctx, c, func(b *tmux.Batch) { tmux.Add(b, set) })
	return out, err
})

type setEnvironmentIn struct {
	Name   string  `json:"name"`
	Value  *string `json:"value,omitempty" desc:"required unless unset or remove"`
	Unset  bool    `json:"unset,omitempty"`
	Remove bool    `json:"remove,omitempty"`
	target.SelectSession
	target.OnSocket
}
