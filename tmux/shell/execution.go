package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"tmuxmcp/internal/pause"
	"tmuxmcp/internal/runner"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/prompt"
)

// execution is one command that runs in a pane.
type execution struct {
	*Shell
	waiter
	command string
	options Options
	resume  bool          // a recorder is waiting in the pane
	prompt  string        // what was left of the cursor when the line was typed
	row     int           // where that was
	leads   *prompt.Leads // to the remote shell, if it is one
	dropped *int          // the row of the prompt at which the shell has dropped the command; nil if it has not
}

const (
	// lineWait is how long after the line was typed a shell that is waiting for input must
	// have begun.
	lineWait = time.Second
	// sizeWait is how long a terminal may take to get the size of its pane: tmux waits a
	// quarter of a second, in case another size follows.
	sizeWait = time.Second
	// promptWait is how long a shell that has dropped a command may take to draw its prompt.
	promptWait = time.Second
	// interruptWait is how long a command may take to end because of an interrupt.
	interruptWait = 2 * time.Second
	// closeWait is how long tmux may take to close the pipe of a recorder that was ended.
	closeWait = time.Second
)

// run waits for an empty prompt, types the line and waits for the end of the command. begun
// is false if that has not run.
func (x *execution) run(ctx context.Context) (begun bool, err error) {
	ready, begin := x.ready, x.begin
	if x.options.Remote != "" {
		ready, begin = x.readyRemote, x.beginRemote
	}
	if err := ready(ctx); err != nil {
		return false, err
	}
	if err := x.prepare(ctx); err != nil {
		return false, err
	}
	defer x.cmd.Close()
	if x.options.Lasting {
		x.waiter.askStatus = x.askStatus
	}
	sent, err := begin(ctx)
	switch {
	case err == nil:
		err = x.wait(ctx)
	case x.cmd.Revoke(): // otherwise the shell was faster
		if sent {
			x.unpipe(ctx) // recording may have begun
		}
		x.cmd.Remove()
		return false, err
	}
	if err != nil && ctx.Err() != nil && x.options.Interrupt && x.cmd.Begun() {
		ctx = context.WithoutCancel(ctx)
		if x.cmd.Signal(syscall.SIGINT) == nil {
			x.until = time.Now().Add(interruptWait)
			_ = x.wait(ctx)
		}
	}
	if x.result.PaneEnded && x.cmd.Recorded() {
		x.finish()
	}
	if x.status == nil && x.cmd.Revoke() {
		x.unpipe(ctx)
		x.cmd.Remove()
		return false, x.notBegun(ctx, err)
	}
	return true, x.conclude(ctx, err)
}

// ready waits for an empty prompt at which the command can run.
func (x *execution) ready(ctx context.Context) error {
	if err := x.at.AwaitPrompt(ctx); err != nil {
		return err
	}
	if err := x.at.Foreground.Dir(x.options.Dir); x.options.Dir != "" && err != nil {
		return &Error{Kind: ErrNoDir, Pane: x.pane.ID, Text: "the command has not run", Err: err}
	}
	if x.options.Lasting && x.at.Foreground.EndsIn(x.command) {
		return &Error{Kind: tmux.ErrArgument, Pane: x.pane.ID, Text: "the command has not run: errexit (set -e) would end this shell at the first failure"}
	}
	if err := x.awaitSize(ctx); err != nil {
		return err
	}
	return x.at.FreshLine(ctx)
}

// way returns how the command runs. A relative directory must not look like an option, nor be
// looked for elsewhere.
func (x *execution) way() runner.Way {
	dir := x.options.Dir
	if x.options.Remote == "" && dir != "" && !filepath.IsAbs(dir) {
		dir = "./" + dir
	}
	return runner.Way{Dir: dir, Lasting: x.options.Lasting, Record: x.options.History, Remote: string(x.options.Remote)}
}

// begin types the line, once, and starts recording in the same round trip. If it fails,
// sent is set if the shell may read the line all the same.
func (x *execution) begin(ctx context.Context) (sent bool, err error) {
	x.typed, x.prompt, x.row = time.Now(), x.pane.Left(), x.pane.Row()
	return x.typeRecorded(ctx, x.cmd.Line(x.at.Foreground), x.cmd.Shows(x.command))
}

// typeRecorded types a line, which makes others appear, and starts recording before.
func (x *execution) typeRecorded(ctx context.Context, line string, shows []string) (sent bool, err error) {
	cmds, err := x.at.Pasting(ctx, line)
	if err != nil {
		return false, err
	}
	if x.cmd.Recorded() && !x.cmd.Resumed() {
		pipe := tmux.PipePane{Target: x.pane.ID, Input: true, Output: true, Command: x.cmd.Feed()}
		cmds = append([]tmux.Command{pipe}, cmds...)
	}
	row, sent, err := x.at.Type(ctx, x.pane.ID, shows, cmds)
	if err == nil {
		x.row = row
	}
	return sent, err
}

// askStatus types the line that reports the status of a lasting command that the shell has
// dropped, once the shell shows an empty prompt. It may be called again if the line cannot be typed
// now, for instance because somebody is typing there. It fails with ErrLost at any prompt but the
// first one, since the status there would be that of another line.
func (x *execution) askStatus(ctx context.Context) error {
	if err := x.at.AwaitPrompt(ctx); err != nil {
		return err
	}
	empty, err := x.at.AwaitEmptyLine(ctx, promptWait, x.prompt)
	if err != nil || !empty {
		return cmp.Or(err, ErrBusy)
	}
	if row := x.pane.Row(); x.dropped == nil {
		x.dropped = &row
	} else if row != *x.dropped {
		return ErrLost
	}
	if x.pane.PromptAbove(x.row, x.prompt, x.pane.Left()) {
		return ErrLost
	}
	cmds, err := x.at.Pasting(ctx, x.cmd.AskLine(x.at.Foreground))
	if err == nil {
		_, _, err = x.at.Type(ctx, x.pane.ID, x.cmd.ShowsAsk(), cmds)
	}
	return err
}

// awaitSize waits until the terminal has the size that its pane has just got. Otherwise the
// command would see the old size, and the new one would look like a resize while it runs.
func (x *execution) awaitSize(ctx context.Context) error {
	has := func() bool { return !x.place().Resized(x.pane.TTY) }
	if has() {
		return nil
	}
	_, err := x.at.AwaitLook(ctx, sizeWait, has)
	return err
}

// prepare writes the files and starts recording.
func (x *execution) prepare(ctx context.Context) error {
	visible, err := x.pipeTaken(ctx)
	if err != nil {
		return err
	}
	x.runner.Sweep()
	err = x.writeFiles(visible)
	if runner.NoSpace(err) {
		runner.Evict()
		err = x.writeFiles(visible)
	}
	switch {
	case runner.NoSpace(err):
		return &Error{Kind: ErrNoSpace, Pane: x.pane.ID, Text: "the command has not run: no space left in " + x.runner.files.Home()}
	case errors.Is(err, runner.ErrNoHome):
		return &Error{Kind: ErrNoHome, Pane: x.pane.ID, Text: err.Error()}
	}
	return err
}

func (x *execution) writeFiles(visible bool) error {
	cmd, err := x.runner.files.Command(x.place(), x.way(), visible, x.resume)
	if err != nil {
		return err
	}
	x.cmd = cmd
	if err = cmd.Write(x.at.Foreground, strings.ReplaceAll(x.command, "\r\n", "\n")); err != nil {
		err = fmt.Errorf("write the command: %w", err)
	} else if reach := x.at.Foreground.Reaches(cmd); x.options.Remote != "" {
		if visible {
			err = x.noRemote("another program has the pane's pipe, through which the answers of the shell would come")
		} else if x.at.Foreground.IsShell() && reach == nil {
			err = x.noRemote("%s in pane %s is no remote shell", x.at.Foreground.Name, x.pane.ID)
		}
	} else if reach != nil {
		err = &Error{Kind: ErrUnreadable, Pane: x.pane.ID, Text: fmt.Sprintf("%s in pane %s %v, so it cannot read the command", x.at.Foreground.Name, x.pane.ID, reach)}
	}
	if err == nil && !visible {
		err = cmd.Record(x.out)
	}
	if err != nil {
		cmd.Remove()
	}
	return err
}

// pipeTaken reports whether another program uses the pane's pipe. After one of our
// recorders ends, tmux closes the pipe only when it gets to it.
func (x *execution) pipeTaken(ctx context.Context) (bool, error) {
	files := &x.runner.files
	for begun := time.Now(); x.pane.Piped; {
		if x.resume = files.Resumes(x.place()); x.resume || runner.PipeIsOurs(x.place()) {
			return false, nil
		}
		ended := false // whether a recorder ended recently
		if jobs := runner.PaneJobs(x.place()); len(jobs) > 0 && !jobs[0].Visible() {
			s := jobs[0].Look()
			ended = s.Phase == runner.Ended && time.Since(s.At) < 2*x.settle
		}
		if !ended && !files.Closing(x.place()) || time.Since(begun) > 2*x.settle {
			return true, nil
		}
		if err := pause.For(ctx, 20*time.Millisecond); err != nil {
			return true, err
		}
		if err := x.at.LookAgain(ctx); err != nil {
			return true, err
		}
	}
	return false, nil
}

// unpipe stops recording and closes the pane's pipe. The pipe is certainly ours only if the
// end of the command has just arrived through it. Otherwise the recorder is ended, and tmux
// closes the pipe when it notices, before it has answered twice.
func (x *execution) unpipe(ctx context.Context) {
	if !x.cmd.Recorded() || x.cmd.Removed() { // then nothing knows the recorder
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), prompt.CleanupTime)
	defer cancel()
	if x.marked && x.srv.Pane(x.pane.ID).ClosePipe(ctx) == nil {
		return
	}
	if x.piped(ctx) {
		x.cmd.EndRecording(prompt.CleanupTime)
		// The recorder's dd ends a moment after it.
		for end := time.Now().Add(closeWait); x.piped(ctx) && time.Now().Before(end) && pause.For(ctx, time.Millisecond) == nil; {
			continue
		}
	}
}

// piped reports whether the pane has a pipe, once tmux has answered twice: a list of commands that
// was given up may have opened one.
func (x *execution) piped(ctx context.Context) bool {
	_, _ = x.srv.Do(ctx, tmux.DisplayMessage{Target: x.pane.ID})
	panes, err := tmux.List[struct {
		Piped bool `tmux:"pane_pipe"`
	}](ctx, x.srv, tmux.DisplayMessage{Target: x.pane.ID})
	if errors.Is(err, tmux.ErrNoServer) || errors.Is(err, tmux.ErrServerGone) {
		return false
	}
	return err != nil || panes[0].Piped
}

// place returns where the command runs.
func (x *execution) place() runner.Place {
	p := *x.pane
	at := place(x.srv, p)
	at.Pane, at.Pid, at.Shell = string(p.ID), p.PID, x.at.Foreground.PID
	at.Columns, at.Rows = p.Width, p.Height
	at.Odd = p.Upper != 0 || p.Lower != p.Height-1 || p.Insert || p.Origin || !p.Wrap || p.Alternate
	return at
}

// place returns where commands in a pane run.
func place(srv *tmux.Server, p prompt.Pane) runner.Place {
	return runner.Place{Socket: srv.SocketPath(), Server: p.Server, Started: p.Started.Unix()}
}

// conclude completes the result after a wait that ended with err, and decides what becomes of
// the recorder, which may rest for the next command, and of the files.
func (x *execution) conclude(ctx context.Context, err error) error {
	rests := x.marked && !x.detach
	known := x.status != nil || x.result.PaneEnded || x.result.State == Lost
	switch {
	case rests:
	case known:
		x.unpipe(ctx)
	default: // it continues as a job
		x.cmd.Leave()
	}
	if x.status != nil && runner.Gone(x.at.Foreground.PID) {
		x.result.ShellEnded = true
		x.result.PaneEnded = x.result.PaneEnded || x.at.Foreground.PID == x.pane.PID
	}
	res := x.answer(ctx)
	forget := !x.detach && (x.status != nil && (x.options.Keep == nil || !x.options.Keep(res)) || x.result.PaneEnded)
	if forget {
		res.Job = nil
		forget = x.cmd.Forget()
	}
	switch {
	case forget && rests && !x.result.PaneEnded:
		x.runner.files.Rest(x.cmd)
		return err
	case rests:
		x.unpipe(ctx)
	}
	if forget {
		x.cmd.Remove()
	}
	return err
}

// notBegun clears the line of a shell that did not begin the command, and returns the error
// for it. err is what ended the wait.
func (x *execution) notBegun(ctx context.Context, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), prompt.CleanupTime)
	defer cancel()
	waited := time.Since(x.start).Round(time.Millisecond)
	e := &Error{
		Kind: ErrNotBegun, Pane: x.pane.ID, Typed: true, Err: err,
		Text: fmt.Sprintf("the command has not run: %s in pane %s did not begin it within %v, and will not", x.at.Foreground.Name, x.pane.ID, waited),
	}
	if dir, full := x.cmd.NoSpace(); full {
		e.Text = "the command has not run: no space left in " + dir
	}
	e.Held = x.at.Foreground.Held()
	e.Idle = x.pane.Idle(x.at.Foreground.PID)
	if x.result.PaneEnded {
		return &Error{Kind: ErrPaneEnded, Pane: x.pane.ID, Typed: true, Text: fmt.Sprintf("the command has not run: pane %s ended before it began", x.pane.ID)}
	}
	if x.at.LookAgain(ctx) == nil {
		e.Screen = x.pane.LastSeen()
		if x.pane.Idle(x.at.Foreground.PID) {
			_ = x.at.FreshLine(ctx)
		}
	}
	return e
}
