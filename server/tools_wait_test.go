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
