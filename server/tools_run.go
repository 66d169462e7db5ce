package server

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"tmuxmcp/internal/pause"
	"tmuxmcp/server/internal/caller"
	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/stdio"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/typing"
	"tmuxmcp/server/runner"
	"tmuxmcp/tmux"
)

var runCommand = newTool(tool{
	name: "run_command", title: "Run Command", kind: shell, set: setInput, core: true, selfBounded: true, alwaysLoad: true,
	aim: target.Need(target.Pane), harm: guard.Types,
	desc: "Run a shell command in a pane, wait until it ends, and return its output (without prompt and echo) and exit status: builds, tests, git. " +
		"The pane must be at the prompt of a " + runner.Shells + ". The command runs in a subshell: cd and export do not last; for those use send_keys. " +
		"After the timeout it goes on as a job: see get_job. In several panes at once: detach, in a batch.",
	defaults: func(cfg Config) map[string]string {
		return map[string]string{"suppress_history": strconv.FormatBool(cfg.SuppressHistory)}
	},
}, func(ctx context.Context, c *call, in runCommandIn) (*runResult, error) {
	limit, err := c.s.screens.Budget(in.Timeout)
	if err != nil {
		return nil, err
	}
	out, err := in.sink(ctx)
	if err != nil {
		return nil, err
	}
	if process, err := caller.ProcessOf(ctx, c.Tmux); err != nil {
		return nil, err
	} else if !process.Here {
		return nil, reply.Faultf(reply.KindRefused, "what runs in the pane cannot be seen from here: this tmux server's processes have other numbers, as in another container").
			Suggest("send_keys types, wait_for_text waits; or run tmux-mcp where tmux runs")
	}
	pane, release, err := c.runTurn(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	r := &execution{
		call: c, in: in, out: out,
		Shell: &typing.Shell{Typist: c.types(), Pane: pane, PromptWait: c.s.promptWait, Begun: time.Now(), Limit: limit},
	}
	return r.do(ctx)
})

type runCommandIn struct {
	Command string `json:"command" desc:"shell command line or script"`
	target.SelectPane
	Timeout float64 `json:"timeout" default:"30" desc:"seconds"`
	Detach  bool    `json:"detach,omitempty" desc:"do not wait: return a job_id"`
	outputSelect
	SuppressHistory *bool `json:"suppress_history,omitempty" desc:"keep it out of the history"`
	target.OnSocket
}

func (in runCommandIn) Waits() bool { return !in.Detach }

func (in runCommandIn) check(limits) error {
	switch {
	case strings.TrimSpace(in.Command) == "":
		return reply.Argument("command", "must not be blank")
	case strings.IndexByte(in.Command, 0) >= 0:
		return reply.Argument("command", "must not have a NUL character")
	}
	return in.outputSelect.check()
}

// runTurn waits until no other command runs in the pane, from this server or another server
// of this user.
func (c *call) runTurn(ctx context.Context) (typing.Pane, func(), error) {
	pane, err := typing.LookAt(ctx, c.Tmux, c.on)
	if err != nil {
		return pane, nil, err
	}
	at := placeOf(c, pane)
	at.Pane = string(pane.ID)
	c.leave() // the slot is not for waiting
	release, waited, ok := c.s.files.Take(ctx, at, c.s.cfg.WaitMax)
	late := c.enter(ctx)
	switch {
	case late != nil:
		err = late
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case !ok:
		err = reply.Faultf(reply.KindTimeout, "other commands ran in pane %s for %v, and this one was not begun", pane.ID, c.s.cfg.WaitMax).
			Suggest("call again, or use another pane")
	case waited:
		pane, err = typing.LookAt(ctx, c.Tmux, target.AtPane(pane.ID))
	}
	if err != nil && ok {
		release()
	}
	return pane, release, err
}

// execution is one command that runs in a pane.
type execution struct {
	*call
	*typing.Shell
	in  runCommandIn
	out *outputSink

	cmd    *runner.Command // recorded, unless the pane's pipe belongs to another program
	typed  time.Time       // when the line was typed
	missed bool
	marked bool // the recording contains the end of the command
	resume bool // a recorder is waiting in the pane
	found  bool // a job that was begun earlier
	result runResult
}

// place returns where the command runs.
func (r *execution) place() runner.Place {
	at := placeOf(r.call, r.Pane)
	at.Pane, at.Pid, at.Shell = string(r.Pane.ID), r.Pane.PID, r.Foreground.PID
	p := r.Pane
	at.Columns, at.Rows = p.Width, p.Height
	at.Odd = p.Upper != 0 || p.Lower != p.Height-1 || p.Insert || p.Origin || !p.Wrap || p.Alternate
	return at
}

// placeOf returns where commands in a pane run.
func placeOf(c *call, p typing.Pane) runner.Place {
	return runner.Place{Socket: c.Tmux.SocketPath(), Server: p.Server, Started: p.Started.Unix()}
}

const (
	// lineWait is how long after the line was typed a shell that is waiting for input must
	// have begun.
	lineWait = time.Second
	// markWait is how long a mark may take after the last of the output, if the command is
	// known to have ended and the recorder is waiting for more; five times as long if it is
	// unknown what the recorder does.
	markWait = 2 * time.Second
	// sizeWait is how long a terminal may take to get the size of its pane: tmux waits a
	// quarter of a second, in case another size follows.
	sizeWait = time.Second
	// readWait is how long reading a recording may take after the time is up.
	readWait = 10 * time.Second
)

func (r *execution) do(ctx context.Context) (*runResult, error) {
	if err := r.AwaitPrompt(ctx); err != nil {
		return nil, err
	}
	if err := r.awaitSize(ctx); err != nil {
		return nil, err
	}
	if err := r.FreshLine(ctx); err != nil {
		return nil, err
	}
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	defer r.cmd.Close()
	if err := r.begin(ctx); err != nil {
		if r.cmd.Revoke() {
			r.cmd.Remove()
		}
		return nil, err
	}
	err := r.wait(ctx)
	if r.result.PaneGone && r.cmd.Recorded() {
		r.finish()
	}
	if r.result.ExitStatus == nil && r.cmd.Revoke() {
		r.unpipe(ctx)
		r.cmd.Remove()
		return nil, r.notBegun(ctx, err)
	}
	rests := r.marked && !r.in.Detach
	switch {
	case rests:
	case r.known():
		r.unpipe(ctx)
	case err != nil && ctx.Err() == nil:
		r.unpipe(ctx)
		r.cmd.Remove()
	default: // it continues as a job
		r.cmd.Leave()
	}
	if err != nil {
		return nil, err
	}
	if r.result.ExitStatus != nil && runner.Gone(r.Foreground.PID) {
		r.shellEnded()
	}
	res, whole := r.answer(ctx)
	forget := !r.in.Detach && (r.result.ExitStatus != nil && whole || r.result.PaneGone)
	if forget {
		res.JobID = nil
	}
	switch {
	case forget && rests && !r.result.PaneGone:
		r.s.files.Rest(r.cmd)
		return res, nil
	case rests:
		r.unpipe(ctx)
	}
	if forget {
		r.cmd.Remove()
	}
	return res, nil
}

// finish gets the remaining output of a pane that has ended, and the exit status, if any.
func (r *execution) finish() {
	r.missed = !r.cmd.Finish(r.s.markWait) || r.missed
	select {
	case status := <-r.cmd.Ended:
		r.result.ExitStatus = &status
	default:
	}
}

// shellEnded records that the shell ended with its command.
func (r *execution) shellEnded() {
	if r.Foreground.PID == r.Pane.PID {
		r.result.PaneGone = true
		return
	}
	note := fmt.Sprintf("the shell it ran in has ended: %s", r.Program())
	r.result.Note = &note
}

// known reports whether the outcome of the command is known.
func (r *execution) known() bool {
	return r.result.ExitStatus != nil || r.result.PaneGone || r.result.State == jobLost
}

// awaitSize waits until the terminal has the size that its pane has just got. Otherwise the
// command would see the old size, and the new one would look like a resize while it runs.
func (r *execution) awaitSize(ctx context.Context) error {
	for end := time.Now().Add(sizeWait); r.place().Resized(r.Pane.TTY) && time.Now().Before(end); {
		if err := pause.For(ctx, 10*time.Millisecond); err != nil {
			return err
		}
		if err := r.LookAgain(ctx); err != nil {
			return err
		}
	}
	return nil
}

// prepare writes the files and starts recording.
func (r *execution) prepare(ctx context.Context) error {
	visible, err := r.pipeTaken(ctx)
	if err != nil {
		return err
	}
	r.s.sweepJobs()
	err = r.writeFiles(visible)
	if runner.NoSpace(err) {
		runner.Evict()
		err = r.writeFiles(visible)
	}
	switch {
	case runner.NoSpace(err):
		return reply.Faultf(reply.KindRefused, "the command has not run: no space left in %s", r.s.files.Home()).
			Suggest("free some space there, or set TMPDIR to a directory that has some and start this server again")
	case errors.Is(err, runner.ErrNoHome):
		return reply.Faultf(reply.KindRefused, "%v", err).
			Suggest("remove or rename what is in the way, or set TMPDIR to a directory of your own with mode 0700 and start this server again")
	}
	return err
}

// writeFiles makes the files of the command.
func (r *execution) writeFiles(visible bool) error {
	cmd, err := r.s.files.Command(r.place(), visible, r.resume)
	if err != nil {
		return err
	}
	r.cmd = cmd
	record := r.in.SuppressHistory != nil && !*r.in.SuppressHistory || r.in.SuppressHistory == nil && !r.s.cfg.SuppressHistory
	if err = cmd.Write(r.Foreground, strings.ReplaceAll(r.in.Command, "\r\n", "\n"), record); err != nil {
		err = fmt.Errorf("write the command: %w", err)
	} else if reach := r.Foreground.Reaches(cmd); reach != nil {
		err = reply.Faultf(reply.KindRefused, "%s in pane %s %v, so it cannot read the command", r.Program(), r.Pane.ID, reach).
			Suggest("send_keys types into it, wait_for_text waits")
	} else if !visible {
		err = cmd.Record(r.out)
	}
	if err != nil {
		cmd.Remove()
	}
	return err
}

// pipeTaken reports whether another program uses the pane's pipe. After one of our
// recorders ends, tmux closes the pipe only when it gets to it.
func (r *execution) pipeTaken(ctx context.Context) (bool, error) {
	for begun := time.Now(); r.Pane.Piped; {
		if r.resume = r.s.files.Resumes(r.place()); r.resume || runner.PipeIsOurs(r.place()) {
			return false, nil
		}
		ended := false // whether a recorder ended recently
		if jobs := runner.PaneJobs(r.place()); len(jobs) > 0 && !jobs[0].Visible() {
			s := jobs[0].Look()
			ended = s.Phase == runner.Ended && time.Since(s.At) < 2*r.s.markWait
		}
		if !ended && !r.s.files.Closing(r.place()) || time.Since(begun) > 2*r.s.markWait {
			return true, nil
		}
		if err := pause.For(ctx, 20*time.Millisecond); err != nil {
			return true, err
		}
		if err := r.LookAgain(ctx); err != nil {
			return true, err
		}
	}
	return false, nil
}

// begin types the line, once, and starts recording in the same round trip.
func (r *execution) begin(ctx context.Context) error {
	r.typed = time.Now()
	_, err := r.Type(ctx, target.AtPane(r.Pane.ID), screen.Echo{Lines: r.cmd.Shows(r.in.Command), Command: true}, func(to tmux.Target) ([]tmux.Command, error) {
		cmds, err := r.Pasting(ctx, to, r.cmd.Line(r.Foreground))
		if r.cmd.Recorded() && !r.cmd.Resumed() {
			pipe := tmux.PipePane{Target: to, Input: true, Output: true, Command: r.cmd.Feed()}
			cmds = append([]tmux.Command{pipe}, cmds...)
		}
		return cmds, err
	})
	var refused *reply.Fault
	if err != nil && !errors.As(err, &refused) {
		r.unpipe(ctx) // recording may have begun
	}
	return err
}

// notBegun clears the line of a shell that did not begin the command, and returns the fault
// for it. err is what ended the wait.
func (r *execution) notBegun(ctx context.Context, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), typing.CleanupTime)
	defer cancel()
	waited := time.Since(r.Begun).Round(time.Millisecond)
	f := reply.Faultf(reply.KindNotBegun, "the command has not run: %s in pane %s did not begin it within %v, and will not", r.Program(), r.Pane.ID, waited)
	if dir, full := r.cmd.NoSpace(); full {
		f = reply.Faultf(reply.KindNotBegun, "the command has not run: no space left in %s", dir)
	}
	switch {
	case r.Foreground.Held():
		f = f.Suggest("the terminal holds back the shell's output, as after C-s: send_keys with C-q lets it go on")
	case !r.Pane.Idle(r.Foreground.PID): // what it does may not be known
		f = f.Suggest("if C-s has stopped the output, send_keys with C-q lets it go on")
	}
	if r.result.PaneGone {
		return reply.Faultf(reply.KindPaneGone, "the command has not run: pane %s ended before it began", r.Pane.ID)
	}
	if r.LookAgain(ctx) == nil {
		f = f.Showing("the pane shows", r.Pane.LastSeen())
		if r.Pane.Idle(r.Foreground.PID) {
			_ = r.FreshLine(ctx)
		}
	}
	if err != nil {
		return err
	}
	return f
}

// unpipe stops recording and closes the pane's pipe. The pipe is certainly ours only if the
// end of the command has just arrived through it. Otherwise the recorder is ended, and tmux
// closes the pipe when it notices, before it has answered twice.
func (r *execution) unpipe(ctx context.Context) {
	if !r.cmd.Recorded() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), typing.CleanupTime)
	defer cancel()
	if r.marked && r.Tmux.Pane(r.Pane.ID).ClosePipe(ctx) == nil {
		return
	}
	r.cmd.EndRecording(typing.CleanupTime)
	for range 2 {
		_, _ = r.Tmux.Do(ctx, tmux.DisplayMessage{Target: r.Pane.ID})
	}
}

// wait waits for the end of the command, and keeps what is known of it in result. The exit
// status comes with the second mark of the recording. It is also in a file, in case another
// program takes the pane's pipe; so the files are looked at in between.
func (r *execution) wait(ctx context.Context) error {
	limit := time.NewTimer(r.Limit - time.Since(r.Begun))
	defer limit.Stop()
	ended, over := r.cmd.Ended, r.cmd.Over // nil, and so never ready, if nothing is recorded
	l := looks{pause: 100 * time.Millisecond, came: -1}
	if !r.cmd.Recorded() || r.in.Detach {
		l.pause = 5 * time.Millisecond
	}
	for reported := time.Now(); ; {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-limit.C:
			r.result.TimedOut = true
			return r.catchUp(ctx)
		case status := <-ended:
			r.result.ExitStatus, r.marked = &status, true
			return nil
		case <-over:
			// It did not end with the mark: the pane is gone, or its pipe now belongs to
			// another program. Only the files are left.
			if r.gone(ctx) {
				return nil
			}
			r.missed = true
			ended, over, l.pause = nil, nil, 5*time.Millisecond
		case <-time.After(l.pause):
			if done, err := r.lookAtFiles(ctx, &l, ended != nil); done || err != nil {
				return err
			}
			if time.Since(reported) >= time.Second {
				reported = time.Now()
				elapsed := time.Since(r.Begun)
				stdio.Progress(ctx, elapsed.Seconds(), r.Limit.Seconds(),
					fmt.Sprintf("pane %s: %.0f s elapsed, %.0f s left", r.Pane.ID, elapsed.Seconds(), (r.Limit-elapsed).Seconds()))
			}
		}
	}
}

// looks counts consecutive looks at the files of a command. They are counted instead of
// time, since a machine that stands still makes none.
type looks struct {
	pause  time.Duration // between two looks
	quiet  int           // without output after the command has ended
	came   int64         // how much output there was at the last of these
	unread int           // in which the shell ignored the line, or could not echo it
}

// lookAtFiles keeps what the files say of the command, and reports whether that ends the
// wait. marks is set if the second mark may still come.
func (r *execution) lookAtFiles(ctx context.Context, l *looks, marks bool) (done bool, err error) {
	if r.in.Detach && r.cmd.Begun() {
		return true, nil
	}
	s := r.cmd.Look()
	switch {
	case s.Phase != runner.Ended && runner.Gone(r.Foreground.PID):
		if r.gone(ctx) {
			return true, nil
		}
		if r.result.State = jobLost; r.found {
			return true, nil
		}
		return true, reply.Faultf(reply.KindRefused, "the shell in pane %s ended before the command did", r.Pane.ID).
			Suggest("capture_pane shows what it printed")
	case s.Phase >= runner.Ended:
		if l.quiet++; marks && l.came != r.cmd.Came() {
			l.quiet, l.came = 0, r.cmd.Came()
		}
		if waited := time.Duration(l.quiet) * l.pause; !marks || waited > r.s.markWait && r.cmd.Drained() || waited > 5*r.s.markWait {
			r.missed = r.cmd.Recorded()
			if r.result.State = jobLost; s.Phase == runner.Ended {
				r.result.ExitStatus = &s.Status
			}
			return true, nil
		}
	}
	if s.Phase == runner.Running && r.cmd.Stopped() {
		r.finishStopped(ctx)
		return true, nil
	}
	if l.unread++; time.Since(r.typed) < lineWait || r.cmd.Begun() || !r.Pane.Idle(r.Foreground.PID) && !r.Foreground.Held() {
		l.unread = 0
	}
	return l.unread > 3 && r.cmd.Revoke(), nil
}

// catchUp reads the available part of a long output when the time is up.
func (r *execution) catchUp(ctx context.Context) error {
	if !r.cmd.Recorded() {
		return nil
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(readWait):
		r.missed = true
	case <-r.cmd.Read:
	}
	r.takeEnd()
	return nil
}

// takeEnd keeps the exit status, if it has come meanwhile.
func (r *execution) takeEnd() {
	select {
	case status := <-r.cmd.Ended:
		r.result.ExitStatus, r.result.TimedOut, r.marked = &status, false, true
	default:
	}
}

// finishStopped reads what a command that was stopped, and so prints no more, printed before:
// it may still be on its way to the recording. tmux passes it on before it has answered twice.
func (r *execution) finishStopped(ctx context.Context) {
	if !r.cmd.Recorded() {
		return
	}
	for range 2 {
		_, _ = r.Tmux.Do(ctx, tmux.DisplayMessage{Target: r.Pane.ID})
	}
	r.missed = !r.cmd.Finish(r.s.markWait) || r.missed
	r.takeEnd()
}

// gone reports, and records, whether the pane's program has ended. tmux may notice that later
// than the shell is seen to be gone, where that was the program.
func (r *execution) gone(ctx context.Context) bool {
	rows, err := typing.Programs(ctx, r.Tmux, tmux.DisplayMessage{Target: r.Pane.ID})
	r.result.PaneGone = errors.Is(err, tmux.ErrNoServer) || errors.Is(err, tmux.ErrServerGone) ||
		err == nil && (rows[0].ID == "" || rows[0].Dead || rows[0].PID != r.Pane.PID || r.Foreground.PID == r.Pane.PID && runner.Gone(r.Pane.PID))
	return r.result.PaneGone
}

// readOff reads the output from the screen and the history.
func (r *execution) readOff(ctx context.Context) {
	if r.result.PaneGone || ctx.Err() != nil {
		r.missed = true
		return
	}
	running := r.result.ExitStatus == nil
	// The shell may be ahead of tmux.
	for deadline := time.Now().Add(r.s.markWait); ; {
		out, err := r.Tmux.Do(ctx, tmux.CapturePane{Target: r.Pane.ID, Print: true, Join: true, Start: tmux.LineEdge})
		if err != nil {
			r.missed = true
			return
		}
		lines, begun, ended := r.cmd.Between(screen.Lines(out[0]))
		if begun && (ended || running) || time.Now().After(deadline) || pause.For(ctx, 5*time.Millisecond) != nil {
			r.missed = !begun || !ended && !running
			for _, l := range lines {
				r.out.Line(l)
			}
			return
		}
	}
}
