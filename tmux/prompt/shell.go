package prompt

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"tmuxmcp/internal/pause"
	"tmuxmcp/internal/runner"
	"tmuxmcp/tmux"
)

// Before a command is typed, the shell must be at an empty prompt. Whether it is at its
// prompt is known (runner.ForegroundOf); whether something has been typed there can only be
// guessed from the screen.

const (
	// startUp is how long a program may have been running and still be taken for part of a shell's
	// start-up or prompt, and so be waited for. So is what may be about to end.
	startUp = 2 * time.Second
	// Wait is how long a shell may take to show its prompt.
	Wait = 5 * time.Second
	// CleanupTime bounds the cleanup after a call that failed or was cancelled.
	CleanupTime = 5 * time.Second
)

// A Typist types into a pane, if it takes keys: it sends commands to tmux, in one round trip.
// They type into this pane only, even if it is synchronized with others. shows are the lines
// that they make appear; nil if they only press keys. It returns the number of the row in which
// the cursor was before, from the oldest of the history, and whether anything was sent: with
// an error, the commands may then have run.
type Typist func(ctx context.Context, pane tmux.PaneID, shows []string, commands []tmux.Command) (row int, sent bool, err error)

// Shell is a shell in a pane, to be typed into at its prompt.
type Shell struct {
	Tmux       *tmux.Server
	Type       Typist
	Pane       Pane              // at the last look
	Foreground runner.Foreground // the program that reads what is typed
	Until      time.Time         // when the call must end; zero for no limit
	Wait       time.Duration     // the constant of this name, except in tests

	row int // of the cursor when last typing
}

// AwaitPrompt waits for the prompt of a shell if one may be about to appear.
func (s *Shell) AwaitPrompt(ctx context.Context) error {
	ready, err := s.Await(ctx, func(waited time.Duration) (bool, error) {
		return !s.Until.IsZero() && time.Now().After(s.Until) || s.Foreground.IsShell() && waited > s.Wait ||
			!s.Foreground.IsShell() && max(s.Foreground.Age, waited) > startUp && waited > 20*time.Millisecond, nil
	})
	if ready || err != nil {
		return err
	}
	if s.Foreground.IsShell() || s.Foreground.NamesShell() {
		return s.busy()
	}
	return &Error{
		Kind: ErrNoShell, Pane: s.Pane.ID, Program: s.Foreground.Name,
		Text: fmt.Sprintf("pane %s runs %s, and a command is typed only at the prompt of a shell: %s", s.Pane.ID, s.Foreground.Name, runner.Shells),
	}
}

// Await waits until a shell in the pane is at its prompt, and reports whether it is.
// Meanwhile it calls enough to find out whether it has waited long enough.
func (s *Shell) Await(ctx context.Context, enough func(waited time.Duration) (bool, error)) (ready bool, err error) {
	begun := time.Now()
	for d := range pause.Growing(20 * time.Millisecond) {
		if s.Foreground, err = s.Pane.Foreground(); err != nil {
			// Either the pane has just ended, or its processes cannot be seen from here.
			if err := s.LookAgain(ctx); err != nil {
				return false, err
			}
			return false, unseen(s.Pane.ID, err)
		}
		if s.Foreground.IsShell() && s.Foreground.Prompt {
			if d > time.Millisecond {
				err = s.LookAgain(ctx)
			}
			return err == nil, err
		}
		if stop, err := enough(time.Since(begun)); stop || err != nil {
			return false, err
		}
		if err := pause.For(ctx, d); err != nil {
			return false, err
		}
	}
	return false, nil
}

// LookAgain reads the pane's state again.
func (s *Shell) LookAgain(ctx context.Context) error { return s.Pane.LookAgain(ctx, s.Tmux) }

// FreshLine makes the shell drop a line that someone has begun. What is typed before the
// command deletes the text to the left of the cursor, which is enough if there is nothing
// else. In case of doubt the line is interrupted, which every shell accepts in every state;
// the user sees it and can type it again.
func (s *Shell) FreshLine(ctx context.Context) error {
	if s.blank() && (s.Foreground.Edits() || !s.AtPrompt()) {
		if err := s.drawLine(ctx); err != nil {
			return err
		}
	}
	if fresh, err := s.BecomesFresh(ctx, 30*time.Millisecond); fresh || err != nil {
		return err
	}
	if !s.AtPrompt() {
		return s.busy()
	}
	return s.interruptLine(ctx)
}

// blank reports whether the pane shows nothing at all.
func (s *Shell) blank() bool {
	return !slices.ContainsFunc(s.Pane.Screen, func(row string) bool { return row != "" })
}

// drawLine makes a shell draw its line on a screen that shows nothing, as after a reset of the
// terminal, which the shell does not notice. C-l has every line editor draw its line, also one
// that a function has started to ask for something, which so is not disturbed; there it shows
// no prompt. Only in the insertion mode of vi is it text, in bash and ksh. If the terminal edits
// the line, only an interrupt makes the shell show its prompt; it is sent to a shell that certainly
// reads a command.
func (s *Shell) drawLine(ctx context.Context) error {
	shows := func() bool { return !s.blank() }
	if drawn, err := s.AwaitLook(ctx, max(300*time.Millisecond, startUp-s.Foreground.Age), shows); drawn || err != nil {
		return err
	}
	switch {
	case !s.Pane.Idle(s.Foreground.PID):
		return s.busy()
	case s.Foreground.Edits():
	case s.Foreground.ReadsLine():
		return s.interruptLine(ctx)
	default:
		return s.busy()
	}
	if err := s.typeBytes(ctx, "\x0c"); err != nil {
		return err
	}
	drawn, err := s.AwaitLook(ctx, time.Second, shows)
	if err != nil {
		return err
	}
	left, _ := s.Pane.cursorLine()
	if drawn && left == "^L" {
		if err := s.typeBytes(ctx, "\x7f"); err != nil {
			return err
		}
	}
	if left == "^L" || !drawn && !s.AtPrompt() {
		return s.busy()
	}
	return nil
}

func (s *Shell) busy() error {
	return &Error{
		Kind: ErrBusy, Pane: s.Pane.ID, Program: s.Foreground.Name,
		Text: fmt.Sprintf("%s in pane %s is busy: it shows no prompt", s.Foreground.Name, s.Pane.ID),
	}
}

// interruptLine makes a shell that is at its prompt drop the line and show a new prompt. A
// shell that was interrupted draws its prompt in another row: while the cursor is in the row
// interrupted, the shell has not handled the interrupt yet, and would drop anything typed
// with the line. It is interrupted again if it then waits in the same row: the first may
// only have ended a search, and fish forgets one that comes while it colors the line.
func (s *Shell) interruptLine(ctx context.Context) error {
	shown, taken := true, func() bool { return s.Pane.Row() != s.row }
	probe := s.Foreground.Probe()
	if probe != "" {
		var err error
		if shown, err = s.showProbe(ctx, probe); err != nil {
			return err
		}
		before := s.Pane
		taken = func() bool { return s.Pane.Row() != before.Row() || s.Pane.X != before.X }
	}
	for begun, again, done := time.Now(), true, false; !done; {
		if again {
			if err := s.typeBytes(ctx, string(rune(s.Foreground.Interrupt))); err != nil {
				return err
			}
		}
		late := !shown || time.Since(begun) > s.Wait
		if late && probe != "" {
			return s.busy()
		}
		var err error
		if done, err = s.AwaitLook(ctx, 100*time.Millisecond, taken); err != nil {
			return err
		}
		again, done = s.Pane.Idle(s.Foreground.PID), done || late
	}
	if probe == "" {
		if _, err := s.BecomesFresh(ctx, 300*time.Millisecond); err != nil {
			return err
		}
	}
	return s.AwaitPrompt(ctx)
}

// showProbe types the probe of a shell that may stay in its row, and reports whether the
// shell has drawn it and waits for more. Then the cursor moves when the shell takes an
// interrupt.
func (s *Shell) showProbe(ctx context.Context, probe string) (bool, error) {
	if err := s.typeBytes(ctx, probe); err != nil {
		return false, err
	}
	return s.AwaitLook(ctx, s.Wait, func() bool {
		return strings.HasSuffix(s.Pane.typedLine(0), probe[len(probe)-1:]) && s.Pane.Idle(s.Foreground.PID)
	})
}

// typeBytes types something into exactly this pane.
func (s *Shell) typeBytes(ctx context.Context, text string) (err error) {
	cmds, err := s.Pasting(ctx, text)
	if err == nil {
		s.row, _, err = s.Type(ctx, s.Pane.ID, nil, cmds)
	}
	return err
}

// AwaitLook looks at the pane until it is as expected, and reports whether it is in time.
func (s *Shell) AwaitLook(ctx context.Context, limit time.Duration, expected func() bool) (bool, error) {
	begun := time.Now()
	for d := range pause.Growing(20 * time.Millisecond) {
		if time.Since(begun) >= limit {
			break
		}
		if err := pause.For(ctx, d); err != nil {
			return false, err
		}
		if err := s.LookAgain(ctx); err != nil {
			return false, err
		}
		if expected() {
			return true, nil
		}
	}
	return false, nil
}

// BecomesFresh reports whether the prompt is fresh, now or within a moment. A shell that is
// ready may not have drawn its prompt yet; one that is starting takes longer, and fish does
// not survive an interrupt then.
func (s *Shell) BecomesFresh(ctx context.Context, moment time.Duration) (bool, error) {
	begun := time.Now()
	for d := range pause.Growing(20 * time.Millisecond) {
		left, right := s.Pane.cursorLine()
		if s.fresh(right) && s.AtPrompt() {
			return true, nil
		}
		limit := moment
		switch {
		case !s.AtPrompt(): // it may not have been drawn yet
			limit = s.Wait
		case strings.TrimSpace(left+right) == "" && s.Foreground.Age < startUp:
			limit = startUp
		}
		if time.Since(begun) > limit {
			return false, nil
		}
		if err := pause.For(ctx, d); err != nil {
			return false, err
		}
		if err := s.LookAgain(ctx); err != nil {
			return false, err
		}
	}
	return false, nil
}

// AwaitEmptyLine waits until the shell shows a prompt with nothing typed, such as the text that
// was left of the cursor before, and reports whether it does in time.
func (s *Shell) AwaitEmptyLine(ctx context.Context, limit time.Duration, before string) (bool, error) {
	return s.AwaitLook(ctx, limit, func() bool {
		left, right := s.Pane.cursorLine()
		return s.Foreground.HasEmptyLine(left, right, before)
	})
}

// fresh reports whether the text before the cursor looks like a prompt with nothing typed,
// from whichever row it begins in.
func (s *Shell) fresh(right string) bool {
	for rows := 1; ; rows++ {
		line, all := s.Pane.typedRows(1, rows)
		if !s.Foreground.Fresh(line, right) {
			return false
		}
		if all {
			return true
		}
	}
}

// AtPrompt reports whether the text before the cursor may be a prompt and something typed.
func (s *Shell) AtPrompt() bool {
	return s.Foreground.AtPrompt(s.Pane.typedLine(0)) && s.Foreground.AtPrompt(s.Pane.typedLine(1))
}

// Pasting returns the commands that type bytes into exactly this pane. They use a buffer,
// because keys would go to all panes of a synchronized window.
func (s *Shell) Pasting(ctx context.Context, text string) ([]tmux.Command, error) {
	buffer := s.Tmux.Buffer(NewBufferName("run"))
	paste, err := buffer.Pasting(ctx, s.Pane.ID, tmux.PasteOptions{})
	paste.Delete = true
	return []tmux.Command{tmux.SetBuffer{Buffer: buffer.Name, Data: &text}, paste}, err
}

// NewBufferName returns the name of a buffer that no other call creates.
func NewBufferName(logical string) string {
	var id [16]byte
	rand.Read(id[:])
	return "libtmux_mcp_" + hex.EncodeToString(id[:]) + "_" + logical
}
