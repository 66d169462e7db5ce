package server_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/server"
	"tmuxmcp/tmux"
)

// Reading shows no secret except what is on screens: not the user's paste buffers, no
// environment variable except through the tool that is named for that, and then no hidden
// one, and nothing of another server.
func TestReadingShowsNoSecret(t *testing.T) {
	t.Parallel()
	srv, other := testserver.New(t), testserver.New(t)
	session(t, srv, "a")
	session(t, other, "a")
	v, err := srv.Version(testserver.Context(t))
	if err != nil {
		t.Fatal(err)
	}
	const secret, plain = "CANARY-secret", "CANARY-plain"
	run := func(name string, args ...string) { testserver.Run(t, srv, name, args...) }
	run("set-buffer", secret)
	run("set-buffer", "-b", "mine", secret)
	run("set-option", "-g", "@run", "#{buffer_sample}#{HIDDEN}#{theme}")
	testserver.Run(t, other, "set-buffer", secret)
	testserver.Run(t, other, "set-option", "-g", "@note", secret)
	testserver.Run(t, other, "select-pane", "-t", "%0", "-T", secret)
	// Names that are neither tokens nor options of this version, and those that only modes,
	// hooks and commands have, are variables here.
	names := []string{"HIDDEN", "hidden", "SSH_AUTH_SOCK", "a-b", "0", "1", "x", "theme", "editor", "copy_cursor_word", "copy_cursor_line", "search_match", "hook_pane", "command", "line", "buffer_nothing"}
	for _, token := range tmux.Tokens() {
		if !token.In(v) && !v.Next {
			names = append(names, token.Name)
		}
	}
	for i, name := range names {
		run("set-environment", "-gh", name, secret)
		if i%2 == 0 {
			run("set-environment", "-t", "=a:", "-h", name, secret)
		}
	}
	for _, name := range []string{"TOKEN", "plain", "pane-id", "status_left"} {
		run("set-environment", "-g", name, plain)
		run("set-environment", "-t", "=a:", name, plain)
		names = append(names, name)
	}
	for _, token := range tmux.Tokens() {
		names = append(names, token.Name)
	}
	names = append(names, "@run", "@note", "status-left", "status-format[0]", "update-environment", "alert-bell")

	cfg := configFor(srv)
	cfg.Tier = server.Readonly
	p := serve(t, cfg)
	r := rand.New(rand.NewPCG(1, 2))
	name := func() string { return names[r.IntN(len(names))] }
	formats := func() string {
		n := name()
		return []string{
			"#{" + n + "}", "#{=9:" + n + "}", "#{?" + n + ",CANARY-secret,}", "#{s/x/y/:" + n + "}", "#{n:" + n + "}#{q:" + n + "}", "#{S:#{W:#{P:#{" + n + "}}}}", "#{E:" + n + "}", "#{" + n + "[0]}", "#{b;d:" + n + "}", "#{t:" + n + "}",
			"#{?#{==:#{" + n + "},x},,#{" + n + "}}", "#{m/r:C,#{" + n + "}}#{" + n + "}", "#{l:#{" + n + "}}#{" + name() + "}", "#{e|+|:#{" + n + "},1}", "#{||:#{" + n + "},0}", "#{V:#{" + n + "}}", "#{O:#{" + n + "}}", "#{N:#{" + n + "}}", "#{w:#{" + n + "}}#{a:35}{" + n + "}",
		}[r.IntN(19)]
	}
	tools := p.listed()
	failed, byTool := 0, map[string]int{}
	calls := testtool.Size(150, 20_000)
	for range calls {
		tool := tools[r.IntN(len(tools))]
		known := map[string][]any{
			"socket_name": {}, "extra_socket_paths": {}, "session_name": {"a"}, "session_id": {"$0"}, "pane_id": {"%0"}, "window_id": {"@0"}, "timeout": {0.01}, "timeout_seconds": {0.01}, "socket_path": {},
			"format_string": {formats()}, "pattern": {"CANARY", formats()}, "name": {name()}, "names": {[]string{name()}}, "option": {name()}, "buffer_name": {"mine", "buffer0", "buffer1", name()}, "fields": {},
			"filters": {map[string]string{name(): "x"}, map[string]string{"pane_title__regex": "C"}, map[string]string{name() + "__contains": "C"}}, "target": {"%0", "@0", "$0", "a", name()}, "variable": {name()}, "channel": {name()},
			"operations": {[]any{map[string]any{"tool": "display_message", "arguments": map[string]string{"format_string": formats()}}}},
		}
		args := tool.arguments(r, known)
		if tool.Name == "display_message" {
			args["format_string"] = formats()
		}
		raw, _ := json.Marshal(args)
		c, _ := p.begin("tools/call", map[string]any{"name": tool.Name, "arguments": json.RawMessage(raw)})
		reply, _ := json.Marshal(p.await(c))
		answer := string(reply)
		byTool[tool.Name]++
		if strings.Contains(answer, `"isError":true`) {
			failed++
		}
		// The contents of arguments are repeated in errors and as text of a format.
		if strings.Contains(answer, secret) && !strings.Contains(string(raw), secret) {
			t.Errorf("%s %s shows a secret: %.300s", tool.Name, raw, answer)
		}
		if strings.Contains(answer, plain) && tool.Name != "show_environment" {
			t.Errorf("%s %s shows the environment: %.300s", tool.Name, raw, answer)
		}
	}
	for _, uri := range []string{"tmux://sessions", "tmux://panes/%250", "tmux://sessions/a"} {
		c, _ := p.begin("resources/read", map[string]any{"uri": uri})
		if reply, _ := json.Marshal(p.await(c)); strings.Contains(string(reply), "CANARY") {
			t.Errorf("%s shows a secret: %.300s", uri, reply)
		}
	}
	// Every name in the one tool that expands names.
	for _, n := range names {
		raw, _ := json.Marshal(map[string]string{"format_string": "#{" + n + "}"})
		if res := p.tool("display_message", string(raw)); strings.Contains(res.text(), "CANARY") {
			t.Errorf("#{%s} shows a secret: %s", n, res.text())
		}
	}
	t.Logf("%d names, %d of %d calls failed: %v", len(names), failed, calls, byTool)
}

// Matching takes our own time: it terminates, and says so.
func TestMatchingHasALimit(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	session(t, srv, "a")
	testserver.Run(t, srv, "set-option", "-g", "history-limit", "20000")
	file := filepath.Join(t.TempDir(), "text")
	for length, why := range map[int]string{1_500_000: "bytes takes too long to match", 90_000: "longer than 1s"} {
		line := strings.Repeat("x", length) + "\n"
		if err := os.WriteFile(file, []byte(strings.Repeat(line, 1_500_000/length)+"\nend"), 0o600); err != nil {
			t.Fatal(err)
		}
		pane := testserver.Run(t, srv, "new-session", "-d", "-P", "-F", "#{pane_id}", "-x", "200", "-y", "50", "-s", fmt.Sprint(length), "cat "+file+"; exec sleep 1000")
		testserver.WaitScreen(t, srv, pane, "end")
		limited := newServer(t, configFor(srv))
		limited.SetMatchTime(time.Second)
		p := connectTo(t, limited)
		p.handshake("{}")
		p.fails("search_panes", fmt.Sprintf(`{"pattern":"(x{0,30}){0,14}[^x]","regex":true,"session_name":"%d","content_start":-20000}`, length), why)
	}
}
