package server_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/server"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// inhabited is a tmux server on which the agent runs in pane %0 of window @0 of
// session agent, beside pane %1. Window @1 with %2 is another of the session,
// and session other has @2 with %3.
func inhabited(t *testing.T) *tmux.Server {
	srv := tmuxtest.New(t)
	session(t, srv, "agent")
	tmuxtest.Run(t, srv, "resize-window", "-t", "@0", "-x", "80", "-y", "24")
	tmuxtest.Run(t, srv, "split-window", "-d", "-t", "%0", "cat")
	tmuxtest.Run(t, srv, "new-window", "-d", "-t", "=agent:", "cat")
	session(t, srv, "other")
	return srv
}

// state is what a tool could have changed about all panes.
func state(t testing.TB, srv *tmux.Server) string {
	t.Helper()
	return tmuxtest.Run(t, srv, "list-panes", "-a", "-F", "#{session_name} #{window_id} #{window_index} #{window_layout} #{window_zoomed_flag} "+
		"#{pane_id} #{pane_index} #{pane_pid} #{pane_dead} #{pane_pipe} #{pane_width}x#{pane_height} #{history_size}")
}

// hurting are calls that would disturb or end the agent's own pane.
func hurting(t *testing.T) []struct {
	tool, args string
	ends       bool
} {
	out := filepath.Join(t.TempDir(), "out")
	type calls = []struct {
		tool, args string
		ends       bool
	}
	return calls{
		{"pipe_pane", args(t, "pane_id", "%0", "output_path", out), false},
		{"pipe_pane", args(t, "session_name", "agent", "output_path", out), false},
		{"clear_pane", `{"pane_id":"%0"}`, false},
		{"clear_pane", `{"window_id":"@0"}`, false},
		{"resize_pane", `{"pane_id":"%0","height":5}`, false},
		{"resize_pane", `{"session_id":"$0","zoom":true}`, false},
		{"resize_window", `{"window_id":"@0","width":60}`, false},
		{"resize_window", `{"session_name":"agent","window_index":0,"width":61}`, false},
		{"select_layout", `{"window_id":"@0","layout":"even-horizontal"}`, false},
		{"swap_pane", `{"source_pane_id":"%0","target_pane_id":"%1"}`, false},
		{"swap_pane", `{"source_pane_id":"%3","target_pane_id":"%0"}`, false},
		{"move_window", `{"window_id":"@0","destination_index":7}`, false},
		{"respawn_pane", `{"pane_id":"%0"}`, true},
		{"kill_pane", `{"pane_id":"%0"}`, true},
		{"kill_window", `{"window_id":"@0"}`, true},
		{"kill_session", `{"session_name":"agent"}`, true},
		{"kill_session", `{"session_id":"$0"}`, true},
		{"kill_server", `{}`, true},
	}
}

func TestOwnPaneIsLeftAlone(t *testing.T) {
	t.Parallel()
	srv := inhabited(t)
	for what, caller := range map[string]server.Caller{
		"known":                  {Pane: "%0", Socket: srv.SocketPath()},
		"known only by its pane": {Pane: "%0"},
	} {
		cfg := configFor(srv)
		cfg.Caller = caller
		p := serve(t, cfg)
		before := state(t, srv)
		for _, c := range hurting(t) {
			verb := "refusing to change "
			if c.ends {
				verb = "refusing to end "
			}
			if res := p.fails(c.tool, c.args, verb, "in which this agent runs", "the user can do it by hand in tmux"); res.Meta["error_type"] != "Refused" {
				t.Errorf("%s: %s %s fails as %v", what, c.tool, c.args, res.Meta["error_type"])
			}
		}
		if after := state(t, srv); after != before {
			t.Errorf("%s: refused calls changed\n%s\nto\n%s", what, before, after)
		}
	}
}

func TestWhatDoesNotHurtIsDone(t *testing.T) {
	t.Parallel()
	srv := inhabited(t)
	cfg := configFor(srv)
	cfg.Caller = server.Caller{Pane: "%0", Socket: srv.SocketPath()}
	cfg.Env = append(cfg.Env, "HOME="+t.TempDir())
	p := serve(t, cfg)
	for _, c := range []struct{ tool, args string }{
		{"rename_window", `{"window_id":"@0","new_name":"x"}`},
		{"set_pane_title", `{"pane_id":"%0","title":"x"}`},
		{"select_window", `{"window_id":"@1"}`},
		{"split_window", `{"pane_id":"%0"}`}, // %4
		{"clear_pane", `{"pane_id":"%1"}`},
		{"pipe_pane", `{"pane_id":"%1"}`},
		{"resize_pane", `{"pane_id":"%1","height":3}`},
		{"respawn_pane", `{"pane_id":"%1"}`},
		{"swap_pane", `{"source_pane_id":"%1","target_pane_id":"%3"}`},
		{"move_window", `{"window_id":"@1"}`},
		{"kill_pane", `{"pane_id":"%3"}`},
		{"kill_window", `{"window_id":"@1"}`},
		{"kill_session", `{"session_name":"other"}`},
		{"create_session", `{"socket_name":"elsewhere"}`},
		{"kill_pane", `{"socket_name":"elsewhere","pane_id":"%0"}`}, // another server's %0
		{"kill_server", `{"socket_name":"elsewhere"}`},
	} {
		ok[map[string]any](p, c.tool, c.args)
	}
	// Without a target, what is made is made where the agent is.
	session(t, srv, "busy")
	if w := ok[map[string]any](p, "create_window", `{}`); w["session_name"] != "agent" {
		t.Errorf("a window was made in %v", w["session_name"])
	}
	if w := ok[map[string]any](p, "split_window", `{"size":2}`); w["window_id"] != "@0" {
		t.Errorf("a pane was made in %v", w["window_id"])
	}
}

// TestSessionsThatShareTheOwnWindow: ending one of several sessions that hold a
// window does not end the window.
func TestSessionsThatShareTheOwnWindow(t *testing.T) {
	t.Parallel()
	srv := inhabited(t)
	tmuxtest.Run(t, srv, "new-session", "-d", "-s", "peer", "-t", "=agent")
	tmuxtest.Run(t, srv, "link-window", "-d", "-s", "=agent:0", "-t", "=other:9")
	cfg := configFor(srv)
	cfg.Caller = server.Caller{Pane: "%0", Socket: srv.SocketPath()}
	p := serve(t, cfg)
	pid := format(t, srv, "%0", "#{pane_pid}")
	for _, name := range []string{"peer", "agent"} {
		p.fails("kill_window", `{"window_id":"@0"}`, "refusing to end pane %0")
		ok[map[string]any](p, "kill_session", args(t, "session_name", name))
	}
	// It is in one session now, if at two indexes.
	tmuxtest.Run(t, srv, "link-window", "-d", "-s", "=other:9", "-t", "=other:12")
	p.fails("kill_session", `{"session_name":"other"}`, "refusing to end pane %0")
	if now := format(t, srv, "%0", "#{pane_pid}"); now != pid {
		t.Errorf("the agent's process was %s and is %s", pid, now)
	}
}

// asked calls a tool and answers the questions that the server asks the user
// meanwhile.
func (p *peer) asked(tool, args, answer string) (questions int, res result) {
	p.t.Helper()
	seen := len(p.asks())
	c, _ := p.begin("tools/call", map[string]any{"name": tool, "arguments": json.RawMessage(args)})
	for {
		select {
		case r := <-c:
			return questions, p.toolResult(tool, r)
		default:
			if ids := p.asks(); len(ids) > seen {
				seen++
				questions++
				p.send(`{"jsonrpc":"2.0","id":%s,%s}`, ids[len(ids)-1], answer)
			}
		}
	}
}

func TestTheUserDecidesAboutTheOwnPane(t *testing.T) {
	t.Parallel()
	no := `"result":{"action":"decline"}`
	yes := `"result":{"action":"accept","content":{}}`
	srv := inhabited(t)
	cfg := configFor(srv)
	cfg.Caller = server.Caller{Pane: "%0", Socket: srv.SocketPath()}
	p := connect(t, cfg)
	p.handshake(`{"elicitation":{}}`)
	calls := hurting(t)
	before := state(t, srv)
	for _, c := range calls {
		if n, res := p.asked(c.tool, c.args, no); n != 1 || !res.IsError || !strings.Contains(res.text(), "refusing to ") {
			t.Errorf("%s %s: asked %d times, a no answered with %q", c.tool, c.args, n, res.text())
		}
	}
	if after := state(t, srv); after != before {
		t.Errorf("after a no\n%s\nis\n%s", before, after)
	}
	for _, c := range calls {
		if c.ends {
			break
		}
		want := 1
		if c.tool == "move_window" {
			want = 0 // the swap before has brought the pane elsewhere
		}
		if n, res := p.asked(c.tool, c.args, yes); n != want || res.IsError {
			t.Errorf("%s %s: asked %d times, want %d; it answers %q", c.tool, c.args, n, want, res.text())
		}
	}
	if after := state(t, srv); after == before {
		t.Error("after a yes nothing has changed")
	}
	for range 2 {
		pid := format(t, srv, "%0", "#{pane_pid}")
		if n, res := p.asked("respawn_pane", `{"pane_id":"%0","shell":"cat"}`, yes); n != 1 || res.IsError {
			t.Errorf("respawn_pane: asked %d times, answers %q", n, res.text())
		}
		if now := format(t, srv, "%0", "#{pane_pid}"); now == pid {
			t.Error("it was not respawned")
		}
	}
	// The swap with %3 has brought it into the other session.
	if n, res := p.asked("kill_session", `{"session_name":"agent"}`, yes); n != 0 || res.IsError {
		t.Errorf("kill_session of a session it left: asked %d times, answers %q", n, res.text())
	}
	session(t, srv, "third")
	if n, res := p.asked("kill_session", `{"session_name":"other"}`, yes); n != 1 || res.IsError {
		t.Errorf("kill_session: asked %d times, answers %q", n, res.text())
	}
	if n, res := p.asked("kill_server", `{}`, yes); n != 1 || res.IsError {
		t.Errorf("kill_server: asked %d times, answers %q", n, res.text())
	}
}

// TestInsideRealPanes runs the program in panes, where tmux says what it says.
func TestInsideRealPanes(t *testing.T) {
	t.Parallel()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
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
		command := prefix + tmux.ShellQuote(path) + " --tmux " + tmux.ShellQuote(on.Binary()) + " --safety destructive " + flags +
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
	pane, out = run(outer, `P=$TMUX_PANE; set -- env -i PATH="$PATH" TMUX_PANE_WAS=$P; "$@" `, "", "kill_server", `{}`)
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
