package server_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux/tmuxtest"
)

type bufferAnswer struct {
	Name      string  `json:"buffer_name"`
	Logical   *string `json:"logical_name"`
	Content   string
	Truncated bool `json:"content_truncated"`
	Lines     int  `json:"content_truncated_lines"`
}

func TestBufferNames(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	tmuxtest.Run(t, srv, "set-buffer", "-b", "clipboard", "theirs")
	p := serve(t, configFor(srv))
	form := regexp.MustCompile(`^libtmux_mcp_[0-9a-f]{32}_[A-Za-z0-9_.-]{1,64}$`)
	for _, c := range []struct{ logical, ends, want string }{
		{``, "_buf", "<nil>"}, {`,"logical_name":null`, "_buf", "<nil>"}, {`,"logical_name":""`, "_buf", ""}, {`,"logical_name":"my.Name_1-x"`, "_my.Name_1-x", "my.Name_1-x"},
		{`,"logical_name":"` + strings.Repeat("n", 64) + `"`, "_" + strings.Repeat("n", 64), strings.Repeat("n", 64)},
	} {
		got := ok[bufferAnswer](p, "load_buffer", `{"content":"x"`+c.logical+`}`)
		name := "<nil>"
		if got.Logical != nil {
			name = *got.Logical
		}
		if !form.MatchString(got.Name) || !strings.HasSuffix(got.Name, c.ends) || name != c.want {
			t.Errorf("load_buffer with %s answers %q, %s", c.logical, got.Name, name)
		}
	}
	for _, logical := range []string{"a b", "a/b", "é", "a\n", "#{x}", strings.Repeat("n", 65), "a;"} {
		p.fails("load_buffer", `{"content":"sekrit","logical_name":`+quote(logical)+`}`, "Invalid logical buffer name: ")
	}
	hex := strings.Repeat("0f", 16)
	for _, name := range []string{"clipboard", "buffer0", "", "libtmux_mcp_" + hex + "_", "libtmux_mcp_" + hex + "_a b", "libtmux_mcp_0f_buf", "xlibtmux_mcp_" + hex + "_buf", "libtmux_mcp_" + hex + "_buf\n"} {
		for _, tool := range []string{"show_buffer", "paste_buffer", "delete_buffer"} {
			p.fails(tool, `{"buffer_name":`+quote(name)+`}`, "Invalid buffer name: ")
		}
	}
	for tool, more := range map[string]string{"show_buffer": "", "delete_buffer": "", "paste_buffer": `,"pane_id":"%0"`} {
		p.fails(tool, `{"buffer_name":"libtmux_mcp_`+hex+`_gone"`+more+`}`, "Object not found: buffer libtmux_mcp_"+hex+"_gone")
	}
	if got := tmuxtest.Run(t, srv, "show-buffer", "-b", "clipboard"); got != "theirs" {
		t.Errorf("the user's buffer is %q", got)
	}
}

func TestBuffersKeepTheirText(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	p := serve(t, configFor(srv))
	all := map[string]bool{}
	for _, content := range []string{"x", "\n", "a\nb", "a\nb\n", "\n\n", "-b", "x;", "#{x} $Y", "\x00\x01\x1b[31m\r\t", "é漢", strings.Repeat("0123456789abcdef", 4000)} {
		raw, err := json.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		name := ok[bufferAnswer](p, "load_buffer", `{"logical_name":"same","content":`+string(raw)+`}`).Name
		if all[name] {
			t.Errorf("two calls made %s", name)
		}
		all[name] = true
		if got := ok[bufferAnswer](p, "show_buffer", `{"buffer_name":"`+name+`"}`); got.Content != content || got.Truncated || got.Lines != 0 || got.Name != name {
			t.Errorf("%.80q came back as %.80q, %t, %d", content, got.Content, got.Truncated, got.Lines)
		}
		ok[map[string]any](p, "delete_buffer", `{"buffer_name":"`+name+`"}`)
		p.fails("show_buffer", `{"buffer_name":"`+name+`"}`, "Object not found: buffer ")
	}
	p.fails("load_buffer", `{"content":""}`, "content must not be empty")
	if left := tmuxtest.Run(t, srv, "list-buffers", "-F", "#{buffer_name}"); left != "" {
		t.Errorf("buffers are left: %s", left)
	}
	gone := serve(t, configFor(tmuxtest.New(t)))
	gone.fails("load_buffer", `{"content":"x"}`, "no tmux server on ")
}

func TestShowBufferKeepsTheTail(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	p := serve(t, configFor(srv))
	lines := func(from, to int) string {
		var s strings.Builder
		for i := from; i <= to; i++ {
			fmt.Fprintf(&s, "%d\n", i)
		}
		return s.String()
	}
	load := func(content string) string {
		t.Helper()
		return ok[bufferAnswer](p, "load_buffer", `{"content":`+quote(content)+`}`).Name
	}
	ended, open := load(lines(1, 600)), load(strings.TrimSuffix(lines(1, 600), "\n"))
	for _, c := range []struct {
		name, more, want string
		cut              int
	}{
		{ended, ``, lines(101, 600), 100},
		{ended, `,"max_lines":null`, lines(1, 600), 0},
		{ended, `,"max_lines":600`, lines(1, 600), 0},
		{ended, `,"max_lines":1`, "600\n", 599},
		{open, `,"max_lines":2`, "599\n600", 598},
	} {
		got := ok[bufferAnswer](p, "show_buffer", `{"buffer_name":"`+c.name+`"`+c.more+`}`)
		if got.Content != c.want || got.Lines != c.cut || got.Truncated != (c.cut > 0) {
			t.Errorf("%s: %d lines left out (%t), and %.40q…", c.more, got.Lines, got.Truncated, got.Content)
		}
	}
	for _, n := range []string{"0", "-1"} {
		p.fails("show_buffer", `{"buffer_name":"`+ended+`","max_lines":`+n+`}`, "max_lines must be at least 1")
	}
}

func TestPasteBuffer(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	// Each shows what it reads; the second asks for bracketed pastes.
	tmuxtest.Run(t, srv, "respawn-pane", "-k", "-t", "%0", "stty -echo raw; echo ready; exec cat -v")
	tmuxtest.Run(t, srv, "split-window", "-d", "-t", "%0", `stty -echo raw; printf '\033[?2004hready'; exec cat -v`)
	p := serve(t, configFor(srv))
	tmuxtest.WaitScreen(t, srv, "%0", "ready")
	tmuxtest.WaitScreen(t, srv, "%1", "ready")
	name := ok[bufferAnswer](p, "load_buffer", `{"content":"one\ntwo;-t \u001b[1mé"}`).Name
	paste := func(more string) map[string]any {
		t.Helper()
		return ok[map[string]any](p, "paste_buffer", `{"buffer_name":"`+name+`"`+more+`}`)
	}
	if got := paste(`,"pane_id":"%0"`); got["pane_id"] != "%0" {
		t.Errorf("pasted into %v", got["pane_id"])
	}
	tmuxtest.WaitScreen(t, srv, "%0", "one^Mtwo;-t ^[[1mM-CM-)")
	paste(`,"pane_id":"%1"`)
	tmuxtest.WaitScreen(t, srv, "%1", "^[[200~one^Mtwo;-t ^[[1mM-CM-)^[[201~")
	tmuxtest.Run(t, srv, "send-keys", "-R", "-t", "%1")
	paste(`,"pane_id":"%1","bracket":false`)
	if screen := tmuxtest.WaitScreen(t, srv, "%1", "one^Mtwo"); strings.Contains(screen, "200~") {
		t.Errorf("bracketed all the same:\n%s", screen)
	}
	if got := ok[bufferAnswer](p, "show_buffer", `{"buffer_name":"`+name+`"}`); !strings.HasPrefix(got.Content, "one\ntwo") {
		t.Errorf("after pasting the buffer is %q", got.Content)
	}
	p.fails("paste_buffer", `{"buffer_name":"`+name+`"}`, "needs a target")
	p.fails("paste_buffer", `{"buffer_name":"`+name+`","pane_id":"%9"}`, "Pane not found: %9")
	tmuxtest.Run(t, srv, "copy-mode", "-t", "%0")
	p.fails("paste_buffer", `{"buffer_name":"`+name+`","pane_id":"%0"}`, "copy-mode", "exit_copy_mode")
	tmuxtest.Run(t, srv, "set-option", "-p", "-t", "%1", "remain-on-exit", "on")
	tmuxtest.Run(t, srv, "respawn-pane", "-k", "-t", "%1", "true")
	tmuxtest.Wait(t, srv, "%1", "end of the program", func() bool { return tmuxtest.Run(t, srv, "display-message", "-p", "-t", "%1", "#{pane_dead}") == "1" })
	p.fails("paste_buffer", `{"buffer_name":"`+name+`","pane_id":"%1"}`, "has ended", "respawn_pane")
}

// TestAStuckTmuxIsGivenUp: each buffer tool ends with an error that says so.
func TestAStuckTmuxIsGivenUp(t *testing.T) {
	if !testtool.Full {
		t.Skip("waits out the 5 s that a stuck tmux gets: see " + testtool.FullSize)
	}
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	p := serve(t, configFor(srv))
	name := ok[bufferAnswer](p, "load_buffer", `{"content":"x"}`).Name
	pid, err := strconv.Atoi(tmuxtest.Run(t, srv, "display-message", "-p", "#{pid}"))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Kill(pid, syscall.SIGCONT) })
	p.schema("load_buffer")
	calls := map[string]<-chan reply{}
	for tool, args := range map[string]string{
		"load_buffer": `{"content":"x"}`, "show_buffer": `{"buffer_name":"` + name + `"}`, "delete_buffer": `{"buffer_name":"` + name + `"}`,
	} {
		calls[tool], _ = p.begin("tools/call", map[string]any{"name": tool, "arguments": json.RawMessage(args)})
	}
	for tool, c := range calls {
		res := p.toolResult(tool, p.await(c))
		if !res.IsError || !strings.Contains(res.text(), "tmux did not answer in 5s") || res.Meta["error_type"] != "Timeout" {
			t.Errorf("%s of a tmux that is stuck: %s %v", tool, res.text(), res.Meta)
		}
	}
}

func TestTheEndRemovesTheBuffersThatToolsMade(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	p := serve(t, configFor(srv))
	for range 3 {
		ok[bufferAnswer](p, "load_buffer", `{"content":"x"}`)
	}
	tmuxtest.Run(t, srv, "set-buffer", "-b", "theirs", "x")
	p.in.Close()
	<-p.done
	if left := tmuxtest.Run(t, srv, "list-buffers", "-F", "#{buffer_name}"); left != "theirs" {
		t.Errorf("after the end there are the buffers %q", left)
	}
}
