package server_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"tmuxmcp/server"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// args is a tool's arguments as JSON.
func args(t testing.TB, nameValues ...any) string {
	t.Helper()
	m := map[string]any{}
	for i := 0; i < len(nameValues); i += 2 {
		m[nameValues[i].(string)] = nameValues[i+1]
	}
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// format is what tmux expands a format to.
func format(t testing.TB, srv *tmux.Server, target, format string) string {
	t.Helper()
	return tmuxtest.Run(t, srv, "display-message", "-p", "-t", target, format)
}

// runsIn waits until the program of a pane is in a directory. It gets there a
// moment after tmux has answered.
func runsIn(p *peer, srv *tmux.Server, pane any, dir string) {
	p.t.Helper()
	tmuxtest.Wait(p.t, srv, fmt.Sprint(pane), "program in "+dir, func() bool {
		return ok[map[string]any](p, "get_pane_info", args(p.t, "pane_id", pane))["pane_current_path"] == dir
	})
}

// version is the tmux under test, such as 3.3.
func version(t testing.TB, srv *tmux.Server) tmux.Version {
	t.Helper()
	v, err := srv.Version(tmuxtest.Context(t))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// literalTexts are names, titles and directories that tmux would make something
// else of.
var literalTexts = []string{
	"#S", "#{pane_id}", "#(touch marker)", "##", "%Y-%m", "#[fg=red]", "a;b;", "-t", "{curly}", "o'clock \"q\"", "~", "*", "=x", "a, b", "ünï 漢", "}", " lead",
}

func TestNamesAreLiteralText(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	p := serve(t, configFor(srv))
	for i, text := range literalTexts {
		for _, c := range []struct{ tool, row, args string }{
			{"create_session", "session_name", args(t, "session_name", text+strconv.Itoa(i))},
			{"rename_session", "session_name", args(t, "session_id", "$0", "new_name", text)},
			{"create_window", "window_name", args(t, "session_id", "$0", "window_name", text)},
			{"rename_window", "window_name", args(t, "window_id", "@0", "new_name", text)},
			{"set_pane_title", "pane_title", args(t, "pane_id", "%0", "title", text)},
		} {
			want := text
			if c.tool == "create_session" {
				want += strconv.Itoa(i)
			}
			if got := ok[map[string]any](p, c.tool, c.args)[c.row]; got != want {
				t.Errorf("%s %s: it is %q", c.tool, c.args, got)
			}
		}
	}
	// tmux stores these in another spelling, which the answer shows.
	for _, text := range []string{`back\slash`, "tab\there", "bell\a", "new\nline", "$HOME"} {
		for tool, token := range map[string]string{"rename_session": "session_name", "rename_window": "window_name"} {
			given := args(t, "session_id", "$0", "new_name", text)
			if strings.ContainsAny(text, "\t\a\n") && version(t, srv).Has(tmux.Version{Major: 3, Minor: 7}) {
				p.fails(tool, given, "tmux error: ", "invalid ", "name")
				continue
			}
			row := ok[map[string]any](p, tool, given)
			list := map[string]string{"rename_session": "list_sessions", "rename_window": "list_windows"}[tool]
			all := ok[rows](p, list, args(t, "filters", map[string]string{token: fmt.Sprint(row[token])}))
			if all.Total != 1 || row["session_id"] != "$0" {
				t.Errorf("%s %q answers with %v of %v, which %d have", tool, text, row[token], row["session_id"], all.Total)
			}
		}
	}
}

func TestCreateSession(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	p := serve(t, configFor(srv))
	dir := filepath.Join(t.TempDir(), "#S %Y #{x};")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	// No server runs yet: this starts it.
	s := ok[map[string]any](p, "create_session", args(t, "session_name", "work", "window_name", "edit", "x", 100, "y", 30,
		"start_directory", dir, "environment", map[string]string{"GREETING": "he#S;"}))
	if s["session_name"] != "work" || s["window_count"] != 1.0 || s["session_attached"] != 0.0 || s["active_pane_id"] != "%0" {
		t.Errorf("the new session is %v", s)
	}
	w := ok[map[string]any](p, "get_window_info", `{"session_name":"work"}`)
	if w["window_name"] != "edit" || w["window_width"] != 100.0 || w["window_height"] != 30.0 {
		t.Errorf("its window is %v", w)
	}
	if own := tmuxtest.Run(t, srv, "show-options", "-w", "-t", "=work:", "window-size"); own != "" {
		t.Errorf("its window has %s", own)
	}
	if got := tmuxtest.Run(t, srv, "show-environment", "-t", "=work", "GREETING"); got != "GREETING=he#S;" {
		t.Errorf("the session's environment has %q", got)
	}
	runsIn(p, srv, "%0", dir)
	if s := ok[map[string]any](p, "create_session", `{}`); s["session_name"] != "1" {
		t.Errorf("a session without a name is %v", s["session_name"])
	}
	p.fails("create_session", `{"session_name":"work"}`, "tmux error: new-session: duplicate session: work")
	for _, name := range []string{"", "a.b", "a:b"} {
		p.fails("create_session", args(t, "session_name", name), "session_name must not be empty, and have neither a colon nor a period")
		p.fails("rename_session", args(t, "session_name", "work", "new_name", name), "new_name must not be empty")
	}
	p.fails("create_session", args(t, "start_directory", dir+"/none"), "start_directory must be a directory", "no such file")
	p.fails("create_session", `{"start_directory":"/etc/passwd"}`, "is not a directory")
	for given, want := range map[string]string{`"{"`: "not valid JSON", `"[1]"`: "not a list", `"3"`: "not a number", `{"A":1}`: "must map names to strings", `{"A=B":"x"}`: "names without ="} {
		p.fails("create_session", `{"environment":`+given+`}`, want)
	}
	ok[map[string]any](p, "create_session", `{"session_name":"json","environment":"{\"A\":\"b\"}"}`)
	if got := tmuxtest.Run(t, srv, "show-environment", "-t", "=json", "A"); got != "A=b" {
		t.Errorf("an environment given as a string is %q", got)
	}
	if got := ok[rows](p, "list_sessions", `{}`); got.Total != 3 {
		t.Errorf("sessions are %s: a refused call made one", got.column("session_name"))
	}
}

func TestHomeIsThatOfTheConfiguration(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	cfg := configFor(srv)
	home := t.TempDir()
	cfg.Env = append(cfg.Env, "HOME="+home)
	if err := os.Mkdir(filepath.Join(home, "src"), 0o700); err != nil {
		t.Fatal(err)
	}
	p := serve(t, cfg)
	for given, want := range map[string]string{"~": home, "~/src": home + "/src"} {
		s := ok[map[string]any](p, "create_session", args(t, "start_directory", given))
		runsIn(p, srv, s["active_pane_id"], want)
	}
}

// TestCreateSessionOnTheServerItNames: libtmux-mcp took TMUX out of the process
// environment for a moment, and made the session on another server.
func TestCreateSessionOnTheServerItNames(t *testing.T) {
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	t.Setenv("TMUX", srv.SocketPath()+",1,0")
	t.Setenv("TMUX_PANE", "%0")
	cfg := configFor(srv)
	cfg.Env = append(cfg.Env, "HOME="+t.TempDir(), "TMUX="+srv.SocketPath()+",1,0", "TMUX_PANE=%0")
	cfg.Caller = server.Caller{Pane: "%0", Socket: srv.SocketPath()}
	p := serve(t, cfg)
	t.Cleanup(func() { ok[map[string]any](p, "kill_server", `{"socket_name":"second"}`) })
	stop, watched := make(chan bool), make(chan bool)
	go func() {
		defer close(watched)
		for {
			select {
			case <-stop:
				return
			default:
				if os.Getenv("TMUX") == "" || os.Getenv("TMUX_PANE") == "" {
					t.Error("TMUX was taken out of the environment of the process")
					return
				}
			}
		}
	}()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			name := fmt.Sprint("s", i)
			c, _ := p.begin("tools/call", map[string]any{"name": "create_session", "arguments": map[string]any{"session_name": name, "socket_name": "second"}})
			if r := p.await(c); !strings.Contains(string(r.Result), `"session_name":"`+name+`"`) {
				t.Errorf("create_session %s: %s", name, r.Result)
			}
		})
	}
	all.Wait()
	close(stop)
	<-watched
	if got := ok[rows](p, "list_sessions", `{"socket_name":"second"}`); got.Total != 8 {
		t.Errorf("the named server has %s", got.column("session_name"))
	}
	if got := ok[rows](p, "list_sessions", `{}`); got.column("session_name") != "a" {
		t.Errorf("the caller's server has %s", got.column("session_name"))
	}
	// Without a name it is the caller's own.
	if s := ok[map[string]any](p, "create_session", `{"session_name":"own"}`); s["active_pane_id"] != "%1" {
		t.Errorf("the session on the caller's server is %v", s)
	}
}

func TestKillSession(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	for _, name := range []string{"a", "b", "c", "c2"} {
		session(t, srv, name)
	}
	p := serve(t, configFor(srv))
	p.fails("kill_session", `{}`, "kill_session needs a target")
	p.fails("kill_session", `{"session_id":"$9"}`, "Object not found: session $9")
	p.fails("kill_session", `{"session_id":"a"}`, "session_id must be a session's id")
	p.fails("kill_session", `{"session_name":"c3"}`, "Object not found: session c3")
	if got := ok[map[string]any](p, "kill_session", `{"session_name":"c"}`); got["result"] != "Session killed: $2 (c)" {
		t.Errorf("kill_session answers %v", got)
	}
	ok[map[string]any](p, "kill_session", `{"session_id":"$0"}`)
	if got := ok[rows](p, "list_sessions", `{}`); got.column("session_name") != "b c2" {
		t.Errorf("left are %s", got.column("session_name"))
	}
	ok[map[string]any](p, "kill_session", `{"session_name":"b"}`)
	ok[map[string]any](p, "kill_session", `{"session_name":"c2"}`)
	// The server ends with its last session, and comes back when it is needed.
	for range 20 {
		ok[map[string]any](p, "create_session", `{"session_name":"again"}`)
		ok[map[string]any](p, "kill_session", `{"session_name":"again"}`)
	}
	tmuxtest.Wait(t, srv, "", "end of the server", func() bool {
		return strings.Contains(p.tool("kill_session", `{"session_name":"x"}`).text(), "no tmux server on "+srv.SocketPath())
	})
	for _, tool := range []string{"rename_session", "create_window", "rename_window"} {
		p.fails(tool, map[string]string{"rename_session": `{"session_id":"$0","new_name":"x"}`, "create_window": `{}`,
			"rename_window": `{"window_id":"@0","new_name":"x"}`}[tool], "no tmux server on "+srv.SocketPath())
	}
	if got := ok[map[string]any](p, "kill_server", `{}`); got["result"] != "No tmux server ran on "+srv.SocketPath() {
		t.Errorf("kill_server without a server: %v", got)
	}
}

func TestKillServer(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	cfg := configFor(srv)
	cfg.Env = append(cfg.Env, "HOME="+t.TempDir())
	p := serve(t, cfg)
	ok[map[string]any](p, "create_session", `{"socket_name":"second"}`)
	ok[map[string]any](p, "kill_server", `{"socket_name":"second"}`)
	if got := ok[rows](p, "list_sessions", `{}`); got.Total != 1 {
		t.Errorf("the other server has %d sessions", got.Total)
	}
	if got := ok[map[string]any](p, "kill_server", `{}`); got["result"] != "Server killed: "+srv.SocketPath() {
		t.Errorf("kill_server: %v", got)
	}
	tmuxtest.Wait(t, srv, "", "end of the server", func() bool { return ok[map[string]any](p, "get_server_info", `{}`)["is_alive"] == false })
}

// TestTargetsAreExact: tmux takes a name for an id, a client or the beginning of
// another name when it finds no better.
func TestTargetsAreExact(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	for _, name := range []string{"one", "$0", "sp ace", "@1"} {
		session(t, srv, name)
	}
	tmuxtest.Run(t, srv, "new-window", "-d", "-t", "=one:5", "-n", "7th", "cat")
	tmuxtest.Run(t, srv, "new-window", "-d", "-t", "=one:6", "-n", "8", "cat")
	client := exec.Command(srv.Binary(), "-S", srv.SocketPath(), "-C", "attach", "-t", "=one")
	in, err := client.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	defer client.Wait()
	defer in.Close()
	var name string
	tmuxtest.Wait(t, srv, "=one:", "attached client", func() bool {
		name = tmuxtest.Run(t, srv, "list-clients", "-F", "#{client_name}")
		return name != ""
	})
	p := serve(t, configFor(srv))
	for _, c := range []struct{ tool, args, want string }{
		{"kill_session", args(t, "session_name", name), "Object not found: session " + name},
		{"rename_session", args(t, "session_name", "$1", "new_name", "x"), "Object not found: session $1"},
		{"kill_session", args(t, "session_name", "on"), "Object not found: session on"},
		{"rename_window", `{"session_name":"one","window_index":7,"new_name":"x"}`, "Object not found: window index 7 in session one"},
		{"rename_window", `{"session_name":"one","window_index":"8","new_name":"x"}`, "Object not found: window index 8 in session one"},
		{"select_window", `{"session_id":"$0","window_index":"8"}`, "Object not found: window index 8 in session one"},
		{"resize_window", `{"session_id":"$0","window_index":"-1","width":9}`, "window_index must be a number"},
		{"select_window", `{"window_index":"5"}`, "window_index needs session_id or session_name"},
		{"split_window", `{"session_name":"one","window_index":7}`, "Object not found: window index 7"},
		{"set_pane_title", args(t, "session_name", name, "title", "x"), "Object not found"},
		{"move_window", args(t, "window_id", "@0", "destination_session", name), "Object not found: session"},
		{"send_keys", args(t, "session_name", "$1", "keys", "x"), "Object not found: session $1"},
		{"send_keys", args(t, "session_name", name, "keys", "x"), "Object not found: session " + name},
		{"paste_text", args(t, "session_name", "$1", "text", "x"), "Object not found: session $1"},
		{"run_command", args(t, "session_name", "$1", "command", "x"), "Object not found: session $1"},
		{"clear_pane", args(t, "session_name", "@2"), "Object not found: session @2"},
	} {
		p.fails(c.tool, c.args, c.want)
	}
	reading := map[string]string{
		"capture_pane": "", "snapshot_pane": "", "capture_since": "", "get_pane_info": "", "display_message": `,"format_string":"#{pane_id}"`,
		"find_pane_by_position": `,"corner":"top-left"`,
	}
	for tool, more := range reading {
		for name, want := range map[string]string{"$0": "%1", "@1": "%3", "one": "%0", "sp ace": "%2"} {
			if got := ok[map[string]any](p, tool, `{"session_name":"`+name+`"`+more+`}`); got["pane_id"] != want {
				t.Errorf("%s of session %s is about %v, want %s", tool, name, got["pane_id"], want)
			}
		}
		for _, name := range []string{"$1", "@2", "on", name} {
			p.fails(tool, `{"session_name":"`+name+`"`+more+`}`, "Object not found: session "+name)
		}
	}
	p.fails("wait_for_text", `{"session_name":"$1","timeout":1}`, "Object not found: session $1")
	if got := ok[map[string]any](p, "rename_session", args(t, "session_name", "$0", "new_name", "dollar")); got["session_id"] != "$1" {
		t.Errorf("the session named $0 is %v", got)
	}
	if got := ok[map[string]any](p, "rename_window", args(t, "session_name", "sp ace", "new_name", "x")); got["session_name"] != "sp ace" {
		t.Errorf("a window of another session was renamed: %v", got)
	}
	ok[map[string]any](p, "kill_session", args(t, "session_name", "@1"))
	if got := ok[rows](p, "list_sessions", `{}`); got.Total != 3 {
		t.Errorf("left are %s", got.column("session_name"))
	}
	if got := ok[rows](p, "list_windows", `{"session_name":"one"}`); !strings.HasSuffix(got.column("window_name"), " 7th 8") {
		t.Errorf("the windows are %s", got.column("window_name"))
	}
}
