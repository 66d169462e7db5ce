package server_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/server"
	"tmuxmcp/tmux"
)

// inhabited returns a tmux server on which the agent runs in pane %0 of window @0 of
// session agent, beside pane %1. Window @1 with %2 is another one of the session, and
// session other has @2 with %3.
func inhabited(t *testing.T) *tmux.Server {
	srv := testserver.New(t)
	session(t, srv, "agent")
	testserver.Run(t, srv, "resize-window", "-t", "@0", "-x", "80", "-y", "24")
	testserver.Run(t, srv, "split-window", "-d", "-t", "%0", "cat")
	testserver.Run(t, srv, "new-window", "-d", "-t", "=agent:", "cat")
	session(t, srv, "other")
	return srv
}

// TestInsideRealPanes runs the program in panes, with tmux's real variables.
func TestInsideRealPanes(t *testing.T) {
	t.Parallel()
	outer, inner := testserver.New(t), testserver.New(t)
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
		pane = testserver.Run(t, on, "new-window", "-d", "-P", "-F", "#{pane_id}", command)
		testserver.Wait(t, on, pane, "answer of "+tool, func() bool { _, err := os.Stat(file); return err == nil })
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return pane, string(text)
	}
	alive := func(srv *tmux.Server, pane string) bool {
		return testserver.Run(t, srv, "list-panes", "-a", "-F", "#{pane_id}", "-f", "#{==:#{pane_id},"+pane+"}") == pane
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
	if got := testserver.Run(t, outer, "list-sessions", "-F", "#{session_name}"); got != "a\nmade" {
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
	testserver.Run(t, outer, "new-window", "-d", "env -u TMUX "+tmux.ShellQuote(inner.Binary())+" -S "+inner.SocketPath()+" attach -t =b")
	testserver.Wait(t, inner, "", "client of the inner server", func() bool { return testserver.Run(t, inner, "list-clients") != "" })
	pane, out = run(inner, "", "", "kill_window", `{"window_id":"@1"}`)
	if pane != "%1" || !strings.Contains(out, "refusing to end pane %1") || !alive(inner, pane) {
		t.Errorf("to end its own window in the inner tmux (pane %s) answers %q", pane, out)
	}
	_, out = run(inner, "", "", "kill_pane", `{"pane_id":"%0"}`)
	if !strings.Contains(out, "Pane killed: %0") || alive(inner, "%0") || !alive(outer, "%0") {
		t.Errorf("to end another pane of the inner tmux answers %q", out)
	}
}

// TestWhatHappensMeanwhile: what an object holds may change while a call is on its way, by
// another call or by the user. The agent's own pane survives all the same.
func TestWhatHappensMeanwhile(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	session(t, srv, "keep")
	alive := func(pane string) bool {
		return testserver.Run(t, srv, "list-panes", "-a", "-F", "#{pane_id}", "-f", "#{==:#{pane_id},"+pane+"}") != ""
	}
	for i := range 12 {
		name := fmt.Sprint("own", i)
		own := testserver.Run(t, srv, "new-session", "-d", "-s", name, "-P", "-F", "#{pane_id}", "cat")
		cfg := configFor(srv)
		cfg.Caller = server.Caller{Pane: tmux.PaneID(own), Socket: srv.SocketPath()}
		first, second := connect(t, cfg), connect(t, cfg)
		if i%2 == 0 {
			second = first
		}
		var calls []<-chan reply
		begin := func(p *peer, tool, args string) {
			c, _ := p.begin("tools/call", json.RawMessage(`{"name":"`+tool+`","arguments":`+args+`}`))
			calls = append(calls, c)
		}
		if i%4 < 2 { // each of two sessions leaves the pane to the other
			testserver.Run(t, srv, "new-session", "-d", "-t", name, "-s", name+"-peer")
			begin(first, "kill_session", `{"session_name":"`+name+`"}`)
			begin(second, "kill_session", `{"session_name":"`+name+`-peer"}`)
		} else { // the pane moves into a window that is closed
			window := testserver.Run(t, srv, "new-window", "-d", "-t", name+":", "-P", "-F", "#{window_id}", "cat")
			begin(first, "kill_window", `{"window_id":"`+window+`"}`)
			_, _ = srv.Do(testserver.Context(t), tmux.Raw{Name: "join-pane", Args: []string{"-d", "-s", own, "-t", window}})
			begin(second, "kill_window", `{"window_id":"`+window+`"}`)
		}
		for _, c := range calls {
			<-c
		}
		if !alive(own) {
			t.Errorf("try %d: the agent's own pane has ended", i)
		}
	}
}

// TestAnotherWayToTheOwnServer: the agent's own server is known by its process, not by the
// path of its socket.
func TestAnotherWayToTheOwnServer(t *testing.T) {
	t.Parallel()
	own, other := inhabited(t), testserver.New(t)
	session(t, other, "x")
	testserver.Run(t, other, "split-window", "-d", "-t", "%0", "cat")
	pid, err := strconv.Atoi(testserver.Run(t, own, "display-message", "-p", "#{pid}"))
	if err != nil {
		t.Fatal(err)
	}
	// The agent believes that its server is at the other one's path.
	caller := server.Caller{Pane: "%0", Socket: other.SocketPath(), Server: pid}
	call := func(path, tool, args string) string {
		t.Helper()
		s, err := server.New(server.Config{Tmux: own.Binary(), SocketPath: path, Tier: server.Destructive, Caller: caller})
		if err != nil {
			t.Fatal(err)
		}
		res, err := s.Call(testserver.Context(t), tool, json.RawMessage(args))
		if err != nil {
			t.Fatal(err)
		}
		text, _ := json.Marshal(res)
		return string(text)
	}
	for tool, args := range map[string]string{
		"kill_pane": `{"pane_id":"%0"}`, "kill_window": `{"window_id":"@0"}`, "kill_session": `{"session_name":"agent"}`, "kill_server": `{}`,
		"clear_pane": `{"pane_id":"%0"}`, "send_keys": `{"pane_id":"%0","keys":"x"}`, "set_option": `{"option":"exit-unattached","value":"on"}`,
	} {
		if got := call(own.SocketPath(), tool, args); !strings.Contains(got, "refusing to ") {
			t.Errorf("%s on the agent's own server: %s", tool, got)
		}
		proven := caller
		caller = server.Caller{Socket: other.SocketPath(), Server: pid, Lost: true} // as of a daemon
		if got := call(own.SocketPath(), tool, args); !strings.Contains(got, "refusing to ") {
			t.Errorf("%s on the server that the environment names: %s", tool, got)
		}
		caller = proven
	}
	if got := call(own.SocketPath(), "get_pane_info", `{}`); !strings.Contains(got, "%0") || !strings.Contains(got, "caller") {
		t.Errorf("the agent's own pane is not known: %s", got)
	}
	if got := call(other.SocketPath(), "kill_pane", `{"pane_id":"%0"}`); !strings.Contains(got, "Pane killed: %0") {
		t.Errorf("kill_pane on another server: %s", got)
	}
}

// TestOuterTerminals: in a tmux around the agent's, the pane that shows the agent's own takes
// no keys from tools, whatever runs the client in it.
func TestOuterTerminals(t *testing.T) {
	t.Parallel()
	own, outer := inhabited(t), testserver.New(t)
	attach := "env -u TMUX " + tmux.ShellQuote(own.Binary()) + " -S " + own.SocketPath() + " attach -t =agent"
	testserver.Run(t, outer, "new-session", "-d", attach)                  // %0
	testserver.Run(t, outer, "new-session", "-d", "sh -c '"+attach+"; :'") // %1
	testserver.Run(t, outer, "new-session", "-d", "exec cat")              // %2
	testserver.Wait(t, own, "", "two clients", func() bool { return strings.Count(testserver.Run(t, own, "list-clients"), "\n") == 1 })
	pid, err := strconv.Atoi(testserver.Run(t, own, "display-message", "-p", "#{pid}"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Config{Tmux: outer.Binary(), SocketPath: outer.SocketPath(), Tier: server.Mutating,
		Caller: server.Caller{Pane: "%0", Socket: own.SocketPath(), Server: pid}})
	if err != nil {
		t.Fatal(err)
	}
	for pane, want := range map[string]string{"%0": "pane %0, or one that is synchronized with it, is a terminal of tmux", "%1": " is a terminal of tmux", "%2": "Keys sent to pane %2"} {
		res, err := s.Call(testserver.Context(t), "send_keys", json.RawMessage(`{"pane_id":"`+pane+`","keys":"x"}`))
		text, _ := json.Marshal(res)
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%v, %s", err, text)
		}
	}
}
