// Package hint has the errors of swaps that suggest a remedy, worded independently of any
// command line: package swap/cli replaces options with its flags.
package hint

import "fmt"

// An Option names an option of a verb in errors.
type Option string

// Options that errors are about.
const (
	OptionScope  Option = "scope"
	OptionServer Option = "server"
	OptionEntry  Option = "entry"
	OptionMode   Option = "mode"
	OptionRef    Option = "version"
	OptionPR     Option = "pull request"
	OptionEnv    Option = "variable"
	OptionURL    Option = "URL"

	OptionTimeout Option = "timeout"
)

// A UsageError is a request that can never succeed; the command exits 2.
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

// Usagef returns a [UsageError] about an option; the text continues the option's name.
func Usagef(o Option, f string, args ...any) error { return &UsageError{o, fmt.Sprintf(f, args...)} }

// A Hint is an option that would help; package cli words it.
type Hint int

// Hints of an [Error], and of doctor's findings.
const (
	ForceWrite  Hint = iota + 1 // Force edits a read-only config
	ForceEdited                 // Force puts the old entry back
	ForceForget                 // Force forgets it anyway
	Client                      // Clients names one that is not present
	Narrower                    // Clients, Scope, Server and Repo selected nothing
	Server                      // Server names it
	Entry                       // Entry chooses one
	Repo                        // Repo names another directory
	Elsewhere                   // as Repo; or change the current directory, which is gone
	UserScope                   // Scope writes the user's entry instead
	AllProjects                 // as UserScope; or omit Scope, as the client has no projects
	KeepEnv                     // KeepEnv copies the variables
	Env                         // Env gives the server a variable
	Timeout                     // Timeout gives the preflight more time
	Command                     // Command runs something other than a checkout
	Build                       // Mode selects a compiled program
)

// An Error is an error with a hint. Arg, if not "", is the value to give.
type Error struct {
	Err  error
	Hint Hint
	Arg  string
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an [Error] without an Arg.
func Errorf(h Hint, f string, args ...any) error {
	return &Error{Err: fmt.Errorf(f, args...), Hint: h}
}
