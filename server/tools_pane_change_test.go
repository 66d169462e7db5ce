package server_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// fileHas waits until a file has a text in it, or is exactly empty.
func fileHas(t testing.TB, srv *tmux.Server, path, want string) {
	t.Helper()
	var have []byte
	tmuxtest.Wait(t, srv, "", fmt.Sprintf("%q in %s", want, path), func() bool {
		have, _ = os.ReadFile(path)
		return strings.Contains(string(have), want) && (want != "" || len(have) == 0)
	})
}

// A new pane starts where the one beside it is, and a window where its session began,
// not where this server runs.
func TestStartsWhereItsNeighbourIs(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	home, elsewhere, odd := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "#{pane_id} a'b")
	if err := os.Mkdir(odd, 0o700); err != nil {
		t.Fatal(err)
	}
	tmuxtest.Run(t, srv, "new-session", "-d", "-s", "a", "-x", "80", "-y", "40", "-c", home, "exec cat")
	tmuxtest.Run(t, srv, "split-window", "-d", "-t", "%0", "-c", elsewhere, "exec cat")
	tmuxtest.Run(t, srv, "split-window", "-d", "-t", "%0", "-c", strings.ReplaceAll(odd, "#", "##"), "exec cat")
	p := serve(t, configFor(srv))
	for tool, want := range map[string]string{
		`split_window {"pane_id":"%0","shell":"exec cat"}`: home, `split_window {"pane_id":"%1","shell":"exec cat"}`: elsewhere,
		`split_window {"pane_id":"%2","shell":"exec cat"}`: odd, `create_window {"session_name":"a"}`: home,
		`split_window {"pane_id":"%1","shell":"exec cat","start_directory":"` + home + `"}`: home,
	} {
		name, args, _ := strings.Cut(tool, " ")
		made := ok[map[string]any](p, name, args)
		id, _ := made["pane_id"].(string)
		if id == "" {
			id = made["active_pane_id"].(string)
		}
		got := ""
		tmuxtest.Wait(t, srv, id, "a directory", func() bool {
			got = tmuxtest.Run(t, srv, "display-message", "-p", "-t", id, "#{pane_current_path}")
			return got == want
		})
	}
	p.fails("split_window", `{"pane_id":"%77"}`, "Pane not found: %77")
	p.fails("create_window", `{"session_name":"zz"}`, "session zz")
}

func TestSplitWindow(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	tmuxtest.Run(t, srv, "new-window", "-d", "-t", "=a:", "cat")
	tmuxtest.Run(t, srv, "resize-window", "-t", "@1", "-x", "80", "-y", "24")
	p := serve(t, configFor(srv))
	type pane struct {
		ID     string `json:"pane_id"`
		Left   int    `json:"pane_left"`
		Top    int    `json:"pane_top"`
		Width  int    `json:"pane_width"`
		Height int    `json:"pane_height"`
		Active bool   `json:"pane_active"`
		Window string `json:"window_id"`
	}
	for _, c := range []struct {
		args string
		want pane // without id
	}{
		{`{"pane_id":"%1"}`, pane{Top: 13, Width: 80, Height: 11}},
		{`{"pane_id":"%1","direction":"below","size":5}`, pane{Top: 19, Width: 80, Height: 5}},
		{`{"window_id":"@1","direction":"above","size":"7"}`, pane{Width: 80, Height: 7}},
		{`{"session_name":"a","window_index":1,"direction":"right","size":"25%"}`, pane{Left: 60, Width: 20, Height: 24}},
		{`{"session_id":"$0","window_index":"1","direction":"left","size":10}`, pane{Width: 10, Height: 24}},
	} {
		got := ok[pane](p, "split_window", c.args)
		c.want.ID, c.want.Window = got.ID, "@1"
		if got != c.want {
			t.Errorf("split_window %s: %+v, want %+v", c.args, got, c.want)
		}
		ok[map[string]any](p, "kill_pane", args(t, "pane_id", got.ID))
	}
	// Of a session's current window the active pane, and without a target the
	// active one of all.
	for _, given := range []string{`{"session_name":"a"}`, `{}`} {
		if got := ok[pane](p, "split_window", given); got.Window != "@0" || got.Active {
			t.Errorf("split_window %s: %+v", given, got)
		}
	}
	if got := format(t, srv, "@0", "#{pane_id}"); got != "%0" {
		t.Errorf("a new pane took the focus: %s is active", got)
	}
	for given, want := range map[string]string{
		`{"pane_id":"%1","direction":"up"}`:  "direction must be one of above, below, left, right",
		`{"pane_id":"%1","size":0}`:          "size must be a number of cells",
		`{"pane_id":"%1","size":"101%"}`:     "size must be a number of cells",
		`{"pane_id":"%1","size":"x"}`:        "size must be a number of cells",
		`{"pane_id":"%1","size":[1]}`:        "size must be a number of cells",
		`{"pane_id":"%99"}`:                  "Pane not found: %99",
		`{"window_id":"@99"}`:                "Object not found: window @99",
		`{"session_name":"zz"}`:              "Object not found: session zz",
		`{"pane_id":"1"}`:                    "pane_id must be a pane's id",
		`{"pane_id":"%1","socket":"x"}`:      "socket is not an argument (is it socket_name?)",
		`{"pane_id":"%1","environment":"["}`: "not valid JSON",
	} {
		p.fails("split_window", given, want)
	}
	ok[map[string]any](p, "resize_window", `{"window_id":"@1","height":2}`)
	res := p.fails("split_window", `{"pane_id":"%1"}`, "tmux error: split-window: ", "pane")
	if len(res.text()) > 100 {
		t.Errorf("no room is reported as %q", res.text())
	}
}

func TestSpawnedPrograms(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	p := serve(t, configFor(srv))
	dir := filepath.Join(t.TempDir(), "#{x} %d")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	// The command is one for a shell, and tmux leaves it alone.
	command := `printf '%s|' "#S %Y ${A}" "$HISTFILE-$fish_history-$fish_private_mode-$HISTCONTROL" $0 >out; exec cat`
	for i, tool := range []string{"split_window", "respawn_pane"} {
		given := args(t, "pane_id", fmt.Sprint("%", i), "start_directory", dir, "shell", command,
			"environment", map[string]string{"A": "x;#{y}", "HISTCONTROL": "ignoredups"}, "suppress_persistent_history", true)
		row := ok[map[string]any](p, tool, given)
		if row["pane_id"] != "%1" {
			t.Fatalf("%s answers with %v", tool, row)
		}
		out := filepath.Join(dir, "out")
		fileHas(t, srv, out, "#S %Y x;#{y}|--1-ignoredups:ignorespace|")
		if err := os.Remove(out); err != nil {
			t.Fatal(err)
		}
	}
	if got := tmuxtest.Run(t, srv, "show-environment", "-t", "=a"); strings.Contains(got, "A=") || strings.Contains(got, "HIST") {
		t.Errorf("what was for one program is in the session's environment: %s", got)
	}
}

func TestHistoryIsSuppressedForShells(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	p := serve(t, configFor(srv))
	tools := map[string]map[string]any{
		"create_session": {}, "create_window": {"session_name": "a"}, "split_window": {"pane_id": "%0"}, "respawn_pane": {"pane_id": "%0"},
	}
	before := ok[rows](p, "list_panes", `{}`).column("pane_pid")
	for tool, target := range tools {
		for name, value := range map[string]string{"HISTFILE": "/sekrit", "fish_history": "sekrit", "fish_private_mode": "sekrit"} {
			given := []any{"suppress_persistent_history", true, "environment", map[string]string{name: value}}
			for k, v := range target {
				given = append(given, k, v)
			}
			res := p.fails(tool, args(t, given...), name, "suppress_persistent_history", "leave "+name+" out")
			if strings.Contains(fmt.Sprint(res), "sekrit") {
				t.Errorf("%s repeats the value that it refuses: %s", tool, res.text())
			}
		}
	}
	if after := ok[rows](p, "list_panes", `{}`).column("pane_pid"); after != before {
		t.Errorf("a refused call started something: processes were %s and are %s", before, after)
	}
	s := ok[map[string]any](p, "create_session", `{"session_name":"s","suppress_persistent_history":true,"environment":{"HISTCONTROL":"erasedups:ignoreboth","HISTFILE":""}}`)
	for name, want := range map[string]string{"HISTFILE": "", "fish_history": "", "fish_private_mode": "1", "HISTCONTROL": "erasedups:ignoreboth"} {
		if got := tmuxtest.Run(t, srv, "show-environment", "-t", fmt.Sprint(s["session_id"]), name); got != name+"="+want {
			t.Errorf("the session has %s", got)
		}
	}
	// A later pane of the session inherits them, also when it does not ask.
	out := filepath.Join(t.TempDir(), "out")
	ok[map[string]any](p, "create_window", `{"session_name":"s","suppress_persistent_history":false}`)
	ok[map[string]any](p, "split_window", args(t, "session_name", "s", "shell", "echo private=$fish_private_mode >"+out+"; cat"))
	fileHas(t, srv, out, "private=1")
}

func TestResizePane(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	tmuxtest.Run(t, srv, "resize-window", "-t", "@0", "-x", "80", "-y", "24")
	tmuxtest.Run(t, srv, "split-window", "-d", "-h", "-t", "%0", "cat")
	tmuxtest.Run(t, srv, "split-window", "-d", "-t", "%1", "cat")
	p := serve(t, configFor(srv))
	for _, c := range []struct {
		args          string
		pane          string
		width, height float64
	}{
		{`{"pane_id":"%1","width":30}`, "%1", 30, 12},
		{`{"pane_id":"%1","height":"4"}`, "%1", 30, 4},
		{`{"pane_id":"%2","width":20,"height":10}`, "%2", 20, 10},
		{`{"session_name":"a","width":40}`, "%0", 40, 24},
		{`{"window_id":"@0","width":9999}`, "%0", 78, 24}, // as far as there is room
	} {
		if got := ok[map[string]any](p, "resize_pane", c.args); got["pane_id"] != c.pane || got["pane_width"] != c.width || got["pane_height"] != c.height {
			t.Errorf("resize_pane %s: %v is %vx%v", c.args, got["pane_id"], got["pane_width"], got["pane_height"])
		}
	}
	zoomed := func() string {
		if format(t, srv, "@0", "#{window_zoomed_flag}") == "0" {
			return ""
		}
		return format(t, srv, "@0", "#{pane_id}")
	}
	for i, c := range []struct{ args, want string }{
		{`{"pane_id":"%1","zoom":false}`, ""},
		{`{"pane_id":"%1","zoom":true}`, "%1"},
		{`{"pane_id":"%1","zoom":true}`, "%1"},
		{`{"pane_id":"%2","zoom":true}`, "%2"},  // while another one is
		{`{"pane_id":"%1","zoom":false}`, "%2"}, // it is not zoomed
		{`{"window_id":"@0","zoom":"true"}`, "%2"},
		{`{"pane_id":"%2","zoom":false}`, ""},
		{`{"session_name":"a","zoom":true}`, "%2"},
		{`{"window_id":"@0","zoom":false}`, ""},
	} {
		got := ok[map[string]any](p, "resize_pane", c.args)
		if now := zoomed(); now != c.want {
			t.Errorf("step %d, %s: pane %q is zoomed, want %q", i, c.args, now, c.want)
		}
		if full := got["pane_width"] == 80.0 && got["pane_height"] == 24.0; full != (got["pane_id"] == c.want) {
			t.Errorf("step %d, %s: the answer has %vx%v", i, c.args, got["pane_width"], got["pane_height"])
		}
	}
	for given, want := range map[string]string{
		`{"pane_id":"%1","zoom":true,"height":3}`: "zoom cannot be combined with height or width",
		`{"pane_id":"%1"}`:                        "resize_pane needs height, width or zoom",
		`{"width":3}`:                             "resize_pane needs a target",
		`{"pane_id":"%1","width":0}`:              "width must be at least 1",
		`{"pane_id":"%9","width":3}`:              "Pane not found: %9",
		`{"pane_id":"%9","zoom":true}`:            "Pane not found: %9",
		`{"pane_id":"%9","zoom":false}`:           "Pane not found: %9",
	} {
		p.fails("resize_pane", given, want)
	}
}

func TestSelectPane(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	for _, v := range []string{"-h", "-v"} {
		tmuxtest.Run(t, srv, "split-window", "-d", v, "-t", "%0", "cat")
	}
	// Another session is the one that tmux would choose, and its current window
	// has panes too.
	session(t, srv, "b")
	tmuxtest.Run(t, srv, "split-window", "-t", "=b:", "cat")
	tmuxtest.Run(t, srv, "new-window", "-t", "=a:", "cat")
	order := strings.Fields(tmuxtest.Run(t, srv, "list-panes", "-t", "@0", "-F", "#{pane_id}")) // %0 %2 %1
	p := serve(t, configFor(srv))
	other := tmuxtest.Run(t, srv, "list-panes", "-a", "-F", "#{window_id}#{pane_id}#{pane_active}", "-f", "#{!=:#{window_id},@0}")
	for _, base := range []string{"0", "1", "5"} {
		tmuxtest.Run(t, srv, "set-option", "-g", "pane-base-index", base)
		tmuxtest.Run(t, srv, "select-pane", "-t", "%0")
		for i := range 7 {
			given := []string{`{"window_id":"@0","direction":"next"}`, `{"session_name":"a","window_index":0,"direction":"next"}`}[i%2]
			if got := ok[map[string]any](p, "select_pane", given); got["pane_id"] != order[(i+1)%3] || got["pane_active"] != true {
				t.Errorf("base %s: next number %d is %v, want %s", base, i, got["pane_id"], order[(i+1)%3])
			}
		}
		tmuxtest.Run(t, srv, "select-pane", "-t", "%0")
		for i := range 4 {
			if got := ok[map[string]any](p, "select_pane", `{"window_id":"@0","direction":"previous"}`); got["pane_id"] != order[(5-i)%3] {
				t.Errorf("base %s: previous number %d is %v, want %s", base, i, got["pane_id"], order[(5-i)%3])
			}
		}
	}
	for _, c := range []struct{ args, want string }{
		{`{"pane_id":"%1"}`, "%1"},
		{`{"window_id":"@0","direction":"left"}`, "%0"},
		{`{"window_id":"@0","direction":"down"}`, "%2"},
		{`{"window_id":"@0","direction":"right"}`, "%1"},
		{`{"window_id":"@0","direction":"last"}`, "%2"},
		{`{"session_id":"$0","window_index":"0","direction":"up"}`, "%0"},
		{`{"pane_id":"%2","direction":"up"}`, "%2"},
	} {
		if got := ok[map[string]any](p, "select_pane", c.args); got["pane_id"] != c.want || got["pane_active"] != true {
			t.Errorf("select_pane %s: %v, want %s", c.args, got["pane_id"], c.want)
		}
	}
	if now := tmuxtest.Run(t, srv, "list-panes", "-a", "-F", "#{window_id}#{pane_id}#{pane_active}", "-f", "#{!=:#{window_id},@0}"); now != other {
		t.Errorf("panes of other windows were %s and are %s", other, now)
	}
	if got := ok[map[string]any](p, "select_pane", `{"session_name":"a","direction":"next"}`); got["window_id"] != format(t, srv, "=a:", "#{window_id}") {
		t.Errorf("next in a window's only pane is %v", got)
	}
	active := func() string { return tmuxtest.Run(t, srv, "list-panes", "-a", "-F", "#{pane_id}#{pane_active}") }
	before := active()
	for given, want := range map[string]string{
		`{}`: "select_pane needs pane_id or direction", `{"direction":"next"}`: "select_pane needs a target",
		`{"pane_id":"%77"}`: "Pane not found: %77", `{"window_id":"@77","direction":"next"}`: "Object not found: window @77",
		`{"session_name":"a","direction":"last"}`: "tmux error: select-pane: no last pane", `{"window_id":"@0","direction":"back"}`: "direction must be one of",
	} {
		p.fails("select_pane", given, want)
	}
	if after := active(); after != before {
		t.Errorf("refused calls changed\n%s\nto\n%s", before, after)
	}
}

func TestSwapPane(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	tmuxtest.Run(t, srv, "split-window", "-d", "-h", "-t", "%0", "cat")
	session(t, srv, "b")
	p := serve(t, configFor(srv))
	if got := ok[map[string]any](p, "swap_pane", `{"source_pane_id":"%0","target_pane_id":"%1"}`); got["pane_id"] != "%0" || got["pane_index"] != 1.0 || got["pane_at_right"] != true {
		t.Errorf("in a window: %v", got)
	}
	if got := ok[map[string]any](p, "swap_pane", `{"source_pane_id":"%0","target_pane_id":"%2"}`); got["pane_id"] != "%0" || got["session_name"] != "b" {
		t.Errorf("between windows: %v", got)
	}
	if got := format(t, srv, "%2", "#{session_name}:#{pane_index}"); got != "a:1" {
		t.Errorf("the other one is at %s", got)
	}
	p.fails("swap_pane", `{"source_pane_id":"%0","target_pane_id":"%0"}`, "target_pane_id must be another pane")
	p.fails("swap_pane", `{"source_pane_id":"%0","target_pane_id":"%9"}`, "Pane not found: %9")
	p.fails("swap_pane", `{"source_pane_id":"%9","target_pane_id":"%0"}`, "Pane not found: %9")
	p.fails("swap_pane", `{"source_pane_id":"{last}","target_pane_id":"%0"}`, "source_pane_id must be a pane's id")
	p.fails("swap_pane", `{"source_pane_id":"%0","target_pane_id":"+1"}`, "target_pane_id must be a pane's id")
	p.fails("swap_pane", `{}`, "source_pane_id is required", "target_pane_id is required")
}

func TestKillPane(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	tmuxtest.Run(t, srv, "split-window", "-d", "-t", "%0", "cat")
	p := serve(t, configFor(srv))
	p.fails("kill_pane", `{}`, "pane_id is required")
	p.fails("kill_pane", `{"pane_id":""}`, "kill_pane needs a target")
	p.fails("kill_pane", `{"pane_id":"@0"}`, "pane_id must be a pane's id")
	p.fails("kill_pane", `{"pane_id":"%9"}`, "Pane not found: %9", "Call list_panes")
	if got := ok[map[string]any](p, "kill_pane", `{"pane_id":"%0"}`); got["result"] != "Pane killed: %0" || got["pane_id"] != "%0" {
		t.Errorf("kill_pane answers %v", got)
	}
	if got := ok[rows](p, "list_panes", `{}`); got.column("pane_id") != "%1" {
		t.Errorf("left are %s", got.column("pane_id"))
	}
	p.fails("kill_pane", `{"pane_id":"%0"}`, "Pane not found: %0")
}

func TestRespawnPane(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	tmuxtest.Run(t, srv, "set-option", "-g", "remain-on-exit", "on")
	tmuxtest.Run(t, srv, "split-window", "-d", "-t", "%0", "cat")
	p := serve(t, configFor(srv))
	pid := func() any { return ok[map[string]any](p, "get_pane_info", `{"pane_id":"%1"}`)["pane_pid"] }
	was := pid()
	p.fails("respawn_pane", `{"pane_id":"%1","kill":false}`, "tmux error: respawn-pane: ", "still active")
	if pid() != was {
		t.Error("a refused respawn started something")
	}
	got := ok[map[string]any](p, "respawn_pane", `{"pane_id":"%1"}`)
	if got["pane_id"] != "%1" || got["pane_pid"] == was || got["pane_pid"] != pid() || got["pane_dead"] != false {
		t.Errorf("respawned from process %v: %v", was, got)
	}
	ok[map[string]any](p, "respawn_pane", `{"pane_id":"%1","shell":"exit 3"}`)
	tmuxtest.Wait(t, srv, "%1", "end of its program", func() bool { return format(t, srv, "%1", "#{pane_dead}") == "1" })
	ok[map[string]any](p, "respawn_pane", `{"pane_id":"%1","kill":false,"shell":"echo alive; cat"}`)
	tmuxtest.WaitScreen(t, srv, "%1", "alive")
	p.fails("respawn_pane", `{}`, "pane_id is required")
	p.fails("respawn_pane", `{"pane_id":"%8"}`, "Pane not found: %8")
	p.fails("respawn_pane", `{"pane_id":"%1","session_name":"a"}`, "session_name is not an argument")
	p.fails("respawn_pane", `{"pane_id":"%1","start_directory":"/nonexistent"}`, "start_directory must be a directory")
}

func TestSetPaneTitle(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	tmuxtest.Run(t, srv, "split-window", "-d", "-t", "%0", "cat")
	p := serve(t, configFor(srv))
	if got := ok[map[string]any](p, "set_pane_title", `{"pane_id":"%1","title":"one"}`); got["pane_id"] != "%1" || got["pane_title"] != "one" || got["pane_active"] != false {
		t.Errorf("it is %v", got)
	}
	if got := ok[map[string]any](p, "set_pane_title", `{"session_name":"a","title":"active"}`); got["pane_id"] != "%0" || got["pane_title"] != "active" {
		t.Errorf("of a session: %v", got)
	}
	if got := ok[map[string]any](p, "set_pane_title", `{"window_id":"@0","title":""}`); got["pane_title"] != "" {
		t.Errorf("an empty title is %v", got["pane_title"])
	}
	p.fails("set_pane_title", `{"title":"x"}`, "set_pane_title needs a target")
	p.fails("set_pane_title", `{"pane_id":"%0"}`, "title is required")
	p.fails("set_pane_title", `{"pane_id":"%9","title":"x"}`, "Pane not found: %9")
}
