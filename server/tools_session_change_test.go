package server_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/server"
	"tmuxmcp/tmux"
)

// args is a tool's arguments as JSON.
func args(t testing.TB, nameValues ...any) string {
	t.Helper()
	m := map[string]any{}
	for i := 0; i < len(nameValues); i += 2 {
		m[nameValues[i].(string)] = nameValues[i+1]
	}
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// format is what tmux expands a format to.
func format(t testing.TB, srv *tmux.Server, target, format string) string {
	t.Helper()
	return testserver.Run(t, srv, "display-message", "-p", "-t", target, format)
}

// version is the tmux under test, such as 3.3.
func version(t testing.TB, srv *tmux.Server) tmux.Version {
	t.Helper()
	v, err := srv.Version(testserver.Context(t))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// literalTexts are names, titles and directories that tmux would make something
// else of.
var literalTexts = []string{
	"#S", "#{pane_id}", "#(touch marker)", "##", "%Y-%m", "#[fg=red]", "a;b;", "-t", "{curly}", "o'clock \"q\"", "~", "*", "=x", "a, b", "ünï 漢", "}", " lead",
}

func TestNamesAreLiteralText(t *testing.T) {
	t.Parallel()
	srv, p := served(t)
	for i, text := range literalTexts {
		for _, c := range []struct{ tool, row, args string }{
			{"create_session", "session_name", args(t, "session_name", text+strconv.Itoa(i))},
			{"rename_session", "session_name", args(t, "session_id", "$0", "new_name", text)},
			{"create_window", "window_name", args(t, "session_id", "$0", "window_name", text)},
			{"rename_window", "window_name", args(t, "window_id", "@0", "new_name", text)},
			{"set_pane_title", "pane_title", args(t, "pane_id", "%0", "title", text)},
		} {
			want := text
			if c.tool == "create_session" {
				want += strconv.Itoa(i)
			}
			if got := ok[map[string]any](p, c.tool, c.args)[c.row]; got != want {
				t.Errorf("%s %s: it is %q", c.tool, c.args, got)
			}
		}
	}
	// tmux stores these in another spelling, which the answer shows.
	for _, text := range []string{`back\slash`, "tab\there", "bell\a", "new\nline", "$HOME"} {
		for tool, token := range map[string]string{"rename_session": "session_name", "rename_window": "window_name"} {
			given := args(t, "session_id", "$0", "new_name", text)
			if strings.ContainsAny(text, "\t\a\n") && version(t, srv).Has(tmux.Version{Major: 3, Minor: 7}) {
				p.fails(tool, given, "tmux error: ", "invalid ", "name")
				continue
			}
			row := ok[map[string]any](p, tool, given)
			list := map[string]string{"rename_session": "list_sessions", "rename_window": "list_windows"}[tool]
			all := ok[rows](p, list, args(t, "filters", map[string]string{token: fmt.Sprint(row[token])}))
			if all.Total != 1 || row["session_id"] != "$0" {
				t.Errorf("%s %q answers with %v of %v, which %d have", tool, text, row[token], row["session_id"], all.Total)
			}
		}
	}
}

// TestCreateSessionOnTheServerItNames: libtmux-mcp took TMUX out of the process
// environment for a moment, and made the session on another server.
func TestCreateSessionOnTheServerItNames(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	session(t, srv, "a")
	cfg := configFor(srv)
	cfg.Env = append(cfg.Env, "HOME="+t.TempDir(), "TMUX="+srv.SocketPath()+",1,0", "TMUX_PANE=%0")
	cfg.Caller = server.Caller{Pane: "%0", Socket: srv.SocketPath()}
	p := serve(t, cfg)
	var calls []<-chan reply
	for i := range 8 {
		given := map[string]any{"session_name": fmt.Sprint("s", i), "socket_name": "second"}
		c, _ := p.begin("tools/call", map[string]any{"name": "create_session", "arguments": given})
		calls = append(calls, c)
	}
	for i, c := range calls {
		if s := decode[map[string]any](p, "create_session", p.await(c)); s["session_name"] != fmt.Sprint("s", i) {
			t.Errorf("session %d is %v", i, s)
		}
	}
	if got := ok[rows](p, "list_sessions", `{"socket_name":"second"}`); got.Total != 8 {
		t.Errorf("the named server has %s", got.column("session_name"))
	}
	if got := ok[rows](p, "list_sessions", `{}`); got.column("session_name") != "a" {
		t.Errorf("the caller's server has %s", got.column("session_name"))
	}
	// Without a name it is the caller's own.
	if s := ok[map[string]any](p, "create_session", `{"session_name":"own"}`); s["active_pane_id"] != "%1" {
		t.Errorf("the session on the caller's server is %v", s)
	}
}
