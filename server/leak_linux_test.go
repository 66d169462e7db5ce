package server_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

// leakers are the tools whose lists of commands are long or conditional. By default,
// TestTmuxDoesNotGrow calls the first of them.
var leakers = []string{"search_panes", "send_keys", "send_keys_batch", "select_layout", "resize_pane", "select_pane", "move_window"}

// listers are the tools that read something of every window or pane each time, which costs
// many kilobytes.
var listers = []string{"list_windows", "list_panes", "move_window", "agent_status"}

// keepsQuoted reports whether a server never frees a text that a format quotes, #{q:…}, as
// 3.2a and 3.3a do not and 3.5a does: some 32 bytes each time.
func keepsQuoted(t *testing.T, srv *tmux.Server, pid int) bool {
	t.Helper()
	growth := 0
	for range 2 { // the first fills what was free
		before := residentKB(t, pid)
		for range 100 {
			testserver.Run(t, srv, "list-windows", "-a", "-F", strings.Repeat("#{q:window_name}", 20))
		}
		growth = residentKB(t, pid) - before
	}
	return growth > 3000 // of 7.7 MB
}

// A thousand calls of a tool make the user's tmux grow by less than 5 MB; by default 200
// calls of one tool, by less than 1 MB. Most versions never free a nested list of commands,
// such as if-shell runs, so none is used.
func TestTmuxDoesNotGrow(t *testing.T) {
	calls := testtool.Size(200, 1000)
	srv := testserver.New(t)
	session(t, srv, "keep")
	for range testtool.Size(40, 120) {
		testserver.Run(t, srv, "new-window", "-d", "-t", "keep:", "echo some output; exec sleep 100000")
	}
	testserver.Run(t, srv, "set-option", "-s", "message-limit", "300") // full before the first is measured
	pid, err := strconv.Atoi(testserver.Run(t, srv, "display-message", "-p", "#{pid}"))
	if err != nil {
		t.Fatal(err)
	}
	w := newSoakers(t, srv, 1)[0]
	tools := w.tools
	if !testtool.Full {
		t.Logf("%v only; TMUX_TEST_FULL=1 calls all %d tools", leakers[:1], len(tools))
	}
	keeps := testtool.Full && keepsQuoted(t, srv, pid)
	if keeps {
		t.Logf("this tmux never frees what a format quotes, for its own program neither: not looked at is what it grows by for %v", listers)
	}
	nested := regexp.MustCompile(`command: (if-shell .*|run-shell .*-C.*)`)
	for _, tool := range tools {
		if !testtool.Full && !slices.Contains(leakers[:1], tool.Name) {
			continue
		}
		w.tools = []listedTool{tool}
		w.afresh(t)
		w.work(calls / 2)
		w.afresh(t)
		before := residentKB(t, pid)
		done := w.succeeded[tool.Name]
		w.work(calls)
		w.afresh(t)
		after := residentKB(t, pid)
		done = w.succeeded[tool.Name] - done
		t.Logf("%s: %d of %d calls succeeded, %+d kB", tool.Name, done, calls, after-before)
		if after-before > 5*calls && !(keeps && slices.Contains(listers, tool.Name)) {
			t.Errorf("%s: tmux grew from %d kB to %d kB", tool.Name, before, after)
		}
		if slices.Contains(leakers, tool.Name) && done < calls/5 {
			t.Errorf("%s: only %d calls succeeded", tool.Name, done)
		}
		if log, err := srv.Messages(testserver.Context(t)); err == nil { // before 3.6 it takes a client
			for _, line := range log {
				// kill-session needs one on 3.4 and on master.
				if m := nested.FindString(line); m != "" && !strings.Contains(m, "window_zoomed_flag") {
					t.Fatalf("%s: tmux ran %s", tool.Name, m)
				}
			}
		}
	}
}

// afresh removes everything except what the test created, and creates the working session
// again.
func (w *soaker) afresh(t *testing.T) {
	t.Helper()
	ctx := testserver.Context(t)
	sessions, err := w.srv.Sessions(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sessions {
		if s.Name != "keep" {
			if err := s.Kill(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	buffers, err := w.srv.Buffers(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range buffers {
		if err := b.Delete(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.srv.Do(ctx, tmux.NewSession{Name: w.name, Detached: true, Width: 80, Height: 24}); err != nil {
		t.Fatal(err)
	}
	w.look()
}
