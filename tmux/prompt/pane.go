// Package prompt finds the shell that somebody uses in a pane, waits until it is at its prompt
// with nothing typed, and types there.
//
// It is what package [tmuxmcp/tmux/shell] and tmux-mcp have in common, and grows with them. To
// run a command and get its output, use package shell.
package prompt

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"tmuxmcp/internal/cells"
	"tmuxmcp/internal/runner"
	"tmuxmcp/tmux"
)

// State is what decides whether a pane takes keys.
type State struct {
	ID     tmux.PaneID `tmux:"pane_id"`
	Dead   bool        `tmux:"pane_dead"`
	InMode bool        `tmux:"pane_in_mode"`
	Mode   string      `tmux:"pane_mode"`
	Off    bool        `tmux:"pane_input_off"`
	// Synchronized is set if keys also go to the other panes of its window.
	Synchronized bool `tmux:"pane_synchronized"`
}

// Takes returns the condition under which a pane takes keys, if another is true too.
func Takes(and tmux.Format) tmux.Format {
	return "#{?pane_id,#{?pane_dead,0,#{?pane_in_mode,0,#{?pane_input_off,0," + and + "}}},0}"
}

// Refusal returns why a pane takes no keys, or nil.
func (s State) Refusal() error {
	switch {
	case s.ID == "": // display-message does not fail on a missing target
		return tmux.ErrNotFound
	case s.Dead:
		return &Error{Kind: ErrEnded, Pane: s.ID, Text: fmt.Sprintf("the program in pane %s has ended", s.ID)}
	case s.InMode:
		return &Error{Kind: ErrInMode, Pane: s.ID, Text: fmt.Sprintf("pane %s is in %s, which would take the keys", s.ID, s.Mode)}
	case s.Off:
		return &Error{Kind: ErrInputOff, Pane: s.ID, Text: fmt.Sprintf("the input of pane %s is off, so keys would be lost", s.ID)}
	}
	return nil
}

// Pane is the state of a pane, as far as it decides how to type into it.
type Pane struct {
	State
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

// Look reads a pane's state and screen, and refuses a pane that takes no keys.
func Look(ctx context.Context, srv *tmux.Server, at tmux.Target) (Pane, error) {
	var b tmux.Batch
	panes := tmux.AddRows[Pane](&b, tmux.DisplayMessage{Target: at})
	shown := tmux.Add(&b, tmux.CapturePane{Target: at, Print: true})
	if err := b.Do(ctx, srv); err != nil {
		return Pane{}, err
	}
	pane := (*panes)[0]
	pane.Screen = strings.Split(string(*shown), "\n")
	return pane, pane.Refusal()
}

// LookAgain reads the state of the pane again, and keeps it if there is an error.
func (p *Pane) LookAgain(ctx context.Context, srv *tmux.Server) error {
	pane, err := Look(ctx, srv, p.ID)
	if err == nil {
		*p = pane
	}
	return err
}

// Row returns the number of the cursor's row, from the first of the history.
func (p Pane) Row() int { return p.History + p.Y }

// Left returns the text left of the cursor.
func (p Pane) Left() string {
	left, _ := p.cursorLine()
	return left
}

// PromptAbove reports whether a row above the cursor's, but below another one, begins with one of
// these prompts: whether a line was typed in between.
func (p Pane) PromptAbove(row int, prompts ...string) bool {
	for y := max(0, row+1-p.History); y < min(p.Y, len(p.Screen)); y++ {
		if slices.ContainsFunc(prompts, func(prompt string) bool {
			text := strings.TrimRight(prompt, " ")
			return text != "" && strings.HasPrefix(p.Screen[y], text)
		}) {
			return true
		}
	}
	return false
}

// cursorLine returns the text of the cursor's row, before and after the cursor.
func (p Pane) cursorLine() (left, right string) {
	if p.Y >= len(p.Screen) {
		return "", ""
	}
	return cells.SplitAt(p.Screen[p.Y], p.X)
}

// typedLine returns the text before the cursor, with the rows above that continue in it:
// those that are full, or lack at most so many cells. tmux does not say whether a row that
// ends in a blank is full.
func (p Pane) typedLine(but int) string {
	line, _ := p.typedRows(but, p.Height)
	return line
}

// typedRows returns the last rows of what typedLine returns, at most so many, and whether these are
// all.
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

// Asks reports whether the cursor is right after text that ends as questions or prompts do.
func (p Pane) Asks() bool {
	if p.Y >= len(p.Screen) {
		return false
	}
	text := []rune(strings.TrimRight(p.Screen[p.Y], " "))
	n := len(text)
	return n > 0 && strings.ContainsRune(":?>])$#", text[n-1]) && n <= p.X && p.X <= 2*n+1
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
