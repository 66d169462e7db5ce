package screen

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	"tmuxmcp/internal/cells"
	"tmuxmcp/internal/runner"
	"tmuxmcp/server/internal/caller"
	"tmuxmcp/tmux"
)

// A prompt may be drawn again at any time: with a clock, after a look at a repository, or
// as something is typed. None of that is output. The signs are that a shell was at its
// prompt and still is, with the cursor in the same row.

// rests records whether the cursor is at the prompt of a shell, and reports whether at most
// the prompt has been drawn again since the last look, or typed at.
func (p *waitedPane) rests(ctx context.Context, srv *tmux.Server, l *tmux.Look) bool {
	pid, known := caller.PID(ctx, srv, l.PaneState), p.prompt
	left := strings.TrimRight(leftOfCursor(l), " ")
	// A shell may have been in a trap or an event handler at the last look.
	was := p.prompt || p.left != "" && sameButDigits(p.left, left)
	again := was && redrawn(l)
	p.left = left
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
func CursorAt(l *tmux.Look) Cursor { return Cursor{l.CursorX, l.CursorY, l.History} }

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
func atPrompt(pid int, l *tmux.Look, likely bool) bool {
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
func leftOfCursor(l *tmux.Look) string {
	above, row := l.CursorRow()
	left, _ := cells.SplitAt(row, l.CursorX)
	return above + left
}

// promptRows is how many rows a prompt may have above the cursor's line.
const promptRows = 2

// redrawn reports whether at most a prompt is new, with the cursor in the same row. At the
// top of the screen, where clearing the rest of it clears all, tmux moves the old prompt to
// the history.
func redrawn(l *tmux.Look) bool {
	row, _ := l.CursorLine()
	pushed := l.CursorIn() - l.WasRow
	switch {
	case l.WasRow < 0, pushed < 0, pushed > 0 && (l.WasY != l.CursorY || l.WasY > promptRows || l.Height <= promptRows+1):
		return false
	}
	for i, n := range l.NewRows {
		if n > row || n < row-promptRows && !(pushed > 0 && slices.ContainsFunc(l.Lines(), func(prompt string) bool { return begins(prompt, l.New[i]) })) {
			return false
		}
	}
	return true
}

// begins reports whether a line begins with a text, apart from digits: a clock changes.
func begins(line, text string) bool {
	return len(text) <= len(line) && sameButDigits(line[:len(text)], text)
}

// sameButDigits reports whether two texts are the same apart from digits.
func sameButDigits(a, b string) bool {
	digits := func(r rune) rune {
		if unicode.IsDigit(r) {
			return '0'
		}
		return r
	}
	return strings.Map(digits, a) == strings.Map(digits, b)
}
