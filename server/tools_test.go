package server_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
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
	if got.column("session_count") != "2 1" {
		t.Errorf("session counts are %q, want 2 and 1", got.column("session_count"))
	}
}

// TestListServersSkips: a path at which there is no tmux server to use does not keep others
// out of the list, and is named with the reason.
func TestListServersSkips(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	session(t, srv, "a")
	dir, err := os.MkdirTemp("", "skips") // short, for sockets
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	listen := func(name string) *net.UnixListener {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, name), Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		l.SetUnlinkOnClose(false)
		t.Cleanup(func() { l.Close() })
		return l
	}
	listen("left").Close()
	strange := listen("strange")
	go func() {
		for c, err := strange.Accept(); err == nil; c, err = strange.Accept() {
			c.Close()
		}
	}()
	for path, err := range map[string]error{
		"plain": os.WriteFile(filepath.Join(dir, "plain"), nil, 0o600), "dangling": os.Symlink("nothing", filepath.Join(dir, "dangling")),
		"link": os.Symlink(srv.SocketPath(), filepath.Join(dir, "link")), "deep": os.Mkdir(filepath.Join(dir, strings.Repeat("d", 120)), 0o700),
	} {
		if err != nil {
			t.Fatal(path, err)
		}
	}
	// A socket with a path of more bytes than an address has room for.
	listen("far")
	far := filepath.Join(dir, strings.Repeat("d", 120), "far")
	if err := os.Rename(filepath.Join(dir, "far"), far); err != nil {
		t.Fatal(err)
	}
	skips := []struct{ path, why string }{
		{filepath.Join(dir, "none"), "it does not exist"},
		{"", "it does not exist"},
		{filepath.Join(dir, "plain"), "not a socket"},
		{dir, "a directory, not a socket"},
		{filepath.Join(dir, "dangling"), "a link to a file that does not exist"},
		{filepath.Join(dir, "plain", "below"), "not a directory"},
		{filepath.Join(dir, "left"), "no tmux server listens there"},
		{filepath.Join(dir, "strange"), ""},
		{far, "the path of the socket has "},
		{strings.Repeat("/long", 1000), "file name too long"},
		{"/a\x00b", "invalid argument"},
	}
	if os.Geteuid() == 0 {
		open, err := os.MkdirTemp("", "skips")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(open)
		if err := os.Chmod(open, 0o777|os.ModeSticky); err != nil {
			t.Fatal(err)
		}
		his := filepath.Join(open, "his", "s")
		testserver.NewForeign(t, his, "", "")
		skips = append(skips, struct{ path, why string }{his, "65534"})
	} else {
		t.Log("only root can make another user's socket")
	}
	link := filepath.Join(dir, "link")
	p := serve(t, configFor(srv))
	for _, c := range skips {
		res := p.tool("list_servers", args(t, "extra_socket_paths", []string{c.path, link}))
		var got rows
		if err := json.Unmarshal(res.Structured, &got); err != nil || res.IsError {
			t.Fatalf("%q: %v %s", c.path, err, res.text())
		}
		named := "skipped " + strings.ReplaceAll(c.path[:min(len(c.path), 100)], "\x00", `\u0000`)
		if notice := fmt.Sprint(res.Meta["notice"]); got.Total != 1 || !strings.HasPrefix(notice, named) || !strings.Contains(notice, c.why) {
			t.Errorf("%q: %s, %s", c.path, res.Structured, notice)
		}
	}
	var all []string
	for _, c := range skips {
		all = append(all, c.path)
	}
	res := p.tool("list_servers", args(t, "extra_socket_paths", append(all, link)))
	notice := fmt.Sprint(res.Meta["notice"])
	if res.IsError || strings.Count(notice, "skipped ") != 6 || !strings.Contains(notice, fmt.Sprintf("skipped %d more", len(skips)-5)) {
		t.Errorf("%s, %s", res.Structured, notice)
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
