package screen

import (
	"slices"
	"strings"

	"tmuxmcp/server/internal/reply"
	"tmuxmcp/tmux"
)

// returned is what run_command has returned of a command.
type returned struct {
	echoed int       // how many lines were shown before its output, if all of them are new
	lines  int       // how many lines it printed, if all of them are new
	last   []string  // the last of them, in order
	size   int       // of the very last
	above  rowsAbove // the prompt at which it was typed

	goesOn bool     // so does the command, and perhaps its last line
	line   string   // the one that the call was for then
	echo   []string // what was shown before its output
}

// mostReturned is how many of the last lines are kept, and mostCompared how many bytes of each.
const mostReturned, mostCompared = 8, 200

// Returned records that run_command has returned what a command has printed, and its end: so many
// lines, of which these were the last. at is the bookmark of the line that it typed.
func (r *Reader) Returned(srv *tmux.Server, at Bookmark, lines int, last []string) {
	r.Ledger.Report(at.pane(srv), at.line)
	r.returned(srv, at, lines, last, nil)
}

// Shown records that it has returned what a command that still runs has printed so far. line
// is the one that the call was for, which may no longer be among the last, or in the output.
func (r *Reader) Shown(srv *tmux.Server, at Bookmark, lines int, last []string, line string) {
	for len(last) > 0 && strings.TrimRight(last[len(last)-1], " ") == "" { // the cursor is below: nothing shows of them
		last, lines = last[:len(last)-1], lines-1
	}
	r.returned(srv, at, lines, last, &line)
}

func (r *Reader) returned(srv *tmux.Server, at Bookmark, lines int, last []string, goesOn *string) {
	if r.bookmarks.of(srv, at.Mark.Pane).echo != at.echo {
		return // something was typed, or waited for, since
	}
	kept := &returned{above: at.echo.above, goesOn: goesOn != nil}
	if at.typed { // otherwise a wait has seen some of it
		kept.echoed, kept.lines = len(at.echo.Lines), lines
	}
	for _, line := range last[max(0, len(last)-mostReturned):] {
		kept.last = append(kept.last, compared(line))
		kept.size = len(strings.TrimRight(line, " "))
	}
	if goesOn != nil {
		kept.line, kept.echo = compared(*goesOn), at.echo.Lines
	}
	at.returned = kept
	r.bookmarks.set(srv, at)
}

// Runs records which job the line that run_command typed has begun.
func (r *Reader) Runs(srv *tmux.Server, at Bookmark, job string) {
	r.Ledger.Runs(at.pane(srv), at.line, job)
}

// JobReturned does for a job what Returned does or, while it runs, what Shown does, unless
// something has been typed in its pane since.
func (r *Reader) JobReturned(srv *tmux.Server, pane tmux.PaneID, job string, ended bool, lines int, last []string, line string) {
	at := r.bookmarks.of(srv, pane)
	if at.Mark == nil || at.echo == nil || job == "" {
		return
	}
	if line, _ := r.Ledger.Of(at.pane(srv)); line.Job != job {
		return
	}
	if !ended {
		r.Shown(srv, at, lines, last, line)
		return
	}
	r.Returned(srv, at, lines, last)
}

// after returns the new lines of a pane, and their rows, that were printed after the command
// had ended or, if it still runs, after what was returned of it.
func (r *returned) after(fresh []string, rows []int) ([]string, []int) {
	end := -1
	if len(rows) >= len(fresh) {
		end = r.end(fresh)
	}
	switch {
	case !r.goesOn:
	case len(r.last) == 0: // what the call was for is not in its output: it was drawn over, or on the alternate screen
		end = -1
	case end > 0 && len(strings.TrimRight(fresh[end-1], " ")) > r.size:
		end-- // more of that line has come
	case end < 0 && len(rows) >= len(fresh) && len(r.last) > 1: // the last may have changed, as a progress bar does
		before := returned{echoed: r.echoed, lines: max(0, r.lines-1), last: r.last[:len(r.last)-1]}
		end = before.end(fresh)
	}
	switch {
	case end >= 0:
		return fresh[end:], rows[end:]
	case r.goesOn:
		return r.without(fresh, rows)
	}
	return fresh, rows
}

// without returns new lines, and their rows, apart from those that were returned, wherever they
// are: the command has cleared or switched the screen.
func (r *returned) without(fresh []string, rows []int) (left []string, at []int) {
	were := map[string]int{}
	for _, line := range r.last {
		were[line]++
	}
	were[r.line] = max(were[r.line], 1)
	for i, line := range fresh {
		if key := compared(line); were[key] > 0 {
			were[key]--
			continue
		}
		if slices.ContainsFunc(r.echo, func(echo string) bool { return strings.HasSuffix(line, echo) }) {
			continue
		}
		if left = append(left, line); i < len(rows) {
			at = append(at, rows[i])
		}
	}
	return left, at
}

// end returns how many of the new lines were returned; -1 if unknown.
func (r *returned) end(fresh []string) int {
	end := r.echoed + r.lines
	for at := r.lines; !r.endsAt(fresh, end); at++ { // it has drawn over some
		if end = at; at > len(fresh) {
			return -1
		}
	}
	return end
}

// endsAt reports whether the first lines are those up to the end of the output.
func (r *returned) endsAt(lines []string, end int) bool {
	last := r.last
	if r.lines == 0 && 0 < end {
		last = last[max(0, len(last)-end):]
	}
	if end > len(lines) || end < len(last) {
		return false
	}
	for i, want := range last {
		got := lines[end-len(last)+i]
		switch whole := i < len(last)-1; { // the prompt may follow the last
		case whole && compared(got) != want, !strings.HasPrefix(got, want):
			return false
		}
	}
	return true
}

func compared(line string) string {
	return strings.TrimRight(reply.Head(line, mostCompared), " ")
}
