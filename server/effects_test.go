package server

import (
	"os"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// TestFamilyVariables: asking for less in the terms of the libtmux family never yields
// more.
func TestFamilyVariables(t *testing.T) {
	t.Parallel()
	names := func(env ...string) []string {
		t.Helper()
		cfg, _, err := FromEnv(append(env, "TMUX=", "TMUX_PANE=", "LIBTMUX_TMUX_BIN=/bin/true"))
		if err != nil {
			t.Fatal(err)
		}
		s, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, d := range s.offered() {
			names = append(names, d.name)
		}
		return names
	}
	all := names("LIBTMUX_SAFETY=destructive")
	seen := map[string]int{}
	for _, set := range effects {
		for _, name := range names("LIBTMUX_TOOLSETS=" + set) {
			seen[name]++
		}
	}
	for _, name := range all {
		if seen[name] != 1 {
			t.Errorf("%s is in %d of the toolsets", name, seen[name])
		}
	}
	if len(seen) != len(all) {
		t.Errorf("the toolsets have %d tools, want %d", len(seen), len(all))
	}
	for env, want := range map[string]struct{ has, lacks string }{
		"LIBTMUX_TOOLSETS=inspect":                                   {"list_panes wait_for_text search_panes", "send_keys kill_pane rename_window run_command clear_pane"},
		"LIBTMUX_TOOLSETS=inspect,manage":                            {"list_panes rename_window resize_pane", "send_keys kill_pane run_command split_window create_session set_environment clear_pane"},
		"LIBTMUX_TOOLSETS=execute":                                   {"run_command send_keys split_window", "list_panes kill_pane"},
		"LIBTMUX_TOOLSETS=teardown":                                  {"kill_pane kill_server clear_pane delete_buffer", "list_panes run_command"},
		"LIBTMUX_TOOLSETS=teardown TMUX_MCP_SAFETY=readonly":         {"", "kill_pane list_panes"},
		"LIBTMUX_TOOLSETS=inspect TMUX_MCP_SAFETY=destructive":       {"list_panes", "kill_pane send_keys"},
		"LIBTMUX_TOOLSETS=inspect,execute TMUX_MCP_TOOLSETS=buffers": {"show_buffer paste_buffer", "list_panes run_command delete_buffer"},
	} {
		got := names(strings.Fields(env)...)
		for name := range strings.FieldsSeq(want.has) {
			if !slices.Contains(got, name) {
				t.Errorf("%s lacks %s", env, name)
			}
		}
		for name := range strings.FieldsSeq(want.lacks) {
			if slices.Contains(got, name) {
				t.Errorf("%s has %s", env, name)
			}
		}
	}
}

// TestEveryOptionIsDecided: of every option of this tmux and of all versions the table says
// what setting it can do, and of no other.
func TestEveryOptionIsDecided(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../tmux/option_names.txt")
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
	srv := tmuxtest.New(t)
	tmuxtest.Run(t, srv, "new-session", "-d", "cat")
	listed := 0
	for _, flag := range []string{"-s", "-g", "-gw"} {
		for line := range strings.Lines(tmuxtest.Run(t, srv, "show-options", flag)) {
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
		if _, ok := optionEffects[name]; !ok {
			t.Errorf("what %s can do is undecided", name)
		}
	}
	for name := range optionEffects {
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
