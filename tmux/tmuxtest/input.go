package tmuxtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"tmuxmcp/internal/nearest"
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
// it. The program may read several keys at once. The test ends if there is no such key, or if
// the program would not get it as such: S-Enter, for example, needs a program that has
// enabled extended keys, and a tmux whose option extended-keys is on.
func (p *Program) Press(keys ...string) {
	p.t.Helper()
	p.running()
	p.do("press "+strings.Join(keys, " "), func(ctx context.Context) error {
		if len(keys) == 0 {
			return errors.New("no keys")
		}
		for _, key := range keys {
			if err := checkKey(key); err != nil {
				return err
			}
			if reaches, err := p.pane.Server().KeyReaches(ctx, p.pane, key); err != nil {
				return err
			} else if !reaches {
				return fmt.Errorf("%s does not reach this program as such: terminals send it only with extended keys, which are off", key)
			}
		}
		return p.pane.SendKeys(ctx, keys...)
	})
}

// keyNames are the names of keys, in lower case.
var keyNames = strings.Fields("enter tab btab escape bspace space up down left right home end pageup pagedown pgup pgdn ppage npage " +
	"insert ic delete dc f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 f11 f12 " +
	"kp0 kp1 kp2 kp3 kp4 kp5 kp6 kp7 kp8 kp9 kp/ kp* kp- kp+ kp. kpenter")

// checkKey returns an error if a word does not name a key. tmux would type it.
func checkKey(word string) error {
	key := word
	for len(key) > 2 && key[1] == '-' && strings.Contains("CMScms", key[:1]) {
		key = key[2:]
	}
	if c, size := utf8.DecodeRuneInString(key); size == len(key) && unicode.IsGraphic(c) && c != utf8.RuneError {
		return nil
	}
	lower := strings.ToLower(key)
	for _, name := range keyNames {
		if name == lower {
			return nil
		}
	}
	return fmt.Errorf("%q is not a key of tmux%s; text is typed with Type", word, nearest.Meant(lower, keyNames))
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
