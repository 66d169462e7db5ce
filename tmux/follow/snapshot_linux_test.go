package follow_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"tmuxmcp/internal/test/paneprog"
	"tmuxmcp/tmux"
)

// A snapshot is what tmux shows of a pane. Lines are unwrapped, without trailing spaces.
type snapshot struct {
	Columns, Rows    int
	CursorX, CursorY int
	History          int
	Alternate        bool
	Upper, Lower     int // the scroll region
	Wrap, Insert     bool
	PID              string
	// Counters are tmux 3.8's history_generation, history_added and history_collected.
	Counters []int
	// Lines are the history and the screen, and Screen the screen's rows.
	Lines, Screen []string
	// Normal is the history and the normal screen, even if hidden by the alternate screen.
	Normal []string

	above  []string // the history's lines, while there is an alternate screen
	savedY int      // the row of the cursor on the hidden screen
}

// A grid is the rows of the history and the normal screen, even if hidden by the alternate
// screen. The cursor is in row Cursor, whose line begins in row Line.
type grid struct {
	Rows         []string
	Cursor, Line int
}

var snapshotFormat = strings.Join([]string{
	"#{pane_width}", "#{pane_height}", "#{cursor_x}", "#{cursor_y}", "#{history_size}", "#{alternate_on}",
	"#{scroll_region_upper}", "#{scroll_region_lower}", "#{wrap_flag}", "#{insert_flag}", "#{pane_pid}",
	"#{history_generation}", "#{history_added}", "#{history_collected}", "#{alternate_saved_y}",
}, ",")

// snapshotOf reads a pane. If only the alternate screen was drawn on since earlier, which
// may be nil, the hidden screen is not read again.
func snapshotOf(ctx context.Context, p *paneprog.Pane, earlier *snapshot) (*snapshot, error) {
	id := string(p.ID)
	out, err := p.Server.Do(ctx,
		rawCommand("display-message", "-p", "-t", id, snapshotFormat),
		rawCommand("capture-pane", "-p", "-J", "-S", "-", "-t", id),
		rawCommand("capture-pane", "-p", "-J", "-t", id),
		rawCommand("capture-pane", "-p", "-t", id))
	if err != nil {
		return nil, err
	}
	f := strings.Split(strings.TrimSpace(string(out[0])), ",")
	if len(f) != 15 {
		return nil, fmt.Errorf("the pane's state is %q", out[0])
	}
	n := make([]int, len(f))
	for i := range f {
		n[i], _ = strconv.Atoi(f[i])
	}
	s := &snapshot{
		Columns: n[0], Rows: n[1], CursorX: n[2], CursorY: n[3], History: n[4], Alternate: n[5] != 0,
		Upper: n[6], Lower: n[7], Wrap: n[8] != 0, Insert: n[9] != 0, PID: f[10], savedY: n[14],
		Lines: splitLines(out[1]), Screen: splitLines(out[3]),
	}
	if f[11] != "" {
		s.Counters = n[11:14]
	}
	s.Normal = s.Lines
	if !s.Alternate {
		return s, nil
	}
	if earlier != nil && earlier.Alternate && earlier.History == s.History {
		s.above, s.Normal = earlier.above, earlier.Normal
	} else if err := s.readHidden(ctx, p); err != nil {
		return nil, err
	}
	s.Lines = append(s.above[:len(s.above):len(s.above)], splitLines(out[2])...)
	return s, nil
}

// readHidden reads the history and the screen hidden by the alternate one. The last row of the
// history may wrap into it.
func (s *snapshot) readHidden(ctx context.Context, p *paneprog.Pane) error {
	id := string(p.ID)
	out, err := p.Server.Do(ctx,
		rawCommand("capture-pane", "-p", "-J", "-a", "-t", id),
		rawCommand("capture-pane", "-p", "-J", "-S", "-", "-E", "-1", "-t", id),
		rawCommand("capture-pane", "-p", "-J", "-S", "-1", "-E", "0", "-t", id))
	if err != nil {
		return err
	}
	if s.History == 0 {
		s.Normal = splitLines(out[0])
		return nil
	}
	s.above = splitLines(out[1])
	if strings.Count(string(out[2]), "\n") == 1 {
		out[1] = out[1][:len(out[1])-1]
	}
	s.Normal = splitLines(append(out[1], out[0]...))
	return nil
}

// grid reads the rows of the snapshot's pane.
func (s *snapshot) grid(ctx context.Context, p *paneprog.Pane) (*grid, error) {
	capture := func(args ...string) ([]string, error) {
		out, err := p.Server.Do(ctx, rawCommand("capture-pane", append(args, "-p", "-t", string(p.ID))...))
		if err != nil {
			return nil, err
		}
		return splitLines(out[0]), nil
	}
	t, y, first, screen := new(grid), s.CursorY, -s.History, []string{"-J"}
	var err error
	switch {
	case !s.Alternate:
		t.Rows, err = capture("-S", "-")
	case s.History > 0:
		t.Rows, err = capture("-S", "-", "-E", "-1")
	}
	if s.Alternate && err == nil {
		var hidden []string
		hidden, err = capture("-a")
		t.Rows = append(t.Rows, hidden...)
		y, first, screen = min(s.savedY, len(hidden)-1), 0, []string{"-J", "-a"}
	}
	t.Cursor = s.History + y
	for ; err == nil && y > first; y-- {
		var lines []string
		if lines, err = capture(append(screen, "-S", strconv.Itoa(y-1), "-E", strconv.Itoa(y))...); len(lines) > 1 {
			break
		}
	}
	t.Line = s.History + y
	return t, err
}

func splitLines(out []byte) []string {
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return lines
}

// rowOf returns the last row of the screen that contains part of a word, or -1.
func (s *snapshot) rowOf(word int) int {
	w := paneprog.Word(word)
	for y, row := range s.Screen {
		if strings.Contains(row, w) {
			return y
		}
	}
	// It may be wrapped, even out of the history.
	joined := strings.Join(s.Screen, "")
	for cut := range len(w) {
		at := 0
		if cut == 0 {
			if at = strings.Index(joined, w); at < 0 {
				continue
			}
		} else if !strings.HasPrefix(joined, w[cut:]) {
			continue
		}
		for y, end := 0, at+len(w)-cut; y < len(s.Screen); y++ {
			if end -= len(s.Screen[y]); end <= 0 {
				return y
			}
		}
	}
	return -1
}

// blank reports whether the screen is blank from the cursor on.
func (s *snapshot) blank() bool {
	for y := s.CursorY; y < len(s.Screen); y++ {
		if row := s.Screen[y]; y > s.CursorY && row != "" || y == s.CursorY && (len(row) > s.CursorX || strings.ContainsFunc(row, func(c rune) bool { return c >= utf8.RuneSelf || c == '\t' })) {
			return false
		}
	}
	return true
}

// feeds reports whether lines that scroll off go into the history, and output stays where
// it is written.
func (s *snapshot) feeds() bool {
	return !s.Alternate && s.Upper == 0 && s.Lower == s.Rows-1 && s.Wrap && !s.Insert
}

func rawCommand(name string, args ...string) tmux.Raw { return tmux.Raw{Name: name, Args: args} }
