package tmux

import (
	"context"
	"fmt"
	"strings"
)

// SetOption changes an option. tmux determines the scope of its own options from their
// names, so the scope flags matter little; [Options] checks that they fit.
type SetOption struct {
	Target Target `flag:"t"`
	Server bool   `flag:"s"`
	Window bool   `flag:"w"`
	Pane   bool   `flag:"p"`
	// Global sets the default for all sessions or windows.
	Global bool `flag:"g"`
	// Append appends to a text or an array.
	Append bool `flag:"a"`
	// Expand expands formats in the value.
	Expand bool `flag:"F"`
	// IfUnset refuses to change an option that is already set.
	IfUnset bool `flag:"o"`
	// Quiet ignores unknown options.
	Quiet bool `flag:"q"`
	// Unset makes the option inherit its value again, or restores tmux's default.
	Unset bool `flag:"u"`
	// UnsetPanes also unsets a window's option in its panes.
	UnsetPanes bool `flag:"U"`
	// Name is the option, with an index in brackets for an item of an array.
	Name string `arg:"required,literal"`
	// Value is the value. Without one, tmux toggles a flag or a choice of two.
	Value *string `arg:""`

	in *settings `flag:"-"` // the scope that the name must fit: see [Options.Setting]
}

// ShowOptions prints options, each as its name and its quoted value.
type ShowOptions struct {
	Target Target `flag:"t"`
	Server bool   `flag:"s"`
	Window bool   `flag:"w"`
	Pane   bool   `flag:"p"`
	Global bool   `flag:"g"`
	// Inherited also prints inherited options, marked with a star.
	Inherited bool `flag:"A"`
	// Hooks prints hooks too.
	Hooks bool `flag:"H"`
	Quiet bool `flag:"q"`
	// Values prints only the values, unquoted.
	Values bool `flag:"v"`
	// Format is the format of each line.
	Format Format `flag:"F" since:"3.8"`
	// Name is one option; all if empty.
	Name string `arg:"literal"`
}

func (SetOption) commandName() string   { return "set-option" }
func (ShowOptions) commandName() string { return "show-options" }

func (c SetOption) check(version func() (Version, error)) error { return c.in.check(version, c.Name) }

// OptionScope is where an option is set. A pane inherits the options of its window, a
// window the global window options, and a session the global session options.
type OptionScope string

// The scopes of options.
const (
	ServerOptions        OptionScope = "server"
	GlobalSessionOptions OptionScope = "global session"
	SessionOptions       OptionScope = "session"
	GlobalWindowOptions  OptionScope = "global window"
	WindowOptions        OptionScope = "window"
	PaneOptions          OptionScope = "pane"
)

// Options are the options of one scope: tmux's own, and the user's, whose names begin with
// "@". Values are text, exactly as set: "on", "50%", "C-b". Abbreviated names are refused.
//
// Hooks are not options here, although tmux stores them as such: see [Hooks].
type Options struct{ settings }

// Options returns the server options.
func (s *Server) Options() Options { return s.OptionsAt(ServerOptions, nil) }

// OptionsAt returns the options of a scope for a target; if it is nil, tmux picks one.
func (s *Server) OptionsAt(scope OptionScope, target Target) Options {
	return Options{settings{srv: s, scope: scope, target: target}}
}

// GlobalSessionOptions returns the options of all sessions that do not set their own.
func (s *Server) GlobalSessionOptions() Options { return s.OptionsAt(GlobalSessionOptions, nil) }

// GlobalWindowOptions returns the options of all windows that do not set their own.
func (s *Server) GlobalWindowOptions() Options { return s.OptionsAt(GlobalWindowOptions, nil) }

// Options returns the session's options.
func (r SessionRef) Options() Options { return r.srv.OptionsAt(SessionOptions, r) }

// Options returns the window's options.
func (r WindowRef) Options() Options { return r.srv.OptionsAt(WindowOptions, r) }

// Options returns the pane's options.
func (r PaneRef) Options() Options { return r.srv.OptionsAt(PaneOptions, r) }

// Option is an option with its value.
type Option struct {
	// Name is the name, without an index.
	Name string
	// Index is the index of an array item: a number or, since tmux 3.8, any word. It is
	// empty for options that are not arrays.
	Index string
	Value string
	// Scope is where the value is set. [Options.All] leaves it empty for inherited values,
	// since tmux does not report where they come from.
	Scope OptionScope
	// Inherited reports whether the value comes from a larger scope.
	Inherited bool
}

// Get returns the effective value of an option: the one set in this scope or, if there is
// none, the one inherited from a larger scope. It fails with [ErrUnknownOption] if the
// option is set nowhere or does not exist, and with [ErrArgument] if it is an array: see
// [Options.Items].
func (o Options) Get(ctx context.Context, name string) (string, error) {
	items, err := o.Items(ctx, name)
	if err != nil {
		return "", err
	}
	return single(name, items)
}

// Local returns the value set in this scope itself, ignoring larger ones. It fails as
// [Options.Get] does.
func (o Options) Local(ctx context.Context, name string) (string, error) {
	items, err := o.LocalItems(ctx, name)
	switch {
	case err != nil:
		return "", err
	case len(items) == 0:
		return "", fmt.Errorf("option %s is not set for the %s: %w", name, o.scope, ErrUnknownOption)
	}
	return single(name, items)
}

// single returns the value of an option that is not an array.
func single(name string, items []Option) (string, error) {
	if len(items) != 1 || items[0].Index != "" && !strings.Contains(name, "[") {
		return "", argumentError("option %s is an array; read its items", name)
	}
	return items[0].Value, nil
}

// Items returns the effective items of an array option, or the one value of any other
// option, with the scope they are set in. An array that is set but empty has no items. It
// fails with [ErrUnknownOption] if the option is set nowhere.
func (o Options) Items(ctx context.Context, name string) ([]Option, error) {
	var b Batch
	if o.target != nil {
		// Quiet commands do not report a missing target either.
		Add(&b, HasSession{Target: o.target})
	}
	items := AddOption(&b, o, name)
	if err := b.Do(ctx, o.srv); err != nil {
		return nil, err
	}
	if *items == nil {
		return nil, fmt.Errorf("option %s is not set: %w", name, ErrUnknownOption)
	}
	return *items, nil
}

// LocalItems returns the items of an array option set in this scope itself, or the one
// value of any other option. It returns none if the option is not set here.
func (o Options) LocalItems(ctx context.Context, name string) ([]Option, error) {
	var b Batch
	items := []Option{}
	readOption(&b, o, ShowOptions{Name: name}, func(found []Option) { items = append(items, found...) })
	err := b.Do(ctx, o.srv)
	return items, err
}

// All returns every option that is in effect in this scope, inherited ones included.
func (o Options) All(ctx context.Context) ([]Option, error) {
	return o.all(ctx, ShowOptions{Inherited: true})
}

// AllLocal returns the options set in this scope itself.
func (o Options) AllLocal(ctx context.Context) ([]Option, error) { return o.all(ctx, ShowOptions{}) }

func (o Options) all(ctx context.Context, cmd ShowOptions) ([]Option, error) {
	var b Batch
	all := []Option{}
	cmd.Target, cmd.Server, cmd.Global, cmd.Window, cmd.Pane = o.flags()
	o.read(&b, func(Version) (Command, error) { return cmd, nil }, func(found []Option) { all = append(all, found...) })
	if err := b.Do(ctx, o.srv); err != nil {
		return nil, err
	}
	return all, nil
}

// AddOption appends commands that read an option's effective value: see [Options.Items].
// After [Batch.Do], the slice is nil if the option is set nowhere or, for a user option, if
// the target does not exist.
func AddOption(b *Batch, o Options, name string) *[]Option {
	items := new([]Option)
	for i, scope := range inheritance[o.scope] {
		at := o
		at.scope = scope
		readOption(b, at, ShowOptions{Name: name, Quiet: strings.HasPrefix(name, "@")}, func(found []Option) {
			if *items != nil || found == nil {
				return
			}
			for j := range found {
				found[j].Inherited = i > 0
			}
			*items = found
		})
	}
	return items
}

// readOption appends a command that reads an option in one scope. For found see
// [Options.read].
func readOption(b *Batch, o Options, cmd ShowOptions, found func([]Option)) {
	cmd.Target, cmd.Server, cmd.Global, cmd.Window, cmd.Pane = o.flags()
	o.read(b, func(v Version) (Command, error) {
		cmd.Quiet = cmd.Quiet && quietUserOptions.In(v)
		return cmd, o.check(v.itself, cmd.Name)
	}, found)
}

// Set sets an option, or one item of an array by name[index]. It fails with [ErrBadValue]
// if the option does not accept the value.
func (o Options) Set(ctx context.Context, name, value string) error {
	return o.srv.run(ctx, o.Setting(SetOption{Name: name, Value: &value}))
}

// Append appends to the text of an option, or adds items to an array.
func (o Options) Append(ctx context.Context, name, value string) error {
	return o.srv.run(ctx, o.Setting(SetOption{Name: name, Value: &value, Append: true}))
}

// Unset removes what was set in this scope, so that the option is inherited again. In the
// largest scope it restores tmux's default, and removes a user option. name[index] removes
// one array item.
func (o Options) Unset(ctx context.Context, name string) error {
	return o.srv.run(ctx, o.Setting(SetOption{Name: name, Unset: true}))
}

// SetItems sets an array option to exactly these items, in one round trip.
func (o Options) SetItems(ctx context.Context, name string, items []string) error {
	cmds := []Command{o.Setting(SetOption{Name: name, Value: new(string)})}
	for i := range items {
		cmds = append(cmds, o.Setting(SetOption{Name: fmt.Sprintf("%s[%d]", name, i), Value: &items[i]}))
	}
	return o.srv.run(ctx, cmds...)
}

// Setting returns cmd with its target and scope set to this scope, for a [Batch],
// [Server.Do] or [Server.Script].
func (o Options) Setting(cmd SetOption) SetOption {
	var target Target
	target, cmd.Server, cmd.Global, cmd.Window, cmd.Pane = o.flags()
	cmd.Target, cmd.in = own(target, cmd.Target), &o.settings
	return cmd
}

// settings are the options or the hooks of one scope: tmux keeps both in the same way.
type settings struct {
	srv    *Server
	hooks  bool
	scope  OptionScope
	target Target
}

// flags returns what selects the scope in a command. Those for hooks have no flag for the server.
func (s settings) flags() (target Target, server, global, window, pane bool) {
	switch s.scope {
	case ServerOptions:
		server = true
	case GlobalSessionOptions, GlobalWindowOptions, GlobalHooks:
		global = true
	default:
		target = s.target
	}
	return target, server, global, s.scope == GlobalWindowOptions || s.scope == WindowOptions, s.scope == PaneOptions
}

// read appends a command that prints the settings. found gets nil if tmux prints nothing, and no
// items for an empty array.
func (s settings) read(b *Batch, cmd func(v Version) (Command, error), found func([]Option)) {
	AddFunc(b, cmd, func(v Version, out []byte) error {
		if len(out) == 0 {
			found(nil)
		} else {
			found(parseOptions(out, s.scope, v))
		}
		return nil
	})
}

// check refuses names that to tmux mean something else than a setting of this kind in this scope.
// A command without a scope, of which s is nil, may have any name.
func (s *settings) check(version func() (Version, error), name string) error {
	if s == nil {
		return nil
	}
	base, err := optionBase(name)
	if err != nil || strings.HasPrefix(base, "@") {
		return err
	}
	wanted := "option"
	if s.hooks {
		wanted = "hook"
	}
	kind, full := kindOfOption(base)
	switch {
	case full == "":
		return nil
	case kind.hook && !s.hooks:
		return argumentError("%s is a hook, not an option", full)
	case s.hooks && !kind.hook:
		return argumentError("%s is an option, not a hook", full)
	case full != base:
		return fmt.Errorf("%s %s: %w; is it %s?", wanted, name, ErrUnknownOption, full)
	case !kind.fits(s.scope) && s.hooks:
		return argumentError("%s is not a hook of a %s", name, s.scope)
	case !kind.fits(s.scope):
		return argumentError("%s is a %s option, not a %s option", name, kind.scope(), s.scope)
	case s.scope == PaneOptions:
		return need(version, "option "+name+" of a pane", kind.paneSince, Version{})
	}
	return nil
}

// inheritance lists, for each scope, the scopes to search, in order.
var inheritance = map[OptionScope][]OptionScope{
	ServerOptions:        {ServerOptions},
	GlobalSessionOptions: {GlobalSessionOptions},
	SessionOptions:       {SessionOptions, GlobalSessionOptions},
	GlobalWindowOptions:  {GlobalWindowOptions},
	WindowOptions:        {WindowOptions, GlobalWindowOptions},
	PaneOptions:          {PaneOptions, WindowOptions, GlobalWindowOptions},
}

// DefaultScope returns the scope in which tmux sets the option of this name if none is
// given. It is the server's for server options, the window's for options of windows and
// panes, and the session's for all others, such as user options and options unknown to this
// package.
func DefaultScope(option string) OptionScope {
	base, _, _ := strings.Cut(option, "[")
	kind, _ := kindOfOption(base)
	return kind.scope()
}

// FitScope returns the given scope if an option or hook of this name can be set there, as can
// user options and names unknown to this package, and otherwise its [DefaultScope].
func FitScope(name string, scope OptionScope) OptionScope {
	base, _, _ := strings.Cut(name, "[")
	if kind, full := kindOfOption(base); full != "" && !kind.fits(scope) {
		return kind.scope()
	}
	return scope
}

// optionBase checks the syntax of an option or hook name and strips its index.
func optionBase(name string) (string, error) {
	base, index, indexed := strings.Cut(name, "[")
	if indexed {
		word, ok := strings.CutSuffix(index, "]")
		if !ok || word == "" || !isName(word) {
			return "", argumentError("%q: the index must be a word in brackets", name)
		}
	}
	user, isUser := strings.CutPrefix(base, "@")
	if isUser && user != "" && !strings.ContainsFunc(user, notInUserOption) || isName(base) {
		return base, nil
	}
	return "", argumentError("%q is not the name of an option", name)
}

// notInUserOption reports whether r would make the name of a user option ambiguous in
// tmux's output.
func notInUserOption(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune(`#[]*\"'$`, r)
}

func isName(s string) bool {
	for _, c := range []byte(s) {
		if !isNameByte(c) {
			return false
		}
	}
	return s != ""
}

// parseOptions parses lines of the form
//
//	name value
//	name[index]* "quoted value"
//
// where the star marks an inherited one. An empty array has no value.
func parseOptions(out []byte, scope OptionScope, v Version) []Option {
	options := []Option{}
	for line := range strings.Lines(string(out)) {
		name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !ok {
			continue
		}
		var o Option
		o.Name, o.Inherited = strings.CutSuffix(name, "*")
		if !o.Inherited {
			o.Scope = scope
		}
		if base, index, ok := strings.Cut(o.Name, "["); ok {
			o.Name, o.Index = base, strings.TrimSuffix(index, "]")
		}
		o.Value = value
		if !printsCommands(o.Name) {
			o.Value = unquote(value, v.isExactly34())
		}
		options = append(options, o)
	}
	return options
}

// printsCommands reports whether the value of an option is a list of tmux commands, which
// is not quoted as a whole.
func printsCommands(name string) bool {
	kind, _ := kindOfOption(name)
	return kind.hook || name == "default-client-command"
}
