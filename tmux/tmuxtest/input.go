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

var keyNames = strings.Fields("Enter Tab BTab Escape BSpace Space Up Down Left Right Home End PageUp PageDown PgUp PgDn PPage NPage " +
	"Insert IC Delete DC F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 F11 F12 " +
	"KP0 KP1 KP2 KP3 KP4 KP5 KP6 KP7 KP8 KP9 KP/ KP* KP- KP+ KP. KPEnter")

// foreign turns how others write keys, in lower case and with - for +, into tmux's way.
var foreign = strings.NewReplacer("<", "", ">", "", "^", "c-", "control-", "c-", "ctrl-", "c-", "alt-", "m-",
	"shift-tab", "btab", "shift-", "s-", "backspace", "bspace", "return", "enter", "arrow", "")

// checkKey returns an error if a word does not name a key. tmux would type it.
func checkKey(word string) error {
	if spelling(word) != "" {
		return nil
	}
	meant := ""
	if key := spelling(foreign.Replace(strings.ReplaceAll(strings.ToLower(word), "+", "-"))); key != "" {
		meant = "; did you mean " + key + "?"
	} else if word != "" {
		_, key := modifiers(word)
		meant = nearest.Meant(key, keyNames)
	}
	return fmt.Errorf("%q is not a key of tmux%s; text is typed with Type", word, meant)
}

// spelling returns tmux's way to write a key, or "" if the word does not name one.
func spelling(word string) string {
	before, key := modifiers(word)
	if c, size := utf8.DecodeRuneInString(key); size == len(key) && unicode.IsGraphic(c) && c != utf8.RuneError {
		return before + key
	}
	for _, name := range keyNames {
		if strings.EqualFold(name, key) {
			return before + name
		}
	}
	return ""
}

// modifiers splits what is before a key, such as C-, from it.
func modifiers(word string) (before, key string) {
	key = word
	for len(key) > 2 && key[1] == '-' && strings.Contains("CMScms", key[:1]) {
		key = key[2:]
	}
	return strings.ToUpper(word[:len(word)-len(key)]), key
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
