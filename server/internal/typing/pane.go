package typing

import (
	"context"
	"strings"
	"time"

	"tmuxmcp/server/internal/runner"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/transcript"
	"tmuxmcp/tmux"
)

// Pane is the state of a pane, as far as it decides how to type into it.
type Pane struct {
	inputState
	Server  int       `tmux:"pid"`
	Started time.Time `tmux:"start_time"`
	PID     int       `tmux:"pane_pid"`
	TTY     string    `tmux:"pane_tty"`
	Command string    `tmux:"pane_current_command"`
	Piped   bool      `tmux:"pane_pipe"`
	Width   int       `tmux:"pane_width"`
	Height  int       `tmux:"pane_height"`
	X       int       `tmux:"cursor_x"`
	Y       int       `tmux:"cursor_y"`
	History int       `tmux:"history_size"`

	Upper     int  `tmux:"scroll_region_upper"`
	Lower     int  `tmux:"scroll_region_lower"`
	Insert    bool `tmux:"insert_flag"`
	Origin    bool `tmux:"origin_flag"`
	Wrap      bool `tmux:"wrap_flag"`
	Alternate bool `tmux:"alternate_on"`

	Screen []string // its rows
}

// Programs lists panes with only what identifies them, their programs and the tmux server.
// None of that is quoted: before tmux 3.4 the server never frees what a format quotes.
func Programs(ctx context.Context, srv *tmux.Server, cmd tmux.Lister) ([]Pane, error) {
	var b tmux.Batch
	panes := tmux.AddRows[Pane](&b, cmd, "pid", "start_time", "pane_id", "pane_dead", "pane_pid")
	err := b.Do(ctx, srv)
	return *panes, err
}

// LookAt reads a pane's state and screen, and refuses a pane that takes no keys.
func LookAt(ctx context.Context, srv *tmux.Server, on target.Object) (Pane, error) {
	var b tmux.Batch
	panes := tmux.AddRows[Pane](&b, tmux.DisplayMessage{Target: on.Target})
	shown := tmux.Add(&b, tmux.CapturePane{Target: on.Target, Print: true})
	if err := b.Do(ctx, srv); err != nil {
		return Pane{}, err
	}
	pane := (*panes)[0]
	pane.Screen = strings.Split(string(*shown), "\n")
	return pane, pane.refusal(ctx, srv, on.Selection)
}

// LookAgain reads the state of the pane again, and keeps it if there is an error.
func (p *Pane) LookAgain(ctx context.Context, srv *tmux.Server) error {
	pane, err := LookAt(ctx, srv, target.AtPane(p.ID))
	if err == nil {
		*p = pane
	}
	return err
}

// row returns the number of the cursor's row, from the first of the history.
func (p Pane) row() int { return p.History + p.Y }

// cursorLine returns the text of the cursor's row, before and after the cursor.
func (p Pane) cursorLine() (left, right string) {
	if p.Y >= len(p.Screen) {
		return "", ""
	}
	return transcript.SplitAt(p.Screen[p.Y], p.X)
}

// typedLine returns the text before the cursor, with the rows above that continue in it:
// those that are full, or lack at most so many cells. tmux does not say whether a row that
// ends in a blank is full.
func (p Pane) typedLine(but int) string {
	line, _ := p.typedRows(but, p.Height)
	return line
}

// typedRows returns the last rows of that, at most so many, and whether these are all.
func (p Pane) typedRows(but, most int) (line string, all bool) {
	line, _ = p.cursorLine()
	for y := min(p.Y, len(p.Screen)) - 1; y >= 0 && len([]rune(p.Screen[y])) >= p.Width-but; y-- {
		if most--; most == 0 {
			return line, false
		}
		line = p.Screen[y] + strings.Repeat(" ", max(p.Width-len([]rune(p.Screen[y])), 0)) + line
	}
	return line, true
}

// Foreground returns the program that reads what is typed into the pane.
func (p Pane) Foreground() (runner.Foreground, error) {
	return runner.ForegroundOf(p.PID, p.TTY, p.Command)
}

// LastSeen returns the end of what the screen shows: lines of text down to the cursor's.
func (p Pane) LastSeen() []string {
	const most, longest = 4, 200
	var seen []string
	for y := min(p.Y, len(p.Screen)-1); y >= 0 && len(seen) < most; y-- {
		l := []rune(strings.TrimRight(p.Screen[y], " "))
		if len(l) == 0 {
			continue
		}
		if len(l) > longest {
			l = append(l[:longest], '…')
		}
		seen = append([]string{string(l)}, seen...)
	}
	return seen
}

// Idle reports whether a shell in the pane has read what was typed and is waiting for a line.
func (p Pane) Idle(pid int) bool {
	shell, err := p.Foreground()
	return err == nil && shell.PID == pid && shell.Prompt && shell.Waiting
}
