package tmux

// Require ends the list of commands with [ErrUnmet] unless a condition is true. What stands after
// it in the list runs in the same step of the server: nothing happens between the check and the
// commands.
//
// It reads an option whose name is the condition, as tmux expands formats there: the name of an
// option, or of none, which is the error. Unlike [IfShell], it leaves nothing behind in the server.
type Require struct {
	// Target is what the condition is about. One that does not exist makes its tokens empty.
	Target Target `flag:"t"`
	// Condition is a format that is true when it expands to something but nothing and "0".
	Condition Format `arg:"required,condition"`
}

func (Require) CommandName() string { return "show-options" }

func (c Require) check(func() (Version, error)) error {
	if c.Condition == "" {
		return argumentError("no condition")
	}
	return nil
}

// unmet is the name of no option.
const unmet = "condition-is-not-met"

// conditional is the name of an option if the condition is true. The option has no value where it
// is asked for, so that nothing is printed.
func conditional(condition string) string {
	return "#{?#{||:" + condition + ",0},status," + unmet + "}"
}
