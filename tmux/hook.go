package tmux

import (
	"context"
	"fmt"
	"strings"
)

// SetHook sets the commands of a hook, or runs it. For a hook of tmux's own the
// flags of scope mean little: see [Hooks].
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
}

// ShowHooks prints hooks with their commands.
type ShowHooks struct {
	Target Target `flag:"t"`
	Global bool   `flag:"g"`
	Window bool   `flag:"w"`
	Pane   bool   `flag:"p"`
	// Monitors prints the formats that are watched.
	Monitors bool   `flag:"B" since:"3.8"`
	Format   Format `flag:"F" since:"3.8"`
	Name     string `arg:"literal"`
}

func (SetHook) CommandName() string   { return "set-hook" }
func (ShowHooks) CommandName() string { return "show-hooks" }

// Hooks are the hooks of the server, a session, a window or a pane: lists of
// tmux commands that run when something happens there. One that a session,
// window or pane sets goes before the global one.
type Hooks struct {
	srv    *Server
	scope  OptionScope // ServerOptions for all global ones
	target Target
}

// Hooks are the global hooks.
func (s *Server) Hooks() Hooks { return Hooks{s, ServerOptions, nil} }

// HooksAt are the hooks of a scope for the target of a command: nil is the one
// that tmux takes by itself. tmux keeps the global hooks of windows and panes apart
// from those of sessions; [ServerOptions] are both.
func (s *Server) HooksAt(scope OptionScope, target Target) Hooks { return Hooks{s, scope, target} }

// Hooks are the session's hooks.
func (r SessionRef) Hooks() Hooks { return Hooks{r.srv, SessionOptions, r} }

// Hooks are the window's hooks.
func (r WindowRef) Hooks() Hooks { return Hooks{r.srv, WindowOptions, r} }

// Hooks are the pane's hooks.
func (r PaneRef) Hooks() Hooks { return Hooks{r.srv, PaneOptions, r} }

// Hook is one list of commands of a hook, which may have several.
type Hook struct {
	// Name is the name of the hook: "pane-died", "after-split-window".
	Name string
	// Index is where the list stands among those of the hook; they run in this
	// order. Empty for a user hook, whose name begins with "@".
	Index string
	// Commands are tmux commands in tmux's own spelling.
	Commands string
}

// All lists the hooks that have commands here.
func (h Hooks) All(ctx context.Context) ([]Hook, error) {
	return h.list(ctx, "")
}

// Get are the command lists that a hook has here; none if it is not set.
func (h Hooks) Get(ctx context.Context, name string) ([]Hook, error) {
	if err := h.check(name); err != nil {
		return nil, err
	}
	return h.list(ctx, name)
}

// Set gives a hook these commands: in place of all it had, or of those at an
// index if the name is name[index]. [Server.Script] writes commands.
func (h Hooks) Set(ctx context.Context, name, commands string) error {
	return h.set(ctx, SetHook{Name: name, Commands: &commands})
}

// Append gives a hook another list of commands, after those it has.
func (h Hooks) Append(ctx context.Context, name, commands string) error {
	return h.set(ctx, SetHook{Name: name, Commands: &commands, Append: true})
}

// Unset takes all command lists off a hook, or that at name[index].
func (h Hooks) Unset(ctx context.Context, name string) error {
	return h.set(ctx, SetHook{Name: name, Unset: true})
}

// Run runs the commands of a hook now.
func (h Hooks) Run(ctx context.Context, name string) error {
	if err := h.check(name); err != nil {
		return err
	}
	_, err := h.srv.Do(ctx, SetHook{Name: name, Run: true, Target: h.target})
	return err
}

func (h Hooks) set(ctx context.Context, cmd SetHook) error {
	if err := h.check(cmd.Name); err != nil {
		return err
	}
	cmd.Target, cmd.Global, cmd.Window, cmd.Pane = h.flags()
	_, err := h.srv.Do(ctx, cmd)
	return err
}

func (h Hooks) flags() (target Target, global, window, pane bool) {
	target, _, global, window, pane = Options(h).flags()
	return target, global || h.scope == ServerOptions, window, pane
}

func (h Hooks) list(ctx context.Context, name string) ([]Hook, error) {
	var b Batch
	hooks := b.Hooks(h, name)
	if err := b.Do(ctx, h.srv); err != nil {
		return nil, err
	}
	return *hooks, nil
}

// Hooks appends the reading of a hook, or of all that have commands if there is no
// name: see [Hooks.Get] and [Hooks.All].
func (b *Batch) Hooks(h Hooks, name string) *[]Hook {
	hooks := &[]Hook{}
	show := ShowHooks{Name: name}
	show.Target, show.Global, show.Window, show.Pane = h.flags()
	add := func(cmd ShowHooks) {
		b.steps = append(b.steps, step{
			prepare: func(version func() (Version, error)) (Command, error) {
				if name != "" {
					if err := h.check(name); err != nil {
						return nil, err
					}
				}
				_, err := version()
				return cmd, err
			},
			decode: func(_ *Server, v Version, out []byte) error {
				for _, o := range parseOptions(out, h.scope, v) {
					*hooks = append(*hooks, Hook{o.Name, o.Index, o.Value})
				}
				return nil
			},
		})
	}
	add(show)
	if h.scope == ServerOptions && name == "" {
		show.Window = true
		add(show)
	}
	return hooks
}

// check refuses names that tmux would take for an option, or for a hook of
// another scope.
func (h Hooks) check(name string) error {
	base, err := optionBase(name)
	if err != nil || strings.HasPrefix(base, "@") {
		return err
	}
	kind, full := kindOfOption(base)
	switch {
	case full == "":
		return nil
	case !kind.hook:
		return argumentError("%s is an option, not a hook", full)
	case full != base:
		return fmt.Errorf("hook %s: %w; is it %s?", name, ErrUnknownOption, full)
	}
	fits := true
	switch h.scope {
	case SessionOptions, GlobalSessionOptions:
		fits = kind.session
	case WindowOptions, GlobalWindowOptions:
		fits = kind.window
	case PaneOptions:
		fits = kind.panes
	}
	if !fits {
		return argumentError("%s is not a hook of a %s", name, h.scope)
	}
	return nil
}
