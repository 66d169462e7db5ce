package conform

import (
	"bufio"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"tmuxmcp/conform/report"
	"tmuxmcp/internal/test/testserver"
)

// testdata/server.json has the tools of testServer, those of its dialect, and what those
// answer whose answer is always the same.
//
//go:embed testdata/server.json
var serverJSON []byte

// testServer serves MCP with tools that do what servers should not. It is what the process of
// "CONFORM_TEST_SERVER=… test-binary" does; "stays" makes it a server that does not leave at
// the end of its input, "camel" one with a dialect.
func testServer(in io.Reader, out io.Writer) int {
	var server struct {
		Tools, Camel []any
		Answers      map[string]any
	}
	if err := json.Unmarshal(serverJSON, &server); err != nil {
		panic(err)
	}
	if os.Getenv("CONFORM_TEST_SERVER") == "camel" {
		server.Tools = server.Camel
	}
	answer := func(id any, result any) {
		line, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "result": result})
		fmt.Fprintf(out, "%s\n", line)
	}
	structured := func(id any, result any) {
		answer(id, map[string]any{"content": []any{map[string]any{"type": "text", "text": ""}}, "structuredContent": result})
	}
	lines, moody := bufio.NewScanner(in), false
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
		if fixed, ok := server.Answers[cmp.Or(req.Params.Name, req.Method)]; ok {
			answer(req.ID, fixed)
			continue
		}
		switch req.Method + " " + req.Params.Name {
		case "tools/list ":
			answer(req.ID, map[string]any{"tools": server.Tools})
		case "tools/call moody": // which refuses all but the first
			if moody = !moody; moody {
				structured(req.ID, map[string]any{"n": 1})
			} else {
				answer(req.ID, map[string]any{"content": []any{}, "isError": true})
			}
		case "tools/call display_message":
			structured(req.ID, map[string]any{"value": req.Params.Arguments["format"], "paneId": "%0"})
		case "tools/call list_panes":
			pane := map[string]any{"id": "%7", "currentCommand": req.Params.Arguments["sessionName"]}
			structured(req.ID, map[string]any{"panes": []any{pane}})
		case "tools/call environment":
			env := map[string]string{}
			for _, kv := range os.Environ() {
				k, v, _ := strings.Cut(kv, "=")
				env[k] = v
			}
			env["PWD"], _ = os.Getwd()
			structured(req.ID, env)
		case "tools/call protocol":
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%v,"error":{"code":-32603,"message":"a fault"}}`+"\n", req.ID)
		case "tools/call invalid":
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%v,"error":{"code":-32602,"message":"there is no parameter size"}}`+"\n", req.ID)
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
	wrong := gapOf(t, report.MCPLayer, "mcp list_panes '{\"session_name\": \"work\"}'\njson result.0.pane_current_command rest\n")
	wrong.Number = 3
	result := mustRun(t, Options{Gaps: []*Gap{g, none, wrong}, Server: "CONFORM_TEST_SERVER=camel " + scriptProcess(t)[0]})
	if a, b := result.Cells[0], result.Cells[1]; result.Dialect != "libtmux-camel" || a.Status != report.Pass || b.Status != report.NotOffered {
		t.Errorf("dialect %q, %s: %s, %s: %s", result.Dialect, a.Status, a.Reason, b.Status, b.Reason)
	}
	// Evidence has what the server was asked.
	if got, want := result.Cells[2].Last().Command, `mcp list_panes '{"session_name": "work"}' → list_panes {"sessionName":"work"}`; got != want {
		t.Errorf("the evidence is of %s, want %s", got, want)
	}
	result.Cells = result.Cells[:2]
	if !result.OK() {
		t.Error("what is not offered is a failure, though something is offered")
	}
	result.Cells = result.Cells[1:]
	if result.OK() {
		t.Error("nothing is offered, and all is well")
	}
}

// What the server's list of tools shows not to be offered needs no process, and is reported as
// if it had been asked. Where anything else may come of a script, it runs.
func TestNothingOffered(t *testing.T) {
	t.Parallel()
	server := "CONFORM_TEST_SERVER=1 " + scriptProcess(t)[0]
	const nosuch = "tmux new-session -d 'exec sleep 60'\n! mcp nosuch '{\"pane_id\": \"'$p'\"}'\nwait-until x mcp nosuch_either\n"
	for script, none := range map[string]bool{
		nosuch:                                  true,
		nosuch + "mcp text\n":                   false,
		nosuch + "mcp text '{}' # looks\n":      false,
		"safety destructive\n" + nosuch:         false,
		"[tmux:99.1] mcp text\n" + nosuch:       true,
		"[tmux:1.8] mcp text\n" + nosuch:        false,
		"[ok] mcp nosuch\n" + nosuch:            false,
		nosuch + "[!tmux:1.8] stop\n":           true,
		nosuch + "[tmux:1.8] stop\n":            false,
		"[tmux:1.8] na 'too new'\n" + nosuch:    false,
		"[!tmux:1.8] na 'too old'\n" + nosuch:   true,
		"tmux new-session -d 'exec sleep 60'\n": false,
	} {
		g := gapOf(t, report.MCPLayer, script)
		c := runGap(t, g, Options{Server: server, child: []string{"false"}})
		if got := c.Status == report.NotOffered; got != none || none && c.Reason != "the server offers no tool nosuch" {
			t.Errorf("%s: %s\n%s", c.Status, c.Reason, script)
		}
		if !none {
			continue
		}
		asked := runGap(t, g, Options{Server: server, Reproduce: true})
		asked.Reproducer, asked.DurationMS, asked.Log, c.DurationMS = "", 0, "", 0
		asked.Evidence[0].Command, asked.Claims[0].Evidence.Command = c.Evidence[0].Command, c.Evidence[0].Command // has the value of $p
		if diff := gocmp.Diff(asked, c); diff != "" {
			t.Errorf("(-asked +not):\n%s", diff)
		}
	}
}

// A server that cannot be asked is one error with the beginning of what it wrote,
// before anything runs. Nothing is left of it.
func TestServersThatDoNotStart(t *testing.T) {
	t.Parallel()
	temp := shortTemp(t)
	t.Cleanup(func() { nothingLeft(t, temp) })
	targets, err := ownTarget(testserver.Binary(t))
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
			_, err := Run(t.Context(), Options{Targets: targets, Gaps: []*Gap{gapOf(t, report.MCPLayer, "mcp text\n")}, Server: tt.server, Timeout: timeout, child: scriptProcess(t), temp: temp})
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
`, "DIR", filepath.ToSlash(dir))), Options{Server: "CONFORM_TEST_SERVER=1 " + scriptProcess(t)[0]})
	if c.Status != report.Pass || c.Transport != "" {
		t.Errorf("%s: %s, transport %q\n%s", c.Status, c.Reason, c.Transport, c.Log)
	}
}

// A server that runs plain tmux gets the target, on the script's own server, whatever is
// installed.
func TestServerRunsPlainTmux(t *testing.T) {
	t.Parallel()
	real := testserver.Binary(t)
	path := program(t, `if [ "$1" = -V ]; then echo tmux 3.99; else exec '`+real+`' "$@"; fi`)
	targets, err := resolve(t.Context(), []string{path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	g := gapOf(t, report.MCPLayer, "mcp environment\njson V 'tmux 3.99'\njson SEEN $SOCKET\ntmux list-sessions -F '#{session_name}'\nstdout '^made$'\n")
	server := `export V="$(tmux -V)" SEEN="$(tmux new-session -d -s made ';' display-message -p '#{socket_path}')"; CONFORM_TEST_SERVER=1 exec ` + scriptProcess(t)[0]
	if c := runGap(t, g, Options{Targets: targets, Server: server}); c.Status != report.Pass {
		t.Errorf("%s: %s\n%s", c.Status, c.Reason, c.Log)
	}
}

// Of a server without structured content scripts see the text and the JSON within it; what a tool
// does not declare is not offered.
func TestServerOfText(t *testing.T) {
	t.Parallel()
	server := "CONFORM_TEST_SERVER=1 " + scriptProcess(t)[0]
	within := gapOf(t, report.MCPLayer, "mcp created\njson result 'Pane split [1]. New pane: {\"id\":\"%1\",\"at\":[0,2]} {}'\njson json.id %1\njson json.at.1 2\nmcp text\n! json json\nclaim a\n"+
		"mcp created '{\"size\": 3}'\njson result other\nclaim b\n! mcp -wrong created '{\"size\": 3}'\nclaim c\n")
	c := runGap(t, within, Options{Server: server})
	var got []string
	for _, cl := range c.Claims {
		got = append(got, string(cl.Outcome)+" "+cl.Why)
	}
	if want := []string{"true ", "not offered the server's created has no parameter size"}; !slices.Equal(got[:2], want) || c.Claims[2].Outcome != report.Open {
		t.Errorf("%q, want %q\n%s", got, want, c.Log)
	}
}
