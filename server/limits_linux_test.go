package server_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/server"
	"tmuxmcp/tmux"
)

// limitFiles lets a process open no more file descriptors until the returned function is
// called.
func limitFiles(t *testing.T, pid int) (restore func()) {
	t.Helper()
	var old unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &old); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/fd")
	if err != nil {
		t.Fatal(err)
	}
	// The number of the first that is free.
	used := map[string]bool{}
	for _, e := range entries {
		used[e.Name()] = true
	}
	free := 0
	for used[strconv.Itoa(free)] {
		free++
	}
	if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(free), Max: old.Max}, nil); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, &old, nil); err != nil {
			t.Error(err)
		}
	}
}

// A call that has run out of file descriptors says so. It reports neither that the tmux
// server is gone, nor that a pane is, and subscribers are not notified.
func TestNoFileDescriptors(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"auto", "exec"} {
		srv := testserver.New(t)
		s := newScreen(t, srv, "a", 80, 24)
		p := start(t, srv, nil, "--transport", transport)
		p.handshake(`{}`)
		ok[rows](p, "list_panes", `{}`)
		content := "tmux://panes/%25" + s.pane[1:] + "/content"
		if r := p.request("resources/subscribe", map[string]string{"uri": "tmux://sessions"}); r.Error != nil {
			t.Fatal(r.Error.Message)
		}
		p.updatedBy("tmux://sessions", "a session", func() { session(t, srv, "b") })
		waiting, _ := p.begin("tools/call", map[string]any{"name": "wait_for_text", "arguments": map[string]any{"pane_id": s.pane, "patterns": []string{"never"}, "timeout": 60}})
		p.updatedBy("tmux://sessions", "another session", func() { session(t, srv, "c") }) // the wait has begun
		before := p.updates("tmux://sessions")

		restore := limitFiles(t, p.process.Process.Pid)
		said := func(what string, res result) {
			t.Helper()
			if text := res.text(); !res.IsError || !strings.Contains(text, "no file descriptors left") || !strings.Contains(text, "ulimit -n") ||
				strings.Contains(text, "create_session") || strings.Contains(text, "pane_gone") {
				t.Errorf("%s: %s: %q", transport, what, text)
			}
		}
		for len(waiting) == 0 { // what is closed meanwhile could be used for a look
			limitFiles(t, p.process.Process.Pid)
			time.Sleep(20 * time.Millisecond)
		}
		said("wait_for_text", p.toolResult("wait_for_text", p.await(waiting)))
		for tool, args := range map[string]string{
			"list_sessions": `{}`, "list_panes": `{}`, "capture_pane": `{"pane_id":"` + s.pane + `"}`, "send_keys": `{"pane_id":"` + s.pane + `","keys":"x"}`,
			"get_server_info": `{}`, "kill_pane": `{"pane_id":"` + s.pane + `"}`, "create_session": `{}`, "search_panes": `{"pattern":"x"}`, "kill_server": `{}`,
			"wait_for_text": `{"pane_id":"` + s.pane + `","patterns":["x"],"timeout":5}`, "wait_for_channel": `{"channel":"c","timeout":5}`,
		} {
			limitFiles(t, p.process.Process.Pid) // what was closed meanwhile may not be used
			said(tool, p.tool(tool, args))
		}
		limitFiles(t, p.process.Process.Pid)
		if res := p.tool("list_servers", `{}`); !res.IsError {
			t.Errorf("%s: list_servers finds %s", transport, res.Structured)
		}
		if r := p.request("resources/read", map[string]string{"uri": content}); r.Error == nil || !strings.Contains(r.Error.Message, "ulimit -n") {
			t.Errorf("%s: resources/read: %s %v", transport, r.Result, r.Error)
		}
		restore()
		if n := p.updates("tmux://sessions"); n != before {
			t.Errorf("%s: %d notifications without a change", transport, n-before)
		}
		ok[rows](p, "list_sessions", `{}`)
		p.updatedBy("tmux://sessions", "a session", func() { session(t, srv, "d") })
	}
}

// A socket that cannot be created is reported in one sentence, by every tool and by doctor.
func TestASocketThatCannotBe(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	dir := t.TempDir()
	long := filepath.Join(dir, strings.Repeat("x", 110))
	for _, c := range []struct{ path, tool, want string }{
		{long, "create_session", fmt.Sprintf("has %d bytes, and this system takes 107", len(long))},
		{long, "list_sessions", fmt.Sprintf("has %d bytes, and this system takes 107", len(long))},
		{filepath.Join(dir, "missing/s"), "create_session", "error creating " + dir + "/missing/s (No such file or directory)"},
	} {
		for _, transport := range []tmux.Transport{tmux.TransportExec, tmux.TransportAuto} {
			cfg := configFor(srv)
			cfg.SocketPath, cfg.Transport = c.path, transport
			serve(t, cfg).fails(c.tool, `{}`, c.want)
			var report strings.Builder
			if good := server.Doctor(testserver.Context(t), cfg, &report); c.path == long && (good || !strings.Contains(report.String(), c.want)) {
				t.Errorf("doctor says\n%s", &report)
			}
		}
	}
}
