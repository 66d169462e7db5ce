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

	"tmuxmcp/server"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// limitFiles lets a process open no more file descriptors until the returned function is called.
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

// Without file descriptors a call says so. It reports neither that the tmux server is gone, nor
// that a pane is, and subscribers hear nothing.
func TestNoFileDescriptors(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"auto", "exec"} {
		srv := tmuxtest.New(t)
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

// What is at the socket's path and is no socket is refused and named, by every tool and by doctor.
func TestNoSocketIsRefused(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	path := srv.SocketPath()
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := configFor(srv)
	p := serve(t, cfg)
	for tool, args := range map[string]string{"create_session": `{}`, "list_sessions": `{}`, "get_server_info": `{}`, "kill_server": `{}`} {
		if text := p.tool(tool, args).text(); !strings.Contains(text, path+" is not a socket") {
			t.Errorf("%s: %s", tool, text)
		}
	}
	p.fails("list_servers", `{"extra_socket_paths":["`+path+`"]}`, "extra_socket_paths", "is not a socket")
	var report strings.Builder
	if server.Doctor(tmuxtest.Context(t), cfg, &report) || !strings.Contains(report.String(), path+" is not a socket") {
		t.Errorf("doctor says\n%s", &report)
	}
	dir := filepath.Dir(path)
	if content, err := os.ReadFile(path); err != nil || string(content) != "precious" {
		t.Errorf("the file is %q, %v", content, err)
	}
	if entries, _ := filepath.Glob(dir + "/s*"); len(entries) != 1 {
		t.Errorf("left are %v", entries)
	}
}

// A socket that cannot be made is one sentence, from every tool and by doctor.
func TestASocketThatCannotBe(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
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
			if good := server.Doctor(tmuxtest.Context(t), cfg, &report); c.path == long && (good || !strings.Contains(report.String(), c.want)) {
				t.Errorf("doctor says\n%s", &report)
			}
		}
	}
}

// A configuration that ends the server is no failure of this program.
func TestAConfigurationThatEndsTmux(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".tmux.conf"), []byte("kill-server\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, tmuxtest.New(t), []string{"HOME=" + home})
	p.handshake("{}")
	if res := p.tool("create_session", `{}`); !res.IsError || strings.Contains(res.text(), "failed inside this server") {
		t.Errorf("%s", res.text())
	}
}
