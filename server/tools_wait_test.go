package server_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// awaited is an answer of wait_for_text.
type awaited struct {
	Found          bool     `json:"found"`
	Outcome        string   `json:"outcome"`
	Index          *int     `json:"matched_index"`
	Matched        []string `json:"matched_lines"`
	Tail           []string `json:"tail"`
	SawNewOutput   bool     `json:"saw_new_output"`
	MatchedAtEntry bool     `json:"matched_at_entry"`
	Alternate      bool     `json:"alternate_screen"`
	LinesMissed    bool     `json:"lines_missed"`
	PaneID         string   `json:"pane_id"`
	Elapsed        float64  `json:"elapsed_seconds"`
	Timeout        float64  `json:"effective_timeout"`
}

// waitText begins to wait on a screen, and returns the end of it.
func waitText(p *peer, s *screen, args string) func() awaited {
	p.t.Helper()
	c, _ := p.wait("wait_for_text", `{"pane_id":"`+s.pane+`",`+args+`}`)
	return func() awaited {
		p.t.Helper()
		return decode[awaited](p, "wait_for_text", p.await(c))
	}
}

// waitCase prints entry, waits, prints more, and looks at the outcome.
type waitCase struct {
	name, entry, args, print string
	outcome                  string
	matched                  []string
}

func TestWaitForWhatIsPrinted(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "keep")
	const stale = "READY old\n$ "
	for i, c := range []waitCase{
		{"after the call", "$ ", `"patterns":["ready"]`, "\nREADY\n", "matched", []string{"READY"}},
		{"on a bare line of the entry row", "", `"patterns":["ready"]`, "ready\n", "matched", []string{"ready"}},
		{"an unterminated prompt", "", `"patterns":["password:"]`, "Password: ", "matched", []string{"Password:"}},
		{"a line and one behind it", "$ ", `"patterns":["ready"]`, "ready\nmore\n", "matched", []string{"$ ready"}},
		{"the entry row written over", "wait 1%", `"patterns":["99%"]`, "\rwait 99%", "matched", []string{"wait 99%"}},
		{"a line below", "$ ", `"patterns":["ready"]`, "\n\n\nready", "matched", []string{"ready"}},
		{"silence", stale, `"patterns":["ready"],"timeout":1`, "", "timeout", nil},
		{"only stale text", stale, `"patterns":["ready"],"timeout":2`, "other\n", "timeout", nil},
		{"a fresh one though it is there", stale, `"patterns":["ready old"]`, "\nREADY old\n", "matched", []string{"READY old"}},
		{"the same line as on the entry row", "ready", `"patterns":["^ready$"],"regex":true`, "\nready", "matched", []string{"ready"}},
		{"the prompt itself is old", "$ ", `"patterns":["\\S"],"regex":true,"timeout":1`, "", "timeout", nil},
		{"a new prompt", "$ ", `"patterns":["\\$ $"],"regex":true`, "make\nbuilt\n$ ", "matched", []string{"$"}},
		{"paint below the cursor", "top\n\n\nREADY below\x1b[1;1H", `"patterns":["ready"],"timeout":2`, "x\ny\n", "timeout", nil},
		{"the bottom row", strings.Repeat("\n", 9) + "READY\x1b[1;1H", `"patterns":["ready"],"timeout":2`, "x\n", "timeout", nil},
		{"paint below that is printed again elsewhere", "top\n\n\nREADY below\x1b[1;1H", `"patterns":["ready"]`, "\nREADY below\n", "matched", []string{"READY below"}},
		{"matching the case", "", `"patterns":["Ready"],"match_case":true,"timeout":2`, "ready\n", "timeout", nil},
		{"literal text", "", `"patterns":["a.c"]`, "abc\na.c\n", "matched", []string{"a.c"}},
		{"a regular expression", "", `"patterns":["^a.c$"],"regex":true`, "xabc\nabc\n", "matched", []string{"abc"}},
		{"across a wrap", "", `"patterns":["needle in"]`, strings.Repeat("-", 36) + "needle in a line\n", "matched", []string{strings.Repeat("-", 36) + "needle in a line"}},
		{"a wrapped prompt is old", strings.Repeat("p", 50) + "$ ", `"patterns":["p"],"timeout":1`, "", "timeout", nil},
		{"after much output", "$ ", `"patterns":["ready"]`, "\n" + numbered(900) + "ready\n", "matched", []string{"ready"}},
		{"a line that much output has pushed away", "$ ", `"patterns":["line 5$"],"regex":true`, "\n" + numbered(900), "matched", nil},
		{"stop", "", `"patterns":["ready"],"stop":["none","failed"]`, "x FAILED\n", "stopped", []string{"x FAILED"}},
		{"stop wins", "", `"patterns":["ready"],"stop":["failed"]`, "ready\nfailed\n", "stopped", []string{"failed"}},
		{"stop alone", "", `"stop":["failed"]`, "failed\n", "stopped", []string{"failed"}},
		{"the second pattern", "", `"patterns":["zero","one"]`, "one\n", "matched", []string{"one"}},
		{"any output", "$ ", `"patterns":null`, "x", "any_output", []string{"$ x"}},
		{"any output, silent", "$ \nold\x1b[1;1H", `"patterns":null,"timeout":1`, "", "timeout", nil},
		{"any output, a blank line printed", "$ ", `"patterns":null`, "\n\n", "any_output", []string{""}},
		{"any output, the cursor moved", "$ \n\n\x1b[1;1H", `"timeout":2`, "\x1b[1;3H", "timeout", nil},
		{"any output, the same text again", "same", `"patterns":null`, "\nsame", "any_output", []string{"same"}},
		{"a cleared screen", "$ ready", `"patterns":["ready"],"timeout":1`, "\x1b[H\x1b[2J", "timeout", nil},
		{"after a cleared screen", "$ ready", `"patterns":["ready"]`, "\x1b[H\x1b[2J$ READY\n", "matched", []string{"$ READY"}},
		{"special characters", "", `"patterns":["#{pane_id}} #(x) %H"]`, "#{pane_id}} #(x) %H", "matched", []string{"#{pane_id}} #(x) %H"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := serve(t, configFor(srv))
			s := newScreen(t, srv, fmt.Sprint("w", i), 40, 10)
			s.print(c.entry)
			end := waitText(p, s, c.args)
			if c.print != "" {
				s.print(c.print)
			}
			got := end()
			if got.Outcome != c.outcome || c.matched != nil && !slices.Equal(got.Matched, c.matched) {
				t.Errorf("outcome %s with %q, want %s with %q; the tail is %q", got.Outcome, got.Matched, c.outcome, c.matched, got.Tail)
			}
			if got.Found != (c.outcome == "matched" || c.outcome == "any_output") || (got.Index != nil) != (c.outcome == "matched" || c.outcome == "stopped") || got.PaneID != s.pane {
				t.Errorf("%+v", got)
			}
			if c.name == "stop" && *got.Index != 1 || c.name == "the second pattern" && *got.Index != 1 {
				t.Errorf("index %d", *got.Index)
			}
			if c.outcome == "timeout" && got.SawNewOutput != (strings.Trim(c.print, "\n") != "" && !strings.HasPrefix(c.print, "\x1b")) {
				t.Errorf("saw_new_output is %t after %q", got.SawNewOutput, c.print)
			}
		})
	}
}

func TestWaitReportsWhatWasThereBefore(t *testing.T) {
	t.Parallel()
	_, s, p := onScreen(t)
	s.print("READY old\n$ ")
	got := waitText(p, s, `"patterns":["ready"],"timeout":0.2`)()
	if !got.MatchedAtEntry || got.SawNewOutput || len(got.Tail) != 0 || len(got.Matched) != 0 || got.Timeout != 0.2 || got.Elapsed < 0.2 {
		t.Errorf("stale text: %+v", got)
	}
	end := waitText(p, s, `"patterns":["ready"]`)
	s.print("\nREADY new\n")
	if got := end(); got.MatchedAtEntry || got.Outcome != "matched" {
		t.Errorf("fresh text: %+v", got)
	}
	if got := waitText(p, s, `"patterns":["absent"],"timeout":0.2`)(); got.MatchedAtEntry {
		t.Errorf("text that never was: %+v", got)
	}
	// The tail is bounded in lines and in bytes.
	end = waitText(p, s, `"patterns":["done"]`)
	s.print(numbered(200) + "done\n")
	if got := end(); len(got.Tail) > 20 || len(got.Tail) < 10 {
		t.Errorf("the tail has %d lines", len(got.Tail))
	}
	end = waitText(p, s, `"patterns":["x"]`)
	s.print(strings.Repeat("x", 30000) + "\n")
	if got := end(); len(strings.Join(got.Tail, "\n")) > 2000 || len(strings.Join(got.Matched, "\n")) > 2000 || len(got.Matched) != 1 {
		t.Errorf("the tail has %d bytes, the lines %d", len(strings.Join(got.Tail, "\n")), len(strings.Join(got.Matched, "\n")))
	}
}

// TestWaitWarns: of a timeout and of a pattern that is none, without the pattern.
func TestWaitWarns(t *testing.T) {
	t.Parallel()
	_, p := served(t)
	p.fails("wait_for_text", `{"patterns":["a("],"regex":true}`)
	ok[awaited](p, "wait_for_text", `{"patterns":["never"],"timeout":0.1}`)
	if w := p.warnings(); !strings.Contains(w, "invalid regex pattern") || strings.Contains(w, "a(") || !strings.Contains(w, "No match in pane") {
		t.Errorf("warnings: %s", w)
	}
}

func TestWaitReportsProgress(t *testing.T) {
	t.Parallel()
	_, s, p := onScreen(t)
	matched := waitText(p, s, `"patterns":["over"],"timeout":300`)
	testtool.Eventually(t, "two reports", func() bool { return len(p.notified("notifications/progress")) >= 2 })
	s.print("over\n")
	matched()
	var all []progress
	for _, raw := range p.notified("notifications/progress") {
		var n progress
		json.Unmarshal(raw, &n)
		all = append(all, n)
	}
	for i, n := range all {
		if n.Total != 300 || !strings.Contains(n.Message, s.pane) || !strings.Contains(n.Message, "elapsed") || !strings.Contains(n.Message, "left") {
			t.Errorf("%+v", n)
		}
		if i > 0 && (n.Progress <= all[i-1].Progress || n.Message == all[i-1].Message) {
			t.Errorf("%+v after %+v", n, all[i-1])
		}
	}
	// No warning that it was not found when it was stopped.
	before := len(p.warnings())
	end := waitText(p, s, `"patterns":["never"],"stop":["halt"]`)
	s.print("halt\n")
	if end(); len(p.warnings()) != before {
		t.Errorf("warned after a stop: %s", p.warnings()[before:])
	}
}

func TestWaitSeesTheAlternateScreen(t *testing.T) {
	t.Parallel()
	_, s, p := onScreen(t)
	s.print("$ less\n")
	end := waitText(p, s, `"patterns":["ready"],"timeout":20`)
	s.print("\x1b[?1049h\x1b[H\x1b[2Jready painted")
	if got := end(); got.Outcome != "matched" || !got.Alternate || !slices.Equal(got.Matched, []string{"ready painted"}) {
		t.Errorf("painted text: %+v", got)
	}
	// Begun while the pager shows: what it hides is old, what comes after it is new.
	end = waitText(p, s, `"patterns":["less","painted","ready"],"timeout":20`)
	s.print("\x1b[?1049l")
	s.print("ready\n")
	if got := end(); got.Outcome != "matched" || *got.Index != 2 || !slices.Equal(got.Matched, []string{"ready"}) || !got.Alternate {
		t.Errorf("after the pager: %+v", got)
	}
	end = waitText(p, s, `"patterns":["DONE"],"timeout":20`)
	s.print("\x1b[2J\x1b[3J\x1b[HDONE\n")
	if got := end(); got.Outcome != "matched" {
		t.Errorf("drawn above the cursor: %+v", got)
	}
}

// tmux takes a tenth off a full history, and all rows get other numbers.
func TestWaitWhileTheHistoryIsTrimmed(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "keep")
	tmuxtest.Run(t, srv, "set-option", "-g", "history-limit", "100")
	s := newScreen(t, srv, "a", 40, 10)
	p := serve(t, configFor(srv))
	s.print(strings.Repeat("READY old\n", 101) + numbered(30))
	end := waitText(p, s, `"patterns":["ready"],"timeout":60`)
	testtool.Eventually(t, "it warns", func() bool { return strings.Contains(p.warnings(), "nearly full") })
	for j := range 12 {
		s.print(fmt.Sprintf("part %d\n", j) + numbered(25))
	}
	s.print("READY new\n")
	if got := end(); got.Outcome != "matched" || !slices.Equal(got.Matched, []string{"READY new"}) {
		t.Errorf("%+v", got)
	}
}

// TestWaitSaysWhatItMayHaveLost clears a pane faster than a wait can look.
func TestWaitSaysWhatItMayHaveLost(t *testing.T) {
	t.Parallel()
	_, s, p := onScreen(t)
	for _, c := range []struct {
		text   string
		missed bool
	}{
		{numbered(300) + "done\n", false},
		{numbered(20) + "lost\n\x1b[H\x1b[2J\x1b[3J" + strings.Repeat("more\n", 900) + "done\n", true},
	} {
		s.print("\x1b[H\x1b[2J\x1b[3J" + numbered(50))
		end := waitText(p, s, `"patterns":["done"],"timeout":20`)
		s.print(c.text)
		if got := end(); got.Outcome != "matched" || got.LinesMissed != c.missed {
			t.Errorf("%.20q: %+v; want lines_missed %t", c.text, got, c.missed)
		}
	}
}

func TestWaitEndsWithItsPane(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "keep")
	p := serve(t, configFor(srv))
	for i, c := range []struct {
		name string
		end  func(s *screen)
		want []string
	}{
		{"the program ends and the pane stays", func(s *screen) {
			tmuxtest.Run(t, srv, "set-option", "-p", "-t", s.pane, "remain-on-exit", "on")
			tmuxtest.Signal(t, srv, s.pane, syscall.SIGTERM)
			tmuxtest.Reap(t, srv)
		}, []string{"died", "last words"}},
		{"killed", func(s *screen) { tmuxtest.Run(t, srv, "kill-pane", "-t", s.pane) }, []string{"died", "closed", "last words"}},
		{"respawned", func(s *screen) { tmuxtest.Run(t, srv, "respawn-pane", "-k", "-t", s.pane, "exec cat") }, []string{"respawned", "last words"}},
		{"the server ends", func(s *screen) { tmuxtest.Run(t, srv, "kill-server") }, []string{"died with its tmux server", srv.SocketPath(), "last words"}},
	} {
		s := newScreen(t, srv, fmt.Sprint("e", i), 40, 10)
		call, _ := p.wait("wait_for_text", `{"pane_id":"`+s.pane+`","patterns":["never"],"timeout":20}`)
		s.print("last words\n")
		// They are seen before the pane is gone: two more looks were reported.
		before := len(p.notified("notifications/progress"))
		tmuxtest.Wait(t, srv, s.pane, "looks at it", func() bool { return len(p.notified("notifications/progress")) >= before+2 })
		c.end(s)
		res := p.toolResult("wait_for_text", p.await(call))
		if !res.IsError || res.Meta["error_type"] != "pane_gone" {
			t.Errorf("%s: %v", c.name, res.Meta)
		}
		for _, want := range append(c.want, "pane_gone", s.pane) {
			if !strings.Contains(res.text(), want) {
				t.Errorf("%s: %q does not say %q", c.name, res.text(), want)
			}
		}
		if text := res.text(); !strings.HasSuffix(text, "; its last lines were:\nlast words") {
			t.Errorf("%s: %q does not end with the last lines, each on a line", c.name, text)
		}
	}
}

// What a program said last is matched although it has ended by then.
func TestWaitMatchesTheLastWords(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "keep")
	tmuxtest.Run(t, srv, "set-option", "-g", "remain-on-exit", "on")
	p := serve(t, configFor(srv))
	for i, c := range []struct{ args, want string }{
		{`"patterns":["all done"]`, `"outcome":"matched"`}, {`"patterns":["x"],"stop":["all done"]`, `"outcome":"stopped"`}, {`"patterns":["pane is dead"]`, "pane_gone"},
	} {
		id := tmuxtest.Run(t, srv, "new-session", "-d", "-P", "-F", "#{pane_id}", "-s", fmt.Sprint("l", i), "read x; echo all done")
		call, _ := p.wait("wait_for_text", `{"pane_id":"`+id+`",`+c.args+`}`)
		tmuxtest.Run(t, srv, "send-keys", "-t", id, "Enter")
		if res := p.toolResult("wait_for_text", p.await(call)); !strings.Contains(res.text(), c.want) {
			t.Errorf("%s: %s", c.args, res.text())
		}
	}
}

// A program lets go of its terminal before it ends. tmux 3.8 has no pid for it then,
// and does not call the pane dead yet.
func TestProgramThatLetsGoOfItsTerminal(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "keep")
	tmuxtest.Run(t, srv, "set-option", "-g", "remain-on-exit", "on")
	p := serve(t, configFor(srv))
	id := tmuxtest.Run(t, srv, "new-session", "-d", "-P", "-F", "#{pane_id}", "-s", "l", "trap '' HUP; read x; exec <&- >&- 2>&-; sleep 2; exit 3")
	args := `{"pane_id":"` + id + `"`
	cursor := ok[struct{ Cursor string }](p, "capture_since", args+"}").Cursor
	call, _ := p.wait("wait_for_text", args+`,"patterns":["never"],"timeout":15}`)
	tmuxtest.Run(t, srv, "send-keys", "-t", id, "Enter")
	if res := p.toolResult("wait_for_text", p.await(call)); !strings.Contains(res.text(), "died: its program ended") {
		t.Errorf("the wait: %s", res.text())
	}
	p.fails("capture_since", args+`,"cursor":"`+cursor+`"}`, "died: its program ended")

	id = tmuxtest.Run(t, srv, "new-session", "-d", "-P", "-F", "#{pane_id}", "-s", "m", "trap '' HUP; read x; exec <&- >&- 2>&-; sleep 1")
	args = `{"pane_id":"` + id + `"`
	cursor = ok[struct{ Cursor string }](p, "capture_since", args+"}").Cursor
	tmuxtest.Run(t, srv, "send-keys", "-t", id, "Enter")
	testtool.Eventually(t, "capture_since reports the end", func() bool {
		text := p.tool("capture_since", args+`,"cursor":"`+cursor+`"}`).text()
		if strings.Contains(text, "respawned") {
			t.Fatal(text)
		}
		return strings.Contains(text, "died: its program ended")
	})
}

func TestCancelledWaitForText(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	s := newScreen(t, srv, "a", 40, 10)
	cfg := configFor(srv)
	cfg.Transport = tmux.TransportExec
	counted := countedTmux(t, &cfg)
	p := serve(t, cfg)
	c, id := p.wait("wait_for_text", `{"pane_id":"`+s.pane+`","timeout":20}`)
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id)
	// A cancelled call has no answer. It looks at the pane no more.
	before, same := counted(), 0
	testtool.Eventually(t, "it looks no more", func() bool {
		time.Sleep(30 * time.Millisecond)
		if now := counted(); now == before {
			same++
		} else {
			before, same = now, 0
		}
		return same == 5
	})
	if len(c) != 0 {
		t.Error("it was answered")
	}
}

// A server that does not answer ends the wait, and delays no other call.
func TestWaitOnAFrozenServer(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	env, freeze := frozen(t, srv)
	cfg := configFor(srv)
	cfg.Env = append(cfg.Env, env)
	s, p := servedBy(t, cfg)
	s.SetLookTime(2 * time.Second)
	call, _ := p.wait("wait_for_text", `{"socket_name":"frozen","timeout":60}`)
	freeze()
	ok[rows](p, "list_panes", `{}`)
	if res := p.toolResult("wait_for_text", p.await(call)); !res.IsError || !strings.Contains(res.text(), "unresponsive") {
		t.Error(res.text())
	}
}

// Many waits at once delay nothing.
func TestManyWaitsDelayNoQuickCall(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	s := newScreen(t, srv, "a", 80, 24)
	p := serve(t, configFor(srv))
	ok[rows](p, "list_panes", `{}`)
	var calls []<-chan reply
	for i := range 40 {
		c, _ := p.wait("wait_for_text", fmt.Sprintf(`{"pane_id":%q,"patterns":["go %d\\b"],"regex":true,"timeout":60}`, s.pane, i))
		calls = append(calls, c)
	}
	for range 40 {
		ok[map[string]any](p, "get_pane_info", `{"pane_id":"`+s.pane+`"}`)
	}
	for i, c := range calls {
		if len(c) > 0 {
			t.Errorf("wait %d ended before the quick calls", i)
		}
	}
	for i := range calls {
		s.print(fmt.Sprintf("go %d\n", i))
	}
	for i, c := range calls {
		if got := decode[awaited](p, "wait_for_text", p.await(c)); got.Outcome != "matched" {
			t.Errorf("wait %d: %+v", i, got)
		}
	}
}

func TestALookIsOneRoundTrip(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	s := newScreen(t, srv, "a", 40, 10)
	s.print(numbered(300))
	cfg := configFor(srv)
	counted := countedTmux(t, &cfg)
	p := serve(t, cfg)
	ok[rows](p, "list_panes", `{}`)
	cursor := ok[followed](p, "capture_since", `{"pane_id":"`+s.pane+`"}`).Cursor
	s.print(numbered(80))
	for _, c := range []struct{ tool, args string }{
		{"display_message", `{"format_string":"#{pane_id}"}`}, {"capture_since", `{}`}, {"capture_since", fmt.Sprintf(`{"cursor":%q}`, cursor)},
		{"capture_pane", `{"pending":true}`}, {"signal_channel", `{"channel":"x"}`},
	} {
		before := counted()
		ok[map[string]any](p, c.tool, c.args)
		if n := counted() - before; n != 1 {
			t.Errorf("%s %s ran tmux %d times, want once", c.tool, c.args, n)
		}
	}
	before := counted()
	ok[map[string]any](p, "search_panes", `{"pattern":"nowhere"}`)
	if n := counted() - before; n != 2 {
		t.Errorf("a search ran tmux %d times, want once to list the panes and once to read them", n)
	}
}
