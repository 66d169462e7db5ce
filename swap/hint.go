package swap

import "fmt"

// An Option names a field of the verbs' options in errors. The package knows no
// command line: package cli replaces these words by its flags.
type Option string

// The options that errors are about.
const (
	OptionScope Option = "scope"
	OptionMode  Option = "mode"
	OptionRef   Option = "version"
	OptionPR    Option = "pull request"
	OptionEnv   Option = "variable"
)

// A UsageError is a request that can never be met; the command exits 2.
type UsageError struct {
	Option Option // what is wrong; "" if Msg names it
	Msg    string // continues the option's name
}

func (e *UsageError) Error() string {
	if e.Option == "" {
		return e.Msg
	}
	return string(e.Option) + " " + e.Msg
}

func usagef(o Option, f string, args ...any) error { return &UsageError{o, fmt.Sprintf(f, args...)} }

// A Hint is an option that would help; package cli words it.
type Hint int

// The hints of a [HintError] and of a [Finding].
const (
	HintForceWrite  Hint = iota + 1 // Force edits a read-only config
	HintForceEdited                 // Force puts the old entry back
	HintClient                      // Clients names one that is not present
	HintNarrower                    // Clients, Scope and Server left nothing to do
	HintServer                      // Server names it
	HintEntry                       // Entry chooses one
	HintRepo                        // Repo names another directory
	HintUserScope                   // Scope writes the user's entry instead
	HintKeepEnv                     // KeepEnv copies the variables
	HintEnv                         // Env gives the server a variable
	HintBuild                       // Mode writes a program that is compiled
)

// A HintError is an error with a hint. Arg, if not "", is the value to give.
type HintError struct {
	Err  error
	Hint Hint
	Arg  string
}

func (e *HintError) Error() string { return e.Err.Error() }
func (e *HintError) Unwrap() error { return e.Err }

func hintf(h Hint, f string, args ...any) error {
	return &HintError{Err: fmt.Errorf(f, args...), Hint: h}
}
