package tmux

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// SetEnvironment changes a variable in the environment of new panes: the global environment
// or a session's.
type SetEnvironment struct {
	Target Target `flag:"t"` // a session
	Global bool   `flag:"g"`
	// Expand expands formats in the value.
	Expand bool `flag:"F"`
	// Hidden hides the variable from new panes; formats can read it.
	Hidden bool `flag:"h"`
	// Remove removes the variable from the environment of new panes, even if the global
	// environment has it.
	Remove bool `flag:"r"`
	// Unset undoes an earlier setting.
	Unset bool    `flag:"u"`
	Name  string  `arg:"required"`
	Value *string `arg:""`
}

// ShowEnvironment prints variables. Without Shell, values with newlines are ambiguous.
type ShowEnvironment struct {
	Target Target `flag:"t"` // a session
	Global bool   `flag:"g"`
	// Hidden prints only the hidden variables.
	Hidden bool `flag:"h"`
	// Shell prints the variables as commands for a POSIX shell.
	Shell bool `flag:"s"`
	// Name is one variable; all if empty.
	Name string `arg:""`
}

func (SetEnvironment) commandName() string  { return "set-environment" }
func (ShowEnvironment) commandName() string { return "show-environment" }

func (c SetEnvironment) check(func() (Version, error)) error {
	if c.Name == "" || strings.Contains(c.Name, "=") {
		return argumentError("%q is not the name of a variable", c.Name)
	}
	return nil
}

// Environment is a set of variables that tmux gives to new panes: the global one, or a
// session's own, which takes precedence.
type Environment struct {
	srv    *Server
	target Target // nil for the global environment
}

// Environment returns the global environment, initially a copy of that of the process that
// started the server.
func (s *Server) Environment() Environment { return Environment{srv: s} }

// Environment returns the session's own environment.
func (r SessionRef) Environment() Environment { return Environment{srv: r.srv, target: r} }

// EnvironmentAt returns the environment of the target's session, or the global one if the
// target is nil.
func (s *Server) EnvironmentAt(session Target) Environment { return Environment{s, session} }

// Variable is a variable of an [Environment].
type Variable struct {
	Name, Value string
	// Hidden variables are not given to new panes.
	Hidden bool
	// Removed variables are removed from the environment of new panes and have no value.
	Removed bool
}

// All returns the variables, hidden ones last.
func (e Environment) All(ctx context.Context) ([]Variable, error) { return e.show(ctx, "") }

// Get returns the variable of this name. It fails with [ErrNotFound] if the variable is not
// set in this environment, even if new panes of the session get it from the global one.
func (e Environment) Get(ctx context.Context, name string) (Variable, error) {
	if name == "" {
		return Variable{}, argumentError("a variable without a name")
	}
	vars, err := e.show(ctx, name)
	if errors.Is(err, ErrUnknownOption) {
		return Variable{}, notFound(e.srv, "show-environment", Object{"variable", name})
	}
	if err != nil {
		return Variable{}, err
	}
	if len(vars) != 1 || vars[0].Name != name {
		return Variable{}, fmt.Errorf("variable %s: tmux answered with %d others", name, len(vars))
	}
	return vars[0], nil
}

// Set sets a variable. The value may be any text without NUL bytes.
func (e Environment) Set(ctx context.Context, name, value string) error {
	return e.srv.run(ctx, e.Setting(SetEnvironment{Name: name, Value: &value}))
}

// SetHidden sets a variable that formats can read but new panes do not get.
func (e Environment) SetHidden(ctx context.Context, name, value string) error {
	return e.srv.run(ctx, e.Setting(SetEnvironment{Name: name, Value: &value, Hidden: true}))
}

// Remove keeps a variable out of the environment of new panes, whatever sets it.
func (e Environment) Remove(ctx context.Context, name string) error {
	return e.srv.run(ctx, e.Setting(SetEnvironment{Name: name, Remove: true}))
}

// Setting returns cmd with its target and scope set to this environment, for a [Batch],
// [Server.Do] or [Server.Script].
func (e Environment) Setting(cmd SetEnvironment) SetEnvironment {
	cmd.Target, cmd.Global = own(e.target, cmd.Target), e.target == nil
	return cmd
}

func (e Environment) show(ctx context.Context, name string) ([]Variable, error) {
	var b Batch
	vars := readVariables(&b, e, name)
	if err := b.Do(ctx, e.srv); err != nil {
		return nil, err
	}
	return *vars, nil
}

// AddEnvironment appends commands that read an environment: see [Environment.All].
func AddEnvironment(b *Batch, e Environment) *[]Variable { return readVariables(b, e, "") }

func readVariables(b *Batch, e Environment, name string) *[]Variable {
	vars := &[]Variable{}
	for _, hidden := range []bool{false, true} {
		cmd := ShowEnvironment{Target: e.target, Global: e.target == nil, Shell: true, Hidden: hidden, Name: name}
		AddFunc(b, func(Version) (Command, error) { return cmd, nil }, func(v Version, out []byte) (err error) {
			for text := string(out); text != ""; {
				var one Variable
				if one, text, err = readVariable(text, v); err != nil {
					return err
				}
				one.Hidden = hidden
				*vars = append(*vars, one)
			}
			return nil
		})
	}
	return vars
}

// readVariable parses one command of the form
//
//	NAME="value"; export NAME;
//	unset NAME;
//
// and returns the text after it. Quotes in the value are preceded by a backslash, so it
// ends at the first that is not.
func readVariable(text string, v Version) (Variable, string, error) {
	name, rest, ok := strings.Cut(text, `="`)
	if line, after, _ := strings.Cut(text, ";\n"); !ok || len(line) < len(name) {
		name, ok = strings.CutPrefix(line, "unset ")
		if !ok {
			return Variable{}, "", fmt.Errorf("show-environment: cannot read %.40q", text)
		}
		return Variable{Name: name, Removed: true}, after, nil
	}
	value, rest, ok := cutEscaped(rest, '"')
	if !ok {
		return Variable{}, "", fmt.Errorf("show-environment: no end of %.40q", text)
	}
	after, ok := strings.CutPrefix(rest, "; export "+name+";\n")
	if !ok {
		return Variable{}, "", fmt.Errorf("show-environment: cannot read %.40q", rest)
	}
	return Variable{Name: name, Value: unescape(value, v.isExactly34())}, after, nil
}
