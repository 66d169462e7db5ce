package swap

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
)

// What the clients print, and the answers in it.
func TestAnswers(t *testing.T) {
	n := 15
	gemini := "Configured MCP servers:\n\n" +
		"✓ tmux: go run -C /r ./cmd/x (stdio) - Connected\n" +
		"✗ sh: /bin/false  (stdio) - Disconnected\n" +
		"○ un.trusted: /x  (stdio) - Disabled\n" +
		"⛔ off: /x  (stdio) - Blocked\n" +
		"✓ ext (from some-extension): /x  (stdio) - Connected\n"
	claude := "tmux:\n  Scope: Local config (private to you in this project)\n  Status: ✔ Connected\n  Type: stdio\n  Command: go\n  Args: run -C /r ./cmd/x\n  Environment:\n    A=b\n\nTo remove this server, run: claude mcp remove tmux -s local\n"
	opencode := "\x1b[0m\n┌  MCP Servers\n│\n●  ✓ tmux \x1b[90mconnected\n│      \x1b[90m/x y\n│\n●  ○ off \x1b[90mdisabled\n│      \x1b[90m/x\n│\n" +
		"●  ✗ sh \x1b[90mfailed\n│      MCP error -32000: Connection closed\n│      \x1b[90m/bin/false\n│\n└  3 server(s)\n\n"
	droid := "Connecting to configured MCP servers to check status...\nConfigured MCP servers:\n  off  stdio  disabled  [user]\n  sh  stdio  failed: Failed to connect to MCP server  [project]\n  tmux  stdio  connected  [user]\n"
	grok := `{"sources": [], "servers": [{"name": "tmux", "target": "/x", "checks": [{"label": "15 tools discovered", "passed": true, "detail": ""}], "healthy": true}]}`
	codex := `{"id":0,"result":{}}
{"method":"configWarning","params":{}}
{"id":1,"result":{"config":{"mcp_servers":{"tmux":{"command":"/x","args":["y"],"enabled":true},"off":{"command":"/x","enabled":false},"sh":{"command":"/bin/false","args":[],"enabled":true}}}}}
`
	for _, tt := range []struct {
		client, out, server string
		want                ask.Answer
		err                 error
	}{
		{client: "claude", server: "tmux", out: claude, want: ask.Answer{State: ask.Connected, Says: "Connected", Place: "local", Command: "go run -C /r ./cmd/x"}},
		{client: "claude", server: "mux", out: claude, err: ask.ErrUnread},
		{client: "claude", server: "nosuch", out: "No MCP server named \"nosuch\". Configured servers: other\n", want: ask.Answer{State: ask.NotThere}},
		{client: "claude", server: "filed", out: "filed:\n  Scope: Project config (shared via .mcp.json)\n  Status: ⏸ Pending approval (run `claude` to approve)\n\nTo remove", want: ask.Answer{State: ask.Pending, Says: "Pending approval (run `claude` to approve)", Place: "project"}},
		{client: "gemini", server: "tmux", out: gemini, want: ask.Answer{State: ask.Connected, Says: "Connected", Command: "go run -C /r ./cmd/x"}},
		{client: "gemini", server: "sh", out: gemini, want: ask.Answer{State: ask.NotStarted, Says: "Disconnected", Command: "/bin/false"}},
		{client: "gemini", server: "un.trusted", out: gemini, want: ask.Answer{State: ask.Disabled, Says: "Disabled", Command: "/x"}},
		{client: "gemini", server: "off", out: gemini, want: ask.Answer{State: ask.Disabled, Says: "Blocked", Command: "/x"}},
		{client: "gemini", server: "ext", out: gemini, want: ask.Answer{State: ask.Connected, Says: "Connected", Command: "/x"}},
		{client: "gemini", server: "un-trusted", out: gemini, want: ask.Answer{State: ask.NotThere}},
		{client: "gemini", server: "x", out: "No MCP servers configured.\n", want: ask.Answer{State: ask.NotThere}},
		{client: "gemini", server: "x", out: "Error: Cannot find module\n", err: ask.ErrUnread},
		{client: "qwen", server: "tmux", out: "Configured MCP servers:\n\x1b[32m✓\x1b[0m tmux: /x  (stdio) - Connected\n", want: ask.Answer{State: ask.Connected, Says: "Connected", Command: "/x"}},
		{client: "opencode", server: "tmux", out: opencode, want: ask.Answer{State: ask.Connected, Says: "connected", Command: "/x y"}},
		{client: "opencode", server: "off", out: opencode, want: ask.Answer{State: ask.Disabled, Says: "disabled", Command: "/x"}},
		{client: "opencode", server: "sh", out: opencode, want: ask.Answer{State: ask.NotStarted, Says: "failed", Command: "/bin/false"}},
		{client: "opencode", server: "nosuch", out: opencode, want: ask.Answer{State: ask.NotThere}},
		{client: "droid", server: "tmux", out: droid, want: ask.Answer{State: ask.Connected, Says: "connected", Place: "user"}},
		{client: "droid", server: "off", out: droid, want: ask.Answer{State: ask.Disabled, Says: "disabled", Place: "user"}},
		{client: "droid", server: "sh", out: droid, want: ask.Answer{State: ask.NotStarted, Says: "failed: Failed to connect to MCP server", Place: "project"}},
		{client: "droid", server: "slow", out: "Configured MCP servers:\n  slow  stdio  connecting  [user]\n", want: ask.Answer{State: ask.NotStarted, Says: "connecting", Place: "user"}},
		{client: "grok", server: "tmux", out: grok, want: ask.Answer{State: ask.Connected, Says: "healthy", Command: "/x", ToolCount: &n}},
		{client: "grok", server: "off", out: "MCP server 'off' not found.\nAvailable servers: tmux, sh\n", want: ask.Answer{State: ask.NotThere, Says: "not found"}},
		{client: "grok", server: "sh", out: "warning: something\n" + `{"servers": [{"name": "sh", "target": "/bin/false", "checks": [{"label": "folder untrusted", "passed": false, "detail": "not started"}], "healthy": false}]}`, want: ask.Answer{State: ask.Disabled, Says: "folder untrusted: not started", Command: "/bin/false", Place: "project"}},
		{client: "grok", server: "sh", out: grok[:60], err: ask.ErrUnread},
		{client: "codex", server: "tmux", out: codex, err: ask.ErrUnread},
		{client: "codex", server: "tmux", out: codex + `{"id":2,"result":{"data":[{"name":"tmux","serverInfo":{"name":"s"},"tools":{"b":{},"a":{}},"toolsError":null}]}}` + "\n", want: ask.Answer{State: ask.Connected, Command: "/x y", Tools: []string{"a", "b"}, ToolCount: ptr(2)}},
		{client: "codex", server: "off", out: codex + `{"id":2,"result":{"data":[{"name":"off","serverInfo":null,"tools":{},"toolsError":null}]}}` + "\n", want: ask.Answer{State: ask.Disabled, Says: "enabled = false", Command: "/x"}},
		{client: "codex", server: "sh", out: codex + `{"id":2,"result":{"data":[{"name":"sh","serverInfo":null,"tools":{},"toolsError":"MCP startup failed: closed"}]}}` + "\n", want: ask.Answer{State: ask.NotStarted, Says: "MCP startup failed: closed", Command: "/bin/false"}},
		{client: "codex", server: "nosuch", out: codex + `{"id":2,"result":{"data":[]}}` + "\n", want: ask.Answer{State: ask.NotThere}},
	} {
		got, err := clients.Lookup(tt.client).Ask.Read(tt.out, tt.server)
		if !errors.Is(err, tt.err) || !cmp.Equal(got, tt.want) {
			t.Errorf("%s, %s: %+v, %v\nwant %+v, %v", tt.client, tt.server, got, err, tt.want, tt.err)
		}
	}
	if _, err := ask.Codex(`{"id":1,"error":{"code":-32600,"message":"Not initialized"}}`, "x"); err == nil || errors.Is(err, ask.ErrUnread) {
		t.Errorf("an error of codex is %v", err)
	}
}

func ptr[T any](v T) *T { return &v }
