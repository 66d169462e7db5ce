package server_test

import (
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
	srv := tmuxtest.New(t)
	s := newScreen(t, srv, "a", 40, 10)
	p := serve(t, configFor(srv))
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
	s.print("\r99%")
	f.expect("again", false, "99%")
	s.print(strings.Repeat("x\n", 30) + "end")
	f.expect("the anchor left the screen", false, append(append([]string{"99%x"}, slices.Repeat([]string{"x"}, 29)...), "end")...)
	s.print("\n\nafter blanks\n")
	f.expect("blank lines", false, "", "after blanks")
	s.print("not blank any more\n")
	f.expect("where there was a blank line", false, "not blank any more")
	// Text that stays below the cursor is not returned again.
	s.print("\x1b[H\x1b[2Jtop\n\n\n\nbelow\x1b[2;1H")
	f.next("")
	s.print("new")
	f.expect("above old text", false, "new")
	s.print("\n\nmore\n\nover")
	f.expect("over old text", false, "", "more", "over")
	for range 3 {
		s.print(numbered(700))
		got := f.next(`,"max_lines":null,"max_bytes":null`)
		if len(got.Lines) < 700 || got.Missed || got.Lines[len(got.Lines)-1] != "line 700" {
			t.Errorf("700 lines: %d lines, missed %t", len(got.Lines), got.Missed)
		}
		tmuxtest.Run(t, srv, "clear-history", "-t", s.pane)
		f.next("")
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
	// Near the limit the place is found by what stood there, if that is unique.
	s.print("\nunique\n")
	f.next("")
	s.print("last")
	tmuxtest.Run(t, srv, "clear-history", "-t", s.pane)
	f.expect("after clear-history", false, "last")
	f.expect("with the new cursor", false)

	tmuxtest.Run(t, srv, "set-option", "-g", "history-limit", "2000")
	s = newScreen(t, srv, "b", 40, 6)
	s.print(numbered(30))
	f, _ = begin(p, s)
	tmuxtest.Run(t, srv, "clear-history", "-t", s.pane)
	tmuxtest.Run(t, srv, "resize-window", "-t", s.pane, "-y", "12")
	f.expect("cleared and made higher", false)
	s.print(numbered(30))
	f.next("")
	tmuxtest.Run(t, srv, "resize-window", "-t", s.pane, "-y", "16")
	f.expect("made higher", false)
	s.print("and then\n")
	f.expect("made higher, then printed", false, "and then")
	tmuxtest.Run(t, srv, "resize-window", "-t", s.pane, "-y", "5")
	s.print("lower\n")
	f.expect("made lower", false, "lower")
}

func TestFollowingNearTheHistoryLimit(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "keep")
	tmuxtest.Run(t, srv, "set-option", "-g", "history-limit", "100")
	s := newScreen(t, srv, "a", 40, 6)
	p := serve(t, configFor(srv))
	s.print(numbered(97))
	f, _ := begin(p, s)
	f.cursor = func() string { s.print("place"); g := f.next(""); return g.Cursor }()
	// These trim the history at least once, and the row numbers fall.
	s.print("\n" + numbered(20))
	got := f.next("")
	if want := strings.Split(strings.TrimSpace(numbered(20)), "\n"); got.Missed || !slices.Equal(got.Lines, want) {
		t.Errorf("after a trim: %q, missed %t; want %q", got.Lines, got.Missed, want)
	}
}

func TestFollowingKeepsTheTail(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	s := newScreen(t, srv, "a", 40, 10)
	p := serve(t, configFor(srv))
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

// A cursor of libtmux-mcp is taken. Whether lines were missed since cannot be known.
func TestCursorOfTheReference(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	s := newScreen(t, srv, "a", 40, 6)
	p := serve(t, configFor(srv))
	s.print("one\ntwo")
	pid := tmuxtest.Run(t, srv, "display-message", "-p", "-t", s.pane, "#{pane_pid}")
	v1 := fmt.Sprintf(`{"anchor_abs":0,"anchor_hash":"00","below_hashes":["11"],"history_size":0,"pane_height":6,"pane_id":%q,"pane_pid":%q,"version":1}`, s.pane, pid)
	f := &follower{p, "capture-since-v1:" + base64.URLEncoding.EncodeToString([]byte(v1))}
	f.expect("a padded cursor of the reference", true, "one", "two")
	f.expect("with the new cursor", false)
}

func TestBrokenCursorsAreRefused(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	s := newScreen(t, srv, "a", 40, 6)
	other := newScreen(t, srv, "b", 40, 6)
	p := serve(t, configFor(srv))
	_, first := begin(p, s)
	whole := map[string]any{}
	raw, _ := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(first.Cursor, "capture-since-v1:"))
	if err := json.Unmarshal(raw, &whole); err != nil {
		t.Fatal(err)
	}
	cursor := func(payload string) string {
		return "capture-since-v1:" + base64.RawURLEncoding.EncodeToString([]byte(payload))
	}
	with := func(name string, value any) string {
		changed := map[string]any{}
		for k, v := range whole {
			changed[k] = v
		}
		if name == "pane_id" {
			delete(changed, "mark") // which is of the pane
		}
		if changed[name] = value; value == nil {
			delete(changed, name)
		}
		text, _ := json.Marshal(changed)
		return cursor(string(text))
	}
	for bad, why := range map[string]string{
		"": "unsupported cursor format", "x": "unsupported cursor format", "capture-since-v2:e30": "unsupported cursor format",
		"capture-since-v1:%%%": "could not decode payload", cursor("{"): "could not decode payload", cursor("[]"): "payload is not an object",
		cursor("null"): "payload is not an object", cursor("{}"): "unsupported cursor version", with("version", 2): "unsupported cursor version",
		with("pane_id", nil): "missing or invalid pane_id", with("pane_id", ""): "missing or invalid pane_id", with("pane_id", "%0;kill-server"): "missing or invalid pane_id",
		with("pane_pid", 7): "missing or invalid pane_pid", with("pane_pid", ""): "missing or invalid pane_pid", with("history_size", -1): "missing or invalid history_size",
		with("history_size", true): "missing or invalid history_size", with("anchor_abs", "1"): "missing or invalid anchor_abs", with("pane_height", 1.5): "missing or invalid pane_height",
		with("mark", "x"): "missing or invalid mark", with("mark", 1.5): "missing or invalid mark", with("mark", "AQIl"): "missing or invalid mark", with("below_hashes", nil): "missing or invalid below_hashes", with("below_hashes", []any{1}): "missing or invalid below_hashes",
	} {
		args, _ := json.Marshal(map[string]any{"cursor": bad})
		p.fails("capture_since", string(args), "invalid capture_since cursor: "+why)
		args, _ = json.Marshal(map[string]any{"cursor": bad, "pane_id": other.pane})
		p.fails("capture_since", string(args), "invalid capture_since cursor: "+why)
	}
	args := fmt.Sprintf(`{"cursor":%q,"pane_id":%q}`, first.Cursor, other.pane)
	p.fails("capture_since", args, "cursor pane "+s.pane+" does not match requested pane "+other.pane)
	ok[followed](p, "capture_since", fmt.Sprintf(`{"cursor":%q,"session_name":"a"}`, first.Cursor))
	p.fails("capture_since", fmt.Sprintf(`{"cursor":%q}`, with("pane_id", "%99")), "Pane not found: %99")
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
