package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"tmuxmcp/internal/pause"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/server/internal/runner"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/stdio"
	"tmuxmcp/server/internal/typing"
	"tmuxmcp/tmux"
)

// recording is what is known of a command that runs in a pane.
type recording struct {
	rows.Source
	jobs   *Runner
	pane   *typing.Pane
	shell  *runner.Foreground
	cmd    *runner.Command // recorded, unless the pane's pipe belongs to another program
	out    *sink
	output Output
	start  time.Time
	limit  time.Duration
	typed  time.Time // when the line was typed
	detach bool      // the caller wants only the job's id
	found  bool      // a job that was begun earlier
	missed bool
	marked bool // the recording contains the end of the command
	result Result
}

const (
	// markWait is how long a mark may take after the last of the output, if the command is
	// known to have ended and the recorder is waiting for more; five times as long if it is
	// unknown what the recorder does.
	markWait = 2 * time.Second
	// readWait is how long reading a recording may take after the time is up.
	readWait = 10 * time.Second
)

// wait waits for the end of the command, and keeps what is known of it in result. The exit
// status comes with the second mark of the recording. It is also in a file, in case another
// program takes the pane's pipe; so the files are looked at in between.
func (r *recording) wait(ctx context.Context) error {
	limit := time.NewTimer(r.limit - time.Since(r.start))
	defer limit.Stop()
	ended, over := r.cmd.Ended, r.cmd.Over // nil, and so never ready, if nothing is recorded
	l := looks{pause: 100 * time.Millisecond, came: -1}
	if !r.cmd.Recorded() || r.detach {
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
				elapsed := time.Since(r.start)
				stdio.Progress(ctx, elapsed.Seconds(), r.limit.Seconds(),
					fmt.Sprintf("pane %s: %.0f s elapsed, %.0f s left", r.pane.ID, elapsed.Seconds(), (r.limit-elapsed).Seconds()))
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
func (r *recording) lookAtFiles(ctx context.Context, l *looks, marks bool) (done bool, err error) {
	if r.detach && r.cmd.Begun() {
		return true, nil
	}
	s := r.cmd.Look()
	switch {
	case s.Phase != runner.Ended && runner.Gone(r.shell.PID):
		if r.gone(ctx) {
			return true, nil
		}
		if r.result.State = Lost; r.found {
			return true, nil
		}
		return true, reply.Faultf(reply.KindRefused, "the shell in pane %s ended before the command did", r.pane.ID).
			Suggest("capture_pane shows what it printed")
	case s.Phase >= runner.Ended:
		if l.quiet++; marks && l.came != r.cmd.Came() {
			l.quiet, l.came = 0, r.cmd.Came()
		}
		if waited := time.Duration(l.quiet) * l.pause; !marks || waited > r.jobs.MarkWait && r.cmd.Drained() || waited > 5*r.jobs.MarkWait {
			r.missed = r.cmd.Recorded()
			if r.result.State = Lost; s.Phase == runner.Ended {
				r.result.ExitStatus = &s.Status
			}
			return true, nil
		}
	}
	if s.Phase == runner.Running && r.cmd.Stopped() {
		r.finishStopped(ctx)
		return true, nil
	}
	if l.unread++; time.Since(r.typed) < lineWait || r.cmd.Begun() || !r.pane.Idle(r.shell.PID) && !r.shell.Held() {
		l.unread = 0
	}
	return l.unread > 3 && r.cmd.Revoke(), nil
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
		r.result.ExitStatus, r.result.TimedOut, r.marked = &status, false, true
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
		_, _ = r.Tmux.Do(ctx, tmux.DisplayMessage{Target: r.pane.ID})
	}
	r.finish()
}

// gone reports, and records, whether the pane's program has ended. tmux may notice that later
// than the shell is seen to be gone, where that was the program.
func (r *recording) gone(ctx context.Context) bool {
	panes, err := typing.Programs(ctx, r.Tmux, tmux.DisplayMessage{Target: r.pane.ID})
	r.result.PaneGone = errors.Is(err, tmux.ErrNoServer) || errors.Is(err, tmux.ErrServerGone) ||
		err == nil && (panes[0].ID == "" || panes[0].Dead || panes[0].PID != r.pane.PID || r.shell.PID == r.pane.PID && runner.Gone(r.pane.PID))
	return r.result.PaneGone
}

// readOff reads the output from the screen and the history.
func (r *recording) readOff(ctx context.Context) {
	if r.result.PaneGone || ctx.Err() != nil {
		r.missed = true
		return
	}
	running := r.result.ExitStatus == nil
	// The shell may be ahead of tmux.
	for deadline := time.Now().Add(r.jobs.MarkWait); ; {
		out, err := r.Tmux.Do(ctx, tmux.CapturePane{Target: r.pane.ID, Print: true, Join: true, Start: tmux.LineEdge})
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

// finish reads all that a command has printed that prints no more, and takes the exit
// status, if there is one.
func (r *recording) finish() {
	r.missed = !r.cmd.Finish(r.jobs.MarkWait) || r.missed
	r.takeEnd()
}

// answer finishes reading the output and returns the result. whole is set if the result
// contains all of the output.
func (r *recording) answer(ctx context.Context) (res *Result, whole bool) {
	if r.cmd.Close(); !r.cmd.Recorded() {
		r.readOff(ctx)
	}
	res = &r.result
	id, tty := r.cmd.ID(), r.pane.TTY
	if res.PaneGone {
		tty = ""
	}
	res.PaneID, res.JobID, res.detached, res.LinesMissed = r.pane.ID, &id, r.detach, r.missed || r.cmd.Missed(tty)
	whole = r.show(ctx)
	if res.State = r.state(); res.State == Stopped {
		res.TimedOut = false
	}
	if note := r.note(ctx); note != "" {
		res.Note = &note
	}
	res.ElapsedSeconds, res.EffectiveTimeout = reply.Seconds(time.Since(r.start)), r.limit.Seconds()
	return res, whole
}

// show puts into the result what it has room for of the output, and reports whether that is
// all.
func (r *recording) show(ctx context.Context) (whole bool) {
	res, out := &r.result, r.out
	if failed := res.ExitStatus != nil && *res.ExitStatus != 0; failed && out.matched == 0 {
		out.kept = append(out.kept, out.end...)
	}
	lines, cut := reply.LastLines(out.kept, r.output.MaxLines)
	dropped := out.dropped + cut
	inJSON := r.Form.Results == reply.ResultsJSON
	room := r.Form.Room(ctx) - reply.LineRoom // in text, whose view omits the first lines
	fits := inJSON || out.bytes < room
	if inJSON { // the result contains it twice
		room = r.Form.Most/2 - jsonRoom
	}
	room = min(reply.MaxResult*2/5, max(room, leastRoom))
	lines, short := shortened(lines, room)
	if inJSON && len(lines) > 0 {
		// [reply.Form.Limit] could not say how much it truncates.
		cut = len(lines) - max(1, reply.Fitting(lines, room, jsonSize))
		lines, dropped = lines[cut:], dropped+cut
	}
	res.Output, res.OutputLines = append([]string{}, lines...), out.lines
	res.OutputTruncated, res.OutputTruncatedLines = short || dropped > 0, dropped
	if out.m != nil {
		res.MatchedLines = &out.matched
	}
	return fits && !res.OutputTruncated && len(lines) >= out.lines
}

// state returns the state of the job.
func (r *recording) state() string {
	switch {
	case r.result.ExitStatus != nil:
		return Ended
	case r.result.PaneGone:
		return Lost
	case r.cmd.Stopped():
		return Stopped
	}
	return cmp.Or(r.result.State, Running)
}

// note returns what the caller should know besides; "" if there is nothing.
func (r *recording) note(ctx context.Context) string {
	res := &r.result
	if lost := res.State == Lost && !res.PaneGone; lost || res.LinesMissed {
		if dir, full := r.cmd.NoSpace(); full && lost {
			return "it was killed, or its exit status could not be recorded: no space left in " + dir
		} else if full {
			return "its output could not be recorded: no space left in " + dir
		}
	}
	switch {
	case res.State == Stopped:
		return "it was stopped, as C-z does: fg, typed at the prompt, goes on with it; cancel_job ends it"
	case r.out.err != nil:
		return "not all lines were matched: " + r.out.err.Error()
	case res.Note != nil:
		return *res.Note
	case res.State == Running && !r.detach && r.asks(ctx):
		return "it seems to wait for input: send_keys answers it" // the output ends with a question
	}
	return ""
}

// asks reports whether the cursor is right after text that ends as questions or prompts do.
func (r *recording) asks(ctx context.Context) bool {
	if ctx.Err() != nil || r.pane.LookAgain(ctx, r.Tmux) != nil || r.pane.Y >= len(r.pane.Screen) {
		return false
	}
	text := []rune(strings.TrimRight(r.pane.Screen[r.pane.Y], " "))
	n := len(text)
	return n > 0 && strings.ContainsRune(":?>])$#", text[n-1]) && n <= r.pane.X && r.pane.X <= 2*n+1
}

const (
	// longShown is how much is shown of a line that would displace others.
	longShown = 2000
	// jsonRoom is about the size of a result in JSON without its output, and leastRoom the
	// minimum left for its output, even in a large batch.
	jsonRoom, leastRoom = 500, 100
)
