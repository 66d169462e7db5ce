package server_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/tmux/tmuxtest"
)

func TestClearPane(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	tmuxtest.Run(t, srv, "respawn-pane", "-k", "-t", "%0", `seq 1 100; printf '\033[41mdone'; cat`)
	tmuxtest.WaitScreen(t, srv, "%0", "done")
	p := serve(t, configFor(srv))
	got := ok[map[string]any](p, "clear_pane", `{"session_name":"a"}`)
	if got["result"] != "Pane cleared: %0" || got["pane_id"] != "%0" {
		t.Errorf("clear_pane answers %v", got)
	}
	if snap := ok[map[string]any](p, "snapshot_pane", `{"pane_id":"%0"}`); snap["content"] != "" || snap["history_size"] != 0.0 || snap["cursor_x"] != 0.0 {
		t.Errorf("afterwards it is %v", snap)
	}
	if text := tmuxtest.Run(t, srv, "capture-pane", "-p", "-S", "-", "-t", "%0"); len(text) > 0 && slices.ContainsFunc([]rune(text), func(r rune) bool { return r != '\n' }) {
		t.Errorf("left is %q", text)
	}
	p.fails("clear_pane", `{}`, "clear_pane needs a target")
	p.fails("clear_pane", `{"pane_id":"%9"}`, "Pane not found: %9")
}

func TestPipePaneWritesToExactlyThatFile(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	p := serve(t, configFor(srv))
	dir := t.TempDir()
	var want []string
	for _, name := range append(slices.Clone(literalTexts), "#Session", "##{x}", "issue #42", "100%done", "two\nlines", "tab\there", `back\slash`, "`id`", "$(id)") {
		path := filepath.Join(dir, name)
		got := ok[map[string]any](p, "pipe_pane", args(t, "pane_id", "%0", "output_path", path))
		shown := strings.NewReplacer("\n", `\u000a`, "\t", `\u0009`).Replace(path)
		if got["result"] != "Piping to "+shown+" (pane %0)" || got["pane_id"] != "%0" {
			t.Errorf("%q: pipe_pane answers %v", path, got)
		}
		tmuxtest.Run(t, srv, "send-keys", "-t", "%0", "-l", "typed")
		fileHas(t, srv, path, "typed")
		want = append(want, name)
	}
	var have []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		have = append(have, e.Name())
	}
	slices.Sort(want)
	if !slices.Equal(have, want) {
		t.Errorf("files are %q, want %q", have, want)
	}
}

func TestPipePaneStartsAndStops(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	cfg := configFor(srv)
	home := t.TempDir()
	cfg.Env = append(cfg.Env, "HOME="+home)
	p := serve(t, cfg)
	path := filepath.Join(home, "log")
	if err := os.WriteFile(path, []byte("old "), 0o600); err != nil {
		t.Fatal(err)
	}
	ok[map[string]any](p, "pipe_pane", `{"session_name":"a","output_path":"~/log"}`)
	tmuxtest.Run(t, srv, "send-keys", "-t", "%0", "-l", "one")
	fileHas(t, srv, path, "old one")
	if got := ok[map[string]any](p, "pipe_pane", `{"pane_id":"%0","output_path":null}`); got["result"] != "Pipe stopped (pane %0)" {
		t.Errorf("stopping answers %v", got)
	}
	if got := format(t, srv, "%0", "#{pane_pipe}"); got != "0" {
		t.Errorf("pane_pipe is %s", got)
	}
	ok[map[string]any](p, "pipe_pane", `{"pane_id":"%0"}`) // none to stop
	ok[map[string]any](p, "pipe_pane", args(t, "pane_id", "%0", "output_path", path, "append", false))
	fileHas(t, srv, path, "")
	for _, c := range []struct{ args, want string }{
		{args(t, "pane_id", "%0", "output_path", ""), "output_path must be a file that can be written: it is blank"},
		{args(t, "pane_id", "%0", "output_path", " \t"), "it is blank"},
		{args(t, "pane_id", "%0", "output_path", home), "is a directory"},
		{args(t, "pane_id", "%0", "output_path", path+"/"), "is a directory"},
		{args(t, "pane_id", "%0", "output_path", home+"/none/log"), "no such file or directory"},
		{args(t, "pane_id", "%0", "output_path", "a\x00b"), "NUL"},
		{args(t, "output_path", path), "pipe_pane needs a target"},
		{args(t, "pane_id", "%9", "output_path", path), "Pane not found: %9"},
	} {
		p.fails("pipe_pane", c.args, c.want)
	}
}

func TestCopyMode(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	tmuxtest.Run(t, srv, "respawn-pane", "-k", "-t", "%0", "seq 1 100; printf done; cat")
	tmuxtest.WaitScreen(t, srv, "%0", "done")
	p := serve(t, configFor(srv))
	if got := ok[map[string]any](p, "enter_copy_mode", `{"pane_id":"%0"}`); got["pane_in_mode"] != true {
		t.Errorf("entered: %v", got)
	}
	ok[map[string]any](p, "exit_copy_mode", `{"pane_id":"%0"}`)
	if got := ok[map[string]any](p, "enter_copy_mode", `{"session_name":"a","scroll_up":7}`); got["pane_id"] != "%0" || got["pane_in_mode"] != true {
		t.Errorf("entered: %v", got)
	}
	if snap := ok[map[string]any](p, "snapshot_pane", `{"pane_id":"%0"}`); snap["pane_mode"] != "copy-mode" || snap["scroll_position"] != 7.0 {
		t.Errorf("scrolled to %v in %v", snap["scroll_position"], snap["pane_mode"])
	}
	for range 2 { // the second time it is in no mode
		if got := ok[map[string]any](p, "exit_copy_mode", `{"window_id":"@0"}`); got["pane_in_mode"] != false {
			t.Errorf("left: %v", got)
		}
	}
	p.fails("enter_copy_mode", `{}`, "enter_copy_mode needs a target")
	p.fails("enter_copy_mode", `{"pane_id":"%0","scroll_up":-1}`, "scroll_up must be at least 0")
	p.fails("enter_copy_mode", `{"pane_id":"%9"}`, "Pane not found: %9")
	p.fails("exit_copy_mode", `{"pane_id":"%9"}`, "Pane not found: %9")
	p.fails("exit_copy_mode", `{}`, "exit_copy_mode needs a target")
}
