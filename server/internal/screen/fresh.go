package screen

import (
	"slices"

	"tmuxmcp/server/internal/reply"
	"tmuxmcp/tmux/follow"
)

// freshLines are the new lines of a pane since a wait began. A line that its program keeps
// redrawing, such as a progress bar, counts as one line: its last state.
type freshLines struct {
	lines   []freshLine
	bytes   int
	dropped int // how many more there were
}

type freshLine struct {
	text  string
	row   int  // as in [follow.Look.NewRows]
	moved bool // row is no longer known
	drawn bool // it was overwritten
}

// add adds a look's new lines and their rows; rows is nil if the lines are only visible.
func (f *freshLines) add(l *follow.Look, lines []string, rows []int) {
	at := map[int]int{}
	for i := range f.lines {
		line := &f.lines[i]
		if alternate := line.row < 0; alternate {
			line.moved = line.moved || !l.Alternate
		} else {
			line.row -= l.Shift
			line.moved = line.moved || l.Shift < 0 || line.row < 0
		}
		if !line.moved {
			at[line.row] = i
		}
	}
	var screen []string // read on demand
	for i, text := range lines {
		fresh := freshLine{text: text, moved: rows == nil}
		if rows != nil {
			fresh.row = rows[i]
		}
		if old, ok := at[fresh.row]; ok && !fresh.moved {
			line := &f.lines[old]
			if screen == nil {
				screen = l.Lines()
			}
			if line.text == text || !slices.Contains(screen, line.text) {
				f.bytes += len(text) - len(line.text)
				line.text, line.drawn = text, true
				continue
			}
			line.moved = true // its text is in another row
		}
		f.lines = append(f.lines, fresh)
		f.bytes += len(text) + 1
	}
	for len(f.lines) > keptLines || len(f.lines) > 1 && f.bytes > keptBytes {
		f.bytes -= len(f.lines[0].text) + 1
		f.lines = f.lines[1:]
		f.dropped++
	}
}

// onScreen forgets the lines that the screen shows: all that it shows is added next.
func (f *freshLines) onScreen(l *follow.Look) {
	screen := l.Lines()
	f.lines = slices.DeleteFunc(f.lines, func(line freshLine) bool {
		shown := slices.Contains(screen, line.text)
		if shown {
			f.bytes -= len(line.text) + 1
		}
		return shown
	})
}

func textsOf(lines []freshLine) (texts []string) {
	for _, line := range lines {
		texts = append(texts, line.text)
	}
	return texts
}

// last returns the last lines, up to size, and the number omitted. Lines printed once are
// kept in preference to those that were redrawn.
func (f *freshLines) last(lines, size int) (texts []string, cut int) {
	kept := slices.Clone(f.lines)
	spare := len(kept) - lines
	kept = slices.DeleteFunc(kept, func(line freshLine) bool {
		if line.drawn && spare > 0 {
			spare--
			return true
		}
		return false
	})
	texts, _, _ = reply.Limited(textsOf(kept), &lines, &size)
	return texts, f.dropped + len(f.lines) - len(texts)
}
