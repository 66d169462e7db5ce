package server_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

// TestNamesAreAsListed: what list_sessions calls a session is its name for every tool,
// though tmux would take some of these for more than a name.
func TestNamesAreAsListed(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	for _, name := range []string{"work", "work2", "w##S,}x", "$dollar", "sp ace", "1", "@1", "=work", "a:0", "b.1", "c:d.e"} {
		session(t, srv, name)
	}
	p := serve(t, configFor(srv))
	for _, row := range ok[rows](p, "list_sessions", `{}`).Result {
		for _, tool := range []string{"get_session_info", "get_window_info", "get_pane_info", "capture_pane", "snapshot_pane", "capture_since"} {
			got := ok[map[string]any](p, tool, args(t, "session_name", row["session_name"]))
			if got["session_name"] != row["session_name"] && got["pane_id"] != row["active_pane_id"] {
				t.Errorf("%s of session %q answers with %v", tool, row["session_name"], got)
			}
		}
	}
}

func TestListServers(t *testing.T) {
	t.Parallel()
	one, other := testserver.New(t), testserver.New(t)
	session(t, one, "a")
	session(t, other, "b")
	session(t, other, "c")
	// Something that listens but is not tmux, and something that never did.
	strange := filepath.Join(filepath.Dir(one.SocketPath()), "strange")
	l, err := net.Listen("unix", strange)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	defer l.Close()
	p := serve(t, configFor(one))
	args, _ := json.Marshal(map[string]any{"extra_socket_paths": []string{
		other.SocketPath(), one.SocketPath(), other.SocketPath(), "/nonexistent", strange}})
	got := ok[rows](p, "list_servers", string(args))
	if want := other.SocketPath() + " " + one.SocketPath(); got.column("socket_path") != want {
		t.Errorf("servers are %q, want %q", got.column("socket_path"), want)
	}
	p.fails("list_servers", `{"extra_socket_paths":["/etc/passwd"]}`, "/etc/passwd, which is not a socket")
	if got.column("session_count") != "2 1" {
		t.Errorf("session counts are %q, want 2 and 1", got.column("session_count"))
	}
}

// TestManyPanes: one round trip reads a large tmux too, and nothing of it is lost.
func TestManyPanes(t *testing.T) {
	t.Parallel()
	const panes = 5
	windows := testtool.Size(10, 40)
	srv := testserver.New(t)
	session(t, srv, "s0")
	var b tmux.Batch
	for i := range windows {
		window := tmux.TargetSpec("=s0:" + strconv.Itoa(100+i))
		command := []string{"exec cat"}
		if i%5 == 4 {
			command = []string{"printf 'the needle of #{x} %s' " + strconv.Itoa(i) + "; exec cat"}
		}
		tmux.Add(&b, tmux.NewWindow{Target: window, Detached: true, Name: "w;" + strconv.Itoa(i) + "#{x}", Command: command})
		tmux.Add(&b, tmux.ResizeWindow{Target: window, Width: 120, Height: 50})
		for range panes - 1 {
			tmux.Add(&b, tmux.SplitWindow{Target: window, Detached: true, Size: tmux.Cells(5), Command: []string{"exec cat"}})
		}
	}
	if err := b.Do(testserver.Context(t), srv); err != nil {
		t.Fatal(err)
	}
	cfg := configFor(srv)
	cfg.Transport = tmux.TransportExec
	counted := countedTmux(t, &cfg)
	p := serve(t, cfg)
	once := func(tool, args string) rows {
		t.Helper()
		before := counted()
		got := ok[rows](p, tool, args)
		if n := counted() - before; n != 1 {
			t.Errorf("%s %s ran tmux %d times, want once", tool, args, n)
		}
		return got
	}
	ok[rows](p, "list_sessions", `{}`) // asks for the version, once
	all := once("list_panes", `{}`)
	seen := map[any]bool{}
	for _, row := range all.Result {
		seen[row["pane_id"]] = true
	}
	if want := windows*panes + 1; all.Total != want || len(all.Result) != want || len(seen) != want {
		t.Errorf("%d panes, %d rows, %d ids; want %d", all.Total, len(all.Result), len(seen), want)
	}
	if got := once("list_windows", `{"filters":{"pane_count":"5"}}`); got.Total != windows {
		t.Errorf("%d windows of 5 panes", got.Total)
	}
	if got := once("list_panes", fmt.Sprintf(`{"filters":{"window_name":"w;%d#{x}"}}`, windows-1)); got.Total != panes {
		t.Errorf("%d panes in a window found by its name", got.Total)
	}
	testtool.Eventually(t, "all needles are found", func() bool {
		return ok[found](p, "search_panes", `{"pattern":"needle of #{x}"}`).Total == windows/5
	})
	if got := once("list_panes", fmt.Sprintf(`{"session_name":"s0","window_index":%d}`, 99+windows)); got.Total != panes {
		t.Errorf("%d panes in a window", got.Total)
	}
}

// attach attaches a client in control mode and returns its process id.
func attach(t testing.TB, srv *tmux.Server, session string) int {
	t.Helper()
	client := exec.Command(srv.Binary(), "-S", srv.SocketPath(), "-C", "attach-session", "-t", "="+session)
	in, err := client.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); client.Wait() })
	return client.Process.Pid
}
