package screen

import (
	"strings"

	"tmuxmcp/server/internal/reply"
	"tmuxmcp/tmux"
)

// returned is what run_command has returned of a command.
type returned struct {
	echoed int       // how many lines were shown before its output, if all of them are new
	lines  int       // how many lines it printed, if all of them are new
	last   []string  // the last of them, in order
	above  rowsAbove // the prompt at which it was typed
}

// mostReturned is how many of the last lines are kept, and mostCompared how many bytes of each.
const mostReturned, mostCompared = 8, 200

// Returned records that run_command has returned what a command has printed: so many lines,
// of which these were the last. at is the bookmark of the line that it typed.
func (r *Reader) Returned(srv *tmux.Server, at Bookmark, lines int, last []string) {
	r.Ledger.Report(at.pane(srv), at.line)
	if r.bookmarks.of(srv, at.Mark.Pane).echo != at.echo {
		return // somebody has typed, or waited, since
	}
	kept := &returned{above: at.echo.above}
	if at.typed { // otherwise a wait has seen some of it
		kept.echoed, kept.lines = len(at.echo.Lines), lines
	}
	for _, line := range last[max(0, len(last)-mostReturned):] {
		kept.last = append(kept.last, compared(line))
	}
	at.returned = kept
	r.bookmarks.set(srv, at)
}

// Runs records which job the line that run_command typed has begun.
func (r *Reader) Runs(srv *tmux.Server, at Bookmark, job string) {
	r.Ledger.Runs(at.pane(srv), at.line, job)
}

// JobReturned does what Returned does for a job, if nothing was typed in its pane since.
func (r *Reader) JobReturned(srv *tmux.Server, pane tmux.PaneID, job string, lines int, last []string) {
	at := r.bookmarks.of(srv, pane)
	if at.Mark == nil || at.echo == nil || job == "" {
		return
	}
	if line, _ := r.Ledger.Of(at.pane(srv)); line.Job != job {
		return
	}
	r.Returned(srv, at, lines, last)
}

// after returns those of the new lines of a pane that were printed after the command ended,
// and their rows.
func (r *returned) after(fresh []string, rows []int) ([]string, []int) {
	if len(rows) < len(fresh) {
		return fresh, rows
	}
	end := r.echoed + r.lines
	for at := r.lines; !r.endsAt(fresh, end); at++ { // it has drawn over some
		if end = at; at > len(fresh) {
			return fresh, rows
		}
	}
	return fresh[end:], rows[end:]
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

// compared returns the part of a line that is compared.
func compared(line string) string {
	return strings.TrimRight(reply.Head(line, mostCompared), " ")
}
