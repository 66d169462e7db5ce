package server_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/internal/test/testserver"
)

type bufferAnswer struct {
	Name      string  `json:"buffer_name"`
	Logical   *string `json:"logical_name"`
	Content   string
	Truncated bool `json:"content_truncated"`
	Lines     int  `json:"content_truncated_lines"`
}

// TestAStuckTmuxIsGivenUp: each buffer tool ends with an error that says so.
func TestAStuckTmuxIsGivenUp(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	session(t, srv, "a")
	hurried := newServer(t, configFor(srv))
	hurried.SetBufferTime(300 * time.Millisecond)
	p := connectTo(t, hurried)
	p.handshake("{}")
	pid, err := strconv.Atoi(testserver.Run(t, srv, "display-message", "-p", "#{pid}"))
	if err != nil {
		t.Fatal(err)
	}
	testserver.Run(t, srv, "set-buffer", "-b", ourBuffer, "x")
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Kill(pid, syscall.SIGCONT) })
	p.schema("load_buffer")
	calls := map[string]<-chan reply{}
	for tool, args := range map[string]string{
		"load_buffer": `{"content":"x"}`, "show_buffer": `{"buffer_name":"` + ourBuffer + `"}`, "delete_buffer": `{"buffer_name":"` + ourBuffer + `"}`,
	} {
		calls[tool], _ = p.begin("tools/call", map[string]any{"name": tool, "arguments": json.RawMessage(args)})
	}
	for tool, c := range calls {
		res := p.toolResult(tool, p.await(c))
		if !res.IsError || !strings.Contains(res.text(), "tmux did not answer in 300ms") || res.Meta["error_type"] != "Timeout" {
			t.Errorf("%s of a tmux that is stuck: %s %v", tool, res.text(), res.Meta)
		}
		// The others ask which tmux it is first.
		if says := strings.Contains(res.text(), "\nit may still happen: look before you repeat it"); says != (tool == "load_buffer") {
			t.Errorf("%s of a tmux that is stuck may still happen: %s", tool, res.text())
		}
	}
}
