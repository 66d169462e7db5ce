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
	p, err := optionTargetOf(ctx, c, in.scopeSelect, tmux.DefaultScope(in.Option), in.Option)
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
	p, err := optionTargetOf(ctx, c, in.scopeSelect, tmux.DefaultScope(in.Option), in.Option)
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
