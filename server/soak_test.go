package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tmuxmcp/internal/runner"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

const soakers = 16

// TestSoak calls all tools from 16 goroutines, as many agents working side by side would,
// cancels some of the calls, and then looks for leftovers: processes, file descriptors and
// goroutines here and in tmux, and buffers, options and files that no caller asked for.
func TestSoak(t *testing.T) {
	calls := testtool.Size(320, 10_000)
	srv := testserver.New(t)
	session(t, srv, "keep")
	testserver.Run(t, srv, "set-buffer", "-b", "theirs", "x")
	tmp := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", tmp)
	pid := testserver.Run(t, srv, "display-message", "-p", "#{pid}")
	before := leftBehind(t, srv, pid)
	goroutines := runtime.NumGoroutine()

	start := time.Now()
	var running sync.WaitGroup
	team := newSoakers(t, srv, soakers)
	for _, w := range team {
		running.Go(func() { w.work(calls / soakers) })
	}
	running.Wait()
	counts, cancelled := map[string]int{}, 0
	for _, w := range team {
		cancelled += w.cancelled
		for name, n := range w.succeeded {
			counts[name] += n
		}
	}
	t.Logf("%d calls, %d of them cancelled, in %v", calls, cancelled, time.Since(start).Round(time.Millisecond))
	if testtool.Full {
		never(t, team[0].tools, counts)
	}

	// What only a caller asks for is called @soak and SOAK.
	options := ""
	for _, args := range [][]string{{"-s"}, {"-g"}, {"-gw"}} {
		options += testserver.Run(t, srv, "show-options", args...) + "\n"
	}
	for scope, list := range map[string][]string{"": {"list-sessions", "-F", "#{session_id}"}, "-w": {"list-windows", "-a", "-F", "#{window_id}"}, "-p": {"list-panes", "-a", "-F", "#{pane_id}"}} {
		for target := range strings.FieldsSeq(testserver.Run(t, srv, list[0], list[1:]...)) {
			args := slices.DeleteFunc([]string{scope, "-t", target}, func(s string) bool { return s == "" })
			options += testserver.Run(t, srv, "show-options", args...) + "\n"
		}
	}
	for line := range strings.Lines(options) {
		if strings.HasPrefix(line, "@") && !strings.HasPrefix(line, "@soak ") {
			t.Errorf("a user option is left: %s", line)
		}
	}

	team[0].p.in.Close()
	<-team[0].p.done
	for session := range strings.FieldsSeq(testserver.Run(t, srv, "list-sessions", "-F", "#{session_id}:#{session_name}")) {
		if id, name, _ := strings.Cut(session, ":"); name != "keep" {
			testserver.Run(t, srv, "kill-session", "-t", id)
		}
	}
	for _, args := range [][]string{{"-s"}, {"-g"}, {"-gw"}} {
		testserver.Run(t, srv, "set-option", append(args, "-u", "@soak")...)
	}
	testserver.Run(t, srv, "set-environment", "-g", "-u", "SOAK")
	odd := ""
	defer func() {
		if t.Failed() {
			var stacks strings.Builder
			pprof.Lookup("goroutine").WriteTo(&stacks, 1)
			t.Logf("there is\n%s\n%s%.8000s", leftBehind(t, srv, pid), odd, stacks.String())
		}
	}()
	testtool.Eventually(t, "all is as it was before the calls:\n"+before, func() bool {
		testserver.Reap(t, srv)
		return leftBehind(t, srv, pid) == before && runtime.NumGoroutine() <= goroutines
	})
	// The directory of the user stays, with the jobs that have ended.
	left := func() (files []string, odd string) {
		files, err := filepath.Glob(tmp + "/*/*")
		if err != nil {
			t.Fatal(err)
		}
		files = slices.DeleteFunc(files, func(f string) bool { return filepath.Base(f) == "turns" }) // the locks
		for _, f := range files {
			j, err := runner.Find(filepath.Base(f))
			if err == nil && j.Look().Phase >= runner.Ended { // one whose pane was killed is lost
				continue
			}
			entries, _ := os.ReadDir(f)
			odd += fmt.Sprintf("%s, with %v: %v\n", f, entries, err)
		}
		return files, odd
	}
	var files []string
	testtool.Eventually(t, "the jobs in TMPDIR have ended", func() bool {
		files, odd = left() // some are being removed
		return odd == ""
	})
	if len(files) > 250 {
		t.Errorf("%d files are left in TMPDIR", len(files))
	}
	if entries, err := os.ReadDir(tmp); err != nil || len(entries) > 1 {
		t.Errorf("files are left in TMPDIR: %v, %v", entries, err)
	}
}

// leftBehind lists what calls could leave behind: in this process, in tmux's, and in what
// tmux stores.
func leftBehind(t testing.TB, srv *tmux.Server, pid string) string {
	t.Helper()
	var b strings.Builder
	count := func(dir string) {
		if entries, err := os.ReadDir(dir); err == nil {
			fmt.Fprintf(&b, "%d in %s\n", len(entries), dir)
		}
	}
	count("/proc/self/fd")
	for _, self := range []string{"self", pid} {
		tasks, _ := os.ReadDir("/proc/" + self + "/task")
		children := 0
		for _, task := range tasks {
			list, _ := os.ReadFile("/proc/" + self + "/task/" + task.Name() + "/children")
			children += len(strings.Fields(string(list)))
		}
		fmt.Fprintf(&b, "%d children of %s\n", children, self)
	}
	show := func(name string, args ...string) {
		fmt.Fprintf(&b, "%s: %s\n", name, testserver.Run(t, srv, name, args...))
	}
	show("list-sessions", "-F", "#{session_name}")
	show("list-panes", "-a", "-F", "#{pane_id}")
	show("list-buffers", "-F", "#{buffer_name}")
	show("list-clients", "-F", "#{client_name}")
	for _, scope := range []string{"-s", "-g", "-gw"} {
		show("show-options", scope)
	}
	show("show-hooks", "-g")
	show("show-environment", "-g")
	if v, err := srv.Version(testserver.Context(t)); err == nil && v.Has(tmux.Version{Major: 3, Minor: 8}) {
		// Older ones do not show who waits on a channel, but a waiter is a connection.
		for i := range soakers {
			show("wait-for", "-l", fmt.Sprintf("soak-w%d", i))
		}
	}
	count("/proc/" + pid + "/fd")
	return b.String()
}

// soaker is one of the goroutines, which works on its own session.
type soaker struct {
	p         *peer
	srv       *tmux.Server
	r         *rand.Rand
	name, dir string
	tools     []listedTool
	succeeded map[string]int
	cancelled int

	panes, windows, sessions []any
	// found are values from answers to be passed on.
	buffers, cursors, jobs []any
}

// newSoakers returns n of them, with a server that offers them all tools.
func newSoakers(t *testing.T, srv *tmux.Server, n int) (team []*soaker) {
	t.Helper()
	cfg := configFor(srv)
	cfg.PromptsAsTools = true
	p := serve(t, cfg)
	tools := p.listed()
	for i := range n {
		team = append(team, &soaker{
			p: p, srv: srv, r: rand.New(rand.NewPCG(7, uint64(i))), name: fmt.Sprintf("w%d", i), dir: t.TempDir(),
			tools: tools, succeeded: map[string]int{},
		})
	}
	return team
}

func (w *soaker) work(calls int) {
	for n := range calls {
		if n%8 == 0 {
			w.look()
		}
		tool := w.tools[w.r.IntN(len(w.tools))]
		c := toolCall{tool.Name, tool.arguments(w.r, w.known())}
		if w.r.IntN(20) == 0 {
			w.cancel(c)
			continue
		}
		res, ok := w.p.try(c)
		if !ok {
			continue
		}
		w.succeeded[c.tool]++
		var found struct {
			Buffer string `json:"buffer_name"`
			Cursor string `json:"cursor"`
			Job    string `json:"job_id"`
		}
		json.Unmarshal(res.Structured, &found)
		keep(&w.buffers, found.Buffer)
		keep(&w.cursors, found.Cursor)
		keep(&w.jobs, found.Job)
	}
}

// keep remembers the last values.
func keep(values *[]any, v string) {
	if v != "" {
		*values = append(*values, v)
		*values = (*values)[max(0, len(*values)-4):]
	}
}

// cancel begins a call and cancels it a moment later. It may or may not be answered.
func (w *soaker) cancel(c toolCall) {
	w.cancelled++
	reply, id := w.p.begin("tools/call", map[string]any{"name": c.tool, "arguments": c.args})
	select {
	case <-reply:
	case <-time.After(time.Duration(w.r.IntN(3000)) * time.Microsecond):
		w.p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id)
	}
}

// look finds the worker's own panes, and creates its session if it is gone.
func (w *soaker) look() {
	res, ok := w.p.try(toolCall{"list_panes", map[string]any{"session_name": w.name}})
	if !ok {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if _, err := w.srv.Do(ctx, tmux.NewSession{Name: w.name, Detached: true, Width: 80, Height: 24}); err != nil && !errors.Is(err, tmux.ErrExists) {
			w.p.t.Errorf("make a session anew: %v", err)
		}
		return
	}
	var list struct {
		Result []struct {
			Pane    string `json:"pane_id"`
			Window  string `json:"window_id"`
			Session string `json:"session_id"`
		}
	}
	json.Unmarshal(res.Structured, &list)
	if len(list.Result) > 5 {
		// Every pane costs tmux time in every call.
		w.p.try(toolCall{"kill_session", map[string]any{"session_name": w.name}})
	}
	w.panes, w.windows, w.sessions = nil, nil, nil
	for _, row := range list.Result {
		w.panes, w.windows, w.sessions = append(w.panes, row.Pane), append(w.windows, row.Window), append(w.sessions, row.Session)
	}
}

// known returns arguments that make sense for this worker now.
func (w *soaker) known() map[string][]any {
	own := func(tool string, args map[string]any) map[string]any {
		return map[string]any{"tool": tool, "arguments": args}
	}
	reads := own("list_panes", map[string]any{"session_name": w.name})
	sets := own("set_option", map[string]any{"option": "@soak", "value": "b", "scope": "session", "target": w.name})
	return map[string][]any{
		"pane_id": w.panes, "window_id": w.windows, "session_id": w.sessions, "session_name": {w.name}, "window_index": {"0", 1},
		"source_pane_id": w.panes, "target_pane_id": w.panes, "socket_name": {}, "target": {}, "destination_session": {}, "destination_index": {},
		"buffer_name": w.buffers, "cursor": w.cursors, "job_id": w.jobs, "logical_name": {"soak"}, "content": {"text\n", "more\n", "long\n", strings.Repeat("x", 20_000)},
		"option": {"@soak"}, "value": {"v"}, "unset": {}, "remove": {}, "hook_name": {"session-renamed", "pane-died[0]"}, "scope": {"server", "session", "window", "pane"},
		"create_session.session_name": {w.name, w.name + "-more"}, "set_environment.name": {"SOAK"}, "get_prompt.name": {"run_and_wait"}, "get_prompt.arguments": {map[string]any{"command": "true", "pane_id": "%0"}},
		"operations": {[]any{reads, sets, reads}}, "call_readonly_tools_batch.operations": {[]any{reads, sets}}, "call_read_tools_batch.operations": {[]any{reads}},
		"send_keys_batch.operations": {[]any{map[string]any{"keys": "x", "pane_id": first(w.panes)}, map[string]any{"keys": "C-u", "enter": false, "pane_id": first(w.panes)}}},
		"keys":                       {"x", "C-u", "Enter"}, "text": {"true"}, "command": {"true", "echo out; sh -c 'exit 3'", "seq 300"}, "shell": {"cat", "exec sh"},
		"timeout": {0.05}, "run_command.timeout": {0.05, 2}, "interval": {0.01}, "idle_seconds": {0.02}, "channel": {"soak-" + w.name},
		"patterns": {[]any{"out"}, []any{"never"}}, "stop": {[]any{"never"}}, "pattern": {"x", "out"}, "regex": {false}, "filters": {map[string]any{"session_name": w.name}},
		"format_string": {"#{pane_id}"}, "layout": {"tiled", "even-vertical"}, "title": {"title"}, "new_name": {w.name}, "window_name": {"window"},
		"output_path": {w.dir + "/piped", nil}, "start_directory": {w.dir}, "environment": {map[string]any{"SOAK": "1"}}, "extra_socket_paths": {},
		"x": {80}, "y": {24}, "width": {60}, "height": {20}, "size": {"50%"}, "kill": {true}, "start": {0, -20}, "end": {}, "max_lines": {5, 500},
		// The one tool that would end the soak.
		"kill_server.socket_name": {"nobody"},
	}
}

func first(values []any) any {
	if len(values) == 0 {
		return "%0"
	}
	return values[0]
}
