package server_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

// TestVariablesOfAnotherServer: what TMUX and TMUX_PANE say is no reason to refuse anything,
// unless this process runs below the tmux server of the call, or may do so. All tools agree.
func TestVariablesOfAnotherServer(t *testing.T) {
	t.Parallel()
	other := testserver.New(t)
	session(t, other, "a")
	ended := testserver.New(t)
	session(t, ended, "a")
	pidOf := func(srv *tmux.Server) string { return testserver.Run(t, srv, "display-message", "-p", "#{pid}") }
	deadPID := pidOf(ended)
	testserver.Run(t, ended, "kill-server")
	dir, err := os.MkdirTemp("", "variables") // short, for sockets
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	// A socket that nobody listens on: it is left by a server that is killed.
	killed := filepath.Join(dir, "killed")
	if out, err := exec.Command("sh", "-c", other.Binary()+" -S "+killed+" -f /dev/null new-session -d cat && kill -9 $("+other.Binary()+" -S "+killed+" display-message -p '#{pid}')").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	own := func(srv *tmux.Server) string { return srv.SocketPath() }
	for _, c := range []struct {
		name, pane string
		// tmux returns TMUX for a call on a server; nil if it is not set.
		tmux func(srv *tmux.Server) string
	}{
		{"another server, the same pane", "%0", func(*tmux.Server) string { return other.SocketPath() + "," + pidOf(other) + ",0" }},
		{"another server, no pane", "", func(*tmux.Server) string { return other.SocketPath() + "," + pidOf(other) + ",0" }},
		{"a pane without TMUX", "%0", nil},
		{"a pane that is not there", "%99", nil},
		{"a server that has ended", "%0", func(*tmux.Server) string { return ended.SocketPath() + "," + deadPID + ",0" }},
		{"a socket that nobody listens on", "%0", func(*tmux.Server) string { return killed + "," + deadPID + ",0" }},
		{"a socket that is not there", "%0", func(*tmux.Server) string { return filepath.Join(dir, "gone") + "," + deadPID + ",0" }},
		{"a socket of the same name", "%0", func(srv *tmux.Server) string {
			return filepath.Join(dir, filepath.Base(own(srv))) + "," + deadPID + ",0"
		}},
		{"a process that is no tmux, above this one", "%0", func(*tmux.Server) string { return other.SocketPath() + ",PPID,0" }},
		{"the process of another server", "%0", func(srv *tmux.Server) string { return own(srv) + "," + pidOf(other) + ",0" }},
		{"a process that has ended", "%0", func(srv *tmux.Server) string { return own(srv) + "," + deadPID + ",0" }},
		{"a link to the socket", "%0", func(srv *tmux.Server) string {
			link := filepath.Join(dir, "link")
			if err := os.Symlink(own(srv), link); err != nil {
				t.Fatal(err)
			}
			return link + "," + deadPID + ",0"
		}},
	} {
		srv := testserver.New(t)
		session(t, srv, "a")
		testserver.Run(t, srv, "resize-window", "-t", "@0", "-x", "80", "-y", "24")
		testserver.Run(t, srv, "split-window", "-d", "-t", "%0", "cat")   // %1
		testserver.Run(t, srv, "new-window", "-d", "-t", "=a:", "cat")    // @1
		testserver.Run(t, srv, "new-session", "-d", "-s", "other", "cat") // %3
		calls := `{"on_error":"continue","operations":[
			{"tool":"send_keys","arguments":{"pane_id":"%0","keys":"x"}},
			{"tool":"clear_pane","arguments":{"pane_id":"%0"}},
			{"tool":"enter_copy_mode","arguments":{"pane_id":"%0"}},
			{"tool":"set_option","arguments":{"option":"synchronize-panes","value":"off","global_":true}},
			{"tool":"set_option","arguments":{"option":"exit-empty","unset":true}},
			{"tool":"respawn_pane","arguments":{"pane_id":"%0","kill":true}},
			{"tool":"kill_pane","arguments":{"pane_id":"%0"}},
			{"tool":"kill_window","arguments":{"window_id":"@0"}},
			{"tool":"kill_session","arguments":{"session_name":"a"}},
			{"tool":"kill_server"}]}`
		// A shell below this test stands for the client, whose program no pane runs.
		cmd := exec.Command(testtool.Path(t, "sh"), "-c", `[ -z "$AT" ] || { TMUX=$(echo "$AT" | sed s/PPID/$PPID/); export TMUX; }; unset AT
"$@"; exit $?`, "sh", program(), "--tmux", srv.Binary(), "-S", srv.SocketPath(), "--safety", "destructive", "call", "call_destructive_tools_batch", calls)
		cmd.Env = append(os.Environ(), "AT=")
		if c.tmux != nil {
			cmd.Env = append(cmd.Env, "AT="+c.tmux(srv))
		}
		if c.pane != "" {
			cmd.Env = append(cmd.Env, "TMUX_PANE="+c.pane)
		}
		out, err := cmd.CombinedOutput()
		if err != nil || strings.Contains(string(out), "refusing") || !strings.Contains(string(out), "Server killed: ") {
			t.Errorf("%s: %v\n%s", c.name, err, out)
		}
	}
}

// TestBelowInNoPane: a command of run-shell runs below the tmux server, in none of its panes,
// and so ends no server but another one.
func TestBelowInNoPane(t *testing.T) {
	t.Parallel()
	srv, other := testserver.New(t), testserver.New(t)
	session(t, srv, "a")
	session(t, other, "a")
	out := filepath.Join(t.TempDir(), "out")
	call := program() + " --tmux " + tmux.ShellQuote(srv.Binary()) + " --safety destructive -S "
	testserver.Run(t, srv, "run-shell", "-b", "{ "+call+srv.SocketPath()+" call kill_server; "+call+other.SocketPath()+" call kill_server; } >"+out+".part 2>&1; mv "+out+".part "+out)
	var got string
	testserver.Wait(t, srv, "", "the calls", func() bool {
		b, err := os.ReadFile(out)
		got = string(b)
		return err == nil
	})
	for _, want := range []string{"refusing to end the tmux server in which this agent runs", "Server killed: " + other.SocketPath()} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
}
