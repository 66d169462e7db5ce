package tmux

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// RunShell runs a command with /bin/sh as a child of the tmux server, in the server's
// environment, or with Commands a list of tmux commands, which costs the server memory as
// [IfShell] does.
//
// If Target or Background is set, and always on tmux 3.3 and 3.4, the output is shown to
// the user, in view mode in the Target's pane. [Server.RunShell] returns it.
type RunShell struct {
	Target Target `flag:"t"`
	// Background returns without waiting for the command.
	Background bool `flag:"b"`
	// Commands makes Command a list of tmux commands: see [Server.Script].
	Commands bool `flag:"C"`
	// Dir is the working directory; tmux uses $HOME if it cannot go there. From tmux 3.8
	// on, formats in it are expanded.
	Dir string `flag:"c" since:"3.4"`
	// Delay waits before it starts.
	Delay time.Duration `flag:"d"`
	// Stderr adds standard error to the output; by default it is discarded.
	Stderr bool `flag:"E" since:"3.6"`
	// Command is passed unchanged: the formats that tmux would expand are escaped.
	Command string `arg:"literal"`
	// Template, with Commands and instead of Command, is a list of tmux commands in which
	// tmux expands formats for the Target before parsing. Ids and numbers are safe there; a
	// value with a quote or a semicolon in it is not. If the Target does not exist, tmux
	// silently uses another one.
	Template Format `arg:""`
}

// IfShell runs one of two lists of tmux commands. Each run costs the tmux server memory
// that it never frees: for a list of one short command, 60 bytes in tmux 3.2 and 400 from
// 3.3 to 3.7; none from 3.8 on. See [Require] for a condition that costs none.
type IfShell struct {
	Target     Target `flag:"t"`
	Background bool   `flag:"b"`
	// Test makes the Condition a format instead of a shell command: it is true if it
	// expands to something other than "" and "0".
	Test bool `flag:"F"`
	// Condition is a command for /bin/sh, whose exit status decides. tmux expands formats
	// in it: see [Literal].
	Condition Format `arg:"required"`
	// Then and Else are lists of tmux commands: see [Server.Script].
	Then string `arg:"required"`
	Else string `arg:""`
}

// WaitFor waits until a channel is signalled, or does what its flags say. A channel is just
// a name. A signal without a waiter is kept; a second one cancels it.
//
// Before tmux 3.8, a waiter whose context has ended stays in the queue: a lock it waited
// for may go to it and never be released, and it takes a signal if no other waits for one.
// [Channel.Wait] prevents the latter.
type WaitFor struct {
	Signal bool `flag:"S"`
	Lock   bool `flag:"L"`
	Unlock bool `flag:"U"`
	// Event waits for an event, such as pane-activity, instead of a channel.
	Event bool `flag:"E" since:"3.8"`
	// Filter is the condition under which an event counts; #{pane} and the like describe
	// the event.
	Filter Format `flag:"F" since:"3.8"`
	// Verbose prints each event as name=value lines.
	Verbose bool `flag:"v" since:"3.8"`
	// List prints the names of the waiting clients.
	List bool `flag:"l" since:"3.8"`
	// Wake wakes only the waiter of this client.
	Wake    string `flag:"w" since:"3.8"`
	Channel string `arg:"required"`
}

func (RunShell) commandName() string { return "run-shell" }
func (IfShell) commandName() string  { return "if-shell" }
func (WaitFor) commandName() string  { return "wait-for" }

func (c RunShell) waits() bool { return !c.Background && c.Template == "" }

func (c WaitFor) check(func() (Version, error)) error {
	if c.Channel == "" {
		return argumentError("a channel without a name")
	}
	return nil
}

func (c RunShell) check(func() (Version, error)) error {
	if c.Template != "" && (!c.Commands || c.Command != "" || c.Delay != 0) {
		return argumentError("Template needs Commands, and excludes Command and Delay")
	}
	if c.Delay < 0 {
		return argumentError("a negative delay, %v", c.Delay)
	}
	return nil
}
func (c IfShell) waits() bool { return !c.Background && !c.Test }
func (c WaitFor) waits() bool { return !c.Signal && !c.Unlock && !c.List && c.Wake == "" }

// ShellOptions are the options of [Server.RunShell].
type ShellOptions struct {
	// Dir is the absolute path of the working directory, since tmux 3.4. If empty, it is
	// that of the tmux client.
	Dir string
	// Stderr adds the command's standard error to the output, since tmux 3.6. By default it
	// is discarded.
	Stderr bool
}

// ShellResult is the result of [Server.RunShell].
type ShellResult struct {
	// Output is the standard output as lines: tmux adds a missing final newline, a NUL byte
	// cuts off the rest of its line, and tmux 3.5 writes control bytes as \ooo.
	Output []byte
	// ExitCode is the exit status, or 128 plus the number of the signal that ended the
	// command.
	ExitCode int
}

// RunShell runs a command with /bin/sh as a child of the tmux server and waits for it. A
// command that fails is not an error: see [ShellResult].
//
// tmux 3.3 and 3.4 can only show the output to the user, over the content of a pane; there
// it fails with an [UnsupportedError] and runs nothing. If the context ends, RunShell
// returns and the command keeps running: tmux cannot stop it.
func (s *Server) RunShell(ctx context.Context, command string, opts ShellOptions) (ShellResult, error) {
	fail := func(err error) (ShellResult, error) { return ShellResult{}, fmt.Errorf("run-shell: %w", err) }
	if strings.TrimSpace(command) == "" {
		return fail(argumentError("no command"))
	}
	if opts.Dir != "" {
		// tmux would silently go to $HOME.
		if !filepath.IsAbs(opts.Dir) {
			return fail(argumentError("directory %q is not an absolute path", opts.Dir))
		}
		if err := checkDir(ctx, s, &opts.Dir); err != nil {
			return fail(err)
		}
	}
	v, err := s.Version(ctx)
	if err != nil {
		return ShellResult{}, err
	}
	if v.showsShellOutput() {
		return ShellResult{}, &UnsupportedError{What: "the output of run-shell", Since: Version{Major: 3, Minor: 5}, Have: v}
	}
	command = shellCommand(command)
	if shellDirFormats.released(v) {
		opts.Dir = string(Literal(opts.Dir))
	}
	outs, err := s.Do(ctx, RunShell{Command: command, Dir: opts.Dir, Stderr: opts.Stderr})
	if err == nil {
		return ShellResult{Output: outs[0]}, nil
	}
	var e *Error
	ok := errors.As(err, &e)
	if !ok || e.ExitCode <= 0 || e.Err != nil || len(outs) == 0 {
		return ShellResult{}, err
	}
	// tmux appends a line with the status; the text before it ends in a newline or is
	// empty.
	status := fmt.Sprintf("'%s' returned %d\n", command, e.ExitCode)
	if sig := e.ExitCode - 128; sig > 0 && strings.HasSuffix(string(outs[0]), fmt.Sprintf("terminated by signal %d\n", sig)) {
		status = fmt.Sprintf("'%s' terminated by signal %d\n", command, sig)
	}
	out, ok := strings.CutSuffix(string(outs[0]), v.printed(status))
	if !ok {
		return ShellResult{}, err
	}
	return ShellResult{Output: []byte(out), ExitCode: e.ExitCode}, nil
}

// shellCommand keeps the shell from taking a command for its own options.
func shellCommand(command string) string {
	if strings.HasPrefix(command, "-") || strings.HasPrefix(command, "+") {
		return " " + command
	}
	return command
}
