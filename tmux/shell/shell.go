package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"time"

	"tmuxmcp/internal/runner"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/prompt"
)

// Run runs a command in the shell of a pane, waits for its end, and returns its output and
// exit status. It waits for other calls of Run in the pane, of all programs of this user, and
// for a prompt that is about to appear; but not for a job, which is an [ErrNoShell].
//
// The error is nil only if the exit status is 0. Otherwise it is an [ExitError] or one of the
// errors of this package. The result is nil if the command has not begun, and then it never
// will. If the context ends, the error is its cause, the result has what the command printed
// so far, and the command goes on as its Job: see Interrupt of [Options]. With Until, the error
// is also nil if that ended the wait.
func Run(ctx context.Context, pane tmux.PaneRef, command string) (*Result, error) {
	return common.Run(ctx, pane, command, Options{})
}

// Start starts a command in the shell of a pane, and returns when it has begun. The job
// outlives this program. If the job is nil, the command has not begun, and never will. There
// may be both a job and an error, as when the context ends meanwhile.
func Start(ctx context.Context, pane tmux.PaneRef, command string) (*Job, error) {
	return common.Start(ctx, pane, command, Options{})
}

// common is the Runner of the functions of this package.
var common Runner

// Options say how a command is run. The zero Options are those of [Run].
type Options struct {
	// History adds the command to the history of shells that have one.
	History bool
	// Dir is the directory to run the command in, by default the shell's own, against which a
	// relative path is resolved. If there is no such directory, the error is an [ErrNoDir].
	Dir string
	// Lasting runs the command in the shell itself, not in a subshell: what it changes there
	// stays, such as the directory, variables, functions and options. An exit ends only the
	// command, except within functions that dash, ksh, mksh and busybox have had before; errexit
	// has no effect, and is turned off afterwards. An interrupt has the shell drop the command,
	// and its status is then asked for by another line, as long as somebody waits for it;
	// otherwise the job is lost. It is refused with Dir.
	Lasting bool
	// Remote is the shell at the prompt behind another program, as of ssh: see [Remote].
	Remote Remote
	// Stdout, if set, gets what the command prints as it comes, and as its terminal gets it:
	// with escape sequences, and lines that end in a carriage return and a newline, in pieces of
	// any size. While Write blocks, Run does not return. An error of Write ends the copying, and
	// is returned if the command succeeds. If another program has the pane's pipe, Stdout gets
	// the lines at the end.
	Stdout io.Writer
	// Lines, if set, gets each line of text instead of Output of the [Result], in order: when
	// it has left the screen, after which no program can change it, and the rest at the end.
	// For live output use Stdout. Calls do not overlap, and end before Run returns.
	Lines func(line string)
	// Until, if set, ends the wait: Run returns once it has returned true for a line of the
	// command's output, such as one that says that a server is ready. The error is then nil,
	// Reached of the [Result] is set, and the command goes on as its Job. If the command ends
	// before, or Limit is over, the result and the error are as without Until.
	//
	// It gets each line when the program has written it, as the pane shows it: text without
	// escape sequences. That is before anything can overwrite, erase or clear it, so a progress
	// bar comes in each of its states. An unfinished line, such as a prompt, comes once no more
	// of it is there, and again with the rest. What a full-screen program draws comes row by
	// row. The command's echo, and what was in the pane before, do not come. After the first
	// true, Run takes a tenth of a second more, for what is printed with that line, and for the
	// end of a command that has failed. Calls do not overlap with each other or those of Lines,
	// and end before Run returns; a slow one delays reading.
	//
	// If another program has the pane's pipe, the screen and the history are looked at, at
	// most ten times a second, and a line that comes and goes between two looks is missed.
	Until func(line string) bool
	// Interrupt interrupts the command if the context ends, as Ctrl-C does, and waits for its
	// end for two seconds more. The error is the cause of the context all the same.
	Interrupt bool
	// Limit, if positive, is how long Run waits: for its turn in the pane, for the prompt and
	// for the end of the command. Then a command that has begun goes on as a job, and the
	// error is [ErrRunning]; otherwise it is [ErrNotBegun] or another one of its kind.
	Limit time.Duration
	// Keep, if set, decides whether the job of a command that has ended is kept, as that of
	// one that goes on is. By default it is not, unless [Find] or [Jobs] has found it meanwhile.
	Keep func(*Result) bool
	// Type, if set, types in place of this package.
	Type Typist
}

// A Typist types into a pane.
type Typist = prompt.Typist

// Runner runs commands in panes. The zero Runner is ready to use, and safe for concurrent
// use. The functions of this package have one that they share.
type Runner struct {
	// PromptTime is how long a shell may take to show its prompt; 0 means 5 seconds.
	PromptTime time.Duration
	// SettleTime is how long output may still arrive from a command that is known to have
	// ended; 0 means 2 seconds.
	SettleTime time.Duration

	files runner.Files
	mu    sync.Mutex
	swept time.Time // when jobs were last swept
}

// Close ends what waits for the next commands of a Runner that is no longer used. Jobs stay.
func (r *Runner) Close() { r.files.Close() }

// Run does what the function [Run] does.
func (r *Runner) Run(ctx context.Context, pane tmux.PaneRef, command string, o Options) (*Result, error) {
	sh, err := r.At(ctx, pane.Server(), pane)
	if err != nil {
		return nil, err
	}
	return sh.Run(ctx, command, o)
}

// Start does what the function [Start] does. Of the options it heeds History, Dir,
// Lasting, Remote and Type.
func (r *Runner) Start(ctx context.Context, pane tmux.PaneRef, command string, o Options) (*Job, error) {
	sh, err := r.At(ctx, pane.Server(), pane)
	if err != nil {
		return nil, err
	}
	return sh.Start(ctx, command, o)
}

// Shell is the shell of a pane. It is not safe for concurrent use.
type Shell struct {
	runner *Runner
	at     prompt.Shell
	unlock func() // nil unless locked
	stale  bool   // the pane may have changed since it was looked at
}

// At looks at a pane, and returns its shell. It holds nothing, and finds out only whether the
// pane takes keys and its processes can be seen from here: whether a shell is at its prompt is
// known when a command is to run.
func (r *Runner) At(ctx context.Context, srv *tmux.Server, pane tmux.Target) (*Shell, error) {
	process, err := srv.Process(ctx)
	switch {
	case errors.Is(err, tmux.ErrNoServer), errors.Is(err, tmux.ErrServerGone): // the look says so
	case err != nil:
		return nil, err
	case !process.Here:
		return nil, &Error{Kind: ErrUnseen, Text: "what runs in the pane cannot be seen from here: this tmux server's processes have other numbers, as in another container"}
	}
	look, err := prompt.Look(ctx, srv, pane)
	if err != nil {
		return nil, err
	}
	return &Shell{runner: r, at: prompt.Shell{Tmux: srv, Pane: look, Wait: cmp.Or(r.PromptTime, prompt.Wait)}}, nil
}

// Pane returns the shell's pane.
func (s *Shell) Pane() tmux.PaneRef { return s.at.Tmux.Pane(s.at.Pane.ID) }

// Lock waits until no other Run or Start is working in the pane, of this program or another
// one of this user. None begins before [Shell.Close]: several commands run one after the
// other, with nothing between. Run and Start lock a shell that is not locked, for their time.
// To lock it again does nothing.
func (s *Shell) Lock(ctx context.Context) error {
	if s.unlock != nil {
		return nil
	}
	at := place(s.at.Tmux, s.at.Pane)
	at.Pane = string(s.at.Pane.ID)
	release, waited, ok := s.runner.files.Take(ctx, at, math.MaxInt64)
	if !ok {
		return &Error{Kind: ErrNotBegun, Pane: s.at.Pane.ID, Err: context.Cause(ctx), Text: fmt.Sprintf("other commands run in pane %s, and this one was not begun", s.at.Pane.ID)}
	}
	s.unlock, s.stale = release, s.stale || waited
	return nil
}

// Close lets other commands run in the pane.
func (s *Shell) Close() {
	if s.unlock != nil {
		s.unlock()
		s.unlock = nil
	}
}

// Run does what the function [Run] does.
func (s *Shell) Run(ctx context.Context, command string, o Options) (*Result, error) {
	x, err := s.execute(ctx, command, o, false)
	if x == nil {
		return nil, err
	}
	return &x.result, cmp.Or(err, x.result.err(command), x.out.err)
}

// Start does what the function [Start] does. Of the options it heeds History, Dir, Lasting,
// Remote and Type.
func (s *Shell) Start(ctx context.Context, command string, o Options) (*Job, error) {
	x, err := s.execute(ctx, command, Options{History: o.History, Dir: o.Dir, Lasting: o.Lasting, Remote: o.Remote, Type: o.Type}, true)
	if x == nil {
		return nil, err
	}
	return x.result.Job, err
}

// Invalid returns what no shell can be given, "command" or "directory", and why; "" if both are
// valid. A blank command shows no beginning and no end, and a NUL byte ends a word.
func Invalid(command, dir string) (what, why string) {
	const nul = "must not have a NUL character"
	switch {
	case strings.TrimSpace(command) == "":
		return "command", "must not be blank"
	case strings.IndexByte(command, 0) >= 0:
		return "command", nul
	case strings.IndexByte(dir, 0) >= 0:
		return "directory", nul
	}
	return "", ""
}

// execute runs a command, and returns what became of it; nil if it has not begun.
func (s *Shell) execute(ctx context.Context, command string, o Options, detach bool) (*execution, error) {
	if what, why := Invalid(command, o.Dir); what != "" {
		return nil, &Error{Kind: tmux.ErrArgument, Pane: s.at.Pane.ID, Text: what + " " + why}
	}
	if o.Dir != "" && o.Lasting {
		return nil, &Error{Kind: tmux.ErrArgument, Pane: s.at.Pane.ID, Text: "a lasting command with a directory of its own"}
	}
	if err := o.Remote.refuses(command, o); err != nil {
		return nil, &Error{Kind: tmux.ErrArgument, Pane: s.at.Pane.ID, Text: err.Error()}
	}
	start := time.Now()
	if s.unlock == nil {
		within, cancel := ctx, context.CancelFunc(func() {})
		if o.Limit > 0 {
			within, cancel = context.WithDeadline(ctx, start.Add(o.Limit))
		}
		err := s.Lock(within)
		cancel()
		if err != nil {
			return nil, err
		}
		defer s.Close()
	}
	if s.stale {
		if err := s.at.LookAgain(ctx); err != nil {
			return nil, err
		}
	}
	s.stale = true // by the next command
	if s.at.Type = o.Type; o.Type == nil {
		s.at.Type = s.typeInto
	}
	x := &execution{Shell: s, command: command, options: o}
	x.waiter = waiter{
		srv: s.at.Tmux, settle: s.runner.settleTime(), pane: &s.at.Pane, shell: &s.at.Foreground, out: &output{lines: o.Lines, raw: o.Stdout, until: o.Until}, detach: detach, start: start,
	}
	if s.at.Until = (time.Time{}); o.Limit > 0 {
		x.until = start.Add(o.Limit)
		s.at.Until = x.until
	}
	begun, err := x.run(ctx)
	if !begun {
		return nil, err
	}
	return x, err
}

func (r *Runner) settleTime() time.Duration { return cmp.Or(r.SettleTime, settleTime) }

// typeInto is the Typist of this package.
func (s *Shell) typeInto(ctx context.Context, pane tmux.PaneID, _ []string, commands []tmux.Command) (row int, sent bool, err error) {
	var b tmux.Batch
	panes := tmux.AddRows[prompt.Pane](&b, tmux.DisplayMessage{Target: pane})
	tmux.Add(&b, tmux.Require{Target: pane, Condition: prompt.Takes("1")})
	for _, cmd := range commands {
		tmux.Add(&b, cmd)
	}
	err = b.Do(ctx, s.at.Tmux)
	if len(*panes) > 0 {
		now := (*panes)[0]
		if row = now.Row(); errors.Is(err, tmux.ErrUnmet) {
			return row, false, cmp.Or(now.Refusal(), err)
		}
	}
	return row, true, err
}

// Sweep removes what is left of old jobs. Run and Start do so once a minute.
func (r *Runner) Sweep() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.swept) > time.Minute {
		r.swept = time.Now()
		go runner.Sweep()
	}
}

type output struct {
	lines  func(string)
	raw    io.Writer
	err    error // of raw
	screen bool  // it is read off the screen
	kept   strings.Builder

	until   func(string) bool // may be nil
	reached bool              // it has returned true
}

// Watches implements [runner.Watcher].
func (o *output) Watches() func(line string) bool {
	if o.until == nil {
		return nil
	}
	return o.seen
}

// seen passes on a line that the pane shows, and reports whether the wait is over.
func (o *output) seen(line string) bool {
	if o.until(line) {
		o.reached = true
	}
	return o.reached
}

// Line implements [runner.Sink].
func (o *output) Line(text string) {
	if o.screen {
		o.Raw([]byte(text + "\r\n"))
	}
	if o.lines != nil {
		o.lines(text)
		return
	}
	o.kept.WriteString(text)
	o.kept.WriteByte('\n')
}

// Raw implements [runner.RawSink].
func (o *output) Raw(p []byte) {
	if o.raw == nil || o.err != nil || len(p) == 0 {
		return
	}
	n, err := o.raw.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	if err != nil {
		o.err = fmt.Errorf("pass on the output: %w", err)
	}
}
