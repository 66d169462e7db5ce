package options

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/tool"
	"tmuxmcp/tmux"
)

// hookEntry is a list of commands that a hook runs. Several lists of one hook run in the
// order of their indexes. If an index is a word, which is possible from tmux 3.8 on, the
// name ends in it.
type hookEntry struct {
	HookName string `json:"hook_name"`
	Index    *int   `json:"index"`
	Command  string `json:"command" exact:"true"`
}

type hookList struct {
	Entries []hookEntry `json:"entries"`
	Target  *string     `json:"target" desc:"the object asked about"`
}

// hooksOf reads one hook, or all if name is empty.
func hooksOf(ctx context.Context, c tool.Call, in scopeSelect, name string) (l hookList, err error) {
	p, err := optionTargetOf(ctx, c, in, tmux.ServerOptions, name)
	if err != nil {
		return l, err
	}
	scope := p.scope
	if p.scope == tmux.ServerOptions {
		scope = tmux.GlobalHooks
	}
	var hooks *[]tmux.Hook
	l.Target, err = p.do(ctx, c, func(b *tmux.Batch) { hooks = tmux.AddHooks(b, c.Tmux.HooksAt(scope, p.target), name) })
	err = target.NoServerIsEmpty(ctx, name == "" && !p.ofObject(), err)
	if err != nil {
		return l, err
	}
	l.Entries = []hookEntry{}
	for _, h := range *hooks {
		e := hookEntry{HookName: h.Name, Command: h.Commands}
		if n, err := strconv.Atoi(h.Index); err == nil {
			e.Index = &n
		} else if h.Index != "" {
			e.HookName += "[" + h.Index + "]"
		}
		l.Entries = append(l.Entries, e)
	}
	slices.SortStableFunc(l.Entries, func(a, b hookEntry) int { return strings.Compare(a.HookName, b.HookName) })
	return l, nil
}

var showHooks = tool.New(tool.Decl{
	Name: "show_hooks", Title: "Show tmux Hooks", Kind: tool.Reads, Set: tool.Hooks,
	Aim: target.Nowhere,
	Desc: "List the tmux hooks that are set: the global ones, or the ones of a session, window or pane. Hooks are read-only here; set them in the tmux " +
		"config file.",
}, func(ctx context.Context, c tool.Call, in showHooksIn) (hookList, error) {
	return hooksOf(ctx, c, in.scopeSelect, "")
})

type showHooksIn struct {
	scopeSelect
	target.OnSocket
}

var showHook = tool.New(tool.Decl{
	Name: "show_hook", Title: "Show tmux Hook", Kind: tool.Reads, Set: tool.Hooks,
	Aim:  target.Nowhere,
	Desc: "Show the commands of one tmux hook, or of one entry with name[index]. Empty if it is not set.",
}, func(ctx context.Context, c tool.Call, in showHookIn) (l hookList, err error) {
	if in.HookName == "" {
		return l, reply.Argument("hook_name", "must not be empty").Suggest("show_hooks lists all")
	}
	return hooksOf(ctx, c, in.scopeSelect, in.HookName)
})

type showHookIn struct {
	HookName string `json:"hook_name" desc:"such as after-new-window or name[0]"`
	scopeSelect
	target.OnSocket
}
