package server_test

import (
	"strings"
	"testing"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// TestInfosShowStates sets each state to a value other than empty, because tmux
// expands what it does not know to nothing.
func TestInfosShowStates(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	v, err := srv.Version(tmuxtest.Context(t))
	if err != nil {
		t.Fatal(err)
	}
	since := func(minor int, value any) any {
		if !v.Has(tmux.Version{Major: 3, Minor: minor}) {
			return nil
		}
		return value
	}
	session(t, srv, "a")
	for _, words := range [][]string{
		{"set-option", "-s", "extended-keys", "on"},
		{"split-window", "-t", "%0", `printf '\033]7;file://host/srv\033\\\033[>4;2m\033[?2004h\033]9;4;1;42\033\\'; exec cat`},
		{"select-pane", "-t", "%0"},
		{"select-pane", "-m", "-t", "%1"},
		{"select-pane", "-d", "-t", "%1"},
		{"pipe-pane", "-t", "%1", "exec cat >/dev/null"},
		{"set-option", "-p", "-t", "%0", "synchronize-panes", "on"},
		{"copy-mode", "-t", "%0"},
		{"new-window", "-d", "-t", "=a:5", `printf '\007'; exec cat`},
		{"new-session", "-d", "-s", "peer", "-t", "=a"},
		{"new-session", "-d", "-s", "zoomed", "-x", "80", "-y", "24", "cat"},
		{"split-window", "-t", "=zoomed:", "cat"},
		{"resize-pane", "-Z", "-t", "=zoomed:"},
	} {
		tmuxtest.Run(t, srv, words[0], words[1:]...)
	}
	tmuxtest.Wait(t, srv, "%1", "path", func() bool { return format(t, srv, "%1", "#{pane_path}") != "" })
	tmuxtest.Wait(t, srv, "=a:5", "bell", func() bool { return format(t, srv, "=a:5", "#{window_bell_flag}") == "1" })
	p := serve(t, configFor(srv))
	for _, c := range []struct {
		tool, args string
		want       map[string]any
	}{
		{"get_pane_info", `{"pane_id":"%1"}`, map[string]any{
			"pane_input_off": true, "pane_marked": true, "pane_marked_set": true, "pane_pipe": true, "pane_synchronized": false, "pane_last": true,
			"pane_mode": nil, "pane_path": "file://host/srv", "pane_key_mode": since(5, "Ext 2"), "pane_unseen_changes": since(4, false),
			"pane_zoomed_flag": since(7, false), "pane_floating_flag": since(7, false), "bracket_paste_flag": since(7, true),
			"pane_pb_state": since(7, "normal"), "pane_pb_progress": since(7, 42.0), "synchronized_output_flag": since(7, false),
		}},
		{"get_pane_info", `{"pane_id":"%0"}`, map[string]any{
			"pane_input_off": false, "pane_marked": false, "pane_pipe": false, "pane_pipe_pid": nil, "pane_synchronized": true, "pane_last": false,
			"pane_mode": "copy-mode", "pane_path": nil, "pane_x": since(7, 0.0), "pane_y": since(7, 0.0), "bracket_paste_flag": since(7, false),
		}},
		{"get_pane_info", `{"session_name":"zoomed"}`, map[string]any{"pane_zoomed_flag": since(7, true), "pane_flags": since(7, "*Z")}},
		{"get_window_info", `{"session_name":"a","window_index":5}`, map[string]any{
			"window_bell_flag": true, "window_flags": "!", "window_end_flag": true, "window_start_flag": false, "window_activity_flag": false,
			"window_silence_flag": false, "window_zoomed_flag": false,
		}},
		{"get_window_info", `{"session_name":"zoomed"}`, map[string]any{
			"window_zoomed_flag": true, "window_flags": "*Z", "window_start_flag": true, "window_end_flag": true, "window_last_flag": false, "window_bell_flag": false,
		}},
		{"get_session_info", `{"session_name":"a"}`, map[string]any{
			"session_grouped": true, "session_many_attached": false, "session_group_many_attached": false, "session_marked": true,
			"session_alert": since(6, "!"), "session_activity_flag": since(6, false), "session_silence_flag": since(6, false),
		}},
		{"get_session_info", `{"session_name":"zoomed"}`, map[string]any{
			"session_grouped": false, "session_group_many_attached": nil, "session_marked": false, "session_bell_flag": since(6, false),
		}},
	} {
		got := ok[map[string]any](p, c.tool, c.args)
		for name, want := range c.want {
			if have, there := got[name]; !there || have != want {
				t.Errorf("tmux %v: %s %s: %s is %v, want %v", v, c.tool, c.args, name, got[name], want)
			}
		}
	}
	w := ok[map[string]any](p, "get_window_info", `{"session_name":"zoomed"}`)
	if w["window_visible_layout"] == w["window_layout"] || w["window_visible_layout"] == "" {
		t.Errorf("the visible layout of a zoomed window is %v", w["window_visible_layout"])
	}
	if pid, _ := ok[map[string]any](p, "get_pane_info", `{"pane_id":"%1"}`)["pane_pipe_pid"].(float64); v.Has(tmux.Version{Major: 3, Minor: 7}) && pid < 2 {
		t.Errorf("pane_pipe_pid is %v", pid)
	}
	p.fails("send_keys", `{"pane_id":"%1","keys":"x"}`, "the input of pane %1 is off")
	p.fails("paste_text", `{"pane_id":"%1","text":"x"}`, "the input of pane %1 is off")
}

// TestSendKeysResets: flags without keys.
func TestSendKeysResets(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	tmuxtest.Run(t, srv, "respawn-pane", "-k", "-t", "%0", `printf 'old\033[?25l\033[4h\nmore'; exec cat`)
	tmuxtest.WaitScreen(t, srv, "%0", "more")
	p := serve(t, configFor(srv))
	ok[map[string]any](p, "send_keys", `{"pane_id":"%0","keys":"","enter":false}`)
	if flags := format(t, srv, "%0", "#{cursor_flag} #{insert_flag}"); flags != "0 1" {
		t.Fatalf("cursor_flag and insert_flag are %s before a reset", flags)
	}
	ok[map[string]any](p, "send_keys", `{"pane_id":"%0","keys":"","enter":false,"reset":true}`)
	if flags := format(t, srv, "%0", "#{cursor_flag} #{insert_flag} #{cursor_x},#{cursor_y}"); flags != "1 0 0,0" {
		t.Errorf("cursor_flag, insert_flag and cursor are %s after a reset", flags)
	}
	ok[map[string]any](p, "send_keys_batch", `{"operations":[{"pane_id":"%0","keys":"one","enter":false},{"pane_id":"%0","keys":"marker","enter":false,"reset":true}]}`)
	if screen := strings.TrimSpace(tmuxtest.WaitScreen(t, srv, "%0", "marker")); screen != "marker" && screen != "onemarker" {
		t.Errorf("the screen is %q", screen)
	}
}
