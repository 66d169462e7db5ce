package options

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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

// optionTargetOf determines the target that a call about an option or hook means, or about
// all if name is empty. If the call names no scope, or only says that it is global, the scope
// is byName, and a read of what has another scope than the call says is moved there.
func optionTargetOf(ctx context.Context, c tool.Call, in scopeSelect, byName tmux.OptionScope, name string) (p optionTarget, err error) {
	switch in.Scope {
	case "server":
		p.scope = tmux.ServerOptions
		if in.Global && !strings.HasPrefix(name, "@") {
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
	if p.ofObject() {
		if err := p.checkTarget(ctx, c, in); err != nil {
			return p, err
		}
		if own := tmux.FitScope(name, p.scope); own != p.scope {
			if err := p.move(ctx, c, in, name, own); err != nil {
				return p, err
			}
		}
	}
	if global := globalScopes[p.scope]; in.Global && global != "" {
		p.scope = global
	}
	if !p.ofObject() {
		return p, nil
	}
	err = p.resolve(ctx, c)
	return p, err
}

// checkTarget refuses a target that is no object of the scope, and names those that the call
// may mean.
func (p *optionTarget) checkTarget(ctx context.Context, c tool.Call, in scopeSelect) error {
	names, what := named(in.Target)
	switch {
	case in.Target == "" || names == p.asked:
		return p.asked.Check()
	case p.scope == tmux.SessionOptions: // a session's name may look like an id
		if ids, err := meeting(ctx, c, p.asked, p.scope); err != nil || len(ids) > 0 {
			return err
		}
	}
	ids, err := meeting(ctx, c, names, p.scope)
	if err != nil {
		return err
	}
	kind := kinds[p.scope]
	f := reply.Argument("target", "must be %s for the scope %s", kind.form, p.scope).Suggest("%s returns them", kind.lister)
	if len(ids) > 0 {
		f.Suggest("pass %s", oneOf(ids, string(p.scope), what))
	}
	return f
}

// move changes the scope to own, that of the option or hook, and the target to the one object
// of that kind which it is in, or which is in it. Only a read is moved: what a change reaches
// is for the caller to say.
func (p *optionTarget) move(ctx context.Context, c tool.Call, in scopeSelect, name string, own tmux.OptionScope) error {
	var ids []string
	var err error
	if own != tmux.ServerOptions && !p.asked.Zero() {
		if ids, err = meeting(ctx, c, p.asked, own); err == nil && len(ids) == 0 {
			err = target.Missing(ctx, c.Tmux, p.asked)
		}
	}
	if err != nil {
		return err
	}
	if c.Guard.ReadOnly && len(ids) < 2 {
		p.scope, p.asked = own, target.Selection{}
		if len(ids) == 1 {
			p.asked, _ = named(ids[0])
		}
		return nil
	}
	word := "option"
	if _, hook, _ := tmux.LookupOption(name); hook {
		word = "hook"
	}
	f := reply.Faultf(reply.KindValidation, "%s is a %s %s, not a %s %s", name, own, word, p.scope, word).Suggest("pass scope=%s", own)
	if len(ids) > 0 {
		_, what := named(in.Target)
		f.Suggest("pass scope=%s and, as target, %s", own, oneOf(ids, string(own), what))
	}
	return f
}

// named returns what a target names by its form, and that in words.
func named(text string) (s target.Selection, what string) {
	switch {
	case tmux.PaneID(text).Valid():
		return target.Selection{Pane: tmux.PaneID(text)}, "pane " + text
	case tmux.WindowID(text).Valid():
		return target.Selection{Window: tmux.WindowID(text)}, "window " + text
	case tmux.SessionID(text).Valid():
		return target.Selection{Session: tmux.SessionID(text)}, "session " + text
	}
	return target.Selection{Name: text}, "session " + params.Short(reply.OneLine(text), 40)
}

// kinds says of the scopes of objects how a target is written, and which tool lists them.
var kinds = map[tmux.OptionScope]struct{ form, lister string }{
	tmux.SessionOptions: {"a session's name or $N", "list_sessions"}, tmux.WindowOptions: {"@N", "list_windows"}, tmux.PaneOptions: {"%N", "list_panes"},
}

// meeting returns the ids of the objects of a scope that a selection is in, or that are in it.
func meeting(ctx context.Context, c tool.Call, s target.Selection, scope tmux.OptionScope) (ids []string, err error) {
	if len(s.Name) > target.MaxName {
		return nil, s.Check()
	}
	rows, err := tmux.List[target.IDs](ctx, c.Tmux, tmux.ListPanes{All: true, Filter: s.Within()})
	for _, r := range rows {
		id := map[tmux.OptionScope]string{tmux.SessionOptions: string(r.Session), tmux.WindowOptions: string(r.Window), tmux.PaneOptions: string(r.Pane)}[scope]
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, target.NoneIsEmpty(err)
}

// oneOf names the objects of a kind that meet what the caller has named.
func oneOf(ids []string, kind, what string) string {
	if len(ids) == 1 {
		return fmt.Sprintf("%s, the %s of %s", ids[0], kind, what)
	}
	more := ""
	if most := 8; len(ids) > most {
		ids, more = ids[:most], "…"
	}
	return fmt.Sprintf("one of %s%s, the %ss of %s", strings.Join(ids, ", "), more, kind, what)
}

// globalScopes are the scopes of the values for all sessions, or all windows and panes.
var globalScopes = map[tmux.OptionScope]tmux.OptionScope{
	tmux.SessionOptions: tmux.GlobalSessionOptions, tmux.WindowOptions: tmux.GlobalWindowOptions, tmux.PaneOptions: tmux.GlobalWindowOptions,
}

func (p *optionTarget) resolve(ctx context.Context, c tool.Call) (err error) {
	plain := p.asked
	if !plain.Zero() {
		if plain, err = target.Resolve(ctx, c.Tmux, c.Guard.Tool, c.Guard.Aim.Object, plain); err != nil {
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
