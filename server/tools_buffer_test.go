package server_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/server"
	"tmuxmcp/tmux"
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
		late := strings.Contains(res.text(), "tmux did not answer in 300ms")
		if !late && !strings.Contains(res.text(), "tmux has not answered since") || !res.IsError || res.Meta["error_type"] != "Timeout" {
			t.Errorf("%s of a tmux that is stuck: %s %v", tool, res.text(), res.Meta)
		}
		// The others ask which tmux it is first.
		if says := strings.Contains(res.text(), "\nit may still happen: look before you repeat it"); says != (late && tool == "load_buffer") {
			t.Errorf("%s of a tmux that is stuck may still happen: %s", tool, res.text())
		}
	}
}

// TestAStoppedTmuxFailsAtOnce: after a tmux has not answered one call, all other ways to it fail
// at once and say so: their own limits are longer than the test waits for an answer. Once it
// goes on, they work.
func TestAStoppedTmuxFailsAtOnce(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	session(t, srv, "a")
	cfg := configFor(srv)
	hurried := newServer(t, cfg)
	hurried.SetBufferTime(300 * time.Millisecond)
	p := connectTo(t, hurried)
	p.handshake("{}")
	pid, err := strconv.Atoi(testserver.Run(t, srv, "display-message", "-p", "#{pid}"))
	if err != nil {
		t.Fatal(err)
	}
	calls := map[string]string{
		"list_panes": `{}`, "list_sessions": `{}`, "capture_pane": `{"pane_id":"%0"}`, "send_keys": `{"pane_id":"%0","keys":"x"}`, "run_command": `{"pane_id":"%0","command":"true"}`,
		"wait_for_text": `{"pane_id":"%0","patterns":["$"]}`, "agent_status": `{}`, "search_panes": `{"pattern":"x"}`, "show_buffer": `{"buffer_name":"` + ourBuffer + `"}`, "get_server_info": `{}`,
	}
	for tool := range calls {
		p.schema(tool)
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Kill(pid, syscall.SIGCONT) })
	p.fails("delete_buffer", `{"buffer_name":"`+ourBuffer+`"}`, "tmux did not answer in 300ms")
	const says = "tmux has not answered since "
	for tool, args := range calls {
		if res := p.fails(tool, args, says); res.Meta["error_type"] != "Timeout" {
			t.Errorf("%s of a tmux that is stopped: %v", tool, res.Meta)
		}
	}
	if r := p.request("resources/read", map[string]any{"uri": "tmux://sessions"}); r.Error == nil || !strings.Contains(r.Error.Message, says) {
		t.Errorf("a resource of a tmux that is stopped: %s %v", r.Result, r.Error)
	}
	if d := server.Diagnose(t.Context(), cfg); len(d.Findings) != 1 || !strings.Contains(d.Findings[0].Text, says) {
		t.Errorf("doctor of a tmux that is stopped: %+v", d.Findings)
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	testtool.Eventually(t, "tmux answers", func() bool { // by when it has reacted to what came before
		_, err := srv.Do(t.Context(), tmux.ListSessions{})
		return err == nil
	})
	p.tool("list_panes", `{}`)
}
