package typing

import (
	"testing"
)

func TestMisnamedKeys(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Ctrl+C": "C-c", "ctrl-c": "C-c", "Control+d": "C-d", "<C-c>": "C-c", "C+c": "C-c", "<c-x>": "C-x", "Alt+f": "M-f", "Meta-x": "M-x", "Option+Left": "M-Left",
		"Esc": "Escape", "<Esc>": "Escape", "{Enter}": "Enter", "<CR>": "Enter", "Return": "Enter", "ArrowUp": "Up", "arrowdown": "Down", "Backspace": "BSpace",
		"Shift+Tab": "BTab", "Shift+F5": "S-F5", "Ctrl+Alt+x": "C-M-x", "Ctrl+ArrowLeft": "C-Left", "Ctrl+Space": "C-Space", "Del": "DC", "Shift-Left": "S-Left",
		"^C": "C-c", "^[": "C-[", "ppage": "PageUp", "KPEnter": "Enter", "C-Esc": "C-Escape", "up": "Up", "S-Tab": "BTab",
	} {
		if name, misnamed := MisnamedKey(text); !misnamed || name != want {
			t.Errorf("%q: %q (%t), want %q", text, name, misnamed, want)
		}
	}
	for _, text := range []string{
		"C-c", "M-x", "C-M-x", "Enter", "Escape", "Up", "F5", "BTab", "PageUp", "a", "y", "ls", "make", "C-Left", "S-F5", "c-x", "enter", "NPage", "IC", "M-ü", "C-S-Up",
		"0x41", "ic", "dc", "Dc", "bc", "KP0", "User0", "None", "Any", "MouseDown1Pane", "FocusIn", "ü", "你", "^", "^1", "^Co",
		"<html>", "{a}", "a-b", "x+y", "ctrl", "git-lfs", "s-nail", "m-a-k-e", "--", "-", "+", "<", "1+1", "c-", "control-plane", "meta-data", "option-name",
	} {
		if name, misnamed := MisnamedKey(text); misnamed {
			t.Errorf("%q is taken for %q", text, name)
		}
	}
	for _, text := range []string{"Cmd+C", "F13"} {
		if name, misnamed := MisnamedKey(text); !misnamed || name != "" {
			t.Errorf("%s: %q, %t", text, name, misnamed)
		}
	}
	for text, want := range map[string]string{"enter": "Enter", "c-M-x": "C-M-x", "M-A": "M-A", "f5": "F5", "C-C": "C-C", "PPage": "PPage", "ic": "", "a": "", "ü": "", "你": "", "☃": "", "e\u0301": "", "👩\u200d💻": "", "0x41": "", "KP0": ""} {
		if name, ok := KeyName(text); name != want || ok != (want != "") {
			t.Errorf("%q is the key %q (%t), want %q", text, name, ok, want)
		}
	}
}
