package server_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
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
	AtPrompt       bool     `json:"at_prompt"`
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

// TestWaitForWhatIsPrinted plays the cases of testdata/waits.txt.
func TestWaitForWhatIsPrinted(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	session(t, srv, "keep")
	cases, err := os.ReadFile("testdata/waits.txt")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(cases)), "\n") {
		c := strings.Split(line, " | ")
		if line[0] == '#' {
			continue
		}
		text := func(quoted string) string {
			text, err := strconv.Unquote(quoted)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			return strings.ReplaceAll(text, "<900>", numbered(900))
		}
		name, arguments, entry, printed, outcome := c[0], c[1], text(c[2]), text(c[3]), c[4]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := serve(t, configFor(srv))
			s := newScreen(t, srv, fmt.Sprint("w", i), 40, 10)
			s.print(entry)
			end := waitText(p, s, arguments)
			if printed != "" {
				s.print(printed)
			}
			got := end()
			if got.Outcome != outcome || c[5] != "-" && fmt.Sprintf("%q", got.Matched) != "["+c[5]+"]" {
				t.Errorf("outcome %s with %q, want %s with %s; the tail is %q", got.Outcome, got.Matched, outcome, c[5], got.Tail)
			}
			found, indexed := outcome == "matched" || outcome == "any_output", outcome == "matched" || outcome == "stopped"
			if got.Found != found || (got.Index != nil) != indexed || got.PaneID != s.pane {
				t.Errorf("%+v", got)
			}
			if (name == "stop" || name == "the second pattern") && *got.Index != 1 {
				t.Errorf("index %d", *got.Index)
			}
			if outcome == "timeout" && got.SawNewOutput != (strings.Trim(printed, "\n") != "" && !strings.HasPrefix(printed, "\x1b")) {
				t.Errorf("saw_new_output is %t after %q", got.SawNewOutput, printed)
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
	srv := testserver.New(t)
	session(t, srv, "keep")
	p := serve(t, configFor(srv))
	for i, c := range []struct {
		name string
		end  func(s *screen)
		want []string
	}{
		{"the program ends and the pane stays", func(s *screen) {
			testserver.Run(t, srv, "set-option", "-p", "-t", s.pane, "remain-on-exit", "on")
			testserver.Signal(t, srv, s.pane, syscall.SIGTERM)
			testserver.Reap(t, srv)
		}, []string{"died", "last words"}},
		{"killed", func(s *screen) { testserver.Run(t, srv, "kill-pane", "-t", s.pane) }, []string{"closed", "last words"}},
		{"respawned", func(s *screen) { testserver.Run(t, srv, "respawn-pane", "-k", "-t", s.pane, "exec cat") }, []string{"respawned", "last words"}},
		{"the server ends", func(s *screen) { testserver.Run(t, srv, "kill-server") }, []string{"died with its tmux server", srv.SocketPath(), "last words"}},
	} {
		s := newScreen(t, srv, fmt.Sprint("e", i), 40, 10)
		call, _ := p.wait("wait_for_text", `{"pane_id":"`+s.pane+`","patterns":["never"],"timeout":20}`)
		s.print("last words\n")
		// They are seen before the pane is gone: two more looks were reported.
		before := len(p.notified("notifications/progress"))
		testserver.Wait(t, srv, s.pane, "looks at it", func() bool { return len(p.notified("notifications/progress")) >= before+2 })
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
	srv := testserver.New(t)
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
	srv := testserver.New(t)
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
