package server_test

import (
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/server"
	"tmuxmcp/tmux/tmuxtest"
)

const canary = "CANARY7331"

// canaries are texts that an error, or its log record, might repeat in another spelling.
var canaries = []string{canary, canary + "\n", "\n" + canary, " " + canary + "\t", "%" + canary, canary + ";", "#{" + canary + "}", "(" + canary, "/no/such/" + canary}

// planted returns calls of a tool with the canary in each of its arguments, as an argument
// that it does not have, and in place of all arguments. Files get the canary below dir.
func planted(r *rand.Rand, tool listedTool, texts []string, dir string) []toolCall {
	var calls []toolCall
	known := sensible()
	known["kill"], known["command"], known["run_command.command"] = []any{true}, []any{"true"}, []any{"true"}
	for _, text := range texts {
		for _, name := range tool.InputSchema.names() {
			value := text
			if name == "output_path" {
				value = filepath.Join(dir, text)
			}
			for _, v := range tool.InputSchema.Properties[name].withText(value) {
				args := tool.arguments(r, known)
				args[name] = v
				calls = append(calls, toolCall{tool.Name, args})
			}
		}
		args := tool.arguments(r, known)
		args["no_such_argument"] = map[string]any{"a": text}
		calls = append(calls, toolCall{tool.Name, args}, toolCall{tool.Name, map[string]any{text: text, text + "x": 7331}})
	}
	return calls
}

// TestLogsHoldNoArgument: with every log at its most verbose, whatever argument a secret is
// put into, and however the call ends, no log contains it.
func TestLogsHoldNoArgument(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*server.Config){
		"works":    func(*server.Config) {},
		"tier":     func(cfg *server.Config) { cfg.Tier = server.Readonly },
		"noserver": func(cfg *server.Config) { cfg.SocketPath += "-none" },
		"notmux":   func(cfg *server.Config) { cfg.Tmux, cfg.SocketPath = "/bin/false", cfg.SocketPath+"-none" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := tmuxtest.New(t)
			session(t, srv, "a")
			tmuxtest.Run(t, srv, "new-session", "-d", "-s", "b", "-x", "80", "-y", "24")
			var log lockedBuffer
			cfg := configFor(srv)
			cfg.Audit, cfg.Log, cfg.PromptsAsTools = jsonLog(&log), jsonLog(&log), true
			p := serve(t, cfg)
			tools := p.listed() // of every tier
			change(&cfg)
			p = serve(t, cfg)
			r := rand.New(rand.NewPCG(1, 2))
			texts := canaries
			if !testtool.Full {
				texts = canaries[:1]
			}
			calls := 0
			call := func(tool string, args any) {
				c, _ := p.begin("tools/call", map[string]any{"name": tool, "arguments": args})
				p.await(c)
				calls++
			}
			for i, tool := range tools {
				if tool.Name == "kill_server" && name == "works" || !testtool.Full && name != "works" && i%4 != len(name)%4 {
					continue // the first is of the tools' own server; below
				}
				for _, c := range planted(r, tool, texts, filepath.Dir(srv.SocketPath())) {
					call(c.tool, c.args)
					if r.IntN(6) == 0 {
						call("call_destructive_tools_batch", map[string]any{"on_error": "continue", "operations": []any{
							map[string]any{"tool": c.tool, "arguments": c.args}, map[string]any{"tool": canary, "arguments": c.args}, map[string]any{canary: canary},
							map[string]any{"tool": "send_keys", "arguments": `{"keys":"` + canary + `"}`},
						}})
					}
				}
				call(tool.Name, canary)
				call(tool.Name, []string{canary})
			}
			before := calls
			call(canary, map[string]any{})
			call("kill_server", map[string]any{"socket_name": canary})
			for _, text := range texts {
				e := url.PathEscape(text)
				for _, uri := range []string{"tmux://sessions/" + e, "tmux://sessions/a/windows/" + e, "tmux://panes/" + e, "tmux://panes/%250?socket_name=" + e, e} {
					p.request("resources/read", map[string]any{"uri": uri})
				}
				p.request("prompts/get", map[string]any{"name": "run_and_wait", "arguments": map[string]string{"command": text, "pane_id": text, text: text}})
				p.request(text, map[string]any{text: text})
				p.request("completion/complete", map[string]any{"ref": map[string]any{"type": "ref/prompt", "name": "run_and_wait"}, "argument": map[string]any{"name": "pane_id", "value": text}})
			}
			logged := log.String()
			records := strings.Count(logged, `"msg":"call"`)
			t.Logf("%d calls, %d records of them, %d bytes of log", calls, records, len(logged))
			if records < before {
				t.Errorf("%d records of %d calls", records, before)
			}
			for line := range strings.Lines(logged) {
				if strings.Contains(line, canary) || strings.Contains(line, "7331}") {
					t.Fatalf("the log has the secret: %s", line)
				}
			}
		})
	}
}
