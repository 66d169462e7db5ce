package tmux

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// SetEnvironment changes a variable of the global environment or of a session's,
// from which new panes get theirs.
type SetEnvironment struct {
	Target Target `flag:"t"` // a session
	Global bool   `flag:"g"`
	// Expand expands formats in the value.
	Expand bool `flag:"F"`
	// Hidden keeps the variable from new panes; formats can read it.
	Hidden bool `flag:"h"`
	// Remove takes the variable out of the environment of new panes, even if the
	// global environment has it.
	Remove bool `flag:"r"`
	// Unset forgets what was set.
	Unset bool    `flag:"u"`
	Name  string  `arg:"required"`
	Value *string `arg:""`
}

// ShowEnvironment prints variables. One whose value has newlines is hard to read
// without Shell.
type ShowEnvironment struct {
	Target Target `flag:"t"` // a session
	Global bool   `flag:"g"`
	// Hidden prints the hidden variables, and those alone.
	Hidden bool `flag:"h"`
	// Shell prints commands for a POSIX shell.
	Shell bool `flag:"s"`
	// Name is the variable; all of them when empty.
	Name string `arg:""`
}

func (SetEnvironment) CommandName() string  { return "set-environment" }
func (ShowEnvironment) CommandName() string { return "show-environment" }

// Environment is a set of variables that tmux gives to new panes: the global
// one, or that of a session, which goes before it.
type Environment struct {
	srv    *Server
	target Target // nil for the global environment
}

// Environment is the global environment: at first that of the process which
// started the server.
func (s *Server) Environment() Environment { return Environment{srv: s} }

// Environment is the session's own environment.
func (r SessionRef) Environment() Environment { return Environment{srv: r.srv, target: r} }

// EnvironmentAt is the environment of the session that the target of a command
// names; with nil it is the global one.
func (s *Server) EnvironmentAt(session Target) Environment { return Environment{s, session} }

// Variable is a variable of an [Environment].
type Variable struct {
	Name, Value string
	// Hidden variables are not given to new panes.
	Hidden bool
	// Removed variables are taken out of the environment of new panes. They have
	// no value.
	Removed bool
}

// All lists the variables, the hidden ones last.
func (e Environment) All(ctx context.Context) ([]Variable, error) { return e.show(ctx, "") }

// Get is the variable of this name. If it was not set here, it is an
// [ErrNotFound], even in a session whose new panes have it from the global
// environment.
func (e Environment) Get(ctx context.Context, name string) (Variable, error) {
	if name == "" {
		return Variable{}, argumentError("a variable without a name")
	}
	vars, err := e.show(ctx, name)
	if errors.Is(err, ErrUnknownOption) {
		return Variable{}, fmt.Errorf("variable %s: %w", name, ErrNotFound)
	}
	if err != nil {
		return Variable{}, err
	}
	if len(vars) != 1 || vars[0].Name != name {
		return Variable{}, fmt.Errorf("variable %s: tmux answered with %d others", name, len(vars))
	}
	return vars[0], nil
}

// Set sets a variable to any value.
func (e Environment) Set(ctx context.Context, name, value string) error {
	return e.set(ctx, SetEnvironment{Name: name, Value: &value})
}

// SetHidden sets a variable that new panes do not get.
func (e Environment) SetHidden(ctx context.Context, name, value string) error {
	return e.set(ctx, SetEnvironment{Name: name, Value: &value, Hidden: true})
}

// Remove takes a variable out of the environment of new panes, whoever else
// set it.
func (e Environment) Remove(ctx context.Context, name string) error {
	return e.set(ctx, SetEnvironment{Name: name, Remove: true})
}

// Unset forgets a variable, set or removed. One that is not there is no error.
func (e Environment) Unset(ctx context.Context, name string) error {
	return e.set(ctx, SetEnvironment{Name: name, Unset: true})
}

func (e Environment) set(ctx context.Context, cmd SetEnvironment) error {
	var b Batch
	b.SetVariable(e, cmd)
	return b.Do(ctx, e.srv)
}

func (e Environment) show(ctx context.Context, name string) ([]Variable, error) {
	var b Batch
	vars := b.variables(e, name)
	if err := b.Do(ctx, e.srv); err != nil {
		return nil, err
	}
	return *vars, nil
}

// SetVariable appends a change of an environment: cmd says which and how, e where.
func (b *Batch) SetVariable(e Environment, cmd SetEnvironment) {
	cmd.Target, cmd.Global = e.target, e.target == nil
	b.steps = append(b.steps, step{
		prepare: func(func() (Version, error)) (Command, error) {
			if cmd.Name == "" || strings.Contains(cmd.Name, "=") {
				return nil, argumentError("%q is not the name of a variable", cmd.Name)
			}
			return cmd, nil
		},
		decode: func(*Server, Version, []byte) error { return nil },
	})
}

// Variables appends the reading of an environment: see [Environment.All].
func (b *Batch) Variables(e Environment) *[]Variable { return b.variables(e, "") }

func (b *Batch) variables(e Environment, name string) *[]Variable {
	vars := &[]Variable{}
	for _, hidden := range []bool{false, true} {
		cmd := ShowEnvironment{Target: e.target, Global: e.target == nil, Shell: true, Hidden: hidden, Name: name}
		b.steps = append(b.steps, step{
			prepare: func(version func() (Version, error)) (Command, error) {
				_, err := version()
				return cmd, err
			},
			decode: func(_ *Server, v Version, out []byte) (err error) {
				for text := string(out); text != ""; {
					var one Variable
					if one, text, err = readVariable(text, v); err != nil {
						return err
					}
					one.Hidden = hidden
					*vars = append(*vars, one)
				}
				return nil
			},
		})
	}
	return vars
}

// readVariable reads one command of the kind
//
//	NAME="value"; export NAME;
//	unset NAME;
//
// and returns what follows it. In the value there is a backslash before each
// quote, so it ends at the first one without.
func readVariable(text string, v Version) (Variable, string, error) {
	name, rest, ok := strings.Cut(text, `="`)
	if line, after, _ := strings.Cut(text, ";\n"); !ok || len(line) < len(name) {
		name, ok = strings.CutPrefix(line, "unset ")
		if !ok {
			return Variable{}, "", fmt.Errorf("show-environment: cannot read %.40q", text)
		}
		return Variable{Name: name, Removed: true}, after, nil
	}
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '\\':
			i++
		case '"':
			after, ok := strings.CutPrefix(rest[i+1:], "; export "+name+";\n")
			if !ok {
				return Variable{}, "", fmt.Errorf("show-environment: cannot read %.40q", rest[i:])
			}
			return Variable{Name: name, Value: unescape(rest[:i], v.isExactly34())}, after, nil
		}
	}
	return Variable{}, "", fmt.Errorf("show-environment: no end of %.40q", text)
}
