package server_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/server"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// built is an answer of build_workspace.
type built struct {
	SessionID string `json:"session_id"`
	Panes     []struct {
		PaneID   string  `json:"pane_id"`
		Command  *string `json:"pane_current_command"`
		Path     *string `json:"pane_current_path"`
		WindowID string  `json:"window_id"`
		Window   int     `json:"window_index"`
		Name     string  `json:"window_name"`
		Title    string  `json:"title"`
		Problem  *string `json:"problem"`
	} `json:"panes"`
	Plan []string `json:"plan"`
}

// atHome is a configuration for a tmux server that is not yet there, and starts shells of
// no user's configuration.
func atHome(t *testing.T, srv *tmux.Server) server.Config {
	cfg := configFor(srv)
	cfg.Env = append(cfg.Env, "HOME="+t.TempDir(), "SHELL=/bin/sh")
	return cfg
}

// everything is what a failed call must leave as it was.
func everything(t *testing.T, srv *tmux.Server) string {
	return tmuxtest.Run(t, srv, "list-panes", "-a", "-F", "#{session_name} #{window_id} #{window_index} #{window_active} #{window_layout} #{pane_id} #{pane_active} #{pane_title}")
}

func TestBuildWorkspace(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "zero")
	tmuxtest.Run(t, srv, "set-option", "-g", "base-index", "1")
	tmuxtest.Run(t, srv, "set-option", "-gw", "pane-base-index", "1")
	dir := t.TempDir()
	for _, name := range []string{"src", "we #{ird} 'n;"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p := serve(t, configFor(srv))
	w := ok[built](p, "build_workspace", args(t, "session_name", "my work", "directory", dir, "x", 100, "y", 40, "windows", []map[string]any{
		{"name": "editor", "layout": "main-vertical", "main_size": 60, "panes": []map[string]any{
			{"command": "echo 1:$KEY >>out", "environment": map[string]string{"KEY": "a b;#S"}, "title": "first"},
			{"command": "echo 2:$KEY >>out\necho 3 >>out", "directory": "src", "title": "#{second};"},
			{"shell": "exec cat", "command": "to cat"},
		}},
		{"name": "logs; #S", "focus": true},
		{"panes": []map[string]any{{"directory": "we #{ird} 'n;"}, {"focus": true, "shell": "echo shown; exec cat"}}},
	}))
	if w.SessionID != "$1" || len(w.Panes) != 6 || len(w.Plan) != 0 {
		t.Fatalf("built %+v", w)
	}
	var got []string
	for _, p := range w.Panes {
		got = append(got, fmt.Sprintf("%s %s %d %q %s", p.WindowID, p.PaneID, p.Window, p.Title, strings.TrimPrefix(*p.Path, dir)))
		if p.Problem != nil || *p.Command == "tmux" {
			t.Errorf("%s runs %s: %v", p.PaneID, *p.Command, p.Problem)
		}
	}
	if want := []string{`@1 %1 1 "first" `, `@1 %2 1 "#{second};" /src`, `@1 %3 1 "" `, `@2 %4 2 "" `, `@3 %5 3 "" /we #{ird} 'n;`, `@3 %6 3 "" `}; strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("built\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for pane, want := range map[string]string{
		"%1": "1 editor 0 1 first", "%2": "2 editor 0 0 #{second};", "%4": "1 logs; #S 1 1", "%6": "2 cat 0 1",
	} {
		what := "#{pane_index} #{window_name} #{window_active} #{pane_active}"
		if strings.Count(want, " ") > 3 && pane < "%3" {
			what += " #{pane_title}"
		}
		if pane == "%6" { // the name is the program's
			tmuxtest.Run(t, srv, "rename-window", "-t", "@3", "cat")
		}
		if got := format(t, srv, pane, what); got != want {
			t.Errorf("%s is %q, want %q", pane, got, want)
		}
	}
	if got := format(t, srv, "%1", "#{pane_width}"); got != "60" && version(t, srv).Has(tmux.Version{Major: 3, Minor: 3}) {
		t.Errorf("the main pane has %s columns", got)
	}
	tmuxtest.WaitScreen(t, srv, "%3", "to cat\nto cat")
	tmuxtest.WaitScreen(t, srv, "%6", "shown")
	out := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(dir, name))
		return string(text)
	}
	tmuxtest.Wait(t, srv, "%2", "commands have run", func() bool { return strings.Count(out("src/out"), "\n") == 2 && out("out") != "" })
	if out("out") != "1:a b;#S\n" || out("src/out") != "2:\n3\n" {
		t.Errorf("the commands wrote %q and %q", out("out"), out("src/out"))
	}
	if env := tmuxtest.Run(t, srv, "show-environment", "-t", w.SessionID); strings.Contains(env, "KEY") {
		t.Errorf("the session has the first pane's variables: %s", env)
	}

	p.fails("build_workspace", `{"session_name":"my work","windows":[{}]}`, "duplicate session: my work", "append=true")
	more := ok[built](p, "build_workspace", `{"session_name":"my work","append":true,"windows":[{"name":"more","panes":[{},{}]},{"name":"last"}]}`)
	if more.SessionID != "$1" || len(more.Panes) != 3 || more.Panes[0].Window != 4 || more.Panes[2].Window != 5 || more.Panes[2].Name != "last" || *more.Panes[0].Path == "" {
		t.Errorf("appended %+v", more)
	}
	if got := format(t, srv, "=my work:", "#{window_id}"); got != "@2" {
		t.Errorf("appending moved the session to %s", got)
	}
	made := ok[built](p, "build_workspace", `{"session_name":"new","append":true,"windows":[{"name":"only"}]}`)
	if made.SessionID != "$2" || len(made.Panes) != 1 || made.Panes[0].Window != 1 {
		t.Errorf("appended to nothing: %+v", made)
	}
}

// TestWorkspaceAnswerIsShort: three windows of two panes.
func TestWorkspaceAnswerIsShort(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	cfg := atHome(t, srv)
	cfg.Results = server.ResultsText
	p := serve(t, cfg)
	p.reads = true
	res := p.tool("build_workspace", `{"session_name":"work","directory":"/tmp","windows":[{"name":"editor","panes":[{"command":"true"},{"title":"tests"}]},{"name":"server","panes":[{},{}]},{"name":"logs","panes":[{},{}]}]}`)
	text := res.text()
	if res.IsError || len(text) > 300 || !strings.HasPrefix(text, "[session $0 work, 3 windows, 6 panes]\n@0 0 editor\n%0 sh in /tmp\n%1 sh in /tmp tests\n@1 1 server\n") {
		t.Errorf("%d bytes:\n%s", len(text), text)
	}
}

func TestFailedWorkspaceLeavesNothing(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	tmuxtest.Run(t, srv, "set-option", "-g", "default-size", "12x6")
	tmuxtest.Run(t, srv, "set-option", "-t", "=a:", "default-size", "12x6")
	tmuxtest.Run(t, srv, "resize-window", "-t", "@0", "-x", "12", "-y", "6")
	p := serve(t, configFor(srv))
	before := everything(t, srv)
	many := strings.TrimSuffix(strings.Repeat("{},", 50), ",")
	three := string(tmux.LayoutCell{Kind: 'p', Width: 80, Height: 24}.Layout())
	for _, c := range []struct{ windows, want string }{
		{`[]`, "windows must have at least one window"},
		{`[{"layout":"grid"}]`, "layout"},
		{`[{"layout":` + quoted(three) + `,"panes":[{},{}]}]`, "windows[0].layout is of 1 panes, and the window has 2"},
		{`[{},{"main_size":10}]`, "windows[1].main_size is for the layouts"},
		{`[{"panes":[{},{"directory":"/none/such"}]}]`, "windows[0].panes[1].directory must be a directory"},
		{`[{"panes":[{"environment":{"A=":"x"}}]}]`, "environment must have names without ="},
		{`[{"panes":[{"command":"a\u0000b"}]}]`, "windows[0].panes[0].command must not have a NUL"},
		{`[{},{"panes":[` + many + `]}]`, "windows[1] has no room for panes["},
		{`[{"panes":[` + many + `]},{"panes":[` + many + `]}]`, "windows must not have more than 60 panes"},
		{`[{"wide":true}]`, "wide"},
	} {
		p.fails("build_workspace", `{"session_name":"w","windows":`+c.windows+`}`, c.want)
		p.fails("build_workspace", `{"session_name":"a","append":true,"windows":`+c.windows+`}`, c.want)
		if after := everything(t, srv); after != before {
			t.Fatalf("%s left\n%s\nthere was\n%s", c.windows, after, before)
		}
	}
	p.fails("build_workspace", `{"session_name":"a:b","windows":[{}]}`, "session_name must not be empty, and have neither")
	// A window that somebody else has there stays.
	tmuxtest.Run(t, srv, "set-hook", "-g", "after-new-window", "set-option -g @seen 1")
	p.fails("build_workspace", `{"session_name":"a","append":true,"windows":[{"name":"x"},{"panes":[`+many+`]}]}`, "no room")
	if after := everything(t, srv); after != before || tmuxtest.Run(t, srv, "show-options", "-gv", "@seen") != "1" {
		t.Errorf("left\n%s\nthere was\n%s", after, before)
	}
}

// TestCancelledWorkspaceLeavesNothing: while it waits for a shell that never gets ready.
func TestCancelledWorkspaceLeavesNothing(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	p := serve(t, configFor(srv))
	before := everything(t, srv)
	for _, name := range []string{"new", "a"} {
		_, id := p.begin("tools/call", map[string]any{"name": "build_workspace", "arguments": json.RawMessage(
			`{"session_name":"` + name + `","append":true,"windows":[{},{"panes":[{"shell":"while :; do echo; sleep 0.05; done","command":"x"}]}]}`)})
		tmuxtest.Wait(t, srv, "%0", "panes", func() bool {
			return strings.Count(everything(t, srv), "\n") >= 2
		})
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id)
		tmuxtest.Wait(t, srv, "%0", "as before", func() bool { return everything(t, srv) == before })
	}
}

// TestWorkspaceStartsAServer: and a plan does not.
func TestWorkspaceStartsAServer(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	p := serve(t, atHome(t, srv))
	const in = `"session_name":"w","directory":"/tmp","windows":[{"name":"a b","layout":"main-vertical","main_size":"60%","panes":[{"command":"make"},{"title":"t"}]},{}]`
	plan := ok[built](p, "build_workspace", `{"dry_run":true,`+in+`}`)
	want := []string{
		"new-session -s w -d -n 'a b' -c /tmp", "split-window -t =w:0 -c /tmp", "select-layout -t =w:0 tiled", "select-pane -t =w:0 -T t",
		"set-option -t =w:0 -w main-pane-width 60%", "select-layout -t =w:0 main-vertical", "new-window -t =w:1 -d -c /tmp",
		"# type into windows[0].panes[0], once it is ready: make",
	}
	if strings.Join(plan.Plan, "\n") != strings.Join(want, "\n") || len(plan.Panes) != 0 {
		t.Errorf("the plan is\n%s\nwant\n%s", strings.Join(plan.Plan, "\n"), strings.Join(want, "\n"))
	}
	if info := ok[map[string]any](p, "get_server_info", `{}`); info["is_alive"] != false {
		t.Error("a plan started a tmux server")
	}
	if w := ok[built](p, "build_workspace", `{`+in+`}`); len(w.Panes) != 3 {
		t.Errorf("built %+v", w)
	}
}

// TestWorkspaceLeavesTheFocus of attached clients alone, unless it is asked for.
func TestWorkspaceLeavesTheFocus(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	tmuxtest.Attach(t, srv, "a", 80, 24)
	p := serve(t, configFor(srv))
	looks := func() string {
		return tmuxtest.Run(t, srv, "list-clients", "-F", "#{client_session} #{window_id} #{pane_id}")
	}
	tmuxtest.Wait(t, srv, "%0", "client", func() bool { return looks() == "a @0 %0" })
	ok[built](p, "build_workspace", `{"session_name":"b","windows":[{"panes":[{},{"focus":true}]},{"focus":true}]}`)
	ok[built](p, "build_workspace", `{"session_name":"a","append":true,"windows":[{"panes":[{},{"focus":true}]},{}]}`)
	if got := looks(); got != "a @0 %0" {
		t.Errorf("the client looks at %s", got)
	}
	w := ok[built](p, "build_workspace", `{"session_name":"a","append":true,"windows":[{},{"focus":true,"panes":[{},{"focus":true}]}]}`)
	if got, want := looks(), "a "+w.Panes[2].WindowID+" "+w.Panes[2].PaneID; got != want {
		t.Errorf("with focus the client looks at %s, want %s", got, want)
	}
}

// TestWorkspaceTypesOnce: into a shell that starts slowly, as much as a message of tmux
// does not hold, into none whose shell asks something, and into no other pane.
func TestWorkspaceTypesOnce(t *testing.T) {
	t.Parallel()
	bash := testtool.Path(t, "bash")
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	tmuxtest.Run(t, srv, "set-option", "-gw", "synchronize-panes", "on")
	dir := t.TempDir()
	rc := func(name, text string) string {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("PS1='$ '; unset HISTFILE\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
		return "exec " + bash + " --rcfile " + name
	}
	slow, asks := rc("slow", "sleep 1.5\nstty -echo; read -t 0.1 x; stty echo\n"), rc("asks", "read -p 'update? ' answer; echo got:$answer >>answers\n")
	quick := rc("quick", "")
	var lines, windows []string
	for i := range 800 {
		lines = append(lines, fmt.Sprintf("echo %d >>long; : %s", i, strings.Repeat("x", 35)))
	}
	command := strings.Join(lines, "\n")
	if len(command) < 40_000 {
		t.Fatalf("%d bytes are typed", len(command))
	}
	for i := range 3 {
		windows = append(windows, fmt.Sprintf(`{"panes":[{"shell":%s,"command":%s},{"shell":%s}]}`, quoted(quick), quoted(strings.ReplaceAll(command, "long", fmt.Sprint("long", i))), quoted(quick)))
	}
	windows = append(windows, fmt.Sprintf(`{"panes":[{"shell":%s,"command":"echo once >>slow.out"},{"shell":%s,"command":"echo wrong"},{"shell":"true"}]}`, quoted(slow), quoted(asks)))
	p := serve(t, configFor(srv))
	w := ok[built](p, "build_workspace", `{"session_name":"w","x":200,"y":60,"directory":`+quoted(dir)+`,"windows":[`+strings.Join(windows, ",")+`]}`)
	if sizes := tmuxtest.Run(t, srv, "list-windows", "-t", "=w", "-F", "#{window_width}x#{window_height}"); sizes != strings.TrimSuffix(strings.Repeat("200x60\n", len(windows)), "\n") {
		t.Errorf("the windows are %s", sizes)
	}
	read := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(dir, name))
		return string(text)
	}
	var want strings.Builder
	for i := range lines {
		fmt.Fprintln(&want, i)
	}
	for i := range 3 {
		name := fmt.Sprint("long", i)
		for begun := time.Now(); len(read(name)) < want.Len() && time.Since(begun) < time.Minute; {
			time.Sleep(20 * time.Millisecond)
		}
		if read(name) != want.String() {
			t.Errorf("%s: %d lines ran, want %d", name, strings.Count(read(name), "\n"), len(lines))
		}
	}
	tmuxtest.Wait(t, srv, w.Panes[6].PaneID, "the command of the slow shell", func() bool { return read("slow.out") == "once\n" })
	for i, p := range w.Panes {
		switch problem := p.Problem; {
		case i == 7 && (problem == nil || !strings.Contains(*problem, "bash shows no prompt")), i == 8 && (problem == nil || !strings.Contains(*problem, "has ended")), i < 7 && problem != nil:
			t.Errorf("pane %d: %v", i, or(problem))
		}
	}
	if got := read("answers"); got != "" {
		t.Errorf("a question was answered: %q", got)
	}
}

func or(s *string) string {
	if s == nil {
		return "no problem"
	}
	return *s
}
