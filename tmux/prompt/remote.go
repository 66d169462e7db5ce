package prompt

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"tmuxmcp/internal/cells"
	"tmuxmcp/internal/pause"
	"tmuxmcp/internal/runner"
)

// A shell behind another program, such as ssh, is known only by what the pane shows of it and by
// what it answers. So nothing is typed there that would matter to another program.

// echoTime is how long the echo of what was typed may take.
const echoTime = 5 * time.Second

// Leads is the program in a pane that leads to a remote shell.
type Leads struct {
	reader runner.Reader
	pane   Pane
}

// AwaitRemote waits until the pane shows what may be the prompt of a remote shell, with nothing
// typed there, and returns the program that leads to it.
func (s *Shell) AwaitRemote(ctx context.Context) (leads *Leads, err error) {
	begun := time.Now()
	for {
		leads = &Leads{runner.ReaderOf(s.Pane.PID, s.Pane.TTY), s.Pane}
		s.Foreground = leads.reader.Foreground
		refusal := s.Pane.refuses(leads)
		if refusal == nil {
			return leads, nil
		}
		waited := time.Since(begun)
		late := waited > s.Wait || refusal.Kind == ErrNoRemote && max(waited, s.Foreground.Age) > startUp
		if late || !s.Until.IsZero() && time.Now().After(s.Until) {
			return nil, refusal
		}
		if _, err := s.AwaitLook(ctx, lookTime, func() bool { return s.Pane.refuses(leads) == nil }); err != nil {
			return nil, err
		}
	}
}

// lookTime is how long looks at the pane may go by without one at what reads from its terminal.
const lookTime = 100 * time.Millisecond

// refuses returns why nothing may be typed for a remote shell; nil if it may.
func (p Pane) refuses(leads *Leads) *Error {
	program := leads.reader.Name
	noRemote := func(why string) *Error {
		return &Error{
			Kind: ErrNoRemote, Pane: p.ID, Program: program, Why: why,
			Text: fmt.Sprintf("no remote shell reads what is typed into pane %s, which runs %s: %s", p.ID, program, why),
		}
	}
	left, right := p.cursorLine()
	switch {
	case !leads.reader.Known():
		return unseen(p.ID, errors.New("it is not known which program reads from its terminal"))
	case !leads.reader.IsShell() && !runner.Relays(p.PID, p.TTY):
		return noRemote("that does not pass on each key as it is typed")
	case p.Alternate:
		return noRemote("its screen is that of a full-screen program")
	case !runner.EmptyPrompt(left, right):
		const why = "the cursor is not right behind a prompt, such as $ or #"
		return &Error{
			Kind: ErrBusy, Pane: p.ID, Program: program, Why: why,
			Text: fmt.Sprintf("pane %s, which runs %s, shows no prompt with nothing typed: %s", p.ID, program, why),
		}
	}
	return nil
}

// changesIn is how long another program, or none, may read from the terminal, as between the end of
// a program that a shell has run and when the shell takes the terminal back.
const changesIn = time.Second

// Still reports whether what reads from the terminal is the same program as before, or one that
// it has started.
func (l *Leads) Still() bool {
	begun := time.Now()
	for d := range pause.Growing(20 * time.Millisecond) {
		if now := runner.ReaderOf(l.pane.PID, l.pane.TTY); now.Known() && l.reader.Leads(now) {
			return true
		}
		if l.reader.Ended() || time.Since(begun) > changesIn {
			return false
		}
		time.Sleep(d)
	}
	return false
}

// AwaitEcho waits until a line that was typed at a prompt stands in front of the cursor, and
// reports whether it does in time, while the pane leads there. scrolls is set for a shell that may
// show only its end, in the row of the prompt.
func (s *Shell) AwaitEcho(ctx context.Context, leads *Leads, prompt string, row int, line string, scrolls bool) (shown bool, err error) {
	_, err = s.AwaitLook(ctx, echoTime, func() bool {
		shown = s.Pane.shows(line) || scrolls && s.Pane.Row() == row && s.Pane.scrolled(prompt, line)
		return shown || !leads.Still()
	})
	return shown, err
}

// shows reports whether a line stands between a prompt and the cursor, in whatever rows, and apart
// from the blanks with which shells fill these.
func (p Pane) shows(line string) bool {
	left, right := p.cursorLine()
	shown, line := unspaced(left), unspaced(line)
	for y := min(p.Y, len(p.Screen)) - 1; y >= 0 && len(shown) <= len(line); y-- {
		shown = unspaced(p.Screen[y]) + shown
	}
	before, is := strings.CutSuffix(shown, line)
	return is && runner.EmptyPrompt(before, right)
}

// scrolled reports whether most of the cursor's row is the end of a line, behind the prompt if that
// stays where it is, as in the vi mode of mksh.
func (p Pane) scrolled(prompt, line string) bool {
	left, _ := p.cursorLine()
	if text, stays := strings.CutPrefix(left, prompt); stays && strings.HasSuffix(unspaced(line), unspaced(text)) {
		return p.X-cells.Width(prompt) > p.Width/2
	}
	shown := unspaced(strings.TrimLeft(left, "<*+"))
	return p.X > p.Width/2 && strings.HasSuffix(unspaced(prompt+line), shown)
}

func unspaced(text string) string { return strings.Join(strings.Fields(text), "") }
