package server

import "testing"

func TestMisnamedKeys(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Ctrl+C": "C-c", "ctrl-c": "C-c", "Control+d": "C-d", "<C-c>": "C-c", "C+c": "C-c", "<c-x>": "c-x", "Alt+f": "M-f", "Meta-x": "M-x", "Option+Left": "M-Left",
		"Esc": "Escape", "<Esc>": "Escape", "{Enter}": "Enter", "<CR>": "Enter", "Return": "Enter", "ArrowUp": "Up", "arrowdown": "Down", "Backspace": "BSpace",
		"Shift+Tab": "BTab", "Shift+F5": "S-F5", "Ctrl+Alt+x": "C-M-x", "Ctrl+ArrowLeft": "C-Left", "Ctrl+Space": "C-Space", "Del": "DC", "Shift-Left": "S-Left",
	} {
		if name, misnamed := misnamedKey(text); !misnamed || name != want {
			t.Errorf("%q: %q (%t), want %q", text, name, misnamed, want)
		}
	}
	for _, text := range []string{
		"C-c", "M-x", "C-M-x", "Enter", "Escape", "Up", "F5", "BTab", "PageUp", "a", "y", "ls", "make", "C-Left", "S-F5", "c-x", "enter",
		"<html>", "{a}", "a-b", "x+y", "ctrl", "git-lfs", "s-nail", "m-a-k-e", "--", "-", "+", "<", "1+1", "c-", "control-plane", "meta-data", "option-name",
	} {
		if name, misnamed := misnamedKey(text); misnamed {
			t.Errorf("%q is taken for %q", text, name)
		}
	}
	if name, misnamed := misnamedKey("Cmd+C"); !misnamed || name != "" {
		t.Errorf("Cmd+C: %q, %t", name, misnamed)
	}
}
