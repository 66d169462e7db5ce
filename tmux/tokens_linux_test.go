package tmux_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

func TestTerminalClientTokens(t *testing.T) {
	t.Parallel()
	srv := started(t)
	tmuxtest.Run(t, srv, "new-session", "-d", "-s", "other")
	tmuxtest.Run(t, srv, "set-option", "-g", "window-size", "manual")
	tmuxtest.Run(t, srv, "resize-window", "-t", "main", "-x", "100", "-y", "40")
	keys := tmuxtest.Attach(t, srv, "main", 60, 20)
	var c tmux.Client
	wait := func(what string, is func() bool) {
		t.Helper()
		tmuxtest.Wait(t, srv, "main", what, func() bool {
			rows, err := tmux.List[tmux.Client](tmuxtest.Context(t), srv, tmux.ListClients{})
			if err != nil || len(rows) != 1 {
				return false
			}
			c = rows[0]
			return is()
		})
	}
	wait("client with a terminal", func() bool { return c.Height != nil })
	equal(t, "size", []*int{ptr(true, 60), ptr(true, 20)}, []*int{&c.Width, c.Height})
	equal(t, "cell", []*int{ptr(true, 8), ptr(true, 16)}, []*int{c.CellWidth, c.CellHeight})
	equal(t, "kind", []bool{false, true}, []bool{c.ControlMode, c.UTF8})
	equal(t, "terminal", []string{c.Name, "xterm-256color"}, []string{*c.TTY, c.Termname})
	equal(t, "a bigger window", true, c.WindowBigger)
	equal(t, "its offset", []*int{ptr(true, 0), ptr(true, 0)}, []*int{c.WindowOffsetX, c.WindowOffsetY})
	if (c.Colours != nil) != from(t, srv, 8) || c.Colours != nil && *c.Colours < 16 {
		t.Errorf("colours %v", c.Colours)
	}
	if !slices.Contains(c.Termfeatures, "title") || time.Since(c.Created) > time.Minute {
		t.Errorf("features %q, created %v", c.Termfeatures, c.Created)
	}

	must[int](t)(keys.WriteString("\x02"))
	wait("prefix", func() bool { return c.Prefix })
	equal(t, "key table", "prefix", c.KeyTable)
	must[int](t)(keys.WriteString("\x1b[?997;1n\x1bP>|Fake 1.0\x1b\\"))
	wait("terminal type", func() bool { return c.Termtype != nil })
	equal(t, "type", "Fake 1.0", *c.Termtype)
	if from(t, srv, 6) {
		wait("theme", func() bool { return c.Theme != nil })
		equal(t, "theme", "dark", *c.Theme)
	}
	tmuxtest.Run(t, srv, "switch-client", "-c", c.Name, "-t", "other")
	tmuxtest.Run(t, srv, "resize-window", "-t", "other", "-x", "20", "-y", "10")
	wait("other session", func() bool { return c.Session == "other" && !c.WindowBigger })
	equal(t, "the one before", ptr(true, "main"), c.LastSession)
	equal(t, "no offset", []*int{nil, nil}, []*int{c.WindowOffsetX, c.WindowOffsetY})
	if !strings.HasPrefix(c.Name, "/dev/") {
		t.Errorf("name %q", c.Name)
	}
}
