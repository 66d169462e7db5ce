package options

import (
	"context"
	"errors"
	"strings"

	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/params"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/tool"
	"tmuxmcp/tmux"
)

// scopeSelect are the parameters that say whose options or hooks are meant.
type scopeSelect struct {
	Scope  string `json:"scope,omitempty" enum:"server,session,window,pane" desc:"default: the option's own"`
	Target string `json:"target,omitempty" desc:"session name, @N or %N, as scope says"`
	Global bool   `json:"global_,omitempty" desc:"for all sessions or windows"`
}

// optionTarget is where options or hooks are: a scope and, in some, an object.
type optionTarget struct {
	scope  tmux.OptionScope
	target tmux.Target      // nil if tmux picks one, or if there is no object
	asked  target.Selection // what the caller named
}

// optionTargetOf determines the target that a call means. If the call names no scope, or only
// says that it is global, it is the option's own scope; without an option, the whole server.
func optionTargetOf(ctx context.Context, c tool.Call, in scopeSelect, option string) (p optionTarget, err error) {
	byName := tmux.ServerOptions
	if option != "" {
		byName = tmux.DefaultScope(option)
	}
	switch in.Scope {
	case "server":
		p.scope = tmux.ServerOptions
		if in.Global && !strings.HasPrefix(option, "@") {
			p.scope = byName
		}
	case "session":
		p.scope = tmux.SessionOptions
		if p.asked.Session = tmux.SessionID(in.Target); !p.asked.Session.Valid() {
			p.asked = target.Selection{Name: in.Target}
		}
	case "window":
		p.scope, p.asked.Window = tmux.WindowOptions, tmux.WindowID(in.Target)
	case "pane":
		p.scope, p.asked.Pane = tmux.PaneOptions, tmux.PaneID(in.Target)
	default:
		p.scope = byName
	}
	switch {
	case in.Target != "" && in.Scope == "":
		return p, reply.Argument("target", "needs a scope").Suggest("the scope is session for a session's name, window for @N, pane for %%N")
	case in.Target != "" && in.Scope == "server":
		return p, reply.Argument("target", "is not for the scope server")
	case in.Target != "" && in.Global:
		return p, reply.Argument("target", "is one object and global_ is all of them").Suggest("leave one out")
	}
	if global := globalScopes[p.scope]; in.Global && global != "" {
		p.scope = global
	}
	if !p.ofObject() {
		return p, nil
	}
	if err := p.asked.Check(); err != nil {
		return p, reply.Argument("target", "must be @N for a window and %%N for a pane")
	}
	err = p.resolve(ctx, c)
	return p, err
}

// globalScopes are the scopes of the values for all sessions, or all windows and panes.
var globalScopes = map[tmux.OptionScope]tmux.OptionScope{
	tmux.SessionOptions: tmux.GlobalSessionOptions, tmux.WindowOptions: tmux.GlobalWindowOptions, tmux.PaneOptions: tmux.GlobalWindowOptions,
}

func (p *optionTarget) resolve(ctx context.Context, c tool.Call) (err error) {
	plain := p.asked
	if !plain.Zero() {
		if plain, err = target.Resolve(ctx, c.Tmux, c.Guard.Tool, plain); err != nil {
			return err
		}
	}
	p.target, err = plain.TargetFor(c.Here.Own())
	return err
}

// ofObject reports whether the target belongs to one session, window or pane.
func (p *optionTarget) ofObject() bool {
	return p.scope == tmux.SessionOptions || p.scope == tmux.WindowOptions || p.scope == tmux.PaneOptions
}

// do runs commands about the target in one round trip, and returns the id of its object; nil
// if it has none. For some objects that do not exist, tmux answers all the same.
func (p *optionTarget) do(ctx context.Context, c tool.Call, add func(*tmux.Batch)) (*string, error) {
	var b tmux.Batch
	ids := new([]target.IDs)
	if p.ofObject() {
		ids = tmux.AddRows[target.IDs](&b, tmux.DisplayMessage{Target: p.target})
	}
	add(&b)
	err := b.Do(ctx, c.Tmux)
	if err != nil && !errors.Is(err, tmux.ErrNotFound) || !p.ofObject() {
		return nil, err
	}
	var row target.IDs
	if len(*ids) > 0 {
		row = (*ids)[0]
	}
	var id string
	var other bool
	switch p.scope {
	case tmux.SessionOptions:
		id = string(row.Session)
		other = p.asked.Session != "" && p.asked.Session != row.Session || p.asked.Name != "" && p.asked.Name != row.Name
	case tmux.WindowOptions:
		id = string(row.Window)
		other = p.asked.Window != "" && p.asked.Window != row.Window
	case tmux.PaneOptions:
		id = string(row.Pane)
		other = p.asked.Pane != "" && p.asked.Pane != row.Pane
	}
	switch {
	case id != "" && !other:
		return &id, err
	case p.asked.Zero():
		return nil, reply.Faultf(reply.KindNotFound, "the tmux server has no sessions").Suggest("create_session makes one")
	}
	return nil, target.Missing(ctx, c.Tmux, p.asked)
}

// optionValue is the text of an option, the items of an array option by index, or null if
// it is not set.
type optionValue struct{ v any }

func (optionValue) JSONSchema() string {
	return `"type":["string","object","null"],"additionalProperties":{"type":"string"}`
}

func (o optionValue) MarshalJSON() ([]byte, error) { return params.Marshal(o.v) }

// optionInfo is an option as it is in effect somewhere.
type optionInfo struct {
	Option    string            `json:"option"`
	Value     optionValue       `json:"value" exact:"true"`
	Scope     *tmux.OptionScope `json:"scope" desc:"where it is set"`
	Inherited bool              `json:"inherited"`
	Target    *string           `json:"target" desc:"the object asked about"`
}

func infoOfOption(name string, items *[]tmux.Option, at *string) optionInfo {
	info := optionInfo{Option: name, Target: at}
	if *items == nil {
		return info
	}
	values := map[string]string{}
	for _, o := range *items {
		info.Scope, info.Inherited = &o.Scope, o.Inherited
		values[o.Index] = o.Value
		info.Value.v = o.Value
	}
	if _, scalar := values[""]; !scalar && !strings.Contains(name, "[") {
		info.Value.v = values
	}
	return info
}

var showOption = tool.New(tool.Decl{
	Name: "show_option", Title: "Show tmux Option", Kind: tool.Reads, Set: tool.Options,
	Aim:  target.Nowhere,
	Desc: "Show the value of a tmux option in effect for a session, window or pane, and the scope it is set in. Defaults to the caller's.",
}, func(ctx context.Context, c tool.Call, in showOptionIn) (info optionInfo, err error) {
	p, err := optionTargetOf(ctx, c, in.scopeSelect, in.Option)
	if err != nil {
		return info, err
	}
	var items *[]tmux.Option
	id, err := p.do(ctx, c, func(b *tmux.Batch) { items = tmux.AddOption(b, c.Tmux.OptionsAt(p.scope, p.target), in.Option) })
	if err != nil {
		return info, err
	}
	return infoOfOption(in.Option, items, id), nil
})

type showOptionIn struct {
	Option string `json:"option" desc:"name, such as mouse or @mine"`
	scopeSelect
	target.OnSocket
}

type optionSet struct {
	optionInfo
	Status string `json:"status"`
}

var setOption = tool.New(tool.Decl{
	Name: "set_option", Title: "Set tmux Option", Kind: tool.Changes, More: tool.SetsAnything, Set: tool.Options,
	Aim: target.Nowhere, Harm: guard.Harmless,
	Desc: "Set a tmux option, or with unset=true restore its inherited value. Returns the value then in effect. Options that change more than how tmux " +
		"looks need the tier destructive; so do user options, except @mcp-*, which are free for notes. Hooks cannot be set.",
}, func(ctx context.Context, c tool.Call, in setOptionIn) (out optionSet, err error) {
	if (in.Value == nil) != in.Unset {
		return out, reply.Argument("value", "must be given, or unset be true, and not both")
	}
	p, err := optionTargetOf(ctx, c, in.scopeSelect, in.Option)
	if err != nil {
		return out, err
	}
	if err := permitOption(ctx, c, p, in.Option, in.Value); err != nil {
		return out, err
	}
	options := c.Tmux.OptionsAt(p.scope, p.target)
	var items *[]tmux.Option
	var id *string
	err = c.Guard.Proceed(ctx, func(ctx context.Context) (err error) {
		id, err = p.do(ctx, c, func(b *tmux.Batch) {
			tmux.Add(b, options.Setting(tmux.SetOption{Name: in.Option, Value: in.Value, Unset: in.Unset}))
			items = tmux.AddOption(b, options, in.Option)
		})
		return err
	})
	if err != nil {
		return out, withoutValue(err, in.Option, in.Value)
	}
	out = optionSet{infoOfOption(in.Option, items, id), "set"}
	if in.Unset {
		out.Status = "unset"
	}
	return out, nil
})

type setOptionIn struct {
	Option string  `json:"option" desc:"name, such as mouse or @mcp-note"`
	Value  *string `json:"value,omitempty" desc:"required unless unset=true"`
	Unset  bool    `json:"unset,omitempty"`
	scopeSelect
	target.OnSocket
}

// withoutValue removes the value from tmux's refusal: errors are logged, and the value may
// be a secret in the wrong place.
func withoutValue(err error, name string, value *string) error {
	var e *tmux.Error
	if value == nil || !errors.As(err, &e) {
		return err
	}
	line, _, _ := strings.Cut(strings.TrimSpace(*value), "\n")
	if !errors.Is(err, tmux.ErrBadValue) && (line == "" || !strings.Contains(e.Stderr, line)) {
		return err
	}
	problem, _, found := strings.Cut(e.Stderr, ": ")
	if !found || line != "" && strings.Contains(problem, line) {
		problem = "bad value"
	}
	return &reply.Fault{Kind: reply.KindTmux, Message: "tmux error: set-option: " + problem + " for " + name, Cause: err}
}
