package tmuxtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"tmuxmcp/tmux"
)

// Type types text. It must not be empty or have control characters: press keys such as Enter
// and Tab with [Program.Press], and paste lines with [Program.Paste].
func (p *Program) Type(text string) {
	p.t.Helper()
	p.running()
	p.do(fmt.Sprintf("type %q", text), func(ctx context.Context) error {
		switch {
		case text == "":
			return errors.New("no text")
		case strings.ContainsFunc(text, unicode.IsControl):
			return errors.New("it has a control character; use Press for keys such as Enter, and Paste for lines")
		}
		return p.pane.SendText(ctx, text)
	})
}

// Press presses keys, by their names in tmux: Enter, Tab, BTab (Shift-Tab), Escape, BSpace,
// Space, Up, Down, Left, Right, Home, End, PageUp, PageDown, Insert, Delete, F1 to F12, those
// of the keypad (KPEnter, KP5), or a character; with C- (Ctrl), M- (Alt) and S- (Shift) before
// it. Names and modifiers may be in any case; a character is itself, so "A" is Shift-a.
//
// The program gets all keys at once, or none: the test ends if there is no such key, or if the
// program would not get it as such. S-Enter, for example, needs a program that has enabled
// extended keys, and a tmux whose option extended-keys is on. The signal that C-z sends does
// not stop a program, as there is no shell that could continue it.
func (p *Program) Press(keys ...string) {
	p.t.Helper()
	p.running()
	p.do("press "+strings.Join(keys, " "), func(ctx context.Context) error {
		return p.pane.SendKeys(ctx, keys...)
	})
}

// Paste pastes text as a terminal does: bracketed if the program has enabled that, and with
// a carriage return for each newline.
func (p *Program) Paste(text string) {
	p.t.Helper()
	p.running()
	p.do("paste", func(ctx context.Context) error {
		if strings.Contains(text, "\x1b[201~") {
			return errors.New("the text holds the sequence that ends a paste")
		}
		return p.pane.Paste(ctx, []byte(text), tmux.PasteOptions{Bracket: true, Returns: true})
	})
}

// Click presses and releases the left mouse button in a column and row, from 0. The test
// ends if the program has not enabled the mouse.
func (p *Program) Click(x, y int) {
	p.t.Helper()
	s := p.running()
	p.do(fmt.Sprintf("click on column %d of row %d", x, y), func(ctx context.Context) error {
		click := fmt.Sprintf("\x1b[<0;%d;%dM\x1b[<0;%[1]d;%[2]dm", x+1, y+1)
		switch {
		case x < 0 || y < 0 || x >= s.Width || y >= s.Height:
			return fmt.Errorf("outside of the screen, %dx%d", s.Width, s.Height)
		case !s.Mouse:
			return errors.New("the program has not enabled the mouse")
		case s.MouseSGR:
		case x > 222 || y > 222:
			return errors.New("the program has not enabled mouse reports that reach so far")
		default:
			at := string([]byte{byte(33 + x), byte(33 + y)})
			click = "\x1b[M\x20" + at + "\x1b[M\x23" + at
		}
		return p.pane.Paste(ctx, []byte(click), tmux.PasteOptions{})
	})
}
