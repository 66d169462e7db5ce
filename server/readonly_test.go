package server_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

// world is a tmux server in which everything with a name is named like an attack, and what
// can be observed of it.
type world struct {
	srv *tmux.Server
	// dir is where attacks leave their marks.
	dir string
	pid string
}

const ourBuffer = "libtmux_mcp_0123456789abcdef0123456789abcdef_x"

func newWorld(t testing.TB) *world {
	srv := testserver.New(t)
	w := &world{srv: srv, dir: t.TempDir()}
	job := w.job()
	dir := filepath.Join(w.dir, "#(:)")
	// The tmux program makes the second when it is given a socket's name.
	for _, d := range []string{dir, filepath.Join(filepath.Dir(srv.SocketPath()), "tmux-"+strconv.Itoa(os.Getuid()))} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	run := func(name string, args ...string) { t.Helper(); testserver.Run(t, srv, name, args...) }
	session(t, srv, "a")
	literal := strings.ReplaceAll(job, "#", "##")
	run("new-session", "-d", "-x", "80", "-y", "24", "-s", strings.ReplaceAll(literal, ".", ""), "-n", literal, "-c", dir, "printf 'needle %s\\n' "+tmux.ShellQuote(job)+"; exec cat")
	run("split-window", "-d", "-t", "=a:", "printf '\\033]2;"+job+"\\033\\\\'; exec cat")
	for _, option := range []string{"status-left", "status-right", "set-titles-string", "@job", "@x"} {
		run("set-option", "-g", option, job)
	}
	for _, option := range []string{"window-status-format", "pane-border-format", "@job"} {
		run("set-option", "-gw", option, job)
	}
	run("set-hook", "-g", "session-renamed", "run-shell 'touch "+w.marker()+"'")
	run("set-environment", "-g", "JOB", job)
	run("set-buffer", "-b", job, "theirs")
	run("set-buffer", "-b", ourBuffer, job+"\n")
	testserver.WaitScreen(t, srv, "%1", "needle")
	testserver.Wait(t, srv, "%2", "title", func() bool {
		return strings.Contains(testserver.Run(t, srv, "display-message", "-p", "-t", "%2", "#{pane_title}"), "touch")
	})
	w.pid = testserver.Run(t, srv, "display-message", "-p", "#{pid}")
	return w
}

func (w *world) marker() string { return filepath.Join(w.dir, "marker") }

// job returns the format that runs a shell command which leaves a mark.
func (w *world) job() string { return "#(touch " + w.marker() + ")" }

// attacks returns texts that would run a job, end a command or name what they should not,
// in one place or another.
func (w *world) attacks() []string {
	job, shell := w.job(), "touch "+w.marker()
	texts := []string{
		job, "x" + job + "y", "}" + job, "," + job, "#}" + job, "]" + job, "[" + job + "]", "@" + job, "@x[" + job + "]", "status-left[" + job + "]",
		"pane-died[" + job + "]", "=a:" + job, "{" + job + "}", "#{E:@job}", "#{T:@job}", "#{E:status-right}", "#{T:status-right}", "#{E:session_name}", "#{E:pane_title}",
		"#{E:#{a:35}(" + shell + ")}", "#{T:#{a:35}(" + shell + ")}", "#{E:#{E:#{a:35}{a:35#}}(" + shell + ")}", "#{E:window_name}", "#{E:JOB}", "#{E:buffer_name}",
		"; run-shell '" + shell + "'", ";", "a;", `\;`, "\nrun-shell '" + shell + "'\n", "%0;run-shell '" + shell + "'", "} ; run-shell '" + shell + "' ; {",
		"-t", "--", "-F" + job, "-" + job, "$(" + shell + ")", "`" + shell + "`", "|" + shell, "'; " + shell + "; '", `"; ` + shell + `; "`,
		"..", "../x", w.marker(), "$0:@99", "%99", "@99", "$99", "+", "-1", "!", "{last}", "{mouse}", "=", "", " ", "%", "@", "$", "~", "*", "?", "[", "#", "##", "#{", "#(", "#[", "%H",
		"é", "\x1b]0;x\a", "\x00", "a\tb\nc\r", strings.Repeat("x", 20_000), strings.Repeat("#{E:", 60) + job + strings.Repeat("}", 60),
		"a", "%0", "@0", "$0", "0", ourBuffer, "needle", "status-left", "pane-died", "@job", "(", "a{2}", ".*", "kill_server", "send_keys",
	}
	for _, modifier := range []string{
		"l", "W", "S", "P", "L", "q", "n", "w", "a", "p9", "=3", "b", "d", "t", "N/w", "N/s", "C", "C/r", "C/i", "m:*,", "m/r:x,", "==:a,", "!=:a,", "||:0,", "&&:1,",
		"e|+|:1,", "s|x|" + job + "|", "t|f|" + job, "?1,", "E;q", "T;l", "!", "!!", "R:1,", "c",
	} {
		sep := ":"
		if strings.HasSuffix(modifier, ",") {
			sep = ""
		}
		texts = append(texts, "#{"+modifier+sep+job+"}")
	}
	return texts
}

// state returns everything that a reading tool must leave unchanged: the tmux server, and
// the files and processes around it.
func (w *world) state(t testing.TB) string {
	t.Helper()
	var b strings.Builder
	// Reading is no activity either.
	b.WriteString(testserver.Run(t, w.srv, "list-windows", "-a", "-F", "#{session_activity} #{window_activity}") + "\n" + wholeState(t, w.srv))
	files := func(dir string) {
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err == nil {
				fmt.Fprintln(&b, path, d.Type())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	files(w.dir)
	files(filepath.Dir(w.srv.SocketPath()))
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(&b, len(entries), "files here")
	return b.String() + w.processes()
}

// processes lists the running processes that the tmux server has started, and what the
// ended ones have cost it. On Linux no job goes unnoticed, however short it was and
// whatever it did.
func (w *world) processes() string {
	stat, err := os.ReadFile("/proc/" + w.pid + "/stat")
	if err != nil {
		return ""
	}
	children, _ := os.ReadFile("/proc/" + w.pid + "/task/" + w.pid + "/children")
	_, fields, _ := strings.Cut(string(stat), ") ")
	// The page faults of children that were waited for.
	return fmt.Sprintf("children %s, faults of those that ended %s\n", children, strings.Fields(fields)[8])
}

// difference returns a diff of two states, or "".
func difference(before, after string) string {
	return cmp.Diff(strings.Split(before, "\n"), strings.Split(after, "\n"))
}

// unchanged compares the world with an earlier state, for as long as a job may take to
// show.
func (w *world) unchanged(t testing.TB, before string, during time.Duration) {
	t.Helper()
	for deadline := time.Now().Add(during); ; time.Sleep(10 * time.Millisecond) {
		after := w.state(t)
		if after != before {
			t.Fatalf("a reading tool has changed something:\n%s", difference(before, after))
		}
		if time.Now().After(deadline) {
			return
		}
	}
}

// sees checks that a job would be noticed, by running one.
func (w *world) sees(t testing.TB, before string) {
	t.Helper()
	for range 500 {
		testserver.Run(t, w.srv, "display-message", "-p", w.job())
		if w.state(t) != before {
			return
		}
	}
	t.Error("a job ran and nothing was seen of it: this test tests nothing")
}

// sensible returns arguments with which calls reach tmux.
func sensible() map[string][]any {
	return map[string][]any{
		"pane_id": {"%0", "%1", "%2"}, "window_id": {"@0", "@1"}, "session_id": {"$0", "$1"}, "session_name": {"a"}, "window_index": {"0"},
		"socket_name": {}, "target": {}, "output_path": {"/dev/null"}, "option": {"status-left", "@job", "mode-keys"}, "hook_name": {"session-renamed"}, "buffer_name": {ourBuffer},
		"timeout": {0.05}, "interval": {0.01}, "idle_seconds": {0.02}, "filters": {map[string]any{"session_name": "a"}}, "format_string": {"#{pane_id} #{session_name}"},
		"pattern": {"needle"}, "patterns": {[]any{"needle"}}, "stop": {}, "cursor": {}, "extra_socket_paths": {}, "name": {"run_and_wait"}, "arguments": {map[string]any{"command": "true", "pane_id": "%0"}},
		"operations": {[]any{map[string]any{"tool": "list_panes"}}}, "regex": {false}, "start": {0}, "end": {}, "max_lines": {500, nil},
	}
}

func readOnly(tools []listedTool) []listedTool {
	return slices.DeleteFunc(tools, func(t listedTool) bool { return !t.Annotations.ReadOnlyHint })
}

// attackOn returns the calls of a tool with a text in one of its arguments.
func attackOn(r *rand.Rand, tool listedTool, argument, text string) []toolCall {
	var calls []toolCall
	for _, v := range tool.InputSchema.Properties[argument].withText(text) {
		args := tool.arguments(r, sensible())
		// What goes before this argument, or makes it an error.
		switch argument {
		case "session_name", "session_id", "window_index":
			delete(args, "pane_id")
			delete(args, "window_id")
			if argument == "session_name" {
				delete(args, "session_id")
			}
		case "window_id":
			delete(args, "pane_id")
		case "target":
			delete(args, "global_")
			args["scope"] = []string{"session", "window", "pane"}[r.IntN(3)]
		}
		args[argument] = v
		calls = append(calls, toolCall{tool.Name, args})
		if r.IntN(8) == 0 {
			calls = append(calls, toolCall{"call_readonly_tools_batch", map[string]any{"on_error": "continue", "operations": []any{
				map[string]any{"tool": tool.Name, "arguments": args},
				map[string]any{"tool": "set_option", "arguments": map[string]any{"option": "@y", "value": text}},
				map[string]any{"tool": "kill_server"}, map[string]any{"tool": text, "arguments": args},
			}}})
		}
	}
	return calls
}

// TestReadingToolsRunNothingAndChangeNothing: whatever a caller passes to any reading tool,
// no job runs and tmux stays unchanged.
func TestReadingToolsRunNothingAndChangeNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cfg := configFor(w.srv) // with every tier, so that batches have to refuse by themselves
	cfg.PromptsAsTools = true
	p := serve(t, cfg)
	tools := readOnly(p.listed())
	r := rand.New(rand.NewPCG(1, 2))
	before := w.state(t)

	var plain, calls []toolCall
	for _, tool := range tools {
		for range 20 {
			plain = append(plain, toolCall{tool.Name, tool.arguments(r, sensible())})
		}
		for _, argument := range tool.InputSchema.names() {
			attacks := w.attacks()
			if !tool.InputSchema.Properties[argument].takesText() {
				r.Shuffle(len(attacks), func(i, j int) { attacks[i], attacks[j] = attacks[j], attacks[i] })
				attacks = attacks[:5]
			}
			for _, text := range attacks {
				calls = append(calls, attackOn(r, tool, argument, text)...)
			}
		}
	}
	never(t, tools, p.tryAll(plain, 8))
	w.unchanged(t, before, 100*time.Millisecond)
	if !testtool.Full {
		r.Shuffle(len(calls), func(i, j int) { calls[i], calls[j] = calls[j], calls[i] })
		calls = calls[:len(calls)/16]
	}
	start := time.Now()
	p.tryAll(calls, 16)
	t.Logf("%d calls of %d tools in %v", len(calls), len(tools), time.Since(start).Round(time.Millisecond))
	w.unchanged(t, before, 100*time.Millisecond)
	w.sees(t, before)
}

// TestResourcesRunNothingAndChangeNothing is the same for resources and the
// completion of their arguments.
func TestResourcesRunNothingAndChangeNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := serve(t, configFor(w.srv))
	before := w.state(t)
	read := 0
	for i, text := range w.attacks() {
		if len(text) > 5000 || !testtool.Full && i%3 != 0 {
			continue
		}
		e := url.PathEscape(text)
		for _, uri := range []string{
			"tmux://sessions/" + e, "tmux://sessions/" + e + "/windows", "tmux://sessions/a/windows/" + e, "tmux://panes/" + e, "tmux://panes/" + e + "/content",
			"tmux://sessions?socket_name=" + url.QueryEscape(text),
		} {
			if r := p.request("resources/read", map[string]string{"uri": uri}); r.Error == nil {
				read++
			}
		}
		for template, argument := range map[string]string{"tmux://sessions/{session_name}{?socket_name}": "session_name", "tmux://panes/{pane_id}{?socket_name}": "pane_id"} {
			p.request("completion/complete", map[string]any{
				"ref": map[string]any{"type": "ref/resource", "uri": template}, "argument": map[string]any{"name": argument, "value": text},
			})
		}
	}
	if read == 0 {
		t.Error("no resource could be read")
	}
	w.unchanged(t, before, 100*time.Millisecond)
}

// FuzzReadingTools puts the fuzzer's texts into one argument of one reading tool after the
// other.
func FuzzReadingTools(f *testing.F) {
	w := newWorld(f)
	p := serve(f, configFor(w.srv))
	tools := readOnly(p.listed())
	type slot struct {
		tool     listedTool
		argument string
	}
	var slots []slot
	for _, tool := range tools {
		for _, argument := range tool.InputSchema.names() {
			slots = append(slots, slot{tool, argument})
		}
	}
	for i, text := range w.attacks() {
		f.Add(uint16(i), text)
	}
	before := w.state(f)
	f.Fuzz(func(t *testing.T, n uint16, text string) {
		s := slots[int(n)%len(slots)]
		// The fuzzer does not know where the mark is to be.
		text = strings.ReplaceAll(text, "MARK", w.marker())
		r := rand.New(rand.NewPCG(uint64(n), 0))
		p.t = t
		for _, c := range attackOn(r, s.tool, s.argument, text) {
			p.try(c)
		}
		w.unchanged(t, before, 0)
	})
}
