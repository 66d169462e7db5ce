package prompt

import (
	"errors"
	"fmt"

	"tmuxmcp/internal/runner"
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

// Error is why nothing, or nothing more, was typed.
type Error struct {
	Kind    error // one of those above
	Pane    tmux.PaneID
	Program string // in the foreground, of ErrNoShell, ErrNoRemote and ErrBusy
	Mode    string // of ErrInMode
	Why     string // of ErrNoRemote, and of ErrBusy for a remote shell
	Cause   error  // of ErrUnseen
}

func (e *Error) Error() string {
	switch e.Kind {
	case ErrEnded:
		return fmt.Sprintf("the program in pane %s has ended", e.Pane)
	case ErrInMode:
		return fmt.Sprintf("pane %s is in %s, which would take the keys", e.Pane, e.Mode)
	case ErrInputOff:
		return fmt.Sprintf("the input of pane %s is off, so keys would be lost", e.Pane)
	case ErrNoShell:
		return fmt.Sprintf("pane %s runs %s, and a command is typed only at the prompt of a shell: %s", e.Pane, e.Program, runner.Shells)
	case ErrNoRemote:
		return fmt.Sprintf("no remote shell reads what is typed into pane %s, which runs %s: %s", e.Pane, e.Program, e.Why)
	case ErrBusy:
		if e.Why != "" {
			return fmt.Sprintf("pane %s, which runs %s, shows no prompt with nothing typed: %s", e.Pane, e.Program, e.Why)
		}
		return fmt.Sprintf("%s in pane %s is busy: it shows no prompt", e.Program, e.Pane)
	default:
		return fmt.Sprintf("cannot see the processes of pane %s from here: %v", e.Pane, e.Cause)
	}
}

func (e *Error) Unwrap() []error { return []error{e.Kind, e.Cause} }
