package server_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/tmux/tmuxtest"
)

type said struct {
	Result string `json:"result"`
}

func TestChannelIsWaitedForAndSignalled(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	cfg := configFor(srv)
	cfg.WaitMax = time.Second
	p := serve(t, cfg)
	// Kept for the next one who waits.
	if got := ok[said](p, "signal_channel", `{"channel":"done.1"}`); got.Result != "Channel 'done.1' signalled" {
		t.Errorf("%q", got.Result)
	}
	if got := ok[said](p, "wait_for_channel", `{"channel":"done.1"}`); got.Result != "Channel 'done.1' was signalled (timeout 1s)" {
		t.Errorf("%q", got.Result)
	}
	c, _ := p.begin("tools/call", map[string]any{"name": "wait_for_channel", "arguments": map[string]any{"channel": "-x"}})
	ok[said](p, "signal_channel", `{"channel":"-x"}`)
	decode[said](p, "wait_for_channel", p.await(c))

	for range 2 {
		start := time.Now()
		res := p.fails("wait_for_channel", `{"channel":"never","timeout":0.2}`, "'never' was not signalled within 0.2s")
		if d := time.Since(start); d < 200*time.Millisecond || d > 30*time.Second || res.Meta["error_type"] != "Timeout" {
			t.Errorf("a timeout of 0.2 s took %v and is %v", d, res.Meta)
		}
	}
	// One that gave up takes no later signal away.
	ok[said](p, "signal_channel", `{"channel":"never"}`)
	ok[said](p, "wait_for_channel", `{"channel":"never"}`)
	p.fails("wait_for_channel", `{"channel":"never","timeout":3600}`, "not signalled within 1s")

	for _, bad := range []string{"", "a b", "a;b", "ü", strings.Repeat("x", 129), "a/b", "$(x)", "#(x)", "a\\nb"} {
		p.fails("wait_for_channel", fmt.Sprintf(`{"channel":"%s"}`, bad), "Invalid channel name")
		p.fails("signal_channel", fmt.Sprintf(`{"channel":"%s"}`, bad), "Invalid channel name")
	}
	ok[said](p, "signal_channel", `{"channel":"`+strings.Repeat("x", 128)+`"}`)
	p.fails("wait_for_channel", `{"channel":"x","timeout":0}`, "timeout must be above 0")
	tmuxtest.Run(t, srv, "kill-server")
	for range 100 {
		if strings.Contains(p.tool("signal_channel", `{"channel":"x"}`).text(), "no tmux server") {
			break
		}
		time.Sleep(10 * time.Millisecond) // it is ending
	}
	p.fails("signal_channel", `{"channel":"x"}`, "no tmux server on "+srv.SocketPath())
	p.fails("wait_for_channel", `{"channel":"x"}`, "no tmux server on "+srv.SocketPath())
}

// tmux ends a wait in the same way when it is signalled and when the server ends.
func TestWaitForAChannelOfAServerThatEnds(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"kill-server", "SIGTERM", "SIGKILL"} {
		srv := tmuxtest.New(t)
		session(t, srv, "a")
		p := serve(t, configFor(srv))
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
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	p := serve(t, configFor(srv))
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
