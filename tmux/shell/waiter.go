package shell

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"tmuxmcp/internal/pause"
	"tmuxmcp/internal/runner"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/prompt"
)

// recording is what is known of a command that runs in a pane.
type recording struct {
	srv    *tmux.Server
	settle time.Duration // see Runner.SettleTime
	pane   *prompt.Pane
	shell  *runner.Foreground
	cmd    *runner.Command // recorded, unless the pane's pipe belongs to another program
	out    *output
	start  time.Time
	until  time.Time // zero for no limit
	typed  time.Time // when the line was typed
	detach bool      // nobody waits for the end
	found  bool      // a job that was begun earlier
	// askStatus has a shell report the status of a lasting command that it has dropped. nil if it
	// cannot, or has been asked.
	askStatus func(context.Context) error
	marked    bool // the recording contains the end of the command
	missed    bool
	status    *int
	result    Result

	onScreen []string // the lines that the last look has found, for Until
	marks    bool     // a look has found the first mark
}

const (
	// settleTime is how long a mark may take after the last of the output, if the command is
	// known to have ended and the recorder is waiting for more; five times as long if it is
	// unknown what the recorder does.
	settleTime = 2 * time.Second
	// readWait is how long reading a recording may take after the time is up.
	readWait = 10 * time.Second
	// askWait is how long a shell that has dropped a command may not be asked for its status.
	askWait = 15 * time.Second
	// screenPause is the least time between two looks at the screen for Until, which take at
	// most a tenth of the time.
	screenPause = 100 * time.Millisecond
	// restWait is how long after a line that Until wants more may come with it: the end of a
	// command that has failed, or the address at which one is ready.
	restWait = 100 * time.Millisecond
)

// wait waits for the end of the command, or of the time. The exit status comes with the
// second mark of the recording. It is also in a file, in case another program takes the
// pane's pipe; so the files are looked at in between.
func (r *recording) wait(ctx context.Context) error {
	var limit <-chan time.Time
	if !r.until.IsZero() {
		timer := time.NewTimer(time.Until(r.until))
		defer timer.Stop()
		limit = timer.C
	}
	ended, over, found := r.cmd.Ended, r.cmd.Over, r.cmd.Found // nil, and so never ready, if nothing is recorded
	var screen, rest <-chan time.Time
	if !r.cmd.Recorded() && r.out.until != nil && !r.detach {
		screen = time.After(0)
	}
	l := looks{pause: 100 * time.Millisecond, read: -1}
	if !r.cmd.Recorded() || r.detach {
		l.pause = 5 * time.Millisecond
	}
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-limit:
			if l.asked { // the answer is about to come
				l.asked, limit = false, time.After(r.settle)
				continue
			}
			return r.catchUp(ctx)
		case status := <-ended:
			r.status, r.marked = &status, true
			return nil
		case <-over:
			// It did not end with the mark: the pane is gone, or its pipe now belongs to
			// another program. Only the files are left.
			if r.gone(ctx) {
				return nil
			}
			r.missed = true
			ended, over, l.pause = nil, nil, 5*time.Millisecond
		case <-found:
			found, rest = nil, time.After(restWait)
		case <-screen:
			began := time.Now()
			if r.lookFor(ctx); r.out.reached && rest == nil {
				rest = time.After(restWait)
			}
			screen = time.After(max(screenPause, 9*time.Since(began)))
		case <-rest:
			if rest = nil; r.cmd.Look().Phase < runner.Ended { // otherwise its end is about to come
				return r.catchUp(ctx)
			}
		case <-time.After(l.pause):
			if done, err := r.lookAtFiles(ctx, &l, ended != nil); done || err != nil {
				return err
			}
		}
	}
}

// looks counts consecutive looks at the files of a command. They are counted instead of
// time, since a machine that stands still makes none.
type looks struct {
	pause  time.Duration // between two looks
	quiet  int           // without output after the command has ended
	read   int64         // how much output there was at the last of these
	unread int           // in which the shell ignored the line, or could not echo it
	asking time.Time     // when it was first asked for a status
	asked  bool          // that was typed, and nobody has waited for the answer
}

// noMark counts a look at a command that has ended without the second mark, and reports
// whether that is not coming: no more output has been read for so long.
func (l *looks) noMark(read int64, settle time.Duration, drained func() bool) bool {
	if l.quiet++; l.read != read {
		l.quiet, l.read = 0, read
	}
	waited := time.Duration(l.quiet) * l.pause
	return waited > settle && drained() || waited > 5*settle
}

// lookAtFiles keeps what the files say of the command, and reports whether that ends the
// wait. marks is set if the second mark may still come.
func (r *recording) lookAtFiles(ctx context.Context, l *looks, marks bool) (done bool, err error) {
	if r.detach && r.cmd.Begun() {
		return true, nil
	}
	s := r.cmd.Look()
	switch {
	case r.cmd.Removed():
		// What is open can still be read, and may contain the end.
		missed := r.missed
		if r.finish(); r.marked {
			r.missed = missed
		} else {
			r.result.State = Lost
		}
		return true, nil
	case s.Phase != runner.Ended && runner.Gone(r.shell.PID):
		return true, r.shellEnded(ctx)
	case s.Phase == runner.Lost && r.askStatus != nil && r.cmd.Abandoned():
		r.ask(ctx, l)
	case s.Phase >= runner.Ended:
		if !marks || l.noMark(r.cmd.Came(), r.settle, r.cmd.Drained) {
			r.missed = r.cmd.Recorded()
			if r.result.State = Lost; s.Phase == runner.Ended {
				r.status = &s.Status
			}
			return true, nil
		}
	case s.Phase == runner.Running && r.cmd.Stopped():
		r.finishStopped(ctx)
		return true, nil
	}
	if l.unread++; time.Since(r.typed) < lineWait || r.cmd.Begun() || !r.pane.Idle(r.shell.PID) && !r.shell.Held() {
		l.unread = 0
	}
	return l.unread > 3 && r.cmd.Revoke(), nil
}

// shellEnded records what became of a command whose shell has ended before it.
func (r *recording) shellEnded(ctx context.Context) error {
	if r.gone(ctx) {
		return nil
	}
	r.result.State = Lost
	switch {
	case r.cmd.Remote != "": // the program that led to its shell has ended, and said why
		r.finish()
	case !r.found:
		return &Error{Kind: ErrLost, Pane: r.pane.ID, Text: fmt.Sprintf("the shell in pane %s ended before the command did", r.pane.ID)}
	}
	return nil
}

// ask has the shell, which has dropped the command, report its status. The next look asks again
// if the question cannot be typed now.
func (r *recording) ask(ctx context.Context, l *looks) {
	if l.asking.IsZero() {
		l.asking = time.Now()
	}
	err := r.askStatus(ctx)
	l.asked = err == nil
	if err == nil || errors.Is(err, ErrLost) || time.Since(l.asking) > askWait {
		r.askStatus, l.quiet = nil, 0
	}
}

// catchUp reads the available part of a long output when the time is up.
func (r *recording) catchUp(ctx context.Context) error {
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
func (r *recording) takeEnd() {
	select {
	case status := <-r.cmd.Ended:
		r.status, r.marked = &status, true
	default:
	}
}

// finishStopped reads what a command that was stopped, and so prints no more, printed before:
// it may still be on its way to the recording. tmux passes it on before it has answered twice.
func (r *recording) finishStopped(ctx context.Context) {
	if !r.cmd.Recorded() {
		return
	}
	for range 2 {
		_, _ = r.srv.Do(ctx, tmux.DisplayMessage{Target: r.pane.ID})
	}
	r.finish()
}

// gone reports, and records, whether the pane's program has ended. tmux may notice that later
// than the shell is seen to be gone, where that was the program.
func (r *recording) gone(ctx context.Context) bool {
	panes, err := prompt.Programs(ctx, r.srv, tmux.DisplayMessage{Target: r.pane.ID})
	if err == nil && panes[0].ID != "" && panes[0].PID != r.pane.PID && !panes[0].Dead {
		r.missed = true // what another program in the pane prints is recorded too
	}
	r.result.PaneEnded = errors.Is(err, tmux.ErrNoServer) || errors.Is(err, tmux.ErrServerGone) ||
		err == nil && (panes[0].ID == "" || panes[0].Dead || panes[0].PID != r.pane.PID || r.shell.PID == r.pane.PID && runner.Gone(r.pane.PID))
	return r.result.PaneEnded
}

// lookFor looks at the screen and the history of a command that is not recorded, and passes its
// output on to Until.
func (r *recording) lookFor(ctx context.Context) {
	if !r.until.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, r.until)
		defer cancel()
	}
	out, err := r.srv.Do(ctx, tmux.CapturePane{Target: r.pane.ID, Print: true, Join: true, Start: tmux.LineEdge})
	if err != nil {
		return // what it means is found out elsewhere
	}
	lines, begun, _ := r.cmd.Between(shownLines(out[0]))
	// The first mark may have left the history before the first look.
	if r.marks = r.marks || begun || r.cmd.Begun() && time.Since(r.typed) > lineWait && !r.shell.Held(); r.marks {
		r.show(lines)
	}
}

// show passes on those lines of the screen and the history to Until that are not where they
// were at the last look.
func (r *recording) show(lines []string) {
	if r.out.until == nil {
		return
	}
	for i, line := range lines {
		if i >= len(r.onScreen) || r.onScreen[i] != line {
			r.out.seen(line)
		}
	}
	r.onScreen = lines
}

// readOff reads the output from the screen and the history.
func (r *recording) readOff(ctx context.Context) {
	if r.result.PaneEnded || ctx.Err() != nil {
		r.missed = true
		return
	}
	running := r.status == nil
	r.out.screen = true
	// The shell may be ahead of tmux.
	for deadline := time.Now().Add(r.settle); ; {
		out, err := r.srv.Do(ctx, tmux.CapturePane{Target: r.pane.ID, Print: true, Join: true, Start: tmux.LineEdge})
		if err != nil {
			r.missed = true
			return
		}
		lines, begun, ended := r.cmd.Between(shownLines(out[0]))
		if begun && (ended || running) || time.Now().After(deadline) || pause.For(ctx, 5*time.Millisecond) != nil {
			r.missed = !begun || !ended && !running
			if begun || r.marks {
				r.show(lines)
			}
			for _, l := range lines {
				r.out.Line(l)
			}
			return
		}
	}
}

// shownLines returns the lines of a capture, without blanks and blank lines at their ends.
func shownLines(captured []byte) []string {
	lines := strings.Split(string(captured), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// finish reads all that a command has printed that prints no more, and takes the exit
// status, if there is one.
func (r *recording) finish() {
	r.missed = !r.cmd.Finish(r.settle) || r.missed
	r.takeEnd()
}

// answer finishes reading the output, and completes the result.
func (r *recording) answer(ctx context.Context) *Result {
	if r.cmd.Close(); !r.cmd.Recorded() {
		r.readOff(ctx)
	}
	res, tty := &r.result, r.pane.TTY
	if res.PaneEnded {
		tty = ""
	}
	res.Job = &Job{job: r.cmd.Job, srv: r.srv, settle: r.settle, pane: *r.pane}
	res.Pane, res.Shell, res.Missed, res.lacks = r.pane.ID, r.shell.Name, r.missed || r.cmd.Missed(tty), r.missed || r.cmd.Dropped()
	res.Remote = Remote(r.cmd.Remote)
	res.Unproven = res.Remote != "" && r.status == nil && !r.cmd.Shown()
	switch {
	case r.status != nil:
		res.State, res.Status = Ended, *r.status
	case res.PaneEnded:
		res.State = Lost
	case r.cmd.Abandoned(): // what came afterwards is not its output
		res.State, res.Dropped, res.Missed = Lost, true, true
	case r.cmd.Stopped():
		res.State = Stopped
	case res.State == "":
		res.State = Running
	}
	if lost := res.State == Lost && !res.PaneEnded; lost || res.Missed {
		if dir, full := r.cmd.NoSpace(); full {
			res.FullDir = dir
		}
	}
	res.Output, res.Elapsed, res.Reached = r.out.kept.String(), time.Since(r.start), r.out.reached
	return res
}
