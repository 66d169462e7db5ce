package shell

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"tmuxmcp/internal/runner"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/prompt"
)

// Why a command was not begun. The error is an [Error], or the tmux package's.
var (
	// ErrNoShell: the foreground of the pane is another program, also one that the shell has
	// started, such as a job; or a shell that reads no commands. It is waited for if it has
	// begun less than two seconds ago.
	ErrNoShell = prompt.ErrNoShell
	// ErrBusy: the shell shows no prompt within [Runner].PromptTime.
	ErrBusy = prompt.ErrBusy
	// ErrPaneEnded: the program of the pane has ended.
	ErrPaneEnded = prompt.ErrEnded
	// ErrInMode: the pane is in copy mode or another mode, which would take the keys.
	ErrInMode = prompt.ErrInMode
	// ErrInputOff: the pane takes no input, as after select-pane -d.
	ErrInputOff = prompt.ErrInputOff
	// ErrUnseen: the processes of the pane cannot be seen from here.
	ErrUnseen = prompt.ErrUnseen
	// ErrNoRemote: no shell of the kind [Remote] answers behind the program in the pane.
	ErrNoRemote = prompt.ErrNoRemote
	// ErrUnreadable: the shell cannot read files of this program.
	ErrUnreadable = errors.New("the shell cannot read the command")
	// ErrNoDir: there is no directory as in Dir of [Options].
	ErrNoDir = errors.New("no such directory")
	// ErrNotBegun: the shell did not begin the command in time, or another command was
	// running all the time. It never will.
	ErrNotBegun = errors.New("the command has not run")
	// ErrNoHome: there is no directory for the files of commands that belongs to the user
	// alone.
	ErrNoHome = runner.ErrNoHome
	// ErrNoSpace: the disk is full, or the user's quota is.
	ErrNoSpace = errors.New("no space left")
)

// What became of a command that has begun, other than its end.
var (
	// ErrRunning: it still runs.
	ErrRunning = errors.New("the command still runs")
	// ErrStopped: it was stopped, as Ctrl-Z does.
	ErrStopped = errors.New("the command was stopped")
	// ErrLost: it was killed, or its shell or its pane ended before. Its exit status is not
	// known.
	ErrLost = errors.New("the command was killed, or its pane has ended")
	// ErrDropped: some of its output was dropped before it was read, since it printed tens of
	// megabytes more than was read. See [Job.Output].
	ErrDropped = errors.New("some of the output was dropped")
)

// Why a job is not found.
var (
	// ErrNoJob: there is none of this name; it may have been forgotten.
	ErrNoJob = runner.ErrNoJob
	// ErrServerEnded: its tmux server has ended, and the job with it.
	ErrServerEnded = errors.New("the tmux server of the job has ended")
	// ErrServerReplaced: another tmux server has taken the socket of its own, which still runs.
	ErrServerReplaced = errors.New("the tmux server of the job has lost its socket")
	// ErrOtherServer: it runs on another tmux server.
	ErrOtherServer = errors.New("the job runs on another tmux server")
)

// Error is why a command was not run, or a job not found.
type Error = prompt.Error

// mostShown is how many characters of a command an error quotes.
const mostShown = 200

// ExitError is a command that ended with a status other than 0.
type ExitError struct {
	Command string // its first line, at most 200 characters of it
	Pane    tmux.PaneID
	Status  int
}

func (e *ExitError) Error() string {
	return fmt.Sprintf("%q in pane %s: exit status %d", e.Command, e.Pane, e.Status)
}

// State is what a command is doing.
type State string

// States of a command.
const (
	Running State = "running"
	Stopped State = "stopped" // as Ctrl-Z does
	Ended   State = "ended"
	Lost    State = "lost" // killed, or its pane has ended: there is no exit status
)

// Result is what became of a command.
type Result struct {
	// Job is the job, if it can be found again: the command has not ended, or was kept.
	Job *Job
	// Pane is the pane in which it ran.
	Pane  tmux.PaneID
	State State
	// Reached is set if Until of [Options] returned true for a line, whatever State is.
	Reached bool
	// Status is the exit status, if State is Ended: 128 and the number of a signal that ended
	// the command.
	Status int
	// Output is what the command printed, unless [Options] have Lines. Each line ends in a
	// newline.
	Output string
	// Missed is set if the output may be incomplete, or may look different in the pane.
	Missed bool
	// PaneEnded is set if the program of the pane has ended too, and ShellEnded if the shell
	// has, in which case Shell is its name.
	PaneEnded, ShellEnded bool
	Shell                 string
	// Dropped is set if the shell has dropped a lasting command, by an interrupt or an error, and its
	// status was not asked for. State is then Lost.
	Dropped bool
	// Remote is the shell that ran it, if that is a remote one. Unproven is set if the command was
	// started there and nothing shows that it has begun: it may have.
	Remote   Remote
	Unproven bool
	// FullDir is the directory that has no space left, if that is why output is missed or the
	// command lost.
	FullDir string
	// Elapsed is how long it took, or has been running.
	Elapsed time.Duration

	lacks bool // some of the output was dropped before it was read
}

// err returns the error that stands for a result.
func (r *Result) err(command string) error {
	about := func(kind error) error {
		if r.Job == nil {
			return fmt.Errorf("%w in pane %s", kind, r.Pane)
		}
		return fmt.Errorf("%w in pane %s as job %s", kind, r.Pane, r.Job.ID())
	}
	switch {
	case r.State == Ended && r.Status == 0, r.State == Running && r.Reached:
		return nil
	case r.State == Ended:
		first, rest, more := strings.Cut(strings.TrimSpace(command), "\n")
		if short := []rune(first); len(short) > mostShown {
			first, more, rest = string(short[:mostShown]), true, "…"
		}
		if more && rest != "" {
			first += " …"
		}
		return &ExitError{first, r.Pane, r.Status}
	case r.State == Stopped:
		return about(ErrStopped)
	case r.State == Lost:
		return fmt.Errorf("pane %s: %w", r.Pane, ErrLost)
	}
	return about(ErrRunning)
}
