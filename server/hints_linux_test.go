package server_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tmuxmcp/internal/runner"
	"tmuxmcp/internal/test/testagent"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/server"
	"tmuxmcp/tmux"
)

// act is a call whose effects are observed, and the tmux commands around it.
type act struct{ args, first, then string }

// acts returns the calls of testdata/acts.txt, by tool name.
func acts(t *testing.T) map[string][]act {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "acts.txt"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]act{}
	var last *act
	for line := range strings.Lines(string(text)) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case word == "" || word[0] == '#':
		case line[0] != '\t':
			all[word] = append(all[word], act{args: rest})
			last = &all[word][len(all[word])-1]
		case word == "first":
			last.first = rest
		default:
			last.then = rest
		}
	}
	return all
}

// stage is a tmux server for one act, and what is observed of it.
type stage struct {
	srv    *tmux.Server
	dir    string
	pid    string
	buffer string
	job    string // that runs in %1, for calls that need one
}

func newStage(t *testing.T) *stage {
	srv := testserver.New(t)
	s := &stage{srv: srv, dir: t.TempDir(), buffer: ourBuffer}
	for name, text := range map[string]string{"script": "touch " + s.marker() + "\nexec cat\n", "file": "something\n"} {
		if err := testtool.WriteProgram(filepath.Join(s.dir, name), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	run := func(words ...string) { t.Helper(); testserver.Run(t, srv, words[0], words[1:]...) }
	session(t, srv, "a")
	run("set-option", "-g", "automatic-rename", "off")
	run("set-option", "-g", "history-limit", "2000")
	run("split-window", "-d", "-t", "%0", "exec sh")
	run("new-window", "-d", "-t", "=a:", "i=0; while [ $i -lt 200 ]; do i=$((i+1)); echo token$i; done; exec cat")
	run("new-session", "-d", "-s", "b", "-x", "80", "-y", "24", "exec sh")
	run("split-window", "-d", "-t", "%2", "cat")
	run("set-option", "-p", "-t", "%4", "remain-on-exit", "on")
	run("respawn-pane", "-k", "-t", "%4", "true")
	run("set-buffer", "theirs")
	run("set-buffer", "-b", s.buffer, "touch "+s.marker()+"\nexit\n")
	for pane, text := range map[string]string{"%1": "$", "%2": "token200", "%3": "$", "%4": "Pane is dead"} {
		testserver.WaitScreen(t, srv, pane, text)
	}
	s.pid = testserver.Run(t, srv, "display-message", "-p", "#{pid}")
	return s
}

func (s *stage) marker() string { return filepath.Join(s.dir, "marker") }

func (s *stage) fill(text string) string {
	return strings.NewReplacer("MARKER", s.marker(), "SCRIPT", filepath.Join(s.dir, "script"), "FILE2", filepath.Join(s.dir, "file2"), "FILE", filepath.Join(s.dir, "file"),
		"SOCKET", s.srv.SocketPath(), "BUFFER", s.buffer, "JOB", s.job, "TMUXBIN", s.srv.Binary()+" -S "+s.srv.SocketPath()).Replace(text)
}

// tmux runs command lines of plain words as one list. Errors are not part of the output.
func (s *stage) tmux(lines ...string) string {
	var cmds []tmux.Command
	for _, line := range lines {
		words := strings.Fields(line)
		cmds = append(cmds, tmux.Raw{Name: words[0], Args: words[1:]})
	}
	outs, err := s.srv.Do(context.Background(), cmds...)
	if err != nil {
		return "failed: " + lines[0] + "\n"
	}
	return string(bytes.Join(outs, []byte("==\n")))
}

// settled returns the state once it no longer changes by itself.
func (s *stage) settled(t *testing.T) string {
	was, same := wholeState(t, s.srv), 0
	for i := 0; i < 100 && same < 5; i++ {
		time.Sleep(50 * time.Millisecond)
		now := wholeState(t, s.srv)
		if same++; now != was {
			same = 0
		}
		was = now
	}
	return was
}

var tokens = regexp.MustCompile(`token\d+`)

// things returns what can be ended or discarded: sessions, windows, processes in panes,
// lines of output, buffers, the content of a file, a job.
func (s *stage) things() map[string]bool {
	things := map[string]bool{}
	for _, line := range []string{"list-sessions -F session:#{session_id}", "list-windows -a -F window:#{window_id}", "list-panes -a -F process:#{pane_pid}:#{pane_dead}", "list-buffers -F buffer:#{buffer_name}"} {
		for _, thing := range strings.Fields(s.tmux(line)) {
			things[thing] = true
		}
	}
	// Lines that are cut up by a narrow pane are still there.
	for _, token := range tokens.FindAllString(s.tmux("capture-pane -p -J -S - -t %2"), -1) {
		things[token] = true
	}
	if j, err := runner.Find(s.job); err == nil && j.Look().Phase == runner.Running {
		things["job"] = true
	}
	if content, _ := os.ReadFile(filepath.Join(s.dir, "file")); strings.HasPrefix(string(content), "something\n") {
		things["file"] = true
	}
	return things
}

// programs returns the running processes that tmux has started.
func (s *stage) programs() []string {
	children, _ := os.ReadFile("/proc/" + s.pid + "/task/" + s.pid + "/children")
	return strings.Fields(string(children))
}

// effects are the observed effects of a call.
type effects struct {
	started, destroyed bool

	lost    []string // what was destroyed
	changes string   // of the state
	drift   string   // changes by repeating the call
}

// observe makes a call on its own stage.
func observe(t *testing.T, tier server.Tier, tool string, a act) (e effects) {
	s := newStage(t)
	cfg := configFor(s.srv)
	cfg.Tier, cfg.PromptsAsTools = tier, true
	p := serve(t, cfg)
	if a.first != "" {
		s.tmux(a.first)
	}
	if strings.Contains(a.args, "JOB") {
		s.job = p.command("%1", "sleep 600", `"detach":true`).JobID
		runs(t, s.srv, "%1", "sleep")
		s.settled(t)
	}
	if slices.Contains([]string{"send_prompt", "agent_answer", "wait_for_agent"}, tool) {
		command, dir := testagent.Claude(t)
		if err := os.WriteFile(filepath.Join(dir, "runs"), []byte("marker() { touch "+s.marker()+"; }\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		testserver.Run(t, s.srv, "resize-window", "-t", "%3", "-x", "250") // the path of tmux may be long
		testserver.Run(t, s.srv, "respawn-pane", "-k", "-t", "%3", command)
		testserver.WaitScreen(t, s.srv, "%3", "shortcuts")
	}
	before, things, programs := wholeState(t, s.srv), s.things(), s.programs()
	call := func() result { return p.tool(tool, s.fill(a.args)) }
	call()
	if a.then != "" {
		s.tmux(a.then)
	}
	look := func() {
		_, err := os.Stat(s.marker())
		for _, pid := range s.programs() {
			e.started = e.started || !slices.Contains(programs, pid)
		}
		e.started = e.started || err == nil
	}
	if a.then != "" {
		programs = append(programs, s.programs()...) // those are tmux's own
	}
	wait := 150 * time.Millisecond
	if strings.Contains(a.args, "MARKER") || strings.Contains(a.args, "SCRIPT") || strings.Contains(a.args, "exit") || strings.Contains(a.args, "BUFFER") || strings.Contains(a.args, "TMUXBIN") {
		wait = time.Second
	}
	for deadline := time.Now().Add(wait); time.Now().Before(deadline) && !e.started; time.Sleep(60 * time.Millisecond) {
		look()
	}
	after, now := s.settled(t), s.things()
	for thing := range things {
		// Query again: on a busy machine a query of tmux may fail.
		if !now[thing] && !s.things()[thing] {
			e.destroyed, e.lost = true, append(e.lost, thing)
		}
	}
	e.changes = difference(before, after)
	if a.then == "" && a.first == "" {
		if tool == "cancel_job" { // what recorded the job may outlive it by two seconds
			testserver.Wait(t, s.srv, "%1", "pipe that is closed", func() bool {
				return testserver.Run(t, s.srv, "display-message", "-p", "-t", "%1", "#{pane_pipe}") == "0"
			})
			after = s.settled(t)
		}
		call()
		e.drift = difference(after, s.settled(t))
	}
	return e
}

// TestHintsAreWhatWasObserved: clients decide by a tool's hints whether to ask their user.
func TestHintsAreWhatWasObserved(t *testing.T) {
	t.Parallel()
	acts := acts(t)
	listed := map[server.Tier]map[string]listedTool{}
	for _, tier := range []server.Tier{server.Mutating, server.Destructive} {
		cfg := configFor(testserver.New(t))
		cfg.Tier, cfg.PromptsAsTools = tier, true
		listed[tier] = map[string]listedTool{}
		for _, tool := range serve(t, cfg).listed() {
			listed[tier][tool.Name] = tool
			if len(acts[tool.Name]) == 0 {
				t.Errorf("no call of %s is observed", tool.Name)
			}
		}
	}
	for tier, tools := range listed {
		seen := map[string]bool{}
		for _, name := range slices.Sorted(maps.Keys(tools)) {
			tool := tools[name]
			a := tool.Annotations
			kind := fmt.Sprint(a.ReadOnlyHint, a.DestructiveHint, a.IdempotentHint, a.OpenWorldHint)
			if !testtool.Full && (tier == server.Mutating || seen[kind]) { // one tool of each kind
				continue
			}
			seen[kind] = true
			t.Run(string(tier)+"/"+name, func(t *testing.T) {
				t.Parallel()
				hints := tool.Annotations
				var all effects
				for _, a := range acts[name] {
					e := observe(t, tier, name, a)
					all.started, all.destroyed, all.changes = all.started || e.started, all.destroyed || e.destroyed, all.changes+e.changes
					if e.started && !hints.OpenWorldHint {
						t.Errorf("%s started a program, and openWorldHint is false", a.args)
					}
					if e.destroyed && !hints.DestructiveHint {
						t.Errorf("%s ended or threw away %q, and destructiveHint is false", a.args, e.lost)
					}
					if e.changes != "" && hints.ReadOnlyHint {
						t.Errorf("%s changed something, and readOnlyHint is true:\n%s", a.args, e.changes)
					}
					if e.drift != "" && hints.IdempotentHint {
						t.Errorf("%s had another effect the second time, and idempotentHint is true:\n%s", a.args, e.drift)
					}
				}
				if hints.OpenWorldHint && !all.started {
					t.Errorf("openWorldHint is true, and no call started a program")
				}
				if hints.DestructiveHint && !all.destroyed {
					t.Errorf("destructiveHint is true, and no call ended or threw away anything")
				}
				if !hints.ReadOnlyHint && all.changes == "" && !strings.HasSuffix(name, "_channel") {
					t.Errorf("readOnlyHint is false, and no call changed anything")
				}
			})
		}
	}
}
