package server_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tmuxmcp/tmux/tmuxtest"
)

// followed is an answer of capture_since.
type followed struct {
	PaneID         string   `json:"pane_id"`
	Cursor         string   `json:"cursor"`
	Lines          []string `json:"lines"`
	Missed         bool     `json:"lines_missed"`
	Truncated      bool     `json:"truncated"`
	TruncatedLines int      `json:"truncated_lines"`
	TruncatedBytes int      `json:"truncated_bytes"`
}

// follower follows a pane with one cursor.
type follower struct {
	p      *peer
	cursor string
}

func (f *follower) next(more string) followed {
	f.p.t.Helper()
	got := ok[followed](f.p, "capture_since", fmt.Sprintf(`{"cursor":%q%s}`, f.cursor, more))
	f.cursor = got.Cursor
	return got
}

func (f *follower) expect(what string, missed bool, lines ...string) {
	f.p.t.Helper()
	got := f.next("")
	if got.Missed != missed || !slices.Equal(got.Lines, lines) {
		f.p.t.Errorf("%s: lines %q, missed %t; want %q, %t", what, got.Lines, got.Missed, lines, missed)
	}
}

func begin(p *peer, s *screen) (*follower, followed) {
	p.t.Helper()
	got := ok[followed](p, "capture_since", `{"pane_id":"`+s.pane+`"}`)
	return &follower{p, got.Cursor}, got
}

func TestFollowingReturnsWhatIsNew(t *testing.T) {
	t.Parallel()
	_, s, p := onScreen(t)
	s.print("one\ntwo\n$ ")
	f, first := begin(p, s)
	if want := []string{"one", "two", "$"}; !slices.Equal(first.Lines, want) || first.Missed || first.Truncated || first.PaneID != s.pane {
		t.Errorf("the first call answers %+v, want lines %q", first, want)
	}
	f.expect("nothing new", false)
	s.print("make\nbuilt\n$ ")
	f.expect("a command", false, "$ make", "built", "$")
	f.expect("nothing new", false)
	s.print("\r50%")
	f.expect("a line written over", false, "50%")
	s.print("\n")
	s.print(strings.Repeat("x\n", 30) + "end")
	f.expect("the anchor left the screen", false, append(slices.Repeat([]string{"x"}, 30), "end")...)
	s.print(numbered(700))
	if got := f.next(`,"max_lines":null,"max_bytes":null`); len(got.Lines) < 700 || got.Missed || got.Lines[len(got.Lines)-1] != "line 700" {
		t.Errorf("700 lines: %d lines, missed %t", len(got.Lines), got.Missed)
	}
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

func TestFollowingReportsWhatIsLost(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "keep")
	tmuxtest.Run(t, srv, "set-option", "-g", "history-limit", "20")
	s := newScreen(t, srv, "a", 40, 6)
	p := serve(t, configFor(srv))
	s.print("a\nb\nc")
	f, _ := begin(p, s)
	s.print("d\n" + strings.Repeat("flood\n", 200) + "x")
	got := f.next("")
	if !got.Missed || !slices.Contains(got.Lines, "flood") || got.Lines[len(got.Lines)-1] != "x" {
		t.Errorf("after a flood: %q, missed %t; want the screen", got.Lines, got.Missed)
	}
	s.print("\nunique\n")
	f.next("")
	s.print("last")
	tmuxtest.Run(t, srv, "clear-history", "-t", s.pane)
	f.expect("after clear-history", true, "flood", "flood", "flood", "x", "unique", "last")
	f.expect("with the new cursor", false)
	// The alternate screen looks the same again, and hides what came meanwhile.
	s.print("\n\x1b[?1049h\x1b[Hpainted")
	f.next("")
	s.print("\x1b[?1049lhidden\n\x1b[?1049h\x1b[Hpainted")
	f.expect("it was left and entered again", false, "hidden")
}

func TestFollowingKeepsTheTail(t *testing.T) {
	t.Parallel()
	_, s, p := onScreen(t)
	f, _ := begin(p, s)
	s.print("1111111111\n2222222222\n3333333333\nüüüü\n")
	got := f.next(`,"max_lines":2`)
	if want := []string{"3333333333", "üüüü"}; !slices.Equal(got.Lines, want) || !got.Truncated || got.TruncatedLines != 2 || got.TruncatedBytes != 22 {
		t.Errorf("two lines: %+v", got)
	}
	s.print("1111111111\n2222222222\n3333333333\nüüüü\n")
	got = f.next(`,"max_bytes":32`)
	if want := []string{"2222222222", "3333333333", "üüüü"}; !slices.Equal(got.Lines, want) || !got.Truncated || got.TruncatedLines != 1 || got.TruncatedBytes != 11 {
		t.Errorf("32 bytes: %+v", got)
	}
	s.print("üüüü\n")
	got = f.next(`,"max_bytes":3`)
	if want := []string{"ü"}; !slices.Equal(got.Lines, want) || !got.Truncated || got.TruncatedLines != 0 || got.TruncatedBytes != 6 {
		t.Errorf("3 bytes: %+v", got)
	}
	for _, bad := range []string{`"max_lines":0`, `"max_lines":-1`, `"max_bytes":0`, `"max_bytes":-5`} {
		p.fails("capture_since", `{`+bad+`}`, "must be at least 1")
	}
}

func TestBrokenCursorsAreRefused(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	s := newScreen(t, srv, "a", 40, 6)
	other := newScreen(t, srv, "b", 40, 6)
	p := serve(t, configFor(srv))
	_, first := begin(p, s)
	mark, err := base64.RawURLEncoding.DecodeString(first.Cursor)
	if err != nil {
		t.Fatal(err)
	}
	// with is the cursor with another byte, or without its end.
	with := func(i int, c byte) string {
		changed := bytes.Clone(mark)
		changed[i] = c
		return base64.RawURLEncoding.EncodeToString(changed)
	}
	bad := []string{"", "x", "%%%", "capture-since-v1:e30", first.Cursor + "A", with(0, 1), with(0, 9), with(1, 200), with(2, '@'), with(3, 'x'), "abcd.00.1", "abcd.+0.1"}
	for i := range mark {
		bad = append(bad, base64.RawURLEncoding.EncodeToString(mark[:i]))
	}
	for _, bad := range bad {
		for _, args := range []map[string]any{{"cursor": bad}, {"cursor": bad, "pane_id": other.pane}} {
			raw, _ := json.Marshal(args)
			p.fails("capture_since", string(raw), "invalid capture_since cursor: it is not one that this server gave\ncall capture_since without a cursor to begin again")
		}
	}
	args := fmt.Sprintf(`{"cursor":%q,"pane_id":%q}`, first.Cursor, other.pane)
	p.fails("capture_since", args, "cursor pane "+s.pane+" does not match requested pane "+other.pane)
	ok[followed](p, "capture_since", fmt.Sprintf(`{"cursor":%q,"session_name":"a"}`, first.Cursor))
	p.fails("capture_since", fmt.Sprintf(`{"cursor":%q}`, with(3, '9')), "Pane not found: %9")
}

func TestFollowingAPaneThatEnds(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	s := newScreen(t, srv, "a", 40, 6)
	p := serve(t, configFor(srv))
	f, _ := begin(p, s)
	tmuxtest.Run(t, srv, "set-option", "-g", "remain-on-exit", "on")
	tmuxtest.Run(t, srv, "respawn-pane", "-k", "-t", s.pane, "exec cat")
	args := fmt.Sprintf(`{"cursor":%q}`, f.cursor)
	res := p.fails("capture_since", args, "respawned", "pane_gone")
	if res.Meta["error_type"] != "pane_gone" || res.Meta["expected"] != true {
		t.Errorf("a respawned pane is %v", res.Meta)
	}
	tmuxtest.Run(t, srv, "respawn-pane", "-k", "-t", s.pane, "exit 3")
	tmuxtest.Wait(t, srv, s.pane, "dead pane", func() bool {
		return tmuxtest.Run(t, srv, "display-message", "-p", "-t", s.pane, "#{pane_dead}") == "1"
	})
	p.fails("capture_since", args, "died", "pane_gone")
	// tmux may notice the end of a process after that of its terminal and, on a busy
	// machine, never.
	status := ""
	for end := time.Now().Add(2 * time.Second); status == "" && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		status = tmuxtest.Run(t, srv, "display-message", "-p", "-t", s.pane, "#{pane_dead_status}")
	}
	if status == "" {
		t.Log("tmux has not noticed the end of the process: not tested that its status is reported")
	} else {
		p.fails("capture_since", args, "died", "status 3", "pane_gone")
	}
	p.fails("capture_since", `{"pane_id":"`+s.pane+`"}`, "died", "pane_gone")
}
