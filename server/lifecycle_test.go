package server_test

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"tmuxmcp/server"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

func TestTheEndRemovesOurBuffersAlone(t *testing.T) {
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	ours := "libtmux_mcp_" + strings.Repeat("0f", 16) + "_buf"
	theirs := []string{"buffer0", "libtmux_mcp_notes", "libtmux_mcp_" + strings.Repeat("0f", 16) + "_", "x" + ours}
	for _, name := range append(theirs, ours) {
		tmuxtest.Run(t, srv, "set-buffer", "-b", name, "text")
	}
	cfg := configFor(srv)
	cfg.Transport = tmux.TransportExec
	counted := countedTmux(t, &cfg)
	end := func(madeOne bool) string {
		t.Helper()
		s, err := server.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if madeOne {
			s.NoteBuffer()
		}
		p := connectTo(t, s)
		p.handshake("{}")
		p.in.Close()
		<-p.done
		return tmuxtest.Run(t, srv, "list-buffers", "-F", "#{buffer_name}")
	}
	before := counted()
	if left := end(false); !strings.Contains(left, ours) || counted() != before {
		t.Errorf("a server without buffers of ours was contacted (%d times); left are %q", counted()-before, left)
	}
	left := end(true)
	if strings.Contains("\n"+left+"\n", "\n"+ours+"\n") {
		t.Errorf("our buffer is left: %q", left)
	}
	for _, name := range theirs {
		if !strings.Contains("\n"+left+"\n", "\n"+name+"\n") {
			t.Errorf("the end removed %s; left are %q", name, left)
		}
	}
}

// TestNothingOfTheServerTouchesTmux: neither its coming nor its going shows.
func TestNothingOfTheServerTouchesTmux(t *testing.T) {
	srv := tmuxtest.New(t)
	p := start(t, srv, nil)
	p.handshake("{}")
	p.request("tools/list", struct{}{})
	p.fails("list_sessions", `{}`, "no tmux server")
	p.process.Process.Signal(syscall.SIGTERM)
	<-p.done
	if _, err := os.Stat(srv.SocketPath()); err == nil {
		t.Error("it started a tmux server")
	}
}
