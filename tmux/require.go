package tmux

import "context"

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

func (Require) CommandName() string { return "show-options" }

func (c Require) check(func() (Version, error)) error {
	if c.Condition == "" {
		return argumentError("no condition")
	}
	return nil
}

// Names that no option has.
const (
	unmet   = "condition-is-not-met"
	unasked = "guard-is-not-met"
)

// conditional returns a format that expands to the name of an option if the condition is
// true, otherwise to the given one. The option has no value in the scope that is read, so
// nothing is printed.
func conditional(condition, otherwise string) string {
	return "#{?#{||:" + condition + ",0},status," + otherwise + "}"
}

type guardKey struct{}

// WithGuard returns a context for calls that may change something only under certain
// conditions: each command that does not just read follows them in its list, as if each
// were a [Require]. If one is not met, the command does not run, and the error is
// [ErrGuarded].
func WithGuard(ctx context.Context, conditions ...Require) context.Context {
	return context.WithValue(ctx, guardKey{}, conditions)
}

// guard is a Require with an error of its own.
type guard struct {
	Target    Target `flag:"t"`
	Condition Format `arg:"required,guard"`
}

func (guard) CommandName() string { return "show-options" }

// guardFor returns what guards a command.
func guardFor(ctx context.Context, words encoded) (before []encoded, err error) {
	conditions, _ := ctx.Value(guardKey{}).([]Require)
	if len(conditions) == 0 || words.reads() {
		return nil, nil
	}
	for _, c := range conditions {
		words, err := encode(guard(c), nil)
		if err != nil {
			return nil, err
		}
		before = append(before, words)
	}
	return before, nil
}
