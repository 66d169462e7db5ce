package server_test

import (
	"testing"

	"tmuxmcp/internal/test/testserver"
)

type said struct {
	Result string `json:"result"`
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
	testserver.Wait(t, srv, "%0", "end of the wait", func() bool {
		ok[said](p, "signal_channel", `{"channel":"c"}`)
		return !p.tool("wait_for_channel", `{"channel":"c","timeout":0.1}`).IsError
	})
	ok[said](p, "signal_channel", `{"channel":"c"}`)
	ok[said](p, "wait_for_channel", `{"channel":"c"}`)
}
