package tmux

import (
	"context"
	"strings"
)

// The rows of a pane's normal screen are numbered from the oldest of its history. A row keeps its
// number when the screen scrolls and when the pane gets higher or lower: the number is the size of
// the history and the row on the screen, together. Numbers change when tmux trims or clears the
// history, when the pane gets wider or narrower, and, below it, when a part of the screen scrolls.

// PaneState is what a [Look] knows of a pane besides its text.
type PaneState struct {
	ID PaneID `tmux:"pane_id"`
	// PID is empty from tmux 3.8 on once the program has let go of its terminal, which
	// is before the pane is Dead.
	PID        string `tmux:"pane_pid"`
	TTY        string `tmux:"pane_tty"`
	Dead       bool   `tmux:"pane_dead"`
	DeadStatus *int   `tmux:"pane_dead_status"`
	// Bell is set while a bell that nobody has seen stands in the pane's window.
	Bell bool `tmux:"window_bell_flag"`
	// Alternate is set while the program draws on the alternate screen.
	Alternate bool `tmux:"alternate_on"`
	Width     int  `tmux:"pane_width"`
	Height    int  `tmux:"pane_height"`
	// CursorY is the cursor's row on the screen, from 0.
	CursorY int `tmux:"cursor_y"`
	// History is the number of rows above the screen, and Limit the most there can be.
	History int `tmux:"history_size"`
	Limit   int `tmux:"history_limit"`
	// Generation counts what the pane has printed; nil before tmux 3.8.
	Generation *int64 `tmux:"pane_output_generation,since=3.8"`

	// How often the history was cleared or wrapped anew, how many rows it was given,
	// and how many were trimmed.
	HistoryGeneration *int64 `tmux:"history_generation,since=3.8"`
	HistoryAdded      *int64 `tmux:"history_added,since=3.8"`
	HistoryCollected  *int64 `tmux:"history_collected,since=3.8"`

	SavedY int `tmux:"alternate_saved_y"`
}

// trimStep is how many rows tmux takes off a full history at a time.
func (s PaneState) trimStep() int { return max(s.Limit/10, 1) }

// mayTrim reports whether the history is, or was with so many rows more, so full that rows may have
// lost their numbers.
func (s PaneState) mayTrim(more int) bool { return s.History+more >= s.Limit-s.trimStep() }

// cursor is the number of the row on the normal screen in which the cursor is or, while the
// alternate screen shows, was.
func (s PaneState) cursor() int {
	if s.Alternate {
		return s.History + min(s.SavedY, s.Height-1)
	}
	return s.History + s.CursorY
}

// Look is one look at a pane: what it shows, and what has become new since an earlier look. See
// [PaneRef.Look].
type Look struct {
	PaneState
	// New are the lines that were printed, changed or drawn since the earlier look, in their order:
	// first the history and the normal screen, then the alternate screen. A line that was wrapped is
	// one line. A line that has only moved is not new. Spaces at the ends of lines are removed. Long
	// lines that the alternate screen hides in a pane that was resized since are new once they show.
	New []string
	// Missed is set if output may be missing from New, since it was cleared, or trimmed off the
	// history, before it could be read; New is then all that is left.
	Missed bool
	// Printed is set if there is anything in New, or the cursor went down past blank lines.
	Printed bool

	rows []string   // of the normal screen and of the history from top on, with spaces at their ends
	top  int        // the number of the first
	all  []textLine // the same rows as lines
	alt  []textLine // of the alternate screen, if it shows
	// digests has a digest for each of all, once they were compared with a mark.
	digests []uint64
	mixed   bool // see Mark
	// kept is the earlier mark, if what the alternate screen hides is as it was then.
	kept *Mark
	// cut says which lines may be cut, because tmux does not wrap what the alternate screen hides
	// when that gets narrower; nil if none are.
	cut []bool

	grown int // by how many rows the history has grown since the earlier look
}

// textLine is a line of text: one row, or several that were wrapped.
type textLine struct {
	text       string // without spaces at its end
	first, end int    // the numbers of its first row and of the one after its last
}

// Lines are the lines on the screen that shows, down to the last that is not blank.
func (l *Look) Lines() []string {
	lines := l.alt
	if !l.Alternate {
		lines = l.all
	}
	var shown []string
	for _, line := range lines {
		if l.Alternate || line.end > l.History {
			shown = append(shown, line.text)
		}
	}
	return trimBlank(shown)
}

// Tail is [Look.Lines] and, of the normal screen, the lines above it that were read too.
func (l *Look) Tail() []string {
	if l.Alternate {
		return l.Lines()
	}
	var read []string
	for _, line := range l.all {
		read = append(read, line.text)
	}
	return trimBlank(read)
}

// trimBlank leaves out the blank lines at the end.
func trimBlank(lines []string) []string {
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

const (
	// tailRows is how many rows above the screen a look remembers. Nothing can write to
	// them any more, so they show whether rows still have their numbers.
	tailRows = 40
	// leastSlack is how many rows a pane may print between two looks without costing
	// another round trip.
	leastSlack = 100
	// mostRows is how many rows of the history are read at most.
	mostRows = 50_000
)

// Look looks at the pane. With the [Mark] of an earlier look at it, the new Look says what has
// become new since. It takes one round trip to the server; where much was printed, or where rows
// may have been renumbered, two or three.
//
// What was printed and written over between two looks, such as a progress bar, is not seen. A line
// may be new twice if the pane got higher, its program moved the line, and it got lower again. Before
// tmux 3.8 nothing shows that a pane was cleared if there was nothing above its cursor, or if the
// same was printed again; nor, in a full history, how often the same line was.
func (r PaneRef) Look(ctx context.Context, since *Mark) (*Look, error) {
	return r.srv.LookAt(ctx, r, since)
}

// LookAt is [PaneRef.Look] for any target; nil is the pane that tmux would take.
func (s *Server) LookAt(ctx context.Context, target Target, since *Mark) (*Look, error) {
	above := tailRows
	if since != nil {
		above += leastSlack + 2*since.grown
	}
	for try := 0; ; try++ {
		above = min(above, mostRows)
		var b Batch
		l := addLook(&b, target, above)
		if err := b.Do(ctx, s); err != nil {
			return nil, err
		}
		if since == nil {
			return l, nil
		}
		need := since.compare(l, try == 3 || l.top == 0 || above == mostRows)
		if need >= l.top {
			return l, nil
		}
		// Some more are printed until they are read.
		above = l.History - need + leastSlack + 2*max(0, l.History-since.history)
	}
}

// AddLook appends a look at a pane. The Look it points to after [Batch.Do] has nothing new, and
// its [Look.Mark] is that of the moment between the commands before and after it.
func AddLook(b *Batch, target Target) *Look { return addLook(b, target, tailRows) }

// addLook appends the commands that read a pane from so many rows above the screen on.
func addLook(b *Batch, target Target, above int) *Look {
	l := new(Look)
	start := Line(-above)
	states := Rows[PaneState](b, DisplayMessage{Target: target})
	capture := func(what CapturePane) *[]byte {
		what.Target, what.Print = target, true
		i := len(b.steps)
		printed := Add(b, what)
		b.steps[i].prepare = func(v Version) (Command, error) {
			// Rows as -J joins them: until 3.3 that is with the unused cells.
			what.UsedCells = what.KeepSpaces && UsedCells.In(v)
			return what, nil
		}
		return printed
	}
	rows, lines := capture(CapturePane{KeepSpaces: true, Start: start}), capture(CapturePane{Join: true, Start: start})
	// Without an alternate screen these two print nothing.
	saved, savedLines := capture(CapturePane{KeepSpaces: true, Alternate: true, Quiet: true}), capture(CapturePane{Join: true, Alternate: true, Quiet: true})
	last := &b.steps[len(b.steps)-1]
	decode := last.decode
	last.decode = func(srv *Server, v Version, out []byte) error {
		if err := decode(srv, v, out); err != nil {
			return err
		}
		l.PaneState = (*states)[0]
		l.top = max(0, l.History-above)
		l.rows = splitRows(*rows)
		joined := splitRows(*lines)
		if l.Alternate {
			// What shows is the alternate screen; the history is the normal one's.
			shown := min(len(l.rows), l.History-l.top)
			above, below, wrapped := splitJoined(joined, l.rows, shown)
			l.alt = joinRows(l.rows[shown:], below, 0)
			hidden := splitRows(*savedLines)
			if wrapped {
				hidden[0] = above[len(above)-1] + hidden[0]
				above = above[:len(above)-1]
			}
			l.rows = append(l.rows[:shown:shown], splitRows(*saved)...)
			joined = append(above[:len(above):len(above)], hidden...)
		}
		l.all = joinRows(l.rows, joined, l.top)
		if l.Alternate {
			l.cut = make([]bool, len(l.all))
			for i, line := range l.all {
				for n := line.first; n < line.end; n++ {
					l.cut[i] = l.cut[i] || len(l.rows[n-l.top]) >= l.Width
				}
			}
		}
		return nil
	}
	return l
}

func splitRows(out []byte) []string {
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

// splitJoined splits joined lines before a row. If that row is in the middle of a line, the line is
// in both parts, and wrapped is set.
func splitJoined(joined, rows []string, at int) (above, below []string, wrapped bool) {
	next := 0
	for i, text := range joined {
		if next == at {
			return joined[:i], joined[i:], false
		}
		first := next
		for size := 0; next < len(rows) && (next == first || size < len(text)); next++ {
			if next == at {
				above = append(joined[:i:i], text[:size])
				return above, append([]string{text[size:]}, joined[i+1:]...), true
			}
			size += len(rows[next])
		}
	}
	return joined, nil, false
}

// joinRows finds out which rows each joined line is made of.
func joinRows(rows, joined []string, top int) []textLine {
	lines := make([]textLine, 0, len(joined))
	next := 0
	for _, text := range joined {
		l := textLine{text: strings.TrimRight(text, " "), first: top + next}
		for size := 0; next < len(rows) && (l.first == top+next || size < len(text)); next++ {
			size += len(rows[next])
		}
		l.end = top + next
		lines = append(lines, l)
	}
	return lines
}
