package tmux

import "context"

// SetHook sets the commands of a hook, or runs it. tmux determines the scope of its own
// hooks from their names, so the scope flags matter little: see [Hooks].
type SetHook struct {
	Target Target `flag:"t"`
	Global bool   `flag:"g"`
	Window bool   `flag:"w"`
	Pane   bool   `flag:"p"`
	Append bool   `flag:"a"`
	Unset  bool   `flag:"u"`
	// Run runs the hook now.
	Run bool `flag:"R"`
	// Event fires a user event, whose name begins with "@".
	Event bool `flag:"E" since:"3.8"`
	// Monitor watches a format, given as name:what:format.
	Monitor string `flag:"B" since:"3.8"`
	// WhenTrue fires a Monitor only when its format becomes true.
	WhenTrue bool   `flag:"T" since:"3.8"`
	Name     string `arg:"literal"`
	// Commands is a list of tmux commands: see [Server.Script].
	Commands *string `arg:""`

	in *settings `flag:"-"` // the scope that the name must fit: see [Hooks.Setting]
}

// ShowHooks prints hooks with their commands.
type ShowHooks struct {
	Target Target `flag:"t"`
	Global bool   `flag:"g"`
	Window bool   `flag:"w"`
	Pane   bool   `flag:"p"`
	// Monitors prints the formats being watched.
	Monitors bool   `flag:"B" since:"3.8"`
	Format   Format `flag:"F" since:"3.8"`
	Name     string `arg:"literal"`
}

func (SetHook) commandName() string   { return "set-hook" }
func (ShowHooks) commandName() string { return "show-hooks" }

func (c SetHook) check(func() (Version, error)) error { return c.in.check(nil, c.Name) }

// GlobalHooks is the scope of all global hooks. tmux keeps those of windows and panes apart from
// those of sessions: they are in [GlobalWindowOptions] and [GlobalSessionOptions].
const GlobalHooks OptionScope = "global"

// Hooks are the hooks of the server, a session, a window or a pane: lists of tmux commands
// that run when something happens there. A hook set for a session, window or pane takes
// precedence over the global one.
//
// A tmux 3.3a that is built with libutempter, as Debian's is, may notice the end of a pane's
// program only when another one ends, and run pane-died and pane-exited then.
type Hooks struct{ settings }

// Hooks returns the global hooks.
func (s *Server) Hooks() Hooks { return s.HooksAt(GlobalHooks, nil) }

// HooksAt returns the hooks of a scope for a target; if it is nil, tmux picks one. The scope is
// GlobalHooks or one of options, except ServerOptions.
func (s *Server) HooksAt(scope OptionScope, target Target) Hooks {
	return Hooks{settings{srv: s, hooks: true, scope: scope, target: target}}
}

// Hooks returns the session's hooks.
func (r SessionRef) Hooks() Hooks { return r.srv.HooksAt(SessionOptions, r) }

// Hooks returns the window's hooks.
func (r WindowRef) Hooks() Hooks { return r.srv.HooksAt(WindowOptions, r) }

// Hooks returns the pane's hooks.
func (r PaneRef) Hooks() Hooks { return r.srv.HooksAt(PaneOptions, r) }

// Hook is one command list of a hook, which may have several.
type Hook struct {
	// Name is the name of the hook: "pane-died", "after-split-window".
	Name string
	// Index is the position of the list among the hook's lists, which run in this order. It
	// is empty for a user hook, whose name begins with "@".
	Index string
	// Commands are tmux commands, as tmux prints them.
	Commands string
}

// All returns the hooks that have commands in this scope.
func (h Hooks) All(ctx context.Context) ([]Hook, error) {
	return h.list(ctx, "")
}

// Get returns the command lists of a hook in this scope, or none if it is not set.
func (h Hooks) Get(ctx context.Context, name string) ([]Hook, error) {
	if err := h.check(nil, name); err != nil {
		return nil, err
	}
	return h.list(ctx, name)
}

// Set sets the commands of a hook, replacing all its lists, or only the one at an index if
// the name is name[index]. Use [Server.Script] to write the commands.
func (h Hooks) Set(ctx context.Context, name, commands string) error {
	return h.srv.run(ctx, h.Setting(SetHook{Name: name, Commands: &commands}))
}

// Setting returns cmd with its target and scope set to this scope, for a [Batch],
// [Server.Do] or [Server.Script].
func (h Hooks) Setting(cmd SetHook) SetHook {
	var target Target
	target, _, cmd.Global, cmd.Window, cmd.Pane = h.flags()
	cmd.Target, cmd.in = own(target, cmd.Target), &h.settings
	return cmd
}

func (h Hooks) list(ctx context.Context, name string) ([]Hook, error) {
	var b Batch
	hooks := AddHooks(&b, h, name)
	if err := b.Do(ctx, h.srv); err != nil {
		return nil, err
	}
	return *hooks, nil
}

// AddHooks appends commands that read one hook or, if name is empty, all that have
// commands: see [Hooks.Get] and [Hooks.All].
func AddHooks(b *Batch, h Hooks, name string) *[]Hook {
	hooks := &[]Hook{}
	show := ShowHooks{Name: name}
	show.Target, _, show.Global, show.Window, show.Pane = h.flags()
	add := func(cmd ShowHooks) {
		h.read(b, func(Version) (Command, error) {
			if name == "" {
				return cmd, nil
			}
			return cmd, h.check(nil, name)
		}, func(found []Option) {
			for _, o := range found {
				*hooks = append(*hooks, Hook{o.Name, o.Index, o.Value})
			}
		})
	}
	add(show)
	if h.scope == GlobalHooks && name == "" {
		show.Window = true
		add(show)
	}
	return hooks
}
