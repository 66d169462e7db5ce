package tmuxtest

import (
	"strings"
	"testing"
)

// TestCheckKey: what is no key of tmux is answered with the key that may be meant, in tmux's
// spelling.
func TestCheckKey(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"enter": "", "C-c": "", "c-m-LEFT": "", "A": "", "<": "", "^": "", "C-^": "", "é": "", "-": "", "C--": "",
		"":      " is not a key of tmux; text",
		"hello": " is not a key of tmux; text",
		"Entr":  "; did you mean Enter",
		"esc":   "; did you mean Escape",
	} {
		err := checkKey(word)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", word, err, want)
		}
	}
	for want, words := range map[string]string{
		"C-c": "Ctrl-C ctrl+c Control-c <C-c> <c-c> ^C ^c", "M-x": "Alt-x Alt+X <M-x>", "Up": "ArrowUp <Up> UpArrow",
		"BTab": "Shift-Tab Shift+Tab", "C-M-Left": "Ctrl+Alt+Left", "Enter": "Return <Return>", "BSpace": "Backspace",
	} {
		for word := range strings.FieldsSeq(words) {
			if err := checkKey(word); err == nil || !strings.Contains(err.Error(), "; did you mean "+want+"?; ") {
				t.Errorf("%s: %v, want %s", word, err, want)
			}
		}
	}
}
