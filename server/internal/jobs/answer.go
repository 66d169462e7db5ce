package jobs

import (
	"context"
	"time"

	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/tmux/prompt"
	"tmuxmcp/tmux/shell"
)

// answer makes the result of a call from what became of a command.
type answer struct {
	rows.Source
	out    *sink
	output Output
	limit  time.Duration
	text   string // the command, if the call began it
	keep   bool   // it ran in the shell itself
	detach bool   // the caller wants only the job's id
	job    bool   // the call is about a job that was begun earlier
	result Result
	shown  bool
}

func (a *answer) of(ctx context.Context, r *shell.Result) *Result {
	if !a.shown {
		a.show(ctx, r)
	}
	res := &a.result
	res.PaneID, res.State, res.PaneGone, res.LinesMissed, res.detached = r.Pane, string(r.State), r.PaneEnded, r.Missed, a.detach
	if r.Job != nil {
		id := r.Job.ID()
		res.JobID = &id
	}
	res.TimedOut = r.State == shell.Running && !r.Reached && !a.detach && a.limit > 0
	if w := a.out.await; w != nil && w.reached != "" {
		line, _ := shortened([]string{w.line}, longShown)
		res.Reached, res.ReachedLine, res.line = &w.reached, &line[0], w.line
	} else if w != nil {
		res.unready = w.err == nil && len(w.ready) > 0
	}
	if note := a.note(ctx, r); note != "" {
		res.Note = &note
	}
	res.ElapsedSeconds, res.EffectiveTimeout = reply.Seconds(r.Elapsed), a.limit.Seconds()
	return res
}

// show puts into the result what it has room for of the output, and reports whether that is
// all.
func (a *answer) show(ctx context.Context, r *shell.Result) (whole bool) {
	a.shown = true
	res, out := &a.result, a.out
	if r.State == shell.Ended {
		res.ExitStatus = &r.Status
	}
	if failed := res.ExitStatus != nil && *res.ExitStatus != 0; failed && out.matched == 0 {
		out.kept = append(out.kept, out.end...)
	}
	lines, cut := reply.LastLines(out.kept, a.output.MaxLines)
	dropped := out.dropped + cut
	inJSON := a.Form.Results == reply.ResultsJSON
	room := a.Form.Room(ctx) - reply.LineRoom // in text, whose view omits the first lines
	fits := inJSON || out.bytes < room
	if inJSON { // the result contains it twice
		room = a.Form.Most/2 - jsonRoom
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

// note returns what the caller should know besides; "" if there is nothing.
func (a *answer) note(ctx context.Context, r *shell.Result) reply.Words {
	unmatched, changer := a.out.err, ""
	if unmatched == nil && a.out.await != nil {
		unmatched = a.out.await.err
	}
	if r.State == shell.Ended && r.Status == 0 && !a.keep {
		changer = changesShell(a.text)
	}
	words := noteOf(r, unmatched, changer)
	if words == "" && r.State == shell.Running && !a.detach && a.asks(ctx, r) {
		return "it seems to wait for input: send_keys answers it" // the output ends with a question
	}
	return words
}

// noteOf returns the note that follows from a result. unmatched is why not all lines were matched,
// and changer the command that has changed a shell which has ended; "" if none has.
func noteOf(r *shell.Result, unmatched error, changer string) reply.Words {
	killed := r.State == shell.Lost && !r.PaneEnded
	switch {
	case r.FullDir != "" && killed:
		return reply.Say("it was killed, or its exit status could not be recorded: no space left in %s", r.FullDir)
	case r.FullDir != "":
		return reply.Say("its output could not be recorded: no space left in %s", r.FullDir)
	case r.Unproven && r.State == shell.Lost:
		return "the connection was lost as it was started: it may have run"
	case r.Unproven:
		return "it was started, but does not show yet that it has begun: it may have"
	case r.Remote != "" && killed:
		return "the connection was lost while it ran: its exit status is not known"
	case r.Dropped:
		return "its shell has dropped it, as after C-c or an error: the exit status is not known"
	case r.State == shell.Stopped:
		return "it was stopped, as C-z does: fg, typed at the prompt, goes on with it; cancel_job ends it"
	case unmatched != nil:
		return reply.Say("not all lines were matched: %s", unmatched)
	case r.ShellEnded && !r.PaneEnded && r.Remote != "":
		return "what led to its shell has ended: " + reply.Named(r.Shell, "")
	case r.ShellEnded && !r.PaneEnded:
		return "the shell it ran in has ended: " + reply.Named(r.Shell, "")
	case changer != "" && (r.Remote == "sh" || r.Remote == "fish"):
		return reply.Say("%s changed a shell of its own, which has ended", changer)
	case changer != "":
		return reply.Say("%s changed a subshell, which has ended: with keep it lasts", changer)
	}
	return ""
}

// asks reports whether the pane shows a question, and the cursor behind it.
func (a *answer) asks(ctx context.Context, r *shell.Result) bool {
	if ctx.Err() != nil {
		return false
	}
	pane, err := prompt.Look(ctx, a.Tmux, r.Pane)
	return err == nil && pane.Asks()
}

const (
	// longShown is how much is shown of a line that would displace others.
	longShown = 2000
	// jsonRoom is about the size of a result in JSON without its output, and leastRoom the
	// minimum left for its output, even in a large batch.
	jsonRoom, leastRoom = 500, 100
)
