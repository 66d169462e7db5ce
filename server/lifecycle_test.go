package server_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
)

func TestTheEndRemovesOurBuffersAlone(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	session(t, srv, "a")
	ours := "libtmux_mcp_" + strings.Repeat("0f", 16) + "_buf"
	theirs := []string{"buffer0", "libtmux_mcp_notes", "libtmux_mcp_" + strings.Repeat("0f", 16) + "_", "x" + ours}
	for _, name := range append(theirs, ours) {
		testserver.Run(t, srv, "set-buffer", "-b", name, "text")
	}
	cfg := configFor(srv)
	cfg.Transport = tmux.TransportExec
	counted := countedTmux(t, &cfg)
	end := func(p *peer) string {
		t.Helper()
		p.in.Close()
		<-p.done
		return testserver.Run(t, srv, "list-buffers", "-F", "#{buffer_name}")
	}
	before := counted()
	if left := end(serve(t, cfg)); !strings.Contains(left, ours) || counted() != before {
		t.Errorf("a server without buffers of ours was contacted (%d times); left are %q", counted()-before, left)
	}
	p := serve(t, cfg)
	for range 3 {
		ok[bufferAnswer](p, "load_buffer", `{"content":"x"}`)
	}
	left := strings.Split(end(p), "\n")
	slices.Sort(left)
	slices.Sort(theirs)
	if !slices.Equal(left, theirs) { // also that of another run, which ended without removing it
		t.Errorf("the buffers left are %q, want %q", left, theirs)
	}
}

// TestNothingOfTheServerTouchesTmux: neither its start nor its end is visible.
func TestNothingOfTheServerTouchesTmux(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	p := start(t, srv, nil)
	p.handshake("{}")
	p.request("tools/list", struct{}{})
	if res := p.tool("list_sessions", `{}`); res.IsError || !strings.Contains(res.text(), `"total":0`) {
		t.Errorf("without a tmux server: %s", res.text())
	}
	p.process.Process.Signal(syscall.SIGTERM)
	<-p.done
	if _, err := os.Stat(srv.SocketPath()); err == nil {
		t.Error("it started a tmux server")
	}
}

// TestNothingIsAttached: all that tmux sees of this server is what a call does. An attached
// client would run hooks, bring its environment into the session, and end a session with
// destroy-unattached when it leaves.
func TestNothingIsAttached(t *testing.T) {
	for _, way := range []tmux.Transport{tmux.TransportExec, tmux.TransportNative} {
		t.Run(string(way), func(t *testing.T) {
			t.Parallel()
			srv := testserver.New(t)
			session(t, srv, "a")
			session(t, srv, "b")
			mark := filepath.Join(t.TempDir(), "mark")
			for _, hook := range []string{"client-attached", "client-detached", "client-session-changed", "session-closed"} {
				testserver.Run(t, srv, "set-hook", "-g", hook, "run-shell 'echo "+hook+" >>"+mark+"'")
			}
			testserver.Run(t, srv, "set-option", "-g", "update-environment", "DISPLAY SSH_AUTH_SOCK")
			see := func() string {
				return testserver.Run(t, srv, "list-sessions", "-F", "#{session_id} #{session_attached} #{session_last_attached} #{session_activity}") + "\n" +
					testserver.Run(t, srv, "show-environment", "-t", "=a") + "\n" + testserver.Run(t, srv, "show-environment", "-g")
			}
			before := see()
			p := start(t, srv, []string{"DISPLAY=ours:0", "SSH_AUTH_SOCK=/ours"}, "--transport="+string(way))
			p.handshake("{}")
			for tool, args := range map[string]string{
				"list_panes": `{}`, "capture_pane": `{"pane_id":"%0"}`, "send_keys": `{"pane_id":"%0","keys":"x"}`, "set_pane_title": `{"pane_id":"%0","title":"t"}`,
				"list_clients": `{}`, "snapshot_pane": `{"session_name":"b"}`, "wait_for_text": `{"pane_id":"%1","timeout":0.1}`,
			} {
				ok[map[string]any](p, tool, args)
			}
			if clients := ok[rows](p, "list_clients", `{}`); clients.Total != 0 {
				t.Errorf("clients: %v", clients.Result)
			}
			p.in.Close()
			<-p.done
			if after := see(); after != before {
				t.Errorf("before there was\n%s\nand now there is\n%s", before, after)
			}
			if hooks, err := os.ReadFile(mark); err == nil {
				t.Errorf("hooks ran: %s", hooks)
			}
		})
	}
}

// TestSignalRemovesBuffers: a signal ends it in the same way as the end of its input.
func TestSignalRemovesBuffers(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		srv := testserver.New(t)
		session(t, srv, "a")
		testserver.Run(t, srv, "set-buffer", "-b", "theirs", "x")
		p := start(t, srv, nil)
		p.handshake("{}")
		for range 3 {
			ok[bufferAnswer](p, "load_buffer", `{"content":"x"}`)
		}
		p.process.Process.Signal(sig)
		<-p.done
		if err := p.process.Wait(); err != nil {
			t.Errorf("%v: %v", sig, err)
		}
		if left := testserver.Run(t, srv, "list-buffers", "-F", "#{buffer_name}"); left != "theirs" {
			t.Errorf("%v: buffers left are %q", sig, left)
		}
	}
}
