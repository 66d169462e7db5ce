package server

import (
	"slices"
	"strings"
	"testing"

	"tmuxmcp/server/internal/tool"
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
			names = append(names, d.Name)
		}
		return names
	}
	all := names("LIBTMUX_SAFETY=destructive")
	seen := map[string]int{}
	for _, set := range tool.Effects() {
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
