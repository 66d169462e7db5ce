package options

import (
	"os"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
)

// TestEveryOptionIsDecided: of every option of this tmux and of all versions the table says
// what setting it can do, and of no other.
func TestEveryOptionIsDecided(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../tmux/option_names.txt")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	option := false
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "\t") {
			option = !strings.HasPrefix(line, "hook") && !strings.HasPrefix(line, "#")
		} else if option {
			for word := range strings.FieldsSeq(line) {
				name, _, _ := strings.Cut(word, "@")
				name, _, _ = strings.Cut(name, ":")
				names = append(names, name)
			}
		}
	}
	srv := testserver.New(t)
	testserver.Run(t, srv, "new-session", "-d", "cat")
	listed := 0
	for _, flag := range []string{"-s", "-g", "-gw"} {
		for line := range strings.Lines(testserver.Run(t, srv, "show-options", flag)) {
			name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			name, _, _ = strings.Cut(name, "[")
			names = append(names, name)
			listed++
		}
	}
	if listed < 100 {
		t.Errorf("tmux lists %d options", listed)
	}
	for _, name := range names {
		if _, ok := optionEffects()[name]; !ok {
			t.Errorf("what %s can do is undecided", name)
		}
	}
	for name := range optionEffects() {
		if !slices.Contains(names, name) {
			t.Errorf("there is no option %s", name)
		}
	}
	// What is not in the table is not harmless, nor is any value of what it says is not.
	newest := tmux.Version{Major: 99}
	for _, name := range []string{"of-a-newer-tmux", "Mouse", "mouse ", "-g", "", "set-clipboard", "set-clipboard[0]", "get-clipboard", "synchronize-panes", "escape-time"} {
		for _, value := range []string{"", "on", "off", "0"} {
			if effectOfOption(name, &value, newest).why == "" || effectOfOption(name, nil, newest).why == "" {
				t.Errorf("%q may be set to %q", name, value)
			}
		}
	}
}
