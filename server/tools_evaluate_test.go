package server_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/server"
	"tmuxmcp/tmux/tmuxtest"
)

type evaluated struct {
	Result string  `json:"result"`
	PaneID *string `json:"pane_id"`
}

func evaluate(p *peer, format, more string) evaluated {
	p.t.Helper()
	quoted, err := json.Marshal(format)
	if err != nil {
		p.t.Fatal(err)
	}
	return ok[evaluated](p, "display_message", `{"format_string":`+string(quoted)+more+`}`)
}

func TestFormatsAreEvaluated(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	session(t, srv, "b")
	tmuxtest.Run(t, srv, "new-window", "-d", "-t", "=a:", "-n", "side", "cat")
	tmuxtest.Run(t, srv, "split-window", "-t", "%2", "cat")
	tmuxtest.Run(t, srv, "resize-pane", "-Z", "-t", "%3")
	tmuxtest.Run(t, srv, "select-pane", "-t", "%0", "-T", "two\nlines")
	cfg := configFor(srv)
	p := serve(t, cfg)
	for _, c := range []struct{ format, more, result, pane string }{
		{"#{pane_id} #{session_name}", `,"pane_id":"%0"`, "%0 a", "%0"},
		{"#{window_zoomed_flag}", `,"window_id":"@2"`, "1", "%3"},
		{"#{?window_zoomed_flag,zoomed,not}", `,"session_name":"b"`, "not", "%1"},
		{"#{session_id}", `,"session_id":"$1"`, "$1", "%1"},
		{"#{session_name}", "", "b", "%1"},
		{"100% %H #{==:#{pane_id},%0}", `,"pane_id":"%0"`, "100% %H 1", "%0"},
		{"#S:#W.#P", `,"pane_id":"%3"`, "a:side.1", "%3"},
		{"", "", "", "%1"}, {"a;", "", "a;", "%1"}, {"-x", "", "-x", "%1"},
		{"#{socket_path}", "", srv.SocketPath(), "%1"},
	} {
		got := evaluate(p, c.format, c.more)
		if got.Result != c.result || got.PaneID == nil || *got.PaneID != c.pane {
			t.Errorf("%s%s is %+v, want %q of %s", c.format, c.more, got, c.result, c.pane)
		}
	}
	if got := p.tool("display_message", `{"format_string":"#{pane_id}","pane_id":"%0"}`); got.text() != "%0" {
		t.Errorf("the text is %q", got.text())
	}
	p.fails("display_message", `{"format_string":"x","pane_id":"%99"}`, "Pane not found: %99")
	p.fails("display_message", `{"format_string":"x","window_id":"@99"}`, "Object not found: window @99")
	p.fails("display_message", `{"format_string":"x","session_name":"c"}`, "Object not found: session c")
	p.fails("display_message", `{"format_string":"x","session_id":"$9"}`, "Object not found: session $9")
	p.fails("display_message", `{}`, "format_string is required")
	for format, why := range map[string]string{
		"#(touch x)": "runs a shell command", "a#{?1,#(x),}": "runs a shell command", "#{E:#{a:35}(x)}": "#{E:#{a:35}(x)} is not taken", "#{T:status-right}": "the list tools", "#{E:@opt}": "not taken",
		"#{s/x/#{a:35}(y)/:pane_id}": "not taken", "#{pane_id": "without its }", "#{R:x,99999}": "not taken",
	} {
		args, _ := json.Marshal(map[string]string{"format_string": format})
		res := p.fails("display_message", string(args), "format_string is refused", why)
		if res.Meta["error_type"] != "ValidationError" {
			t.Errorf("%s is a %v", format, res.Meta["error_type"])
		}
	}

	cfg.Caller = server.Caller{Pane: "%0", Socket: srv.SocketPath()}
	if got := evaluate(serve(t, cfg), "#{pane_id}", ""); got.Result != "%0" {
		t.Errorf("without a target inside tmux: %+v", got)
	}
	tmuxtest.Run(t, srv, "set-option", "-s", "exit-empty", "off")
	tmuxtest.Run(t, srv, "resize-pane", "-Z", "-t", "%3") // tmux 3.4 dies of a zoomed window that is killed
	tmuxtest.Run(t, srv, "kill-session", "-t", "=a")
	tmuxtest.Run(t, srv, "kill-session", "-t", "=b")
	if got := evaluate(p, "#{version}#{pane_id}", ""); got.Result == "" || got.PaneID != nil {
		t.Errorf("on a server without sessions: %+v", got)
	}
}

// fingerprint is the state of a tmux server, without what time alone changes.
func fingerprint(t testing.TB, s *screen) string {
	t.Helper()
	var b strings.Builder
	for _, args := range [][]string{
		{"list-panes", "-a", "-F", "#{session_name} #{window_index} #{window_layout} #{pane_id} #{pane_pid} #{pane_title} #{pane_dead} #{pane_in_mode} #{pane_pipe} #{cursor_x},#{cursor_y} #{history_size}"},
		{"list-sessions", "-F", "#{session_id} #{session_name} #{session_windows} #{session_attached} #{session_group}"}, {"list-buffers"},
		{"show-options", "-g"}, {"show-options", "-s"}, {"show-options", "-gw"}, {"show-environment", "-g"}, {"show-hooks", "-g"}, {"capture-pane", "-p", "-t", s.pane, "-S", "-"},
		{"display-message", "-p", "#{pid}"},
	} {
		b.WriteString(tmuxtest.Run(t, s.srv, args[0], args[1:]...) + "\n")
	}
	return b.String()
}

// nasty are texts that would run a command, end the server or break out of
// something if they were taken for more than text. MARK is the file to be made.
var nasty = []string{
	"#(touch MARK)", "#{E:#{a:35}(touch MARK)}", "#{E:@run}", "#{T:@run}", "#{@run}", "#{s/./#{a:35}(touch MARK)/:pane_id}", "x}#(touch MARK)", "#{C:x}#(touch MARK)", "};#(touch MARK)",
	"%0;run-shell 'touch MARK'", "; run-shell 'touch MARK'", "a ; kill-server", "a;", "$(touch MARK)", "`touch MARK`", "-x", "--", "-t%0", "=b:", "{last}", "~", "!", "+", "@0", "$0", "%0", "", " ",
	"\n", "a\nkill-server", "\x00", "\xff", "'", "\"", "\\", "#", "##", "#{", "%", "%Y", "#[fg=red]", "}", ",", strings.Repeat("x", 20000), strings.Repeat("#{?x,", 500), "#{p999999999:x}", "#{R:#{R:x,9999},9999}",
	"(((((((((((((((((((((((((((((((((((((((((((", "(a*)*b", "*a*a*a*a*a*a*a*a*a*a*a*a*a*b", "[", "\x1b]2;x\a",
}

// Whatever is passed to a tool that only reads, no command runs, and nothing in
// tmux changes.
func TestReadingNeverRunsAnything(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	s := newScreen(t, srv, "a", 80, 10)
	session(t, srv, "b")
	mark := filepath.Join(t.TempDir(), "mark")
	run := "#(touch " + mark + ")"
	tmuxtest.Run(t, srv, "set-option", "-g", "@run", run)
	s.print("text " + run + "\n")
	p := serve(t, configFor(srv))
	cursor := ok[followed](p, "capture_since", `{"pane_id":"`+s.pane+`"}`).Cursor
	before := fingerprint(t, s)
	tools := map[string][]string{
		"display_message": {"format_string", "pane_id", "session_name", "session_id", "window_id", "socket_name"},
		"search_panes":    {"pattern", "session_name", "session_id", "content_start", "content_end"},
		"capture_since":   {"cursor", "pane_id", "session_name", "session_id", "window_id", "max_lines"},
		"capture_pane":    {"pane_id", "session_name", "session_id", "window_id", "start", "end"},
		"snapshot_pane":   {"pane_id", "session_name"},
		"wait_for_text":   {"patterns", "stop", "session_name"},
	}
	calls := 0
	for tool, arguments := range tools {
		for _, argument := range arguments {
			for _, text := range nasty {
				if calls++; !testtool.Full && calls%3 != 0 {
					continue
				}
				text = strings.ReplaceAll(text, "MARK", mark)
				args := map[string]any{argument: text}
				switch tool {
				case "display_message":
					if argument != "format_string" {
						args["format_string"] = "#{pane_id}"
					}
				case "search_panes":
					if argument != "pattern" {
						args["pattern"] = "x"
					} else {
						args["regex"] = calls%2 == 0
					}
				case "capture_since":
					if argument != "cursor" && calls%2 == 0 {
						args["cursor"] = cursor
					}
				case "wait_for_text":
					if argument != "timeout" {
						args["timeout"] = 0.01
					}
					if argument == "patterns" || argument == "stop" {
						args[argument] = []string{text}
						args["regex"] = calls%2 == 0
					}
				}
				raw, _ := json.Marshal(args)
				p.tool(tool, string(raw)) // an answer or an error, and no hang
			}
		}
	}
	// tmux runs jobs by the way; one that was started is done by now.
	later := mark + "-later"
	tmuxtest.Run(t, srv, "run-shell", "-b", "sleep 0.1; touch "+later)
	eventually(t, "a job that comes after any of these", func() bool { _, err := os.Stat(later); return err == nil })
	if _, err := os.Stat(mark); err == nil {
		t.Error("a shell command ran")
	}
	if after := fingerprint(t, s); after != before {
		t.Errorf("tmux has changed:\n%s", cmp.Diff(before, after))
	}
	if calls < 900 {
		t.Errorf("only %d calls", calls)
	}
}

// FuzzDisplayMessage lets a real server expand whatever the tool takes.
func FuzzDisplayMessage(f *testing.F) {
	for _, s := range nasty {
		f.Add(s)
	}
	srv := tmuxtest.New(f)
	session(f, srv, "a")
	mark := filepath.Join(f.TempDir(), "mark")
	tmuxtest.Run(f, srv, "set-option", "-g", "@run", "#(touch "+mark+")")
	p := serve(f, configFor(srv))
	f.Fuzz(func(t *testing.T, format string) {
		p.t = t
		raw, _ := json.Marshal(map[string]string{"format_string": strings.ReplaceAll(format, "MARK", mark)})
		start := time.Now()
		p.tool("display_message", string(raw))
		if d := time.Since(start); d > 30*time.Second {
			t.Errorf("%q takes %v", format, d)
		}
		if _, err := os.Stat(mark); err == nil {
			t.Fatalf("%q ran a command", format)
		}
	})
}

func TestTargetsByNamesThatAreMoreThanNames(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	for _, name := range []string{"a:0", "b.1", "c:d.e"} {
		tmuxtest.Run(t, srv, "new-session", "-d", "-s", name, "cat")
	}
	p := serve(t, configFor(srv))
	for _, row := range ok[rows](p, "list_sessions", `{}`).Result {
		args := fmt.Sprintf(`{"session_name":%q}`, row["session_name"])
		for _, tool := range []string{"capture_pane", "snapshot_pane", "capture_since"} {
			if got := ok[map[string]any](p, tool, args); got["pane_id"] != row["active_pane_id"] {
				t.Errorf("%s %s reads %v, want %v", tool, args, got["pane_id"], row["active_pane_id"])
			}
		}
	}
}
