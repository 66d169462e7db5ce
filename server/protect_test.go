package server_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// inhabited returns a tmux server on which the agent runs in pane %0 of window @0 of
// session agent, beside pane %1. Window @1 with %2 is another one of the session, and
// session other has @2 with %3.
func inhabited(t *testing.T) *tmux.Server {
	srv := tmuxtest.New(t)
	session(t, srv, "agent")
	tmuxtest.Run(t, srv, "resize-window", "-t", "@0", "-x", "80", "-y", "24")
	tmuxtest.Run(t, srv, "split-window", "-d", "-t", "%0", "cat")
	tmuxtest.Run(t, srv, "new-window", "-d", "-t", "=agent:", "cat")
	session(t, srv, "other")
	return srv
}

// TestInsideRealPanes runs the program in panes, with tmux's real variables.
func TestInsideRealPanes(t *testing.T) {
	t.Parallel()
	outer, inner := tmuxtest.New(t), tmuxtest.New(t)
	session(t, outer, "a")
	session(t, inner, "b")
	dir := t.TempDir()
	runs := 0
	// run runs the program in a new pane of a server and returns the pane and
	// what the program printed.
	run := func(on *tmux.Server, prefix, flags, tool, arguments string) (pane, out string) {
		t.Helper()
		runs++
		file := filepath.Join(dir, strings.Repeat("i", runs))
		command := prefix + program() + " --tmux " + tmux.ShellQuote(on.Binary()) + " --safety destructive " + flags +
			" call " + tool + " " + tmux.ShellQuote(arguments) + " >" + file + ".part 2>&1; mv " + file + ".part " + file + "; exec cat"
		if strings.Contains(arguments, "OWN") {
			command = strings.ReplaceAll(command, "OWN", `'"$TMUX_PANE"'`)
		}
		pane = tmuxtest.Run(t, on, "new-window", "-d", "-P", "-F", "#{pane_id}", command)
		tmuxtest.Wait(t, on, pane, "answer of "+tool, func() bool { _, err := os.Stat(file); return err == nil })
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return pane, string(text)
	}
	alive := func(srv *tmux.Server, pane string) bool {
		return tmuxtest.Run(t, srv, "list-panes", "-a", "-F", "#{pane_id}", "-f", "#{==:#{pane_id},"+pane+"}") == pane
	}

	// The own server is the one to act on without a flag, and is known.
	pane, out := run(outer, "", "", "kill_pane", `{"pane_id":"OWN"}`)
	if !strings.Contains(out, "refusing to end pane "+pane) || !alive(outer, pane) {
		t.Errorf("to end its own pane answers %q", out)
	}
	// So it is with the environment thinned out.
	const thin = `env -i PATH="$PATH" `
	if _, out = run(outer, thin, "", "list_panes", `{}`); !strings.Contains(out, "active,caller") {
		t.Errorf("without TMUX the own pane is not found: %s", out)
	}
	pane, out = run(outer, thin, "", "kill_server", `{}`)
	if !strings.Contains(out, "refusing to end the tmux server") || !alive(outer, pane) {
		t.Errorf("to end its own server without TMUX answers %q", out)
	}
	_, out = run(outer, "", "", "create_session", `{"session_name":"made"}`)
	if got := tmuxtest.Run(t, outer, "list-sessions", "-F", "#{session_name}"); got != "a\nmade" {
		t.Errorf("create_session in a pane: sessions are %q; it answers %q", got, out)
	}
	// Another server's pane of the same id is another pane, as long as nothing
	// says that the two may be one.
	elsewhere := filepath.Join(dir, "else")
	_, out = run(outer, "", "-S "+elsewhere, "create_session", `{"session_name":"there"}`)
	if !strings.Contains(out, "there") {
		t.Errorf("create_session on another server answers %q", out)
	}
	_, out = run(outer, "", "-S "+elsewhere, "kill_server", `{}`)
	if !strings.Contains(out, "Server killed: "+elsewhere) {
		t.Errorf("to end another server answers %q", out)
	}
	// A tmux inside a pane of tmux: the own pane is the inner one.
	tmuxtest.Run(t, outer, "new-window", "-d", "env -u TMUX "+tmux.ShellQuote(inner.Binary())+" -S "+inner.SocketPath()+" attach -t =b")
	tmuxtest.Wait(t, inner, "", "client of the inner server", func() bool { return tmuxtest.Run(t, inner, "list-clients") != "" })
	pane, out = run(inner, "", "", "kill_window", `{"window_id":"@1"}`)
	if pane != "%1" || !strings.Contains(out, "refusing to end pane %1") || !alive(inner, pane) {
		t.Errorf("to end its own window in the inner tmux (pane %s) answers %q", pane, out)
	}
	_, out = run(inner, "", "", "kill_pane", `{"pane_id":"%0"}`)
	if !strings.Contains(out, "Pane killed: %0") || alive(inner, "%0") || !alive(outer, "%0") {
		t.Errorf("to end another pane of the inner tmux answers %q", out)
	}
}
