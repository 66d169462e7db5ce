package conform

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tmuxmcp/conform/report"
	"tmuxmcp/tmux/tmuxtest"
)

// testServer is an MCP server whose tools do what servers should not. It is
// the process of "CONFORM_TEST_SERVER=… test-binary"; "stays" makes it one that
// does not leave at the end of its input.
func testServer(in io.Reader, out io.Writer) int {
	answer := func(id any, result any) {
		line, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "result": result})
		fmt.Fprintf(out, "%s\n", line)
	}
	text := func(s string) []any { return []any{map[string]any{"type": "text", "text": s}} }
	declared := map[string]any{"type": "object", "properties": map[string]any{"n": map[string]any{"type": "integer"}}, "required": []string{"n"}}
	var tools []any
	for _, name := range []string{"text", "refuses", "dies", "babbles", "hangs", "protocol", "environment"} {
		tools = append(tools, map[string]any{"name": name, "inputSchema": map[string]any{"type": "object"}})
	}
	for _, name := range []string{"fits", "lies", "omits"} {
		tools = append(tools, map[string]any{"name": name, "inputSchema": map[string]any{"type": "object"}, "outputSchema": declared})
	}
	if os.Getenv("CONFORM_TEST_SERVER") == "camel" {
		properties := func(name string) map[string]any {
			return map[string]any{"type": "object", "properties": map[string]any{name: map[string]any{"type": "string"}}}
		}
		tools = []any{
			map[string]any{"name": "call_readonly_tools_batch", "inputSchema": map[string]any{"type": "object"}},
			map[string]any{"name": "display_message", "inputSchema": properties("format")},
			map[string]any{"name": "list_panes", "inputSchema": properties("sessionName")},
		}
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var req struct {
			ID     any
			Method string
			Params struct {
				Name      string
				Arguments map[string]any
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &req); err != nil {
			return 4
		}
		switch req.Method + " " + req.Params.Name {
		case "initialize ":
			answer(req.ID, map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{"tools": map[string]any{}}, "serverInfo": map[string]any{"name": "t", "version": "0"}})
		case "tools/list ":
			answer(req.ID, map[string]any{"tools": tools})
		case "tools/call display_message":
			answer(req.ID, map[string]any{"content": text(""), "structuredContent": map[string]any{"value": req.Params.Arguments["format"], "paneId": "%0"}})
		case "tools/call list_panes":
			answer(req.ID, map[string]any{"content": text(""), "structuredContent": map[string]any{"panes": []any{map[string]any{"id": "%7", "currentCommand": req.Params.Arguments["sessionName"]}}}})
		case "tools/call text":
			answer(req.ID, map[string]any{"content": text("a text")})
		case "tools/call fits":
			answer(req.ID, map[string]any{"content": text("{}"), "structuredContent": map[string]any{"n": 1}})
		case "tools/call lies":
			answer(req.ID, map[string]any{"content": text("{}"), "structuredContent": map[string]any{"n": "one"}})
		case "tools/call omits":
			answer(req.ID, map[string]any{"content": text("{}")})
		case "tools/call refuses":
			answer(req.ID, map[string]any{"content": text("a reason"), "isError": true, "_meta": map[string]any{"error_type": "Sulking"}})
		case "tools/call environment":
			env := map[string]string{}
			for _, kv := range os.Environ() {
				k, v, _ := strings.Cut(kv, "=")
				env[k] = v
			}
			env["PWD"], _ = os.Getwd()
			answer(req.ID, map[string]any{"content": text(""), "structuredContent": env})
		case "tools/call protocol":
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%v,"error":{"code":-32603,"message":"a fault"}}`+"\n", req.ID)
		case "tools/call dies":
			fmt.Fprintln(os.Stderr, "a last word")
			return 3
		case "tools/call babbles":
			fmt.Fprintln(out, "hello there")
		case "tools/call hangs":
			// What it has started holds its standard output open.
			c := exec.Command("sleep", "1000")
			c.Stdout = os.Stdout
			c.Start()
			fmt.Fprintln(os.Stderr, "thinking")
		}
	}
	if os.Getenv("CONFORM_TEST_SERVER") == "stays" {
		time.Sleep(time.Hour) // not select: without cgo that is a deadlock
	}
	return 0
}

// What servers do, and what becomes of it. Nothing is left of any.
func TestServers(t *testing.T) {
	t.Parallel()
	exe := child(t)[0]
	good, stays := "CONFORM_TEST_SERVER=1 "+exe, "CONFORM_TEST_SERVER=stays "+exe
	for _, tt := range []struct {
		name, server, script string
		status               report.Status
		reason               string // a part of it
	}{
		{"answers", good, "mcp text\njson result 'a text'\nmcp fits {}\njson n 1\nsave n n\nmcp fits '{\"n\": '$n'}'\n", report.Pass, ""},
		{"refuses", good, "! mcp refuses\nstderr '^a reason$'\njson _meta.error_type Sulking\ntry mcp refuses\n[ok] stop\nmcp text\n", report.Pass, ""},
		{"refuses what must succeed", good, "mcp refuses\n", report.Fail, "01-test.txtar:5: unexpected command failure: "},
		{"succeeds where it must not", good, "! mcp text\n", report.Fail, "unexpected command success"},
		{"waits", good, "wait-until 'a text' mcp text\n", report.Pass, ""},
		{"leaves", good, "mcp text\nmcp-leave\nmcp text\nmcp-leave\n", report.Pass, ""},
		{"stays", stays, "mcp text\nmcp-leave\n", report.Fail, "no end within 3s"},
		{"stays, and is not asked", stays, "mcp text\n", report.Pass, ""},
		{"answers otherwise than it declares", good, "mcp lies\n", report.Fail, "the answer is not as lies declares it: - at '/n': got string, want integer"},
		{"answers with nothing", good, "mcp omits\n", report.Fail, "without structured content"},
		{"has no such tool", good, "! mcp nosuch\n", report.NotOffered, "the server offers no tool nosuch"},
		{"is waited for without the tool", good, "wait-until x mcp nosuch\n", report.NotOffered, "the server offers no tool nosuch"},
		{"is tried without the tool", good, "try mcp nosuch\n", report.NotOffered, "the server offers no tool nosuch"},
		{"breaks the protocol", good, "! mcp protocol\n", report.Fail, "a fault"},
		{"dies", good, "mcp text\n! mcp dies\n", report.Fail, "01-test.txtar:6: the server ended: exit status 3: a last word"},
		{"babbles", good, "mcp babbles\n", report.Fail, `no message: "hello there"`},
		{"hangs", good, "mcp hangs\n", report.Fail, "no end within 3s"},
		{"hides in the background", "setsid sh -c 'trap : HUP TERM INT; sleep 1000; sleep 1000' & exec env " + good, "mcp text\n", report.Pass, ""},
		{"is a script's mistake", good, "mcp text [1]\n", report.Errored, "usage: mcp TOOL [JSON]"},
		{"gets a tier too late", good, "mcp text\nsafety readonly\n", report.Errored, "usage: safety TIER"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			timeout := unhurried
			if tt.reason == "no end within 3s" {
				timeout = 3 * time.Second
			}
			c := runGap(t, gapOf(t, report.MCPLayer, tt.script), Options{Server: tt.server, Timeout: timeout})
			if c.Status != tt.status || !strings.Contains(c.Reason, tt.reason) {
				t.Errorf("%s: %s\nwant %s: %s\n%s", c.Status, c.Reason, tt.status, tt.reason, c.Log)
			}
			if e := c.Last(); c.Status == report.Fail && (e.Command == "" || e.Actual == "") {
				t.Errorf("evidence: %q", e)
			}
		})
	}
}

// A dialect is detected from what a real handshake brings, and calls and answers are
// translated.
func TestDetectedDialect(t *testing.T) {
	t.Parallel()
	g := gapOf(t, report.MCPLayer, `
mcp display_message '{"format_string": "abc"}'
json result abc
json pane_id %0
mcp list_panes '{"session_name": "work"}'
json result.0.pane_id %7
json result.0.pane_current_command work
`)
	none := gapOf(t, report.MCPLayer, "mcp display_message '{\"window_id\": \"@0\", \"format_string\": \"x\"}'\n")
	none.Number = 2
	result := mustRun(t, Options{Gaps: []*Gap{g, none}, Server: "CONFORM_TEST_SERVER=camel " + child(t)[0]})
	if a, b := result.Cells[0], result.Cells[1]; result.Dialect != "libtmux-camel" || a.Status != report.Pass || b.Status != report.NotOffered {
		t.Errorf("dialect %q, %s: %s, %s: %s", result.Dialect, a.Status, a.Reason, b.Status, b.Reason)
	}
	if !result.OK() {
		t.Error("what is not offered is a failure, though something is offered")
	}
	result.Cells = result.Cells[1:]
	if result.OK() {
		t.Error("nothing is offered, and all is well")
	}
}

// A server that cannot be asked is one error with the beginning of what it wrote,
// before anything runs. Nothing is left of it.
func TestServersThatDoNotStart(t *testing.T) {
	t.Parallel()
	temp := shortTemp(t)
	t.Cleanup(func() { nothingLeft(t, temp) })
	targets, err := ownTarget(tmuxtest.Binary(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ server, want string }{
		{"/no/such/server", `the server "/no/such/server" cannot be asked: the server ended: exit status 127: `},
		{"true", "the server ended: exit status 0"},
		{"echo first words >&2; seq 1000 >&2; exit 3", "the server ended: exit status 3: first words 1 2 3 "},
		{"exec sleep 1000", "no answer within 3s"},
		{"exec yes '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}'", ""},
		{"exec tr '\\0' x </dev/zero", "no message"},
	} {
		t.Run(tt.server, func(t *testing.T) {
			t.Parallel()
			timeout := unhurried
			if tt.want == "no answer within 3s" {
				timeout = 3 * time.Second
			}
			_, err := Run(t.Context(), Options{Targets: targets, Gaps: []*Gap{gapOf(t, report.MCPLayer, "mcp text\n")}, Server: tt.server, Timeout: timeout, child: child(t), temp: temp})
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 1500 {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
}

// A server gets its configuration from its environment, which has nothing of the
// user's, and is started in the user's directory.
func TestServerEnvironment(t *testing.T) {
	t.Setenv("SECRET_OF_MINE", "x")
	t.Setenv("LIBTMUX_SOCKET", "mine")
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	c := runGap(t, gapOf(t, report.MCPLayer, strings.ReplaceAll(`safety destructive
mcp environment
json LIBTMUX_SOCKET_PATH $SOCKET
json TMUX_MCP_SOCKET_PATH $SOCKET
! json LIBTMUX_SAFETY
! json LIBTMUX_TOOLSETS
json TMUX_MCP_SAFETY destructive
json TMUX_MCP_TRANSPORT exec
json PWD 'DIR'
! json SECRET_OF_MINE
! json LIBTMUX_SOCKET
! json TMUX
stdout '"TMUX_MCP_TMUX_BIN": "/'
stdout '"LIBTMUX_TMUX_BIN": "/'
`, "DIR", filepath.ToSlash(dir))), Options{Server: "CONFORM_TEST_SERVER=1 " + child(t)[0]})
	if c.Status != report.Pass || c.Transport != "" {
		t.Errorf("%s: %s, transport %q\n%s", c.Status, c.Reason, c.Transport, c.Log)
	}
}

// The server of this program serves the script's tmux, with the tier that the
// script says.
func TestOwnServer(t *testing.T) {
	t.Parallel()
	c := runGap(t, gapOf(t, report.MCPLayer, `
tmux new-session -d -s work 'exec sleep 60'
mcp list_sessions
json 'result.#.session_name' '["work"]'
! mcp kill_session '{"session_name": "work"}'
`), Options{})
	if c.Status != report.Fail || !strings.Contains(c.Reason, "offers no tool kill_session") || c.Transport != "exec" {
		t.Errorf("%s: %s, transport %q\n%s", c.Status, c.Reason, c.Transport, c.Log)
	}
	c = runGap(t, gapOf(t, report.MCPLayer, `
tmux new-session -d -s work 'exec sleep 60'
tmux new-session -d -s other 'exec sleep 60'
safety destructive
mcp kill_session '{"session_name": "work"}'
tmux list-sessions -F '#{session_name}'
stdout '\Aother\n\z'
`), Options{Transport: "native"})
	if c.Status != report.Pass || c.Transport != "native" {
		t.Errorf("%s: %s, transport %q\n%s", c.Status, c.Reason, c.Transport, c.Log)
	}
}
