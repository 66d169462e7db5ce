package tmux

import (
	"context"

	"tmuxmcp/internal/guarded"
)

// Require ends the list of commands with [ErrUnmet] unless a condition is true. The
// commands after it in the list run in the same step of the server: nothing happens between
// the check and the commands.
//
// It reads an option whose name is a format of the condition: it expands to the name of an
// option or, if the condition is false, to one that does not exist, which is the error.
// Unlike [IfShell], it leaves nothing behind in the server.
type Require struct {
	// Target is what the condition is about. If it does not exist, its tokens are empty.
	Target Target `flag:"t"`
	// Condition is a format that is true if it expands to something other than "" and "0".
	Condition Format `arg:"required,condition"`
}

func (Require) commandName() string { return "show-options" }

func (c Require) check(func() (Version, error)) error {
	if c.Condition == "" {
		return argumentError("no condition")
	}
	return nil
}

// conditional returns a format that expands to the name of an option if the condition is
// true, otherwise to the given one. The option has no value in the scope that is read, so
// nothing is printed.
func conditional(condition, otherwise string) string {
	return "#{?#{||:" + condition + ",0},status," + otherwise + "}"
}

// guard is a Require that fails with [guarded.Err].
type guard struct {
	Target    Target `flag:"t"`
	Condition Format `arg:"required,guard"`
}

func (guard) commandName() string { return "show-options" }

// guardFor returns what guards a command: the conditions of package guarded, each as a Require.
func guardFor(ctx context.Context, words encoded) (before []encoded, err error) {
	conditions := guarded.Of(ctx)
	if len(conditions) == 0 || words.reads() {
		return nil, nil
	}
	for _, c := range conditions {
		g := guard{Condition: Format(c.Format)}
		if c.Target != "" {
			g.Target = TargetSpec(c.Target)
		}
		words, err := encode(g, nil, nil)
		if err != nil {
			return nil, err
		}
		before = append(before, words)
	}
	return before, nil
}
