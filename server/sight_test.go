package server_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"tmuxmcp/tmux/tmuxtest"
)

// seen is what a tool that types returns.
type seen struct {
	Seen *awaited `json:"seen"`
}

// TestWaitForSeveralPanes waits for one of several panes, and for all.
func TestWaitForSeveralPanes(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "keep")
	p := serve(t, configFor(srv))
	var all []*screen
	ids := ""
	for i := range 4 {
		s := newScreen(t, srv, fmt.Sprint("s", i), 40, 10)
		s.print("begin\n")
		all = append(all, s)
		ids += `,"` + s.pane + `"`
	}
	call, _ := p.wait("wait_for_text", `{"panes":[`+ids[1:]+`],"patterns":["done"],"timeout":60}`)
	all[2].print("done\n")
	if got := decode[awaited](p, "wait_for_text", p.await(call)); got.Outcome != "matched" || got.PaneID != all[2].pane {
		t.Errorf("any: %+v", got)
	}
	call, _ = p.wait("wait_for_text", `{"panes":["s0","s1","s3"],"until":"all","patterns":["done"],"timeout":60}`)
	all[0].print("done\n")
	all[3].print("done\n")
	tmuxtest.Run(t, srv, "kill-pane", "-t", all[1].pane)
	res := p.toolResult("wait_for_text", p.await(call))
	if text := string(res.Structured); strings.Count(text, `"outcome":"matched"`) != 2 || !strings.Contains(text, `"outcome":"pane_gone"`) {
		t.Errorf("all: %s%s", res.text(), text)
	}
	p.fails("wait_for_text", `{"panes":[],"patterns":["x"]}`, "panes", "at least one")
	p.fails("wait_for_text", `{"panes":["%99"],"patterns":["x"]}`, "no pane or session")
	p.fails("wait_for_text", `{"panes":["all"],"pane_id":"%0","patterns":["x"]}`, "cannot be combined")
	p.fails("wait_for_text", `{"panes":["all"],"patterns":[""]}`, "empty pattern")
	if got := ok[awaited](p, "wait_for_text", `{"panes":["all"],"patterns":["never"],"timeout":0.3}`); got.Outcome != "timeout" {
		t.Errorf("nothing: %+v", got)
	}
}

// TestWaitForSeveralPanesSaysHowEach ended, and a failure in one of them ends it.
func TestWaitForSeveralPanesSaysHowEach(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "keep")
	a, b, c := newScreen(t, srv, "a", 40, 10), newScreen(t, srv, "b", 40, 10), newScreen(t, srv, "c", 40, 10)
	p := serveText(t, srv)
	panes := fmt.Sprintf(`{"panes":[%q,%q,%q],"patterns":["one","two"],"stop":["fail","wrong"],"until":"all","timeout":60,`, a.pane, b.pane, c.pane)
	call, _ := p.wait("wait_for_text", panes+`"since":"screen"}`)
	a.print("two\n")
	b.print(numberedRows(29) + "one\n")
	time.Sleep(200 * time.Millisecond)
	c.print("wrong\n")
	text := p.toolResult("wait_for_text", p.await(call)).text()
	for _, want := range []string{
		"[" + a.pane + " matched by pattern 1 after ", "\n[" + b.pane + " matched, 10 lines before these left out, 20 lines]\nrow 10\n", "\n[" + c.pane + " stopped by pattern 1, 1 line]\nwrong", ", 1 line, cursor ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s lacks %q", text, want)
		}
	}
	call, _ = p.wait("wait_for_text", panes+`"since":"now"}`)
	b.print("fail\n")
	if text := p.toolResult("wait_for_text", p.await(call)).text(); !strings.HasPrefix(text, "["+b.pane+" stopped after ") {
		t.Errorf("one failure: %s", text)
	}
	// Where each was to end, one that did not comes first.
	call, _ = p.wait("wait_for_text", strings.Replace(panes, `"timeout":60`, `"timeout":1`, 1)+`"since":"now"}`)
	a.print("one\n")
	if text := p.toolResult("wait_for_text", p.await(call)).text(); !strings.HasPrefix(text, "["+b.pane+" timeout after ") || !strings.Contains(text, "nothing yet in "+c.pane) || !strings.Contains(text, "\n["+a.pane+" matched, 1 line]\none") {
		t.Errorf("not all: %s", text)
	}
}

func numberedRows(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "row %d\n", i)
	}
	return b.String()
}

// TestShownScreensAreWhole: all rows, drawn to the end, and what comes then is new.
func TestShownScreensAreWhole(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "keep")
	p := serve(t, configFor(srv))
	s := newScreen(t, srv, "a", 80, 30)
	s.print("ready\n")
	rows := strings.SplitAfter(numberedRows(25), "\n")
	whole := func(name string) (got *awaited, is bool) {
		drawn := make(chan struct{})
		call, _ := p.begin("tools/call", json.RawMessage(`{"name":"send_keys","arguments":{"pane_id":"`+s.pane+`","keys":"x","patterns":["status `+name+`"],"show":"screen","timeout":30}}`))
		go func() {
			defer close(drawn)
			time.Sleep(100 * time.Millisecond) // the keys come first
			s.in.WriteString("\x1b[H\x1b[2J\x1b[29Hstatus " + name + "\x1b[H")
			for _, row := range rows {
				time.Sleep(5 * time.Millisecond)
				s.in.WriteString(row)
			}
		}()
		got = decode[seen](p, "send_keys", p.await(call)).Seen
		<-drawn
		s.print("")
		return got, got.Outcome == "matched" && len(got.Tail) >= 26 && got.Tail[0] == "row 0" && got.Tail[24] == "row 24"
	}
	// On a busy machine the drawing may pause for longer than a moment.
	var got *awaited
	is := false
	for i := 0; i < 5 && !is; i++ {
		got, is = whole(fmt.Sprint("try", i))
	}
	if !is {
		t.Fatalf("%+v", got)
	}
	if got := ok[awaited](p, "wait_for_text", `{"pane_id":"`+s.pane+`","timeout":0.3}`); got.Outcome != "timeout" {
		t.Errorf("what was shown is new again: %+v", got)
	}
}

// TestWaitBeginsWhereItShould: since says what is new.
func TestWaitBeginsWhereItShould(t *testing.T) {
	t.Parallel()
	srv, s, p := onScreen(t)
	wait := func(args string) awaited {
		t.Helper()
		return ok[awaited](p, "wait_for_text", `{"pane_id":"`+s.pane+`","patterns":["ready"],`+args+`}`)
	}
	s.print("ready 1\n")
	if got := wait(`"timeout":0.2`); got.Outcome != "timeout" || !got.MatchedAtEntry {
		t.Errorf("now: %+v", got)
	}
	if got := wait(`"timeout":20,"since":"screen"`); got.Outcome != "matched" {
		t.Errorf("the screen: %+v", got)
	}
	// A wait goes on where the last one ended.
	s.print("ready 2\n")
	if got := wait(`"timeout":20`); got.Outcome != "matched" || len(got.Matched) != 1 || got.Matched[0] != "ready 2" {
		t.Errorf("since the last wait: %+v", got)
	}
	s.print("ready 3\n")
	if got := wait(`"timeout":0.2,"since":"now"`); got.Outcome != "timeout" {
		t.Errorf("now again: %+v", got)
	}
	f, _ := begin(p, s)
	s.print("ready 4\n")
	if got := wait(`"timeout":20,"since":"` + f.cursor + `"`); got.Outcome != "matched" || got.Matched[0] != "ready 4" {
		t.Errorf("since a cursor: %+v", got)
	}
	other := newScreen(t, srv, "b", 40, 10)
	p.fails("wait_for_text", fmt.Sprintf(`{"pane_id":%q,"since":%q}`, other.pane, f.cursor), "since", "cursor of pane")
	p.fails("wait_for_text", `{"since":"yesterday"}`, "cursor")
	p.fails("wait_for_text", `{"timeout":301}`, "at most 300")
	// Of a pane that runs another program now, an old cursor is an error; the wait of
	// before is not.
	f, _ = begin(p, s)
	tmuxtest.Run(t, srv, "respawn-pane", "-k", "-t", s.pane, "echo other; exec cat")
	p.fails("wait_for_text", fmt.Sprintf(`{"pane_id":%q,"since":%q}`, s.pane, f.cursor), "respawned")
	if got := wait(`"timeout":0.2`); got.Outcome != "timeout" {
		t.Errorf("another program: %+v", got)
	}
	// What was there when this server typed does not count, what came since does.
	tmuxtest.Run(t, srv, "respawn-pane", "-k", "-t", s.pane, "stty -echo; echo ready 5; while read x; do echo ready $x; done")
	tmuxtest.WaitScreen(t, srv, s.pane, "ready 5")
	ok[map[string]any](p, "send_keys", `{"pane_id":"`+s.pane+`","keys":"6"}`)
	tmuxtest.WaitScreen(t, srv, s.pane, "ready 6")
	if got := wait(`"timeout":20`); got.Outcome != "matched" || got.Matched[0] != "ready 6" {
		t.Errorf("since it typed: %+v", got)
	}
}

// TestWaitEndsWhenThereIsNothingToWaitFor: by quiet, the end of a program and a bell.
func TestWaitEndsWhenThereIsNothingToWaitFor(t *testing.T) {
	t.Parallel()
	srv, p := shellPane(t, "bash")
	s := newScreen(t, srv, "b", 40, 10)
	start := time.Now()
	if got := ok[awaited](p, "wait_for_text", `{"pane_id":"`+s.pane+`","quiet":0.5,"timeout":60}`); got.Outcome != "quiet" || time.Since(start) < 500*time.Millisecond {
		t.Errorf("quiet: %+v", got)
	}
	call, _ := p.wait("wait_for_text", `{"pane_id":"`+s.pane+`","patterns":["never"],"timeout":60}`)
	s.print("\a")
	if got := decode[awaited](p, "wait_for_text", p.await(call)); got.Outcome != "bell" {
		t.Errorf("a bell: %+v", got)
	}
	p.command("%0", "true") // the shell is ready
	ok[map[string]any](p, "send_keys", `{"pane_id":"%0","keys":"sleep 1; echo one; sleep 1; false"}`)
	if got := ok[awaited](p, "wait_for_text", `{"pane_id":"%0","patterns":["never"],"timeout":60}`); got.Outcome != "program_ended" || !strings.Contains(strings.Join(got.Tail, "\n"), "one") {
		t.Errorf("the end of a program: %+v", got)
	}
}

// TestTypingReturnsWhatBecameOfIt: a step of a dialogue is one call.
func TestTypingReturnsWhatBecameOfIt(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "keep")
	p := serve(t, configFor(srv))
	pane := tmuxtest.Run(t, srv, "new-window", "-P", "-F", "#{pane_id}", `printf 'name? '; while read x; do sleep 0.2; echo "hello $x"; printf 'name? '; done`)
	tmuxtest.WaitScreen(t, srv, pane, "name?")
	type_ := func(tool, args string) awaited {
		t.Helper()
		got := ok[seen](p, tool, args)
		if got.Seen == nil {
			t.Fatalf("%s %s shows nothing", tool, args)
		}
		return *got.Seen
	}
	if got := type_("send_keys", `{"pane_id":"`+pane+`","keys":"Ada","patterns":["hello"],"timeout":30}`); got.Outcome != "matched" || got.Matched[0] != "hello Ada" {
		t.Errorf("a pattern: %+v", got)
	}
	if got := type_("send_keys", `{"pane_id":"`+pane+`","keys":"Bob","quiet":1,"timeout":30}`); got.Outcome != "quiet" || !strings.Contains(strings.Join(got.Tail, "|"), "hello Bob|name?") || strings.Contains(strings.Join(got.Tail, "|"), "hello Ada") {
		t.Errorf("quiet: %+v", got)
	}
	if got := type_("paste_text", `{"pane_id":"`+pane+`","text":"Eve\n","bracket":false,"patterns":["hello eve"],"show":"screen","timeout":30}`); got.Outcome != "matched" || !strings.Contains(strings.Join(got.Tail, "|"), "hello Ada") {
		t.Errorf("the screen: %+v", got)
	}
	batch := fmt.Sprintf(`{"operations":[{"pane_id":%q,"keys":"x","enter":false},{"pane_id":%q,"keys":"y"}],"patterns":["hello xy"],"show":"none","timeout":30}`, pane, pane)
	if got := type_("send_keys_batch", batch); got.Outcome != "matched" || len(got.Tail) != 0 {
		t.Errorf("a batch: %+v", got)
	}
	if got := ok[seen](p, "send_keys", `{"pane_id":"`+pane+`","keys":"Zoe"}`); got.Seen != nil {
		t.Errorf("without conditions: %+v", got.Seen)
	}
	// The program ends by what is typed: the keys were sent, so the call succeeds.
	if got := type_("send_keys", `{"pane_id":"`+pane+`","keys":"C-c","enter":false,"quiet":25,"timeout":30}`); got.Outcome != "pane_gone" {
		t.Errorf("the end of the pane: %+v", got)
	}
	p.fails("send_keys", `{"pane_id":"%0","keys":"x","patterns":[]}`, "patterns")
	p.fails("send_keys", `{"pane_id":"%0","keys":"x","patterns":["("],"regex":true}`, "invalid regex")
	if screen := tmuxtest.Run(t, srv, "capture-pane", "-p", "-t", "%0"); strings.TrimSpace(screen) != "" {
		t.Errorf("a refused call has typed: %q", screen)
	}
	res := p.tool("call_mutating_tools_batch", `{"operations":[{"tool":"send_keys","arguments":{"pane_id":"%0","keys":"x","quiet":5}}]}`)
	if text := string(res.Structured); !strings.Contains(text, "not allowed in a batch") {
		t.Errorf("in a batch: %s", text)
	}
}
