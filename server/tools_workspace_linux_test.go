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
