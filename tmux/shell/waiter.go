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

// waiter waits for a command that runs in a pane, and has what is known of it.
type waiter struct {
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
	begun    bool     // a look has found the first mark, or it has scrolled away
}

const (
	// settleTime is how long a mark may take after the last of the output, if the command is
	// known to have ended and the recorder is waiting for more; five times as long if it is
	// unknown what the recorder does.
	settleTime = 2 * time.Second
	// readWait is how long reading a recording may take after the time is up.
	readWait = 10 * time.Second
	// askWait is how long to go on trying to ask a shell that has dropped a command for its status.
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
func (w *waiter) wait(ctx context.Context) error {
	var limit <-chan time.Time
	if !w.until.IsZero() {
		timer := time.NewTimer(time.Until(w.until))
		defer timer.Stop()
		limit = timer.C
	}
	ended, over, found := w.cmd.Ended, w.cmd.Over, w.cmd.Found // nil, and so never ready, if nothing is recorded
	var screen, rest <-chan time.Time
	if !w.cmd.Recorded() && w.out.until != nil && !w.detach {
		screen = time.After(0)
	}
	l := looks{pause: 100 * time.Millisecond, read: -1}
	if !w.cmd.Recorded() || w.detach {
		l.pause = 5 * time.Millisecond
	}
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-limit:
			if l.asked { // the answer is about to come
				l.asked, limit = false, time.After(w.settle)
				continue
			}
			return w.catchUp(ctx)
		case status := <-ended:
			w.status, w.marked = &status, true
			return nil
		case <-over:
			// It did not end with the mark: the pane is gone, or its pipe now belongs to
			// another program. Only the files are left.
			if w.gone(ctx) {
				return nil
			}
			w.missed = true
			ended, over, l.pause = nil, nil, 5*time.Millisecond
		case <-found:
			found, rest = nil, time.After(restWait)
		case <-screen:
			began := time.Now()
			if w.lookFor(ctx); w.out.reached && rest == nil {
				rest = time.After(restWait)
			}
			screen = time.After(max(screenPause, 9*time.Since(began)))
		case <-rest:
			if rest = nil; w.cmd.Look().Phase < runner.Ended { // otherwise its end is about to come
				return w.catchUp(ctx)
			}
		case <-time.After(l.pause):
			if done, err := w.lookAtFiles(ctx, &l, ended != nil); done || err != nil {
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
// wait. recording is set if the second mark may still come.
func (w *waiter) lookAtFiles(ctx context.Context, l *looks, recording bool) (done bool, err error) {
	if w.detach && w.cmd.Begun() {
		return true, nil
	}
	s := w.cmd.Look()
	switch {
	case w.cmd.Removed():
		// What is open can still be read, and may contain the end.
		missed := w.missed
		if w.finish(); w.marked {
			w.missed = missed
		} else {
			w.result.State = Lost
		}
		return true, nil
	case s.Phase != runner.Ended && runner.Gone(w.shell.PID):
		return true, w.shellEnded(ctx)
	case s.Phase == runner.Lost && w.askStatus != nil && w.cmd.Abandoned():
		w.ask(ctx, l)
	case s.Phase >= runner.Ended:
		if !recording || l.noMark(w.cmd.BytesRead(), w.settle, w.cmd.Drained) {
			w.missed = w.cmd.Recorded()
			if w.result.State = Lost; s.Phase == runner.Ended {
				w.status = &s.Status
			}
			return true, nil
		}
	case s.Phase == runner.Running && w.cmd.Stopped():
		w.finishStopped(ctx)
		return true, nil
	}
	if l.unread++; time.Since(w.typed) < lineWait || w.cmd.Begun() || !w.pane.Idle(w.shell.PID) && !w.shell.Held() {
		l.unread = 0
	}
	return l.unread > 3 && w.cmd.Revoke(), nil
}

// shellEnded records what became of a command whose shell has ended before it.
func (w *waiter) shellEnded(ctx context.Context) error {
	if w.gone(ctx) {
		return nil
	}
	w.result.State = Lost
	switch {
	case w.cmd.Remote != "": // the program that led to its shell has ended, and said why
		w.finish()
	case !w.found:
		return &Error{Kind: ErrLost, Pane: w.pane.ID, Text: fmt.Sprintf("the shell in pane %s ended before the command did", w.pane.ID)}
	}
	return nil
}

// ask has the shell, which has dropped the command, report its status. The next look asks again
// if the question cannot be typed now.
func (w *waiter) ask(ctx context.Context, l *looks) {
	if l.asking.IsZero() {
		l.asking = time.Now()
	}
	err := w.askStatus(ctx)
	l.asked = err == nil
	if err == nil || errors.Is(err, ErrLost) || time.Since(l.asking) > askWait {
		w.askStatus, l.quiet = nil, 0
	}
}

// catchUp reads the available part of a long output when the time is up.
func (w *waiter) catchUp(ctx context.Context) error {
	if !w.cmd.Recorded() {
		return nil
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(readWait):
		w.missed = true
	case <-w.cmd.Read:
	}
	w.takeEnd()
	return nil
}

// takeEnd keeps the exit status, if it has come meanwhile.
func (w *waiter) takeEnd() {
	select {
	case status := <-w.cmd.Ended:
		w.status, w.marked = &status, true
	default:
	}
}

// finishStopped reads what a command that was stopped, and so prints no more, printed before:
// it may still be on its way to the recording. tmux passes it on before it has answered twice.
func (w *waiter) finishStopped(ctx context.Context) {
	if !w.cmd.Recorded() {
		return
	}
	for range 2 {
		_, _ = w.srv.Do(ctx, tmux.DisplayMessage{Target: w.pane.ID})
	}
	w.finish()
}

// gone reports, and records, whether the pane's program has ended. tmux may notice that later
// than the shell is seen to be gone, where that was the program.
func (w *waiter) gone(ctx context.Context) bool {
	panes, err := prompt.Programs(ctx, w.srv, tmux.DisplayMessage{Target: w.pane.ID})
	if err == nil && panes[0].ID != "" && panes[0].PID != w.pane.PID && !panes[0].Dead {
		w.missed = true // what another program in the pane prints is recorded too
	}
	w.result.PaneEnded = errors.Is(err, tmux.ErrNoServer) || errors.Is(err, tmux.ErrServerGone) ||
		err == nil && (panes[0].ID == "" || panes[0].Dead || panes[0].PID != w.pane.PID || w.shell.PID == w.pane.PID && runner.Gone(w.pane.PID))
	return w.result.PaneEnded
}

// lookFor looks at the screen and the history of a command that is not recorded, and passes its
// output on to Until.
func (w *waiter) lookFor(ctx context.Context) {
	if !w.until.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, w.until)
		defer cancel()
	}
	out, err := w.srv.Do(ctx, tmux.CapturePane{Target: w.pane.ID, Print: true, Join: true, Start: tmux.LineEdge})
	if err != nil {
		return // the looks at the files find out what that means
	}
	lines, begun, _ := w.cmd.Between(shownLines(out[0]))
	// The first mark may have left the history before the first look.
	if w.begun = w.begun || begun || w.cmd.Begun() && time.Since(w.typed) > lineWait && !w.shell.Held(); w.begun {
		w.show(lines)
	}
}

// show passes on those lines of the screen and the history to Until that are not where they
// were at the last look.
func (w *waiter) show(lines []string) {
	if w.out.until == nil {
		return
	}
	for i, line := range lines {
		if i >= len(w.onScreen) || w.onScreen[i] != line {
			w.out.seen(line)
		}
	}
	w.onScreen = lines
}

// readOff reads the output from the screen and the history.
func (w *waiter) readOff(ctx context.Context) {
	if w.result.PaneEnded || ctx.Err() != nil {
		w.missed = true
		return
	}
	running := w.status == nil
	w.out.screen = true
	// The shell may be ahead of tmux.
	for deadline := time.Now().Add(w.settle); ; {
		out, err := w.srv.Do(ctx, tmux.CapturePane{Target: w.pane.ID, Print: true, Join: true, Start: tmux.LineEdge})
		if err != nil {
			w.missed = true
			return
		}
		lines, begun, ended := w.cmd.Between(shownLines(out[0]))
		if begun && (ended || running) || time.Now().After(deadline) || pause.For(ctx, 5*time.Millisecond) != nil {
			w.missed = !begun || !ended && !running
			if begun || w.begun {
				w.show(lines)
			}
			for _, l := range lines {
				w.out.Line(l)
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

// finish reads the rest of the output of a command that prints no more, and takes the exit status,
// if there is one.
func (w *waiter) finish() {
	w.missed = !w.cmd.Finish(w.settle) || w.missed
	w.takeEnd()
}

// answer finishes reading the output, and completes the result.
func (w *waiter) answer(ctx context.Context) *Result {
	if w.cmd.Close(); !w.cmd.Recorded() {
		w.readOff(ctx)
	}
	res, tty := &w.result, w.pane.TTY
	if res.PaneEnded {
		tty = ""
	}
	res.Job = &Job{job: w.cmd.Job, srv: w.srv, settle: w.settle, pane: *w.pane}
	res.Pane, res.Shell, res.Missed, res.lacks = w.pane.ID, w.shell.Name, w.missed || w.cmd.Missed(tty), w.missed || w.cmd.Dropped()
	res.Remote = Remote(w.cmd.Remote)
	res.Unproven = res.Remote != "" && w.status == nil && !w.cmd.Shown()
	switch {
	case w.status != nil:
		res.State, res.Status = Ended, *w.status
	case res.PaneEnded:
		res.State = Lost
	case w.cmd.Abandoned(): // what came afterwards is not its output
		res.State, res.Dropped, res.Missed = Lost, true, true
	case w.cmd.Stopped():
		res.State = Stopped
	case res.State == "":
		res.State = Running
	}
	if lost := res.State == Lost && !res.PaneEnded; lost || res.Missed {
		if dir, full := w.cmd.NoSpace(); full {
			res.FullDir = dir
		}
	}
	res.Output, res.Elapsed, res.Reached = w.out.kept.String(), time.Since(w.start), w.out.reached
	return res
}
