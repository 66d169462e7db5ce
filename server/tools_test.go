package server_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/server"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

func TestListsNarrowByTarget(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "one")
	session(t, srv, "one-more")
	tmuxtest.Run(t, srv, "new-window", "-d", "-t", "=one:", "-n", "second", "cat")
	tmuxtest.Run(t, srv, "split-window", "-d", "-t", "=one:1", "cat")
	p := serve(t, configFor(srv))
	for _, c := range []struct{ tool, args, column, want string }{
		{"list_sessions", `{}`, "session_name", "one one-more"},
		{"list_windows", `{}`, "window_id", "@0 @2 @1"},
		{"list_windows", `{"session_name":"one"}`, "window_id", "@0 @2"},
		{"list_windows", `{"session_id":"$1"}`, "window_id", "@1"},
		{"list_panes", `{}`, "pane_id", "%0 %2 %3 %1"},
		{"list_panes", `{"session_name":"one"}`, "pane_id", "%0 %2 %3"},
		{"list_panes", `{"window_id":"@2"}`, "pane_id", "%2 %3"},
		{"list_panes", `{"session_name":"one","window_index":"1"}`, "pane_id", "%2 %3"},
		{"list_panes", `{"session_name":"one","window_index":1}`, "pane_id", "%2 %3"},
		{"list_panes", `{"session_name":"one-more","window_id":"@2"}`, "pane_id", "%2 %3"},
		{"list_panes", `{"limit":2,"offset":1}`, "pane_id", "%2 %3"},
		{"list_panes", `{"limit":"1","offset":"9"}`, "pane_id", ""},
	} {
		got := ok[rows](p, c.tool, c.args)
		if got.column(c.column) != c.want {
			t.Errorf("%s %s: %s are %q, want %q", c.tool, c.args, c.column, got.column(c.column), c.want)
		}
	}
	if got := ok[rows](p, "list_panes", `{"limit":1}`); got.Total != 4 {
		t.Errorf("total is %d with a limit, want 4", got.Total)
	}
}

func TestObjectsThatSeveralSessionsHoldAreOneRow(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	tmuxtest.Run(t, srv, "new-session", "-d", "-s", "b", "-t", "=a") // a group
	session(t, srv, "c")
	tmuxtest.Run(t, srv, "link-window", "-s", "=a:0", "-t", "=c:7")
	p := serve(t, configFor(srv))
	for _, c := range []struct{ tool, args string }{
		{"list_panes", `{"filters":{"pane_id":"%0"}}`},
		{"list_panes", `{"window_id":"@0"}`},
		{"list_panes", `{"session_name":"b","filters":{"pane_id":"%0"}}`},
		{"list_panes", `{"session_name":"c","window_index":"7"}`},
		{"list_windows", `{"session_name":"c","filters":{"window_id":"@0"}}`},
	} {
		got := ok[rows](p, c.tool, c.args)
		if got.column("window_id") != "@0" || got.column("session_ids") != "[$0 $1 $2]" {
			t.Errorf("%s %s: windows %q of sessions %q, want one of three", c.tool, c.args, got.column("window_id"), got.column("session_ids"))
		}
	}
	for _, args := range []string{`{"pane_id":"%0"}`, `{"session_name":"b"}`, `{"window_id":"@0"}`} {
		if got := ok[map[string]any](p, "get_pane_info", args); got["pane_id"] != "%0" {
			t.Errorf("get_pane_info %s is about %v", args, got["pane_id"])
		}
	}
	if got := ok[map[string]any](p, "get_window_info", `{"session_name":"c","window_index":"7"}`); got["session_name"] != "c" || got["window_index"] != 7.0 {
		t.Errorf("a linked window is shown in another session than the one asked for: %v", got)
	}
}

func TestNamesMatchExactly(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	for _, name := range []string{"work", "work2", "w#S,}x", "$dollar", "sp ace", "1", "@1", "=work"} {
		session(t, srv, strings.ReplaceAll(name, "#", "##"))
	}
	p := serve(t, configFor(srv))
	// tmux writes a backslash before some characters of a name, and then that
	// is the name.
	for _, row := range ok[rows](p, "list_sessions", `{}`).Result {
		name := row["session_name"]
		args, _ := json.Marshal(map[string]any{"session_name": name})
		for _, tool := range []string{"get_session_info", "get_window_info", "get_pane_info"} {
			if got := ok[map[string]any](p, tool, string(args)); got["session_name"] != name {
				t.Errorf("%s of session %q answers with %q", tool, name, got["session_name"])
			}
		}
	}
	for _, name := range []string{"wor", "w*", "nope", "Work"} {
		p.fails("get_session_info", `{"session_name":"`+name+`"}`, "Object not found: session "+name, "list_sessions")
		p.fails("capture_pane", `{"session_name":"`+name+`"}`, "Object not found: session "+name)
	}
}

func TestMissingObjectsAreNamed(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	p := serve(t, configFor(srv))
	for _, tool := range []string{"get_pane_info", "capture_pane", "snapshot_pane"} {
		res := p.fails(tool, `{"pane_id":"%99"}`, "Pane not found: %99", "list_panes")
		if res.Meta["error_type"] != "PaneNotFound" || res.Meta["expected"] != true {
			t.Errorf("%s: _meta is %v", tool, res.Meta)
		}
	}
	p.fails("list_panes", `{"window_id":"@99"}`, "Object not found: window @99")
	p.fails("list_panes", `{"session_name":"a","window_index":9}`, "window index 9 in session a")
	p.fails("list_windows", `{"session_id":"$99"}`, "Object not found: session $99")
	p.fails("find_pane_by_position", `{"corner":"top-left","session_name":"zz"}`, "Object not found: session zz")
	p.fails("list_clients", `{"session_name":"zz"}`, "Object not found: session zz")
	p.fails("list_panes", `{"window_id":"2"}`, "window_id must be a window's id")
	p.fails("get_pane_info", `{"pane_id":"%1 ; kill-server"}`, "pane_id must be a pane's id")
}

func TestFilters(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "alpha")
	session(t, srv, "beta")
	tmuxtest.Run(t, srv, "split-window", "-t", "=alpha:", "cat")
	cfg := configFor(srv)
	cfg.Caller = server.Caller{Pane: "%1", Socket: srv.SocketPath()}
	p := serve(t, cfg)
	for _, c := range []struct{ filters, want string }{
		{`{"session_name":"alpha"}`, "%0 %2"},
		{`{"session_name__contains":"et"}`, "%1"},
		{`{"session_name__istartswith":"ALP","pane_active":"1"}`, "%2"},
		{`{"pane_active":"true"}`, "%2 %1"},
		{`{"pane_active":false}`, "%0"},
		{`{"pane_index":"1"}`, "%2"},
		{`{"pane_index":1}`, "%2"},
		{`{"pane_id__in":["%0","%1"]}`, "%0 %1"},
		{`{"pane_id__nin":"%0,%1"}`, "%2"},
		{`{"session_name__regex":"^(be|ga)"}`, "%1"},
		{`{"session_name__iregex":"^BETA$"}`, "%1"},
		{`{"is_caller":"1"}`, "%1"},
		{`{"session_ids":"$1"}`, "%1"},
		{`"{\"pane_id\": \"%2\"}"`, "%2"},
		{`""`, "%0 %2 %1"},
		{`null`, "%0 %2 %1"},
		{`{"pane_title__regex":"no such title"}`, ""},
	} {
		got := ok[rows](p, "list_panes", `{"filters":`+c.filters+`}`)
		if got.column("pane_id") != c.want {
			t.Errorf("filters %s keep %q, want %q", c.filters, got.column("pane_id"), c.want)
		}
	}
	for filters, want := range map[string]string{
		`{"pane_id":null}`:       "filters must not have null for pane_id",
		`{"pane_id__in":null}`:   "filters must not have null for pane_id__in",
		`{"pane_id__in":[]}`:     "filters must not have an empty list for pane_id__in",
		`{"pane_id__in":[null]}`: "filters must map fields to strings",
		`{"pane_id":["%0"]}`:     "filters takes a list only with __in and __nin, not for pane_id",
		`{"pane_id":{"a":"b"}}`:  "filters must map fields to strings",
	} {
		p.fails("list_panes", `{"filters":`+filters+`}`, want)
	}
	p.fails("list_panes", `{"filters":{"pane_colour":"1"}}`, "pane_colour", "pane_current_command", "is_caller")
	p.fails("list_panes", `{"filters":{"pane_id__like":"1"}}`, `"like"`, "icontains", "startswith")
	p.fails("list_panes", `{"filters":{"pane_id__regex":"(sekrit"}}`, "regular expression", "missing closing )")
	p.fails("list_panes", `{"filters":"{oops"}`, "filters is not valid JSON")
	p.fails("list_panes", `{"filters":"[1]"}`, "filters must be a JSON object, not a list")
	p.fails("list_sessions", `{"filters":{"pane_id":"1"}}`, "list_panes has it")
	p.fails("list_sessions", `{"filters":{"colour":"1"}}`, "session_attached")
	if text := p.fails("list_panes", `{"filters":{"pane_id__regex":"(sekrit"}}`).text(); strings.Contains(text, "sekrit") {
		t.Errorf("a pattern is repeated: %s", text)
	}
}

func TestReadingWithoutTargetTakesTheCallersPaneElseTheActiveOne(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	session(t, srv, "b")
	tmuxtest.Run(t, srv, "split-window", "-t", "=b:", "cat")
	cfg := configFor(srv)
	for _, c := range []struct {
		caller server.Caller
		want   string
	}{
		{server.Caller{}, "%2"},
		{server.Caller{Pane: "%0", Socket: srv.SocketPath()}, "%0"},
		{server.Caller{Pane: "%0", Socket: srv.SocketPath() + "-other"}, "%2"},
	} {
		cfg.Caller = c.caller
		p := serve(t, cfg)
		for _, tool := range []string{"capture_pane", "snapshot_pane", "get_pane_info"} {
			if got := ok[map[string]any](p, tool, `{}`); got["pane_id"] != c.want {
				t.Errorf("caller %v: %s reads %v, want %s", c.caller, tool, got["pane_id"], c.want)
			}
		}
		for _, tool := range []string{"get_window_info", "get_session_info"} {
			if got := ok[map[string]any](p, tool, `{}`); got["active_pane_id"] != c.want {
				t.Errorf("caller %v: %s is about %v", c.caller, tool, got)
			}
		}
	}
}

func TestNoServerErrorNamesTheSocket(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	p := serve(t, configFor(srv))
	for _, tool := range []string{"list_sessions", "list_windows", "list_panes", "list_clients", "get_pane_info", "capture_pane", "snapshot_pane", "get_session_info"} {
		res := p.fails(tool, `{}`, "no tmux server on "+srv.SocketPath())
		if res.Meta["error_type"] != "NoServer" {
			t.Errorf("%s: error type %v", tool, res.Meta["error_type"])
		}
	}
	info := ok[map[string]any](p, "get_server_info", `{}`)
	if info["is_alive"] != false || info["version"] != nil || info["socket_path"] != srv.SocketPath() {
		t.Errorf("a server that does not run is %v", info)
	}
}

func TestServerWithoutSessionsHasEmptyLists(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	tmuxtest.Run(t, srv, "set-option", "-s", "exit-empty", "off")
	tmuxtest.Run(t, srv, "kill-session", "-t", "=a")
	p := serve(t, configFor(srv))
	for _, tool := range []string{"list_sessions", "list_windows", "list_panes", "list_clients"} {
		if got := ok[rows](p, tool, `{}`); got.Total != 0 {
			t.Errorf("%s lists %v", tool, got.Result)
		}
	}
	for _, tool := range []string{"get_session_info", "get_window_info", "get_pane_info"} {
		p.fails(tool, `{}`, "the tmux server has no session")
	}
	if info := ok[map[string]any](p, "get_server_info", `{}`); info["is_alive"] != true || info["session_count"] != 0.0 {
		t.Errorf("the server is %v", info)
	}
}

func TestListServers(t *testing.T) {
	t.Parallel()
	one, other := tmuxtest.New(t), tmuxtest.New(t)
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

func TestCornersOfAWindow(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	tmuxtest.Run(t, srv, "split-window", "-h", "-t", "%0", "cat")
	tmuxtest.Run(t, srv, "split-window", "-v", "-t", "%0", "cat")
	tmuxtest.Run(t, srv, "split-window", "-v", "-t", "%1", "cat")
	session(t, srv, "lone")
	p := serve(t, configFor(srv))
	for corner, want := range map[string]string{"top-left": "%0", "top-right": "%1", "bottom-left": "%2", "bottom-right": "%3"} {
		for _, target := range []string{`"session_name":"a"`, `"window_id":"@0"`, `"session_id":"$0","window_index":0`} {
			got := ok[map[string]any](p, "find_pane_by_position", `{"corner":"`+corner+`",`+target+`}`)
			if got["pane_id"] != want {
				t.Errorf("%s of %s is %v, want %s", corner, target, got["pane_id"], want)
			}
		}
		if got := ok[map[string]any](p, "find_pane_by_position", `{"corner":"`+corner+`","session_name":"lone"}`); got["pane_id"] != "%4" {
			t.Errorf("%s of a window with one pane is %v", corner, got["pane_id"])
		}
	}
	p.fails("find_pane_by_position", `{"corner":"middle"}`, "corner must be one of top-left")
	p.fails("find_pane_by_position", `{}`, "corner is required")
}

func TestCaptureKeepsTheTail(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	// tmux 3.2 does not heed the size of its first session.
	tmuxtest.Run(t, srv, "resize-window", "-t", "=a:", "-x", "40", "-y", "10")
	tmuxtest.Run(t, srv, "respawn-pane", "-k", "-t", "%0", "seq 1 30; printf 'tail  '; cat")
	tmuxtest.WaitScreen(t, srv, "%0", "tail")
	p := serve(t, configFor(srv))
	type captured struct {
		Result string `json:"result"`
		PaneID string `json:"pane_id"`
	}
	for _, c := range []struct{ args, want string }{
		{`{"pane_id":"%0","start":7}`, "29\n30\ntail"},
		{`{"pane_id":"%0","start":-21,"end":-20}`, "1\n2"},
		{`{"pane_id":"%0","max_lines":2}`, "[... truncated 8 lines ...]\n30\ntail"},
		{`{"pane_id":"%0","max_lines":"3","start":"-1000"}`, "[... truncated 28 lines ...]\n29\n30\ntail"},
		{`{"pane_id":"%0","max_lines":null,"start":8}`, "30\ntail"},
	} {
		res := p.tool("capture_pane", c.args)
		var got captured
		if err := json.Unmarshal(res.Structured, &got); err != nil {
			t.Fatalf("%s: %v", res.text(), err)
		}
		if got.Result != c.want || res.text() != c.want || got.PaneID != "%0" {
			t.Errorf("capture_pane %s: %q of %s (text %q), want %q", c.args, got.Result, got.PaneID, res.text(), c.want)
		}
	}
	for _, n := range []string{"0", "-3", `"x"`, "1.5"} {
		p.fails("capture_pane", `{"pane_id":"%0","max_lines":`+n+`}`, "max_lines must be")
	}
	snap := ok[map[string]any](p, "snapshot_pane", `{"pane_id":"%0","max_lines":1}`)
	for name, want := range map[string]any{
		"content": "tail", "content_truncated": true, "content_truncated_lines": 9.0, "cursor_x": 6.0, "cursor_y": 9.0,
		"pane_width": 40.0, "pane_height": 10.0, "history_size": 21.0, "pane_dead": false, "alternate_on": false,
		"pane_in_mode": false, "pane_mode": nil, "scroll_position": nil, "is_caller": nil,
	} {
		if snap[name] != want {
			t.Errorf("snapshot_pane: %s is %v, want %v", name, snap[name], want)
		}
	}
}

func TestTypesAreReal(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	p := serve(t, configFor(srv))
	row := ok[rows](p, "list_sessions", `{}`).Result[0]
	created, err := time.Parse(time.RFC3339, row["session_created"].(string))
	if err != nil || time.Since(created) > time.Minute {
		t.Errorf("session_created is %v", row["session_created"])
	}
	if row["session_group"] != nil {
		t.Errorf("the group of a session without one is %v, want null", row["session_group"])
	}
	pane := ok[map[string]any](p, "get_pane_info", `{}`)
	if pid, isNumber := pane["pane_pid"].(float64); !isNumber || pid < 2 {
		t.Errorf("pane_pid is %v", pane["pane_pid"])
	}
}

func TestOneRoundTripAReadingTool(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	cfg := configFor(srv)
	cfg.Transport = tmux.TransportExec
	counted := countedTmux(t, &cfg)
	p := serve(t, cfg)
	ok[rows](p, "list_panes", `{}`) // asks for the version, once
	for _, c := range []struct{ tool, args string }{
		{"list_sessions", `{}`}, {"list_windows", `{"session_name":"a"}`}, {"list_panes", `{"session_name":"a","window_index":0}`},
		{"list_clients", `{}`}, {"get_server_info", `{}`}, {"get_session_info", `{"session_name":"a"}`},
		{"get_window_info", `{"session_name":"a"}`}, {"get_pane_info", `{"pane_id":"%0"}`},
		{"find_pane_by_position", `{"corner":"top-left"}`}, {"capture_pane", `{"session_name":"a"}`}, {"snapshot_pane", `{}`},
	} {
		before := counted()
		ok[map[string]any](p, c.tool, c.args)
		if n := counted() - before; n != 1 {
			t.Errorf("%s %s ran tmux %d times, want once", c.tool, c.args, n)
		}
	}
}

// TestManyPanes: one round trip reads a large tmux too, and nothing of it is lost.
func TestManyPanes(t *testing.T) {
	t.Parallel()
	const panes = 5
	windows := testtool.Size(10, 40)
	srv := tmuxtest.New(t)
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
	if err := b.Do(tmuxtest.Context(t), srv); err != nil {
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
	var pages []map[string]any
	for offset := 0; offset < all.Total; offset += 17 {
		pages = append(pages, ok[rows](p, "list_panes", fmt.Sprintf(`{"limit":17,"offset":%d}`, offset)).Result...)
	}
	if diff := cmp.Diff(all.Result, pages); diff != "" {
		t.Errorf("the pages are not the whole (-whole +pages):\n%s", diff)
	}
	if got := once("list_windows", `{"filters":{"pane_count":"5"}}`); got.Total != windows {
		t.Errorf("%d windows of 5 panes", got.Total)
	}
	if got := once("list_panes", fmt.Sprintf(`{"filters":{"window_name":"w;%d#{x}"}}`, windows-1)); got.Total != panes {
		t.Errorf("%d panes in a window found by its name", got.Total)
	}
	eventually(t, "all needles are found", func() bool {
		return ok[found](p, "search_panes", `{"pattern":"needle of #{x}"}`).Total == windows/5
	})
	if got := ok[found](p, "search_panes", `{"pattern":"needle of #{X} [0-9]9","regex":false}`); got.Total != 0 {
		t.Errorf("found %v", got.lines())
	}
	if got := once("list_panes", fmt.Sprintf(`{"session_name":"s0","window_index":%d}`, 99+windows)); got.Total != panes {
		t.Errorf("%d panes in a window", got.Total)
	}
}

func TestListClients(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	session(t, srv, "b")
	p := serve(t, configFor(srv))
	if got := ok[rows](p, "list_clients", `{}`); got.Total != 0 {
		t.Errorf("clients of a server that nobody looks at: %v", got.Result)
	}
	client := attach(t, srv, "b")
	eventually(t, "the client is listed", func() bool { return ok[rows](p, "list_clients", `{}`).Total == 1 })
	row := ok[rows](p, "list_clients", `{"session_name":"b"}`).Result[0]
	for name, want := range map[string]any{
		"client_control_mode": true, "client_session": "b", "session_id": "$1", "pane_id": "%1", "client_pid": float64(client), "client_tty": nil,
	} {
		if row[name] != want {
			t.Errorf("%s is %v, want %v", name, row[name], want)
		}
	}
	if got := ok[rows](p, "list_clients", `{"session_id":"$0"}`); got.Total != 0 {
		t.Errorf("clients of the other session: %v", got.Result)
	}
	if got := ok[rows](p, "list_clients", `{"filters":{"client_control_mode":"0"}}`); got.Total != 0 {
		t.Errorf("the filter keeps %v", got.Result)
	}
}

// attach attaches a client in control mode and returns its process id.
func attach(t *testing.T, srv *tmux.Server, session string) int {
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
