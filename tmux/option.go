package tmux

import (
	"context"
	"fmt"
	"strings"
)

// SetOption changes an option. For an option of tmux's own the flags of scope
// mean little: tmux goes by its name. [Options] checks that they fit.
type SetOption struct {
	Target Target `flag:"t"`
	Server bool   `flag:"s"`
	Window bool   `flag:"w"`
	Pane   bool   `flag:"p"`
	// Global sets the default of all sessions or windows.
	Global bool `flag:"g"`
	// Append adds to a text, or to an array.
	Append bool `flag:"a"`
	// Expand expands formats in the value.
	Expand bool `flag:"F"`
	// IfUnset refuses to change an option that is set.
	IfUnset bool `flag:"o"`
	// Quiet ignores unknown options.
	Quiet bool `flag:"q"`
	// Unset takes the value of the next larger scope again, or tmux's default.
	Unset bool `flag:"u"`
	// UnsetPanes unsets a window's option in its panes too.
	UnsetPanes bool `flag:"U"`
	// Name is the option, with an index in brackets for an item of an array.
	Name string `arg:"required,literal"`
	// Value is the value. Without one, tmux turns a flag on or off, or takes the
	// next of two choices.
	Value *string `arg:""`
}

// ShowOptions prints options, each as its name and its quoted value.
type ShowOptions struct {
	Target Target `flag:"t"`
	Server bool   `flag:"s"`
	Window bool   `flag:"w"`
	Pane   bool   `flag:"p"`
	Global bool   `flag:"g"`
	// Inherited prints the options of larger scopes too, marked with a star.
	Inherited bool `flag:"A"`
	// Hooks prints hooks too.
	Hooks bool `flag:"H"`
	Quiet bool `flag:"q"`
	// Values prints the values alone, unquoted.
	Values bool `flag:"v"`
	// Format is the format of each line.
	Format Format `flag:"F" since:"3.8"`
	// Name is one option; all of them when empty.
	Name string `arg:"literal"`
}

func (SetOption) CommandName() string   { return "set-option" }
func (ShowOptions) CommandName() string { return "show-options" }

// OptionScope says where options are set. A pane has the options of its window
// unless they are set for it; a window those of all windows; a session those of
// all sessions.
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

// Options are the options of one scope, of tmux's own and the user's, whose names
// begin with "@". Values are text, exactly as set: "on", "50%", "C-b".
//
// Hooks are no options here, though tmux keeps them as such: see [Hooks]. Nor
// are abbreviated names.
type Options struct {
	srv    *Server
	scope  OptionScope
	target Target
}

// Options are the server options.
func (s *Server) Options() Options { return Options{s, ServerOptions, nil} }

// OptionsAt are the options of a scope for the target of a command: nil is the
// one that tmux takes by itself.
func (s *Server) OptionsAt(scope OptionScope, target Target) Options {
	return Options{s, scope, target}
}

// GlobalSessionOptions are the options of all sessions that do not set their own.
func (s *Server) GlobalSessionOptions() Options { return Options{s, GlobalSessionOptions, nil} }

// GlobalWindowOptions are the options of all windows that do not set their own.
func (s *Server) GlobalWindowOptions() Options { return Options{s, GlobalWindowOptions, nil} }

// Options are the session's options.
func (r SessionRef) Options() Options { return Options{r.srv, SessionOptions, r} }

// Options are the window's options.
func (r WindowRef) Options() Options { return Options{r.srv, WindowOptions, r} }

// Options are the pane's options.
func (r PaneRef) Options() Options { return Options{r.srv, PaneOptions, r} }

// Option is an option with its value.
type Option struct {
	// Name is the name, without an index.
	Name string
	// Index is that of an item of an array: a number or, from 3.8, any word.
	// Empty for other options.
	Index string
	Value string
	// Scope is where the value is set. Of an inherited one [Options.All] does not
	// know it, and leaves it empty.
	Scope OptionScope
	// Inherited is set when the value is that of a larger scope.
	Inherited bool
}

// Get is the value that the option has in this scope itself. If there is none, or
// no such option, it is an [ErrUnknownOption].
func (o Options) Get(ctx context.Context, name string) (string, error) {
	items, err := o.Items(ctx, name)
	if err != nil {
		return "", err
	}
	if len(items) == 0 {
		return "", fmt.Errorf("option %s is not set for the %s: %w", name, o.scope, ErrUnknownOption)
	}
	if len(items) > 1 || items[0].Index != "" && !strings.Contains(name, "[") {
		return "", argumentError("option %s is an array", name)
	}
	return items[0].Value, nil
}

// Items are the items that an array option has in this scope itself, or the one
// value of another option; none if it is not set.
func (o Options) Items(ctx context.Context, name string) ([]Option, error) {
	var b Batch
	items := []Option{}
	b.option(o, ShowOptions{Name: name}, func(found []Option) { items = append(items, found...) })
	err := b.Do(ctx, o.srv)
	return items, err
}

// Effective is the value that holds for the scope, be it inherited, and where it
// is set; the items of an array. If no scope has it, it is an [ErrUnknownOption].
func (o Options) Effective(ctx context.Context, name string) ([]Option, error) {
	var b Batch
	if o.target != nil {
		// What is read quietly keeps quiet about a target that is gone, too.
		b.Add(Raw{Name: "has-session", Args: []string{"-t", o.target.TargetSpec()}})
	}
	items := b.Option(o, name)
	if err := b.Do(ctx, o.srv); err != nil {
		return nil, err
	}
	if *items == nil {
		return nil, fmt.Errorf("option %s is not set: %w", name, ErrUnknownOption)
	}
	return *items, nil
}

// Option appends the reading of an option: see [Options.Effective]. The slice it
// points to stays nil when no scope has the option and, for a user option, when
// the target is gone.
func (b *Batch) Option(o Options, name string) *[]Option {
	items := new([]Option)
	for i, scope := range inheritance[o.scope] {
		at := o
		at.scope = scope
		b.option(at, ShowOptions{Name: name, Quiet: strings.HasPrefix(name, "@")}, func(found []Option) {
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

// SetOption appends a change of an option: cmd says which and how, o where.
func (b *Batch) SetOption(o Options, cmd SetOption) {
	cmd.Target, cmd.Server, cmd.Global, cmd.Window, cmd.Pane = o.flags()
	b.steps = append(b.steps, step{
		prepare: func(version func() (Version, error)) (Command, error) { return cmd, o.check(version, cmd.Name) },
		decode:  func(*Server, Version, []byte) error { return nil },
	})
}

// option appends the reading of one option. found gets nil when tmux prints
// nothing, and no items for an array that is empty.
func (b *Batch) option(o Options, cmd ShowOptions, found func([]Option)) {
	cmd.Target, cmd.Server, cmd.Global, cmd.Window, cmd.Pane = o.flags()
	b.steps = append(b.steps, step{
		prepare: func(version func() (Version, error)) (Command, error) {
			if err := o.check(version, cmd.Name); err != nil {
				return nil, err
			}
			v, err := version()
			// 3.2 never minds that a user option is not set, and with -q ends the
			// list at it without a word.
			cmd.Quiet = cmd.Quiet && v.Has(Version{Major: 3, Minor: 3})
			return cmd, err
		},
		decode: func(_ *Server, v Version, out []byte) error {
			if len(out) == 0 {
				found(nil)
			} else {
				found(parseOptions(out, o.scope, v))
			}
			return nil
		},
	})
}

// All are the options that are set in this scope itself, or with inherited those
// that hold for it.
func (o Options) All(ctx context.Context, inherited bool) ([]Option, error) {
	v, err := o.srv.Version(ctx)
	if err != nil {
		return nil, err
	}
	cmd := ShowOptions{Inherited: inherited}
	cmd.Target, cmd.Server, cmd.Global, cmd.Window, cmd.Pane = o.flags()
	outs, err := o.srv.Do(ctx, cmd)
	if err != nil {
		return nil, err
	}
	return parseOptions(outs[0], o.scope, v), nil
}

// Set sets an option, or an item of an array by name[index]. A value that the
// option cannot have is an [ErrBadValue].
func (o Options) Set(ctx context.Context, name, value string) error {
	return o.set(ctx, SetOption{Name: name, Value: &value})
}

// Append adds to the text that the option has, or adds items to an array.
func (o Options) Append(ctx context.Context, name, value string) error {
	return o.set(ctx, SetOption{Name: name, Value: &value, Append: true})
}

// Toggle turns a flag on or off, or takes the other of two choices.
func (o Options) Toggle(ctx context.Context, name string) error {
	return o.set(ctx, SetOption{Name: name})
}

// Unset takes back what was set, so that the option is inherited again; in the
// largest scope it gets tmux's default, and a user option goes away. name[index]
// takes an item out of an array.
func (o Options) Unset(ctx context.Context, name string) error {
	return o.set(ctx, SetOption{Name: name, Unset: true})
}

// SetItems sets an array option to exactly these items, in one round trip.
func (o Options) SetItems(ctx context.Context, name string, items []string) error {
	var b Batch
	b.SetOption(o, SetOption{Name: name, Value: new(string)})
	for i := range items {
		b.SetOption(o, SetOption{Name: fmt.Sprintf("%s[%d]", name, i), Value: &items[i]})
	}
	return b.Do(ctx, o.srv)
}

func (o Options) set(ctx context.Context, cmd SetOption) error {
	var b Batch
	b.SetOption(o, cmd)
	return b.Do(ctx, o.srv)
}

func (o Options) flags() (target Target, server, global, window, pane bool) {
	switch o.scope {
	case ServerOptions:
		server = true
	case GlobalSessionOptions, GlobalWindowOptions:
		global = true
	default:
		target = o.target
	}
	return target, server, global, o.scope == GlobalWindowOptions || o.scope == WindowOptions, o.scope == PaneOptions
}

// inheritance are the scopes that are looked in, in this order.
var inheritance = map[OptionScope][]OptionScope{
	ServerOptions:        {ServerOptions},
	GlobalSessionOptions: {GlobalSessionOptions},
	SessionOptions:       {SessionOptions, GlobalSessionOptions},
	GlobalWindowOptions:  {GlobalWindowOptions},
	WindowOptions:        {WindowOptions, GlobalWindowOptions},
	PaneOptions:          {PaneOptions, WindowOptions, GlobalWindowOptions},
}

// check refuses names that tmux would take for something else than an option of
// this scope.
func (o Options) check(version func() (Version, error), name string) error {
	base, err := optionBase(name)
	if err != nil || strings.HasPrefix(base, "@") {
		return err
	}
	kind, full := kindOfOption(base)
	switch {
	case full == "":
		return nil
	case kind.hook:
		return argumentError("%s is a hook, not an option", full)
	case full != base:
		return fmt.Errorf("option %s: %w; is it %s?", name, ErrUnknownOption, full)
	}
	fits := kind.window
	switch o.scope {
	case ServerOptions:
		fits = kind.server
	case GlobalSessionOptions, SessionOptions:
		fits = kind.session
	case PaneOptions:
		fits = kind.panes
		if fits && kind.panesSince != (Version{}) {
			v, err := version()
			if err == nil && !v.Has(kind.panesSince) {
				err = &UnsupportedError{What: "option " + name + " of a pane", Since: kind.panesSince, Have: v}
			}
			return err
		}
	}
	if !fits {
		return argumentError("%s is a %s option, not a %s option", name, kind.scope(), o.scope)
	}
	return nil
}

// DefaultScope is the scope of the option of this name, as tmux has it when it is
// told none: of a window's for those that panes have too, of a session's for user
// options and those that are not known here.
func DefaultScope(option string) OptionScope {
	base, _, _ := strings.Cut(option, "[")
	kind, _ := kindOfOption(base)
	return kind.scope()
}

func (k optionKind) scope() OptionScope {
	switch {
	case k.server:
		return ServerOptions
	case k.window && !k.session:
		return WindowOptions
	}
	return SessionOptions
}

// optionBase checks the shape of the name of an option or hook, and takes the
// index off.
func optionBase(name string) (string, error) {
	base, index, indexed := strings.Cut(name, "[")
	if indexed {
		word, ok := strings.CutSuffix(index, "]")
		if !ok || word == "" || !isName(word) {
			return "", argumentError("%q: the index is not a word in brackets", name)
		}
	}
	user, isUser := strings.CutPrefix(base, "@")
	if isUser && user != "" && !strings.ContainsFunc(user, notInUserOption) || isName(base) {
		return base, nil
	}
	return "", argumentError("%q is not the name of an option", name)
}

// notInUserOption tells the characters that would make the name of a user option
// unreadable in what tmux prints.
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

// parseOptions reads lines of the kind
//
//	name value
//	name[index]* "quoted value"
//
// where the star marks an inherited one. An array of no items has no value.
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

// printsCommands reports whether the value of an option is a list of tmux
// commands, which is not quoted as a whole.
func printsCommands(name string) bool {
	kind, _ := kindOfOption(name)
	return kind.hook || name == "default-client-command"
}
