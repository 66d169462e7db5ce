package server_test

import (
	"strings"
	"testing"

	"tmuxmcp/tmux/tmuxtest"
)

func capture(p *peer, s *screen, more string) string {
	p.t.Helper()
	return ok[said](p, "capture_pane", `{"pane_id":"`+s.pane+`"`+more+`}`).Result
}

func TestCaptureTakesMoreThanTheScreen(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	s := newScreen(t, srv, "a", 20, 6)
	p := serve(t, configFor(srv))
	s.print("\x1b[31mred\x1b[0m plain\n" + strings.Repeat("w", 25) + "\n")
	for more, want := range map[string]string{
		``:                              "red plain\n" + strings.Repeat("w", 20) + "\nwwwww",
		`,"join":true`:                  "red plain\n" + strings.Repeat("w", 25),
		`,"colors":true,"end":0`:        "\x1b[31mred\x1b[39m plain",
		`,"colors":true,"max_lines":1`:  "[... truncated 2 lines ...]\nwwwww",
		`,"pending":true`:               "",
		`,"pending":true,"colors":true`: "",
	} {
		if got := capture(p, s, more); got != want {
			t.Errorf("capture_pane%s: %q, want %q", more, got, want)
		}
	}
	p.fails("capture_pane", `{"pane_id":"`+s.pane+`","hidden":true}`, "no alternate screen")
	s.print("\x1b[?1049h\x1b[Hpager")
	if got := capture(p, s, ""); !strings.HasPrefix(got, "pager") || strings.Contains(got, "red") {
		t.Errorf("the alternate screen: %q", got)
	}
	if got := capture(p, s, `,"hidden":true`); !strings.HasPrefix(got, "red plain\nwww") {
		t.Errorf("the hidden screen: %q", got)
	}
}

// Pending is output that is not drawn yet, and never what was typed.
func TestPendingIsAnUnfinishedSequence(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	s := newScreen(t, srv, "a", 20, 6)
	p := serve(t, configFor(srv))
	s.print("seen")
	tmuxtest.Run(t, srv, "send-keys", "-t", s.pane, "-l", "typed, not read")
	if got := capture(p, s, `,"pending":true`); got != "" {
		t.Errorf("with typed text: %q", got)
	}
	if _, err := s.in.WriteString("\x1b[12;3"); err != nil {
		t.Fatal(err)
	}
	tmuxtest.Wait(t, srv, s.pane, "pending output", func() bool { return capture(p, s, `,"pending":true`) == "\x1b[12;3" })
	if got := capture(p, s, ""); got != "seen" {
		t.Errorf("the screen has %q", got)
	}
}

func TestSnapshotShowsTheState(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "keep")
	s := newScreen(t, srv, "a", 20, 6)
	p := serve(t, configFor(srv))
	look := func() map[string]any { return ok[map[string]any](p, "snapshot_pane", `{"pane_id":"`+s.pane+`"}`) }
	s.print("one\ntwo")
	if got := look(); got["content"] != "one\ntwo" || got["cursor_x"] != 3.0 || got["cursor_y"] != 1.0 || got["alternate_on"] != false || got["pane_dead"] != false {
		t.Errorf("%v", got)
	}
	s.print("\n\x1b[?1049h")
	if got := look(); got["cursor_y"] != 2.0 || got["alternate_on"] != true || got["content"] != "" {
		t.Errorf("%v", got)
	}
	tmuxtest.Run(t, srv, "copy-mode", "-t", s.pane)
	if got := look(); got["pane_in_mode"] != true || got["pane_mode"] != "copy-mode" || got["scroll_position"] != 0.0 {
		t.Errorf("%v", got)
	}
	tmuxtest.Run(t, srv, "set-option", "-p", "-t", s.pane, "remain-on-exit", "on")
	tmuxtest.Run(t, srv, "respawn-pane", "-k", "-t", s.pane, "exit 0")
	tmuxtest.Wait(t, srv, s.pane, "dead pane", func() bool { return look()["pane_dead"] == true })
}
