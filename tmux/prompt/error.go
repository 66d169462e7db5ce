package prompt

import (
	"errors"
	"fmt"

	"tmuxmcp/tmux"
)

// Kinds of refusals.
var (
	ErrEnded    = errors.New("the program in the pane has ended")
	ErrInMode   = errors.New("the pane is in a mode, which would take the keys")
	ErrInputOff = errors.New("the input of the pane is off")
	ErrNoShell  = errors.New("the pane runs no shell that reads commands")
	ErrBusy     = errors.New("the shell shows no prompt")
	ErrNoRemote = errors.New("the program in the pane leads to no remote shell")
	ErrUnseen   = errors.New("what runs in the pane cannot be seen from here")
)

// Error is why nothing, or nothing more, was typed. Package [tmuxmcp/tmux/shell] also returns it
// for a command that was not run and for a job that was not found.
type Error struct {
	Kind error  // one of those above or of package shell, or [tmux.ErrArgument]
	Text string // what happened, without Err
	Pane tmux.PaneID
	// Program is the one in the foreground of the pane, of ErrNoShell, ErrNoRemote
	// and ErrBusy.
	Program string
	// Why says what the pane shows or runs instead of the prompt of a remote shell, of
	// ErrNoRemote and ErrBusy.
	Why string
	// Typed is set if a command was typed and its shell did not begin it.
	Typed bool
	// Screen has the last lines of the pane, for a command that was typed.
	Screen []string
	// Held is set if the terminal holds back what the shell writes, as after Ctrl-S.
	Held bool
	// Idle is set if the shell had read all that was typed, and was waiting for more.
	Idle bool
	// Err is the cause, if there is one: what ended the wait, if not its own time, or why the
	// processes of the pane cannot be seen.
	Err error
}

func (e *Error) Error() string {
	if e.Err != nil {
		return e.Text + ": " + e.Err.Error()
	}
	return e.Text
}

// Unwrap returns Kind and Err.
func (e *Error) Unwrap() []error { return []error{e.Kind, e.Err} }

// unseen returns the error for a pane whose processes cannot be seen.
func unseen(pane tmux.PaneID, err error) *Error {
	return &Error{Kind: ErrUnseen, Pane: pane, Err: err, Text: fmt.Sprintf("cannot see the processes of pane %s from here", pane)}
}
