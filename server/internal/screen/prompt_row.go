package screen

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"slices"
	"strings"
	"time"
	"unicode"

	"tmuxmcp/internal/cells"
	"tmuxmcp/internal/runner"
	"tmuxmcp/server/internal/caller"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/follow"
)

// A prompt may be drawn again at any time: with a clock, after a look at a repository, or
// as something is typed. None of that is output. The signs are that a shell was at its
// prompt and still is, with the cursor in the same row, that the rows above it show what they
// showed then, apart from digits, and that this server has submitted no line meanwhile.

// promptRows is how many rows a prompt may have above the cursor's line.
const promptRows = 2

// rowsAbove are digests of the lines above the cursor's, the nearest first: of each as it is,
// and without its digits. 0 is no line.
type rowsAbove [2 * promptRows]uint32

// above returns the digests of a look.
func above(l *follow.Look) (a rowsAbove) {
	lines, _ := l.Above(promptRows)
	for i, line := range lines {
		a[2*i], a[2*i+1] = lineDigest(line), lineDigest(withoutDigits(line))
	}
	return a
}

// shows reports whether the line so many lines above the cursor's was this one, or if exact is
// not set, the same apart from digits.
func (a rowsAbove) shows(i int, line string, exact bool) bool {
	if exact {
		return a[2*i] == lineDigest(line)
	}
	return a[2*i+1] == lineDigest(withoutDigits(line))
}

// bytes returns the binary form of the digests.
func (a rowsAbove) bytes() (raw []byte) {
	for _, d := range a {
		raw = binary.LittleEndian.AppendUint32(raw, d)
	}
	return raw
}

// rowsAboveOf is the reverse of [rowsAbove.bytes].
func rowsAboveOf(raw []byte) (a rowsAbove) {
	for i := range a {
		a[i] = binary.LittleEndian.Uint32(raw[4*i:])
	}
	return a
}

func lineDigest(line string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(line))
	return max(h.Sum32(), 1)
}

func withoutDigits(line string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return '0'
		}
		return r
	}, line)
}

// rests records whether the cursor is at the prompt of a shell, and reports whether at most
// the prompt has been drawn again since the last look, or typed at.
func (p *waitedPane) rests(ctx context.Context, srv *tmux.Server, l *follow.Look) bool {
	pid, known := caller.PID(ctx, srv, l.PaneState), p.prompt
	left := strings.TrimRight(leftOfCursor(l), " ")
	// A shell may have been in a trap or an event handler at the last look.
	was := p.prompt || p.left != "" && runner.SameButDigits(p.left, left)
	again := was && redrawn(l, p.above, p.submitted())
	p.left, p.above = left, above(l)
	p.prompt = p.prompt && again && !l.Printed || atPrompt(pid, l, p.prompt && again)
	if again && p.prompt && !known {
		// The shell is at its prompt by now. At the look it may have been a program's line.
		now, err := CursorOf(ctx, srv, l.ID)
		p.prompt = err == nil && now == CursorAt(l)
	}
	if again && p.prompt {
		p.echo.moved(l.CursorIn() - l.WasRow)
		return true
	}
	return false
}

// Cursor is where the cursor of a pane is.
type Cursor struct {
	X       int `tmux:"cursor_x"`
	Y       int `tmux:"cursor_y"`
	History int `tmux:"history_size"` // rows above the screen
}

// CursorAt returns where the cursor was at a look.
func CursorAt(l *follow.Look) Cursor { return Cursor{l.CursorX, l.CursorY, l.History} }

// CursorOf asks where the cursor of a pane is.
func CursorOf(ctx context.Context, srv *tmux.Server, pane tmux.PaneID) (Cursor, error) {
	now, err := tmux.List[Cursor](ctx, srv, tmux.DisplayMessage{Target: pane})
	if err != nil {
		return Cursor{}, err
	}
	return now[0], nil
}

// atPrompt reports whether the cursor is at a prompt of a shell that is waiting for a line.
// If it is likely, a shell that does something else gets a moment to come back: it may be
// in a trap or an event handler.
func atPrompt(pid int, l *follow.Look, likely bool) bool {
	left := leftOfCursor(l)
	if l.Alternate || strings.TrimSpace(left) == "" {
		return false
	}
	for tries := 0; ; tries++ {
		shell, err := runner.ForegroundOf(pid, l.TTY, "")
		if err != nil || !likely || !shell.IsShell() || shell.Prompt || tries == 16 {
			return err == nil && shell.IsShell() && shell.Prompt && shell.AtPrompt(left)
		}
		time.Sleep(3 * time.Millisecond)
	}
}

// leftOfCursor returns the text of the cursor's line up to the cursor.
func leftOfCursor(l *follow.Look) string {
	left, _ := besideCursor(l)
	return left
}

// besideCursor returns the text of the cursor's line up to the cursor, and what follows in
// the cursor's row.
func besideCursor(l *follow.Look) (left, right string) {
	above, row := l.CursorRow()
	left, right = cells.SplitAt(row, l.CursorX)
	return above + left, right
}

// redrawn reports whether at most a prompt is new, with the cursor in the same row, given the
// rows above the cursor's line at the last look, and whether a line may have been submitted
// since. At the top of the screen, where clearing the rest of it clears all, tmux moves the
// old prompt to the history.
func redrawn(l *follow.Look, was rowsAbove, submitted bool) bool {
	row, _ := l.CursorLine()
	pushed := l.CursorIn() - l.WasRow
	switch {
	case l.WasRow < 0, submitted && l.Missed, pushed < 0, pushed > 0 && (submitted || l.WasY != l.CursorY || l.WasY > promptRows || l.Height <= promptRows+1):
		return false
	}
	_, above := l.Above(promptRows)
	for i, n := range l.NewRows {
		if n == row {
			continue
		}
		at := slices.Index(above, n)
		redrawn := at >= 0 && !submitted && was.shows(at, l.New[i], l.Missed)
		if n > row || !redrawn && !(pushed > 0 && n < l.History && slices.ContainsFunc(l.Lines(), func(prompt string) bool { return begins(prompt, l.New[i]) })) {
			return false
		}
	}
	return true
}

// begins reports whether a line begins with a text, apart from digits: a clock changes.
func begins(line, text string) bool {
	return len(text) <= len(line) && runner.SameButDigits(line[:len(text)], text)
}
