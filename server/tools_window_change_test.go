package server_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"tmuxmcp/server"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

func TestCreateWindow(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	session(t, srv, "b")
	tmuxtest.Run(t, srv, "new-window", "-d", "-t", "=b:4", "cat")
	p := serve(t, configFor(srv))
	for i, c := range []struct {
		args   string
		index  float64
		active bool
	}{
		{`{"session_name":"b"}`, 1, false},
		{`{"session_id":"$1","attach":true}`, 2, true},
		{`{"session_name":"b","direction":"after"}`, 3, false},
		{`{"session_name":"b","direction":"before","attach":true}`, 2, true},
	} {
		w := ok[map[string]any](p, "create_window", c.args)
		if w["window_id"] != fmt.Sprint("@", i+3) || w["session_name"] != "b" || w["window_index"] != c.index || w["window_active"] != c.active ||
			w["active_pane_id"] != fmt.Sprint("%", i+3) || w["pane_count"] != 1.0 {
			t.Errorf("create_window %s: %v", c.args, w)
		}
	}
	p.fails("create_window", `{"session_name":"b","direction":"left"}`, "direction must be one of before, after")
	p.fails("create_window", `{"session_name":"zz"}`, "Object not found: session zz")
	p.fails("create_window", `{"session_id":"$9"}`, "Object not found: session $9")
	ok[map[string]any](p, "create_window", `{}`) // tmux's own choice, which the answer shows
	if got := ok[rows](p, "list_windows", `{}`); got.Total != 8 {
		t.Errorf("%d windows, want 8", got.Total)
	}
	w := ok[struct {
		ID string `json:"active_pane_id"`
	}](p, "create_window", `{"session_name":"a","shell":"echo ready; exec cat"}`)
	tmuxtest.WaitScreen(t, srv, w.ID, "ready")
	tmuxtest.Wait(t, srv, w.ID, "cat", func() bool {
		return tmuxtest.Run(t, srv, "display-message", "-p", "-t", w.ID, "#{pane_current_command}") == "cat"
	})
}

func TestSelectWindow(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	session(t, srv, "b")
	for range 2 {
		tmuxtest.Run(t, srv, "new-window", "-d", "-t", "=b:", "cat")
	}
	p := serve(t, configFor(srv))
	for _, c := range []struct{ args, want string }{
		{`{"session_name":"b","direction":"next"}`, "@2"},
		{`{"session_name":"b","direction":"next"}`, "@3"},
		{`{"session_id":"$1","direction":"next"}`, "@1"},
		{`{"session_name":"b","direction":"previous"}`, "@3"},
		{`{"session_name":"b","direction":"last"}`, "@1"},
		{`{"session_name":"b","window_index":2}`, "@3"},
		{`{"window_id":"@2"}`, "@2"},
		{`{"window_id":"@1","direction":"next"}`, "@1"},
	} {
		w := ok[map[string]any](p, "select_window", c.args)
		if w["window_id"] != c.want || w["window_active"] != true || w["session_name"] != "b" {
			t.Errorf("select_window %s: %v, want %s", c.args, w, c.want)
		}
	}
	p.fails("select_window", `{}`, "select_window needs window_id, window_index or direction")
	p.fails("select_window", `{"direction":"next"}`, "select_window needs a target")
	p.fails("select_window", `{"session_name":"a","direction":"last"}`, "tmux error: last-window: no last window")
	p.fails("select_window", `{"session_name":"a","direction":"next"}`, "tmux error: next-window: no next window")
	p.fails("select_window", `{"window_id":"@9"}`, "Object not found: window @9")
	p.fails("select_window", `{"session_name":"a","window_id":"@2"}`, "Object not found: window @2")
}

// TestWindowsOfSeveralSessions: libtmux-mcp called nearly every target ambiguous
// as soon as two sessions held the same window.
func TestWindowsOfSeveralSessions(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	tmuxtest.Run(t, srv, "new-window", "-d", "-t", "=a:", "cat")
	tmuxtest.Run(t, srv, "new-session", "-d", "-s", "b", "-t", "=a") // a group
	session(t, srv, "c")                                             // has @3, %3
	tmuxtest.Run(t, srv, "link-window", "-d", "-s", "=a:1", "-t", "=c:7")
	p := serve(t, configFor(srv))
	all := "[$0 $1 $2]"
	for _, c := range []struct{ tool, args string }{
		{"rename_window", `{"window_id":"@1","new_name":"x"}`},
		{"resize_window", `{"window_id":"@1","width":90,"height":30}`},
		{"select_layout", `{"window_id":"@1","layout":"tiled"}`},
		{"split_window", `{"window_id":"@1"}`},
		{"split_window", `{"pane_id":"%1","direction":"left"}`},
		{"select_pane", `{"pane_id":"%1"}`},
		{"select_pane", `{"window_id":"@1","direction":"next"}`},
		{"resize_pane", `{"pane_id":"%1","width":20}`},
		{"resize_pane", `{"pane_id":"%1","zoom":true}`},
		{"swap_pane", `{"source_pane_id":"%1","target_pane_id":"%4"}`},
		{"set_pane_title", `{"pane_id":"%1","title":"x"}`},
		{"enter_copy_mode", `{"pane_id":"%1"}`},
		{"exit_copy_mode", `{"pane_id":"%1"}`},
		{"respawn_pane", `{"pane_id":"%1"}`},
	} {
		if row := ok[map[string]any](p, c.tool, c.args); row["window_id"] != "@1" || fmt.Sprint(row["session_ids"]) != all {
			t.Errorf("%s %s: window %v of %v", c.tool, c.args, row["window_id"], row["session_ids"])
		}
	}
	ok[map[string]any](p, "clear_pane", `{"pane_id":"%1"}`)
	ok[map[string]any](p, "pipe_pane", `{"pane_id":"%1"}`)

	// Each session has a current window of its own.
	for _, name := range []string{"b", "c"} {
		w := ok[map[string]any](p, "select_window", args(t, "session_name", name, "window_id", "@1"))
		if w["session_name"] != name || w["window_active"] != true {
			t.Errorf("selected in %s: %v", name, w)
		}
	}
	if got := format(t, srv, "=a:", "#{window_id}"); got != "@0" {
		t.Errorf("the current window of a is %s", got)
	}
	w := ok[map[string]any](p, "select_window", `{"window_id":"@0"}`)
	if w["window_id"] != "@0" || w["window_active"] != true {
		t.Errorf("selected by id alone: %v", w)
	}
	// Of a window with several places, the one that is named moves.
	w = ok[map[string]any](p, "move_window", `{"window_id":"@1","session_name":"c","destination_index":9}`)
	if w["session_name"] != "c" || w["window_index"] != 9.0 || fmt.Sprint(w["session_ids"]) != all {
		t.Errorf("moved in c: %v", w)
	}
	if got := format(t, srv, "=a:1", "#{window_id}"); got != "@1" {
		t.Errorf("its place in a has %s now", got)
	}
	ok[map[string]any](p, "kill_session", `{"session_name":"b"}`)
	if got := ok[rows](p, "list_windows", `{"session_name":"a"}`); got.column("window_id") != "@0 @1" {
		t.Errorf("a session of the group took windows with it: %s", got.column("window_id"))
	}
	ok[map[string]any](p, "kill_window", `{"window_id":"@1"}`)
	if got := ok[rows](p, "list_windows", `{}`); got.column("window_id") != "@0 @3" {
		t.Errorf("left are %s", got.column("window_id"))
	}
	p.fails("kill_window", `{"window_id":"@1"}`, "Object not found: window @1")
	p.fails("kill_window", `{}`, "window_id is required")
	p.fails("kill_window", `{"window_id":"a"}`, "window_id must be a window's id")
}

func TestRenameWindowStays(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	tmuxtest.Run(t, srv, "new-window", "-d", "-t", "=a:3", "cat")
	p := serve(t, configFor(srv))
	if w := ok[map[string]any](p, "rename_window", `{"session_name":"a","window_index":3,"new_name":"three"}`); w["window_id"] != "@1" || w["window_name"] != "three" {
		t.Errorf("by index: %v", w)
	}
	if w := ok[map[string]any](p, "rename_window", `{"session_id":"$0","new_name":"current"}`); w["window_id"] != "@0" || w["window_name"] != "current" {
		t.Errorf("the current one: %v", w)
	}
	if got := tmuxtest.Run(t, srv, "show-options", "-wv", "-t", "@0", "automatic-rename"); got != "off" {
		t.Errorf("automatic-rename is %q", got)
	}
	p.fails("rename_window", `{"new_name":"x"}`, "rename_window needs a target")
	p.fails("rename_window", `{"window_id":"@0"}`, "new_name is required")
	p.fails("rename_window", `{"window_id":"0","new_name":"x"}`, "window_id must be a window's id")
}

// TestLayoutsAreCheckedBeforeTmuxSeesThem: some of these end a tmux server.
func TestLayoutsAreCheckedBeforeTmuxSeesThem(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	tmuxtest.Run(t, srv, "resize-window", "-t", "@0", "-x", "80", "-y", "24")
	for range 2 {
		tmuxtest.Run(t, srv, "split-window", "-d", "-t", "%0", "cat")
	}
	p := serve(t, configFor(srv))
	was := ok[map[string]any](p, "get_window_info", `{}`)["window_layout"].(string)
	for _, layout := range []string{
		"", "foo", "tile", "tiled ", "#{x}", "-E", "64aa,80x24,0,0{", "b25d,80x24,0,0,0x", "0000,80x24,0,0,0", "{", `{"V":2}`, "b25d,80x24,0,0,", "ffff",
	} {
		p.fails("select_layout", args(t, "window_id", "@0", "layout", layout), "layout")
	}
	alone := string(tmux.LayoutCell{Kind: 'p', Width: 80, Height: 24}.Layout())
	p.fails("select_layout", args(t, "window_id", "@0", "layout", alone), "layout is of 1 panes, and window @0 has 3")
	p.fails("select_layout", args(t, "layout", "tiled"), "select_layout needs a target")
	p.fails("select_layout", args(t, "window_id", "@7", "layout", "tiled"), "Object not found: window @7")
	p.fails("select_layout", args(t, "window_id", "@7", "layout", alone), "Object not found: window @7")
	if got := ok[map[string]any](p, "get_window_info", `{}`)["window_layout"]; got != was {
		t.Errorf("a refused layout changed %v to %v", was, got)
	}
	mirrored, err := srv.Supports(tmuxtest.Context(t), tmux.MirroredLayouts)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[any]bool{}
	for _, layout := range []string{"even-horizontal", "even-vertical", "main-horizontal", "main-vertical", "tiled", "main-horizontal-mirrored", "main-vertical-mirrored"} {
		given := args(t, "session_name", "a", "layout", layout)
		if strings.HasSuffix(layout, "mirrored") && !mirrored {
			if res := p.fails("select_layout", given, layout+" needs tmux 3.5 or later"); res.Meta["error_type"] != "Unsupported" {
				t.Errorf("%s: error type %v", layout, res.Meta["error_type"])
			}
			continue
		}
		w := ok[map[string]any](p, "select_layout", given)
		now := string(tmux.Layout(format(t, srv, "@0", "#{window_layout}")).Classic())
		if w["window_layout"] != now || seen[now] || strings.HasPrefix(now, "{") {
			t.Errorf("%s: the answer has %v, the window %v", layout, w["window_layout"], now)
		}
		seen[w["window_layout"]] = true
	}
	// A layout that a tool returned can be set again, by index too.
	if w := ok[map[string]any](p, "select_layout", args(t, "session_name", "a", "window_index", 0, "layout", was)); w["window_layout"] != was {
		t.Errorf("back again it is %v, want %v", w["window_layout"], was)
	}
	json := `{"V":2,"L":{"t":"p","w":80,"h":24,"x":0,"y":0}}`
	if v, err := srv.Supports(tmuxtest.Context(t), tmux.JSONLayouts); err != nil || !v {
		if errors.Is(err, tmux.ErrNoServer) {
			t.Fatal(err)
		}
		p.fails("select_layout", args(t, "window_id", "@0", "layout", json), "needs tmux 3.8 or later")
	} else {
		p.fails("select_layout", args(t, "window_id", "@0", "layout", json), "layout is of 1 panes")
	}
}

// TestMainPaneHasASize: it is that of the layout, and stays set for the window.
func TestMainPaneHasASize(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	tmuxtest.Run(t, srv, "resize-window", "-t", "@0", "-x", "100", "-y", "40")
	for range 2 {
		tmuxtest.Run(t, srv, "split-window", "-d", "-t", "%0", "cat")
	}
	p := serve(t, configFor(srv))
	for _, c := range []struct {
		layout, size string
		want         string // of the first pane
	}{
		{"main-vertical", `30`, "30x40"}, {"main-vertical", `"70"`, "70x40"}, {"main-vertical", `"50%"`, "49x40"},
		{"main-horizontal", `10`, "100x10"}, {"main-horizontal", `"25%"`, "100x9"},
	} {
		w := ok[map[string]any](p, "select_layout", fmt.Sprintf(`{"window_id":"@0","layout":%q,"main_size":%s}`, c.layout, c.size))
		if got := format(t, srv, "%0", "#{pane_width}x#{pane_height}"); got != c.want || w["pane_count"] != 3.0 {
			t.Errorf("%s of %s: the main pane is %s, want %s", c.layout, c.size, got, c.want)
		}
	}
	ok[map[string]any](p, "select_layout", `{"window_id":"@0","layout":"main-vertical"}`)
	if got := format(t, srv, "%0", "#{pane_width}"); got != "49" {
		t.Errorf("set again without a size, the main pane has %s columns, want 49 as before", got)
	}
	was := format(t, srv, "@0", "#{window_layout} #{main-pane-width}")
	p.fails("select_layout", `{"window_id":"@0","layout":"tiled","main_size":30}`, "main_size is for the layouts main-horizontal, main-vertical")
	p.fails("select_layout", `{"window_id":"@0","layout":"main-vertical","main_size":"0"}`, "main_size must be a number of cells from 1 on, or a percentage")
	p.fails("select_layout", `{"window_id":"@0","layout":"main-vertical","main_size":"#(x)"}`, "main_size must be")
	p.fails("select_layout", `{"window_id":"@9","layout":"main-vertical","main_size":"20"}`, "Object not found: window @9")
	if now := format(t, srv, "@0", "#{window_layout} #{main-pane-width}"); now != was {
		t.Errorf("a refused layout changed %s to %s", was, now)
	}
}

func TestResizeWindow(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	p := serve(t, configFor(srv))
	for _, c := range []struct {
		args          string
		width, height float64
	}{
		{`{"window_id":"@0","width":100,"height":40}`, 100, 40},
		{`{"session_name":"a","width":"70"}`, 70, 40},
		{`{"session_name":"a","window_index":0,"height":10,"width":0}`, 70, 10},
		{`{"session_name":"a","width":null,"height":11}`, 70, 11},
	} {
		if w := ok[map[string]any](p, "resize_window", c.args); w["window_width"] != c.width || w["window_height"] != c.height {
			t.Errorf("resize_window %s: %vx%v", c.args, w["window_width"], w["window_height"])
		}
	}
	p.fails("resize_window", `{"window_id":"@0"}`, "resize_window needs width or height")
	p.fails("resize_window", `{"width":9}`, "resize_window needs a target")
	p.fails("resize_window", `{"window_id":"@0","width":-1}`, "width must be at least 0")
	p.fails("resize_window", `{"window_id":"@0","width":10001}`, "tmux error: resize-window: width too large")
	p.fails("resize_window", `{"window_id":"@4","width":10}`, "Object not found: window @4")
}

func TestMoveWindow(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	session(t, srv, "b")
	session(t, srv, "sp ace")
	tmuxtest.Run(t, srv, "new-window", "-d", "-t", "=b:", "cat") // @3
	tmuxtest.Run(t, srv, "new-window", "-d", "-t", "=b:", "cat") // @4
	p := serve(t, configFor(srv))
	for _, c := range []struct{ args, window, at string }{
		{`{"window_id":"@3","destination_index":"7"}`, "@3", "b:7"},
		{`{"window_id":"@3","destination_index":5,"destination_session":"a"}`, "@3", "a:5"},
		{`{"window_id":"@3","destination_session":"$1"}`, "@3", "b:1"},
		{`{"session_name":"b","window_index":1,"destination_index":"8"}`, "@3", "b:8"},
		{`{"session_id":"$1"}`, "@3", "b:1"}, // the current one, to the next free index
		{`{"window_id":"@3"}`, "@3", "b:3"},
		{`{"window_id":"@4","destination_session":"sp ace","destination_index":""}`, "@4", "sp ace:1"},
	} {
		w := ok[map[string]any](p, "move_window", c.args)
		if at := fmt.Sprintf("%v:%v", w["session_name"], w["window_index"]); w["window_id"] != c.window || at != c.at {
			t.Errorf("move_window %s: %v is at %s, want %s at %s", c.args, w["window_id"], at, c.window, c.at)
		}
		if at := format(t, srv, c.window, "#{session_name}:#{window_index}"); at != c.at {
			t.Errorf("move_window %s: it is at %s, want %s", c.args, at, c.at)
		}
	}
	before := state(t, srv)
	for _, c := range []struct{ args, want string }{
		{`{}`, "move_window needs a target"},
		{`{"window_id":"@3","destination_index":"0"}`, "tmux error: move-window: index in use: 0"},
		{`{"window_id":"@3","destination_index":"3"}`, "tmux error: move-window: same index: 3"},
		{`{"window_id":"@3","destination_index":"0","destination_session":"b"}`, "tmux error: move-window: index in use: 0"},
		{`{"window_id":"@9"}`, "Object not found: window @9"},
		{`{"window_id":"@9","destination_index":"6"}`, "Object not found: window @9"},
		{`{"window_id":"@3","destination_session":"zz"}`, "Object not found: session zz"},
		{`{"window_id":"@3","destination_session":"$77"}`, "Object not found: session $77"},
		{`{"window_id":"@3","destination_index":"+1"}`, "destination_index must be a number"},
		{`{"session_name":"b","window_index":6}`, "Object not found: window index 6 in session b"},
	} {
		p.fails("move_window", c.args, c.want)
	}
	if after := state(t, srv); after != before {
		t.Errorf("refused moves changed\n%s\nto\n%s", before, after)
	}
}

// TestOneRoundTripAChangingTool: change and answer are one command list.
func TestOneRoundTripAChangingTool(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	session(t, srv, "b")
	tmuxtest.Run(t, srv, "split-window", "-d", "-t", "%0", "cat") // %2
	cfg := configFor(srv)
	cfg.Transport = tmux.TransportExec
	counted := countedTmux(t, &cfg)
	s, err := server.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s.SetStartWait(0) // else a new pane is looked at until its program runs
	p := connectTo(t, s)
	p.handshake("{}")
	ok[rows](p, "list_panes", `{}`) // asks for the version, once
	layout := ok[map[string]any](p, "get_window_info", `{"window_id":"@0"}`)["window_layout"]
	for _, c := range []struct{ tool, args string }{
		{"create_session", `{"session_name":"c","environment":{"A":"b"},"suppress_persistent_history":true}`},
		{"rename_session", `{"session_name":"c","new_name":"d"}`},
		{"kill_session", `{"session_name":"d"}`},
		{"create_window", `{}`},
		{"create_window", `{"session_name":"a","direction":"after","window_name":"#S"}`}, // @4
		{"select_window", `{"session_name":"a","direction":"next"}`},
		{"select_window", `{"session_id":"$0","window_id":"@0"}`},
		{"rename_window", `{"window_id":"@0","new_name":"x"}`},
		{"rename_window", `{"session_name":"b","new_name":"x"}`},
		{"select_layout", args(t, "window_id", "@0", "layout", layout)},
		{"select_layout", `{"window_id":"@0","layout":"tiled"}`},
		{"resize_window", `{"window_id":"@0","width":90}`},
		{"move_window", `{"window_id":"@4","destination_index":9}`},
		{"move_window", `{"window_id":"@4","destination_session":"b"}`},
		{"move_window", `{"session_name":"b","destination_index":3}`},
		{"kill_window", `{"window_id":"@4"}`},
		{"split_window", `{"pane_id":"%0","direction":"right"}`},
		{"resize_pane", `{"pane_id":"%0","width":20}`},
		{"resize_pane", `{"pane_id":"%2","zoom":true}`},
		{"resize_pane", `{"pane_id":"%2","zoom":false}`},
		{"select_pane", `{"pane_id":"%2"}`},
		{"select_pane", `{"window_id":"@0","direction":"next"}`},
		{"select_pane", `{"session_name":"a","direction":"left"}`},
		{"swap_pane", `{"source_pane_id":"%0","target_pane_id":"%2"}`},
		{"respawn_pane", `{"pane_id":"%2"}`},
		{"set_pane_title", `{"pane_id":"%2","title":"x"}`},
		{"clear_pane", `{"session_name":"a"}`},
		{"pipe_pane", args(t, "pane_id", "%2", "output_path", t.TempDir()+"/out")},
		{"enter_copy_mode", `{"pane_id":"%2","scroll_up":3}`},
		{"exit_copy_mode", `{"pane_id":"%2"}`},
		{"kill_pane", `{"pane_id":"%2"}`},
		{"kill_server", `{}`},
	} {
		before := counted()
		ok[map[string]any](p, c.tool, c.args)
		want := 1
		switch {
		// Without a directory they first ask where their neighbour is.
		case c.tool == "split_window", c.tool == "create_window",
			// These ask in which session the window is, or which pane is beside.
			c.args == `{"window_id":"@4","destination_index":9}`, c.args == `{"window_id":"@0","direction":"next"}`:
			want = 2
		}
		// kill_server asks until the server is gone.
		if n := counted() - before; n < want || n > want && c.tool != "kill_server" {
			t.Errorf("%s %s ran tmux %d times, want %d", c.tool, c.args, n, want)
		}
	}
}
