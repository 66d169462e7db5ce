package tmux

import (
	"cmp"
	"testing"
)

// Which names are those of an option or a hook in a scope, and what the error says of others.
func TestSettingNames(t *testing.T) {
	for _, tt := range []struct {
		hooks   bool
		scope   OptionScope
		name    string
		version string
		want    string
	}{
		{false, ServerOptions, "escape-time", "", ""},
		{false, ServerOptions, "status", "", "invalid argument: status is a session option, not a server option"},
		{false, GlobalSessionOptions, "status", "", ""},
		{false, SessionOptions, "status", "", ""},
		{false, SessionOptions, "escape-time", "", "invalid argument: escape-time is a server option, not a session option"},
		{false, GlobalWindowOptions, "mode-keys", "", ""},
		{false, WindowOptions, "status", "", "invalid argument: status is a session option, not a window option"},
		{false, PaneOptions, "mode-keys", "", "invalid argument: mode-keys is a window option, not a pane option"},
		{false, PaneOptions, "remain-on-exit", "", ""},
		{false, PaneOptions, "pane-border-style", "3.7", ""},
		{false, PaneOptions, "pane-border-style", "3.6a", "option pane-border-style of a pane needs tmux 3.7 or later, this is tmux 3.6a"},
		{false, WindowOptions, "pane-border-style", "", ""},
		{false, SessionOptions, "status-interv", "", "option status-interv: unknown option; is it status-interval?"},
		{false, SessionOptions, "pane-died", "", "invalid argument: pane-died is a hook, not an option"},
		{false, SessionOptions, "after-split-window", "", "invalid argument: after-split-window is a hook, not an option"},
		{false, GlobalHooks, "status", "", "invalid argument: status is a session option, not a global option"},
		{false, SessionOptions, "@mine", "", ""},
		{false, SessionOptions, "@", "", `invalid argument: "@" is not the name of an option`},
		{false, SessionOptions, "not-known-here", "", ""},
		{false, SessionOptions, "update-environment[1]", "", ""},
		{false, SessionOptions, "update-environment[]", "", `invalid argument: "update-environment[]": the index must be a word in brackets`},
		{false, SessionOptions, "#(x)", "", `invalid argument: "#(x)" is not the name of an option`},

		{true, GlobalHooks, "session-closed", "", ""},
		{true, GlobalHooks, "pane-died", "", ""},
		{true, GlobalHooks, "after-split-window", "", ""},
		{true, GlobalSessionOptions, "session-closed", "", ""},
		{true, GlobalSessionOptions, "pane-died", "", "invalid argument: pane-died is not a hook of a global session"},
		{true, GlobalWindowOptions, "pane-died", "", ""},
		{true, SessionOptions, "session-closed[2]", "", ""},
		{true, WindowOptions, "session-closed", "", "invalid argument: session-closed is not a hook of a window"},
		{true, PaneOptions, "pane-died", "", ""},
		{true, ServerOptions, "session-closed", "", "invalid argument: session-closed is not a hook of a server"},
		{true, GlobalHooks, "status", "", "invalid argument: status is an option, not a hook"},
		{true, GlobalHooks, "session-clos", "", "hook session-clos: unknown option; is it session-closed?"},
		{true, PaneOptions, "@mine", "", ""},
	} {
		got, version := "", cmp.Or(tt.version, "3.8")
		s := settings{hooks: tt.hooks, scope: tt.scope}
		if err := s.check(mustVersion(version).itself, tt.name); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("hooks %v, %s, %s: %q, want %q", tt.hooks, tt.scope, tt.name, got, tt.want)
		}
	}
	if err := (*settings)(nil).check(nil, "#(x)"); err != nil {
		t.Errorf("without a scope: %v", err)
	}
}

func TestFitScope(t *testing.T) {
	for _, tt := range []struct {
		name        string
		scope, want OptionScope
	}{
		{"mode-keys", SessionOptions, WindowOptions}, {"mode-keys", PaneOptions, WindowOptions}, {"mode-keys", WindowOptions, WindowOptions},
		{"remain-on-exit", PaneOptions, PaneOptions}, {"remain-on-exit", SessionOptions, WindowOptions},
		{"status", WindowOptions, SessionOptions}, {"status-format[1]", PaneOptions, SessionOptions}, {"buffer-limit", SessionOptions, ServerOptions},
		{"pane-exited", SessionOptions, WindowOptions}, {"pane-exited", PaneOptions, PaneOptions}, {"pane-exited", GlobalHooks, GlobalHooks},
		{"after-new-window", PaneOptions, SessionOptions}, {"session-renamed[2]", WindowOptions, SessionOptions},
		{"@mine", PaneOptions, PaneOptions}, {"not-known-here", PaneOptions, PaneOptions}, {"", PaneOptions, PaneOptions},
	} {
		if got := FitScope(tt.name, tt.scope); got != tt.want {
			t.Errorf("%s in %s: %s, want %s", tt.name, tt.scope, got, tt.want)
		}
	}
}
