package screen

import (
	"slices"
	"strings"
	"time"

	"tmuxmcp/internal/runner"
	"tmuxmcp/server/internal/ledger"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/follow"
)

// ending is what a wait knows of the end of the program that it is for.
type ending struct {
	pane    ledger.Pane
	line    ledger.Line // what was typed, if known
	known   bool
	since   time.Time // when the look was made after which all is new to the wait
	foreign bool      // a program ran in the foreground when the wait began
	runs    bool      // one has been seen there since
	changed bool      // the pane has printed since
	verdict ledger.Verdict
	back    time.Time // since when it has ended; zero if it has not
	proven  bool      // by an empty prompt
	arrived int       // the number of the line that had been read at the last look
	sure    bool      // and at the look before
	taken   int       // the number of the line after which the prompt came
	wiped   int       // the number of the line that cleared the screen
	row, y  int       // where the first line was submitted: as in NewRows, and on the screen; -1 if unknown
	again   time.Time // when to look again though nothing is printed; zero if not
}

const (
	// promptPause is how long a wait continues once a shell is at an empty prompt, for
	// another look at the pane: at the first, tmux may not have passed on what was typed.
	promptPause = 50 * time.Millisecond
	// endPause is how long the pane's own program must have been in the foreground again,
	// without output, for one that it has started to count as ended, if it shows no prompt that
	// is known: between the commands of a line it is there too.
	endPause = 250 * time.Millisecond
	// readWait is how long what was typed may take to be read, on a busy machine, if nothing
	// that is printed or runs shows that it was: the kernel hands it on when it has time.
	readWait = 500 * time.Millisecond
	// alivePause is the time between two looks at what a line has left in the background.
	alivePause = 500 * time.Millisecond
)

// due returns when the program has ended if a look that begins then finds no other, given when
// the pane last printed. What it printed itself is above the prompt that proves it.
func (e *ending) due(printed time.Time) time.Time {
	switch {
	case e.proven:
		return e.back.Add(promptPause)
	case printed.After(e.back):
		return printed.Add(endPause)
	}
	return e.back.Add(endPause)
}

// submitted reports whether this server has submitted a line, and the prompt that comes after
// it has not been seen yet.
func (e *ending) submitted() bool {
	return len(e.line.SubmittedSince(e.since)) > 0 && e.taken != e.line.Number()
}

// sees judges by a look whether the program has ended.
func (e *ending) sees(pid int, l *follow.Look) {
	shown, shell := promptOf(pid, l, e.line)
	runs := inForeground(pid)
	now := time.Now()
	e.runs = e.runs || runs || e.line.Ran && !e.line.Reported
	e.changed = e.changed || l.Printed
	prompt, proven, again := e.prompt(shown, shell.IsShell(), runs || pid == 0, now)
	e.again = again
	e.verdict = ledger.FactsOf(e.line, e.known, prompt, e.foreign).Verdict()
	if e.verdict == ledger.Ended && proven && e.known && shell.BegunSince(time.Since(e.line.Began)) {
		e.verdict, e.again = ledger.Runs, now.Add(alivePause)
	}
	switch {
	case e.verdict != ledger.Ended:
		e.back = time.Time{}
	case e.back.IsZero() || proven != e.proven:
		e.back = now
	}
	e.proven = proven
	e.arrives(proven, runs, now)
}

// prompt returns what is known of the prompt by a look that has shown it so, and whether an
// empty one is proven. mayRun is set if a program runs in the foreground, or if that is not
// known. again is when to look again though nothing is printed; zero if not.
func (e *ending) prompt(shown ledger.Prompt, isShell, mayRun bool, now time.Time) (prompt ledger.Prompt, proven bool, again time.Time) {
	proven = shown == ledger.EmptyPrompt
	if proven && !e.shows(now) {
		return ledger.NoPrompt, false, e.line.At.Add(readWait)
	}
	switch {
	case !e.runs || mayRun:
		return shown, proven, time.Time{}
	case isShell && shown == ledger.NoPrompt: // the shell itself runs, as in its builtin read
		return shown, proven, now.Add(endPause)
	}
	return ledger.EmptyPrompt, proven, time.Time{} // as far as is known
}

// shows reports whether the looks so far can show what the line has done, because something
// has been printed since, or it was typed a while ago. Otherwise tmux may not have passed that on,
// though the shell has read the line, and even run it. That a program ran which does no more is
// enough if the line was for that.
func (e *ending) shows(now time.Time) bool {
	submitted := e.line.SubmittedSince(e.since)
	atPrompt := len(submitted) > 0 && submitted[len(submitted)-1].Prompt != ""
	return e.changed || e.line.Read || e.runs && !atPrompt || !now.Before(e.line.At.Add(readWait))
}

// arrives records whether the line has been read. At the first look that finds that, tmux may
// not have passed it on.
func (e *ending) arrives(proven, runs bool, now time.Time) {
	n := e.line.Number()
	if !proven && !runs {
		e.sure, e.arrived = false, 0
		return
	}
	e.sure, e.arrived = e.shows(now) && e.arrived == n, n
	if e.sure && proven {
		e.taken = n
	}
}

// wipes reports, once for each line that this server has submitted, whether the line has
// cleared the screen. Then what was printed before is gone, and what came afterwards may look
// as the screen did.
func (p *waitedPane) wipes(l *follow.Look) bool {
	if l.Shift < 0 {
		p.row = -1
	} else if p.row -= l.Shift; p.row < 0 {
		p.row = -1
	}
	n := p.line.Number()
	last := ledger.Submission{Prompt: p.line.Prompt, Text: p.line.Last}
	is := p.row >= 0 && wiped(l, p.row, l.CursorIn() <= p.row, last) || p.row < 0 && p.y < l.Height-1 && wiped(l, -1, l.CursorY <= p.y, last)
	if !is || p.wiped == n || len(p.line.SubmittedSince(p.since)) == 0 {
		return false
	}
	if !p.sure {
		if p.arrived == n && p.again.IsZero() {
			p.again = time.Now().Add(promptPause)
		}
		return false
	}
	p.wiped = n
	return true
}

// wiped reports whether the screen was cleared, or drawn on from above, since a line was
// submitted in a row, -1 if unknown, at a prompt: what a shell does with a line leaves the
// cursor further down, the prompt in its row, and the line on the screen. up is set if the
// cursor is no further down.
func wiped(l *follow.Look, row int, up bool, typed ledger.Submission) bool {
	if !up && row >= 0 {
		first, text := l.LineAt(row)
		shown := unspaced(strings.Trim(text, "<>*+")) // an editor may scroll the line sideways
		up = first >= 0 && !begins(text, strings.TrimRight(typed.Prompt, " ")) && !strings.Contains(unspaced(typed.Prompt+typed.Text), shown)
	}
	return up && !l.Alternate && !slices.ContainsFunc(l.Lines(), func(line string) bool {
		return typed.Text != "" && len(line) > len(typed.Text) && strings.HasSuffix(line, typed.Text)
	})
}

// cleared reports whether lines that were submitted since a bookmark seem to have cleared the
// screen. Those that a program has read may leave the cursor where it was, and are not shown.
func cleared(l *follow.Look, since Bookmark, lines []ledger.Submission) bool {
	var own []ledger.Submission
	for _, line := range lines {
		if line.Prompt != "" {
			own = append(own, line)
		}
	}
	n := len(own)
	return n > 0 && (since.prompt && l.WasRow >= 0 && wiped(l, l.WasRow, l.CursorIn() < l.WasRow+n, own[0]) ||
		l.Shift == 0 && wiped(l, own[n-1].Row, l.CursorIn() <= own[n-1].Row, own[n-1]))
}

// withoutPrompt returns new lines without the prompt at which the cursor is, if they end with
// it: for a wait for any output, that is none.
func (p *waitedPane) withoutPrompt(l *follow.Look, fresh []string) []string {
	_, text := l.CursorLine()
	if p.line.Prompt == "" || !runner.SameButDigits(text, strings.TrimRight(p.line.Prompt, " ")) {
		return fresh
	}
	if n := len(fresh) - 1; n >= 0 && fresh[n] == text {
		fresh = fresh[:n]
	}
	if p.returned == nil || len(fresh) > promptRows {
		return fresh
	}
	for i := range fresh { // what else is new may be output
		if !p.returned.above.shows(len(fresh)-1-i, fresh[i], false) {
			return fresh
		}
	}
	return nil
}

// inLedger returns the pane of a look, as the ledger knows it.
func inLedger(srv *tmux.Server, l *follow.Look) ledger.Pane {
	return ledger.Pane{Socket: srv.SocketPath(), ID: string(l.ID), PID: reply.Value(l.PID)}
}

// line returns what the ledger records of something that was typed while a pane looked like
// this, and whether it records it: run_command also types keys, to get an empty prompt.
func (e *Echo) line(l *follow.Look, what Echo, began time.Time) (line ledger.Line, counts bool) {
	line = ledger.Line{Began: began, At: began, AtPrompt: e.prompt != "", Ran: e.ran, Prompt: e.prompt}
	if what.Command {
		line.AtPrompt, line.Prompt = true, leftOfCursor(l)
	}
	if what.Entered || what.Command {
		line.Submitted = began
	}
	if n := len(what.Lines); n > 0 {
		line.Last = what.Lines[n-1]
	}
	return line, what.Command || len(what.Lines) > 0 || what.Entered || what.Edits
}

// promptOf returns what a pane shows of its shell's prompt, given what was typed there, and
// the shell. It asks the system after the look, so a line that was submitted before that look
// and that the shell has not read yet is not missed, unless tmux has not passed it on.
func promptOf(pid int, l *follow.Look, line ledger.Line) (ledger.Prompt, runner.Foreground) {
	shell, known := readerOf(pid, l)
	switch {
	case !known, l.Alternate, !shell.IsShell(), !shell.Prompt, !shell.Waiting:
		return ledger.NoPrompt, shell
	case shell.PID != pid && !line.Submitted.IsZero() && shell.Younger(time.Since(line.Submitted)):
		return ledger.NoPrompt, shell // of a shell that the line has begun
	}
	left, right := besideCursor(l)
	if left+strings.TrimSpace(right) == "" && printedOver(l, line) {
		return ledger.EmptyPrompt, shell
	}
	if !shell.AtPrompt(left) {
		return ledger.NoPrompt, shell
	}
	if prompt := unspaced(line.Prompt); prompt != "" && strings.ReplaceAll(unspaced(left), prompt, "") == "" && strings.TrimSpace(right) == "" && !shell.Edits() {
		return ledger.EmptyPrompt, shell // more than one, if lines were typed ahead and the terminal gathers them
	}
	typed := line.Prompt != "" && len(left) > len(line.Prompt) && begins(left, line.Prompt) || line.Last != "" && strings.HasSuffix(strings.TrimSpace(left), line.Last)
	if typed && !runner.SameButDigits(strings.TrimRight(left, " "), strings.TrimRight(line.Prompt, " ")) || !shell.HasEmptyLine(left, right, line.Prompt) {
		return ledger.HalfTyped, shell
	}
	return ledger.EmptyPrompt, shell
}

// printedOver reports whether the prompt is above the empty line of the cursor: a job in the
// background has printed behind it.
func printedOver(l *follow.Look, line ledger.Line) bool {
	if strings.TrimSpace(line.Prompt) == "" || line.Last == "" {
		return false
	}
	lines, _ := l.Above(l.Height)
	for _, text := range lines {
		switch {
		case strings.HasSuffix(text, line.Last):
			return false // where it was typed: the line itself may read
		case begins(text, line.Prompt):
			return true
		}
	}
	return false
}
