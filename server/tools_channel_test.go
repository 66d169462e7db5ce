package server_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"tmuxmcp/tmux/tmuxtest"
)

type said struct {
	Result string `json:"result"`
}

// tmux ends a wait in the same way when it is signalled and when the server ends.
func TestWaitForAChannelOfAServerThatEnds(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"kill-server", "SIGTERM", "SIGKILL"} {
		srv, p := served(t)
		pid := 0
		fmt.Sscan(tmuxtest.Run(t, srv, "display-message", "-p", "#{pid}"), &pid)
		c, _ := p.wait("wait_for_channel", `{"channel":"c"}`)
		switch how {
		case "kill-server":
			tmuxtest.Run(t, srv, "kill-server")
		case "SIGTERM":
			syscall.Kill(pid, syscall.SIGTERM)
		case "SIGKILL":
			syscall.Kill(pid, syscall.SIGKILL)
		}
		res := p.toolResult("wait_for_channel", p.await(c))
		if !res.IsError || !strings.Contains(res.text(), srv.SocketPath()) || res.Meta["error_type"] != "NoServer" {
			t.Errorf("%s: %q, %v", how, res.text(), res.Meta)
		}
	}
}

func TestCancelledWaitForAChannel(t *testing.T) {
	t.Parallel()
	srv, p := served(t)
	woken, _ := p.wait("wait_for_channel", `{"channel":"-x"}`)
	ok[said](p, "signal_channel", `{"channel":"-x"}`)
	decode[said](p, "wait_for_channel", p.await(woken))

	_, id := p.wait("wait_for_channel", `{"channel":"c"}`)
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id)
	// Nobody waits any more: the signal is kept for the next.
	tmuxtest.Wait(t, srv, "%0", "end of the wait", func() bool {
		ok[said](p, "signal_channel", `{"channel":"c"}`)
		return !p.tool("wait_for_channel", `{"channel":"c","timeout":0.1}`).IsError
	})
	ok[said](p, "signal_channel", `{"channel":"c"}`)
	ok[said](p, "wait_for_channel", `{"channel":"c"}`)
}
