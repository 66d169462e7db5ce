package watch

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/internal/test/testagent"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/server/internal/agents"
	"tmuxmcp/tmux"
)

// dialog is what claude shows while it asks.
const dialog = "────────────────────────\n Bash command\n\n   rm -rf x\n\n Do you want to proceed?\n ❯ 1. Yes\n   2. No\n\n Esc to cancel\n"

// output is what a watcher has printed so far.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// stage is a tmux server with an agent in pane %0 that looks like claude, and a watcher.
type stage struct {
	*testing.T
	srv       *tmux.Server
	dir       string // of the agent
	command   string
	out, errs output
	end       func() // ends the watcher and waits for it
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{T: t, srv: testserver.New(t)}
	s.command, s.dir = testagent.Claude(t)
	s.start()
	return s
}

// start starts the tmux server and the agent.
func (s *stage) start() {
	s.Helper()
	testserver.Run(s.T, s.srv, "new-session", "-d", "-s", "a", "-x", "80", "-y", "24", s.command)
	testserver.WaitScreen(s.T, s.srv, "a:", "shortcuts")
}

// watch starts a watcher, which looks more often than users need.
func (s *stage) watch(o Options) {
	s.Helper()
	if o.Every == 0 {
		o.Every = 30 * time.Millisecond
	}
	if o.ExecTime == 0 {
		o.ExecTime = time.Minute
	}
	o.Err, o.Env = &s.errs, os.Environ()
	if o.Out == nil {
		o.Out = &s.out
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Run(ctx, s.srv, agents.NewFinder(agents.BuiltIn()), o) }()
	s.end = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			s.Errorf("the watcher: %v", err)
		}
	})
	s.Cleanup(func() {
		s.end()
		if s.Failed() {
			s.Logf("printed:\n%s\nproblems:\n%s", s.out.String(), s.errs.String())
		}
	})
}

// draw makes the agent draw itself with a file of testagent; an empty one is removed.
func (s *stage) draw(name, text string) {
	s.Helper()
	file := filepath.Join(s.dir, name)
	err := os.WriteFile(file, []byte(text), 0o600)
	if text == "" {
		err = os.Remove(file)
	}
	if err != nil {
		s.Fatal(err)
	}
	testserver.Signal(s.T, s.srv, "a:", syscall.SIGUSR1)
}

// prints waits until the watcher has printed a text.
func (s *stage) prints(text string) {
	s.Helper()
	testtool.Eventually(s.T, "it prints "+text, func() bool { return strings.Contains(s.out.String(), text) })
}

// events returns the lines of JSON that were printed.
func (s *stage) events() (all []event) {
	s.Helper()
	for line := range strings.Lines(s.out.String()) {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			s.Fatalf("%s: %v", line, err)
		}
		all = append(all, e)
	}
	return all
}

// aTerminal is a terminal with a client of the stage's server: a pane of another tmux server.
type aTerminal struct {
	*testing.T
	srv *tmux.Server
}

func (s *stage) terminal() aTerminal {
	s.Helper()
	t := aTerminal{s.T, testserver.New(s.T)}
	attach := "env -u TMUX TERM=screen " + s.srv.Binary() + " -u -S " + s.srv.SocketPath() + " attach"
	testserver.Run(t.T, t.srv, "new-session", "-d", "-x", "80", "-y", "24", attach)
	testtool.Eventually(t.T, "the client is attached", func() bool { return testserver.Run(t.T, s.srv, "list-clients") != "" })
	return t
}

// rang reports whether the bell has rung, since the last call.
func (t aTerminal) rang() bool {
	t.Helper()
	rang := testserver.Run(t.T, t.srv, "display-message", "-p", "#{window_bell_flag}") == "1"
	if rang {
		testserver.Run(t.T, t.srv, "kill-session", "-C")
	}
	return rang
}

func (t aTerminal) shows(text string) bool {
	t.Helper()
	return strings.Contains(testserver.Run(t.T, t.srv, "capture-pane", "-p"), text)
}

// TestAnnounce: what an agent comes to ask reaches every client: the bell, a message, and the
// command. A client in control mode gets neither, and nothing is left in tmux.
func TestAnnounce(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	testserver.Run(t, s.srv, "set-option", "-g", "display-time", "60000")
	terminals := []aTerminal{s.terminal(), s.terminal()}
	control := exec.Command(s.srv.Binary(), "-S", s.srv.SocketPath(), "-C", "attach")
	var said output
	control.Stdout = &said
	stdin, err := control.StdinPipe()
	if err == nil {
		err = control.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stdin.Close(); control.Wait() })
	testtool.Eventually(t, "three clients", func() bool { return strings.Count(testserver.Run(t, s.srv, "list-clients"), "\n") == 2 })
	state := func() string {
		var all []string
		for _, words := range []string{"show-options -s", "show-options -g", "show-options -wg", "show-options -t a", "show-hooks -g", "show-environment -g", "list-buffers", "list-keys", "list-sessions -F #{session_name}", "list-panes -a -F #{pane_id}#{pane_pipe}"} {
			args := strings.Fields(words)
			all = append(all, testserver.Run(t, s.srv, args[0], args[1:]...))
		}
		return strings.Join(all, "\n")
	}
	before := state()

	file := filepath.Join(t.TempDir(), "ran")
	s.watch(Options{JSON: true, Bell: true, Message: true, Exec: `printf '%s|' "$TMUX_MCP_PANE" "$TMUX_MCP_PLACE" "$TMUX_MCP_AGENT" "$TMUX_MCP_STATE" "$TMUX_MCP_QUESTION" >>` + file + `; echo ran`})
	s.prints(`"state":"idle"`)
	s.draw("footer", "esc to interrupt")
	s.prints(`"state":"working"`)
	for _, client := range terminals {
		if client.rang() {
			t.Error("the bell has rung for an agent that works")
		}
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the command has run for an agent that works")
	}
	s.draw("screen", dialog)
	for _, client := range terminals {
		testtool.Eventually(t, "the bell rings", client.rang)
		testtool.Eventually(t, "there is a message", func() bool {
			return client.shows("claude in a:0.0: asks: Bash command / rm -rf x / Do you want to proceed?")
		})
	}
	testtool.Eventually(t, "the command has run", func() bool { return strings.Contains(s.errs.String(), "ran\n") })
	if got, _ := os.ReadFile(file); string(got) != "%0|a:0.0|claude|asks|Bash command\nrm -rf x\nDo you want to proceed?|" {
		t.Errorf("the command got %q", got)
	}
	s.draw("screen", "")
	s.draw("footer", "? for shortcuts")
	s.prints(`"was":"asks"`)
	for _, client := range terminals {
		testtool.Eventually(t, "the bell rings", client.rang)
	}
	s.end()
	if after := state(); after != before {
		t.Errorf("tmux was\n%s\nand is\n%s", before, after)
	}
	if strings.Contains(said.String(), "%message") {
		t.Errorf("the client in control mode got %q", said.String())
	}
	var states []string
	for _, e := range s.events() {
		states = append(states, string(e.State))
		if e.PaneID != "%0" || e.Place != "a:0.0" || e.Agent != "claude" || e.Time == nil {
			t.Errorf("%+v", e)
		}
		if e.State == agents.Asks && (len(e.Choices) != 2 || e.Choices[1].Label != "No") {
			t.Errorf("%+v", e)
		}
	}
	if got := strings.Join(states, " "); got != "idle working asks idle" && got != "idle working asks working idle" {
		t.Errorf("the states are %s", got)
	}
}

// TestStates: only the states that were asked for are printed and announced, and neither
// bells nor messages if these are off.
// TestMessagesShowText: what a program writes on its screen neither styles nor hides a part of a
// message, and is not changed for the sake of a CI system.
func TestMessagesShowText(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	testserver.Run(t, s.srv, "set-option", "-g", "display-time", "60000")
	testserver.Run(t, s.srv, "set-option", "-g", "message-style", "bg=yellow")
	terminal := s.terminal()
	s.watch(Options{Message: true})
	s.prints("idle\n")
	for _, text := range []string{"#[fg=yellow]rm -rf x#[default]", "##[section]x", "###[fg=red]", "a # b ## c #", "100% #{pane_id} #(date) #S, }", "::error::x"} {
		s.draw("screen", strings.Replace(dialog, "rm -rf x", text, 1))
		testtool.Eventually(t, "the message shows "+text, func() bool { return terminal.shows("Bash command / " + text + " ") })
	}
}

// TestOnceIsLegible: what is in the names that programs choose acts on no terminal and in no log.
func TestOnceIsLegible(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.draw("screen", strings.Replace(dialog, "rm -rf x", "##[x]", 1))
	testserver.Run(t, s.srv, "rename-session", "-t", "a", "b\u202ec")
	for asJSON, want := range map[bool][]string{
		false: {`b\u202ec:0.0`, `\043#[x]`}, true: {`"b\u202ec:0.0"`, `\u0023#[x]`},
	} {
		testtool.Eventually(t, fmt.Sprintf("the question, JSON %t", asJSON), func() bool {
			var out bytes.Buffer
			if err := Once(testserver.Context(t), s.srv, agents.NewFinder(agents.BuiltIn()), Options{JSON: asJSON, Out: &out, Err: &out}); err != nil {
				t.Fatal(err)
			}
			text := out.String()
			if strings.Contains(text, "\u202e") || strings.Contains(text, "##[x]") {
				t.Fatalf("printed is %q", text)
			}
			return strings.Contains(text, want[0]) && strings.Contains(text, want[1])
		})
	}
}

func TestStates(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	client := s.terminal()
	file := filepath.Join(t.TempDir(), "ran")
	s.watch(Options{States: []agents.State{agents.Idle, agents.Working, agents.Ended}, Exec: `echo "$TMUX_MCP_STATE" >>` + file})
	s.prints("idle\n")
	s.draw("footer", "esc to interrupt")
	s.prints("\t%0\ta:0.0\tclaude\tworking\n")
	s.draw("screen", dialog)
	testtool.Eventually(t, "the dialog is seen", func() bool { return client.shows("Esc to cancel") })
	testserver.Run(t, s.srv, "new-window", "-d", "exec cat")
	testserver.Run(t, s.srv, "kill-pane", "-t", "%0")
	s.prints("\t%0\ta:0.0\tclaude\tended\n")
	testtool.Eventually(t, "the commands have run", func() bool { got, _ := os.ReadFile(file); return string(got) == "working\nended\n" })
	s.end()
	if n := strings.Count(s.out.String(), "\n"); n != 3 {
		t.Errorf("it printed\n%s", s.out.String())
	}
	if client.rang() {
		t.Error("the bell has rung")
	}
}

// TestASecondQuestion: another question is announced, though the agent asks all the time.
func TestASecondQuestion(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.draw("screen", dialog)
	testserver.WaitScreen(t, s.srv, "a:", "Esc to cancel")
	file := filepath.Join(t.TempDir(), "ran")
	s.watch(Options{Exec: `echo "$TMUX_MCP_QUESTION" | sed -n 2p >>` + file})
	s.prints("rm -rf x")
	s.draw("screen", strings.ReplaceAll(dialog, "rm -rf x", "make clean"))
	testtool.Eventually(t, "the command runs", func() bool { got, _ := os.ReadFile(file); return string(got) == "make clean\n" })
}

// TestServerEndsAndComesBack: the watcher survives that.
func TestServerEndsAndComesBack(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.watch(Options{})
	s.prints("idle\n")
	testserver.End(t, s.srv)
	s.prints("ended\n")
	testtool.Eventually(t, "it says so", func() bool { return strings.Contains(s.errs.String(), "no tmux server; waiting\n") })
	s.start()
	testtool.Eventually(t, "the new agent is printed", func() bool { return strings.Count(s.out.String(), "idle\n") == 2 })
	if n := strings.Count(s.errs.String(), "\n"); n != 1 {
		t.Errorf("it complains:\n%s", s.errs.String())
	}
}

// TestCommandsEnd: a command ends at its deadline, or with the watcher, and everything in its
// process group with it.
func TestCommandsEnd(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]time.Duration{"deadline": 50 * time.Millisecond, "watcher": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			file := filepath.Join(t.TempDir(), "pids")
			s.watch(Options{ExecTime: limit, Exec: `trap "" TERM; sleep 1000 & echo $$ $! >` + file + `.part; mv ` + file + `.part ` + file + `; wait`})
			s.prints("idle\n")
			s.draw("screen", dialog)
			var pids []string
			testtool.Eventually(t, "the command has begun", func() bool {
				text, _ := os.ReadFile(file)
				pids = strings.Fields(string(text))
				return len(pids) == 2 || strings.Contains(s.errs.String(), "killed")
			})
			if name == "watcher" {
				s.end()
			}
			for _, pid := range pids {
				n, err := strconv.Atoi(pid)
				if err != nil {
					t.Fatal(err)
				}
				testtool.Eventually(t, "process "+pid+" is gone", func() bool { return !isRunning(n) })
			}
			if name == "deadline" {
				testtool.Eventually(t, "it says so", func() bool { return strings.Contains(s.errs.String(), "for pane %0: signal: killed\n") })
			}
		})
	}
}

// TestInAPane: in a real pane, the table is as wide as that, also once it has been resized.
func TestInAPane(t *testing.T) {
	s := newStage(t)
	idle, _ := testagent.Claude(t)
	testserver.Run(t, s.srv, "new-session", "-d", "-s", "a-session-with-a-long-name", "-x", "80", "-y", "24", idle)
	s.draw("screen", dialog)
	testserver.WaitScreen(t, s.srv, "a:", "Esc to cancel")
	viewer := testserver.New(t)
	testserver.Run(t, viewer, "new-session", "-d", "-x", "30", "-y", "8", "exec sleep 1000")
	tty := terminalOf(t, viewer)
	s.watch(Options{Out: tty})
	shows := func(want string) {
		t.Helper()
		testserver.WaitScreen(t, viewer, "", want)
	}
	shows("1 asks, 1 idle     Ctrl-C ends\n%0  claude  asks  Bash comman…\n%1  claude  idle")
	testserver.Run(t, viewer, "resize-window", "-x", "60", "-y", "2")
	if err := syscall.Kill(os.Getpid(), syscall.SIGWINCH); err != nil {
		t.Fatal(err)
	}
	shows("1 asks, 1 idle                                   Ctrl-C ends\n%0  claude  asks  ")
	testserver.Run(t, viewer, "resize-window", "-x", "60", "-y", "1")
	shows("%0  claude  asks  ")
}

// terminalOf opens the terminal of the only pane, until watchers that are started later have ended.
func terminalOf(t *testing.T, viewer *tmux.Server) *os.File {
	t.Helper()
	tty, err := os.OpenFile(testserver.Run(t, viewer, "display-message", "-p", "#{pane_tty}"), os.O_WRONLY|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.Close() })
	return tty
}

// TestFailedCommand: below a table, a command that fails is shown with its last line.
func TestFailedCommand(t *testing.T) {
	s := newStage(t)
	viewer := testserver.New(t)
	testserver.Run(t, viewer, "new-session", "-d", "-x", "90", "-y", "8", "exec sleep 1000")
	tty := terminalOf(t, viewer)
	s.watch(Options{Out: tty, Exec: "echo first; echo why >&2; echo; exit 3"})
	testserver.WaitScreen(t, viewer, "", "1 idle")
	s.draw("screen", dialog)
	testserver.WaitScreen(t, viewer, "", "tmux-mcp: --exec for pane %0: exit status 3: why")
}

// TestResized: a table is drawn at once when its terminal has another size, and
// what was there before watch is there again afterwards.
func TestResized(t *testing.T) {
	s := newStage(t)
	viewer := testserver.New(t)
	testserver.Run(t, viewer, "new-session", "-d", "-x", "80", "-y", "8", "echo before; exec sleep 1000")
	testserver.WaitScreen(t, viewer, "", "before")
	tty := terminalOf(t, viewer)
	s.watch(Options{Out: tty, Every: time.Hour})
	testserver.WaitScreen(t, viewer, "", "%0  a:0.0  claude  idle")
	testserver.Run(t, viewer, "resize-window", "-x", "20")
	testtool.Eventually(t, "the pane is narrow", func() bool {
		return testserver.Run(t, viewer, "display-message", "-p", "#{pane_width}") == "20"
	})
	if err := syscall.Kill(os.Getpid(), syscall.SIGWINCH); err != nil {
		t.Fatal(err)
	}
	testserver.WaitScreen(t, viewer, "", "%0  claude  idle")
	s.end()
	testserver.WaitScreen(t, viewer, "", "before")
}

// isRunning reports whether a process is neither gone nor a zombie that nobody has waited for.
func isRunning(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// TestRing: only the terminal of the client's own process is rung.
func TestRing(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	testserver.Run(t, srv, "new-session", "-d", "-x", "80", "-y", "24", "exec cat")
	show := func(format string) string { return testserver.Run(t, srv, "display-message", "-p", format) }
	testtool.Eventually(t, "cat runs", func() bool { return show("#{pane_current_command}") == "cat" })
	tty := show("#{pane_tty}")
	pid, err := strconv.Atoi(show("#{pane_pid}"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(tty, link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tty string
		pid int
	}{{tty, os.Getpid()}, {tty, 1}, {tty, 0}, {"/dev/null", pid}, {file, pid}, {link, pid}, {"", pid}, {filepath.Join(dir, "none"), pid}} {
		if ring(c.tty, c.pid) {
			t.Errorf("%s of process %d was rung", c.tty, c.pid)
		}
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(tty, testserver.OtherUser, -1); err != nil {
			t.Fatal(err)
		}
		if ring(tty, pid) {
			t.Error("another user's terminal was rung")
		}
		if err := os.Chown(tty, 0, -1); err != nil {
			t.Fatal(err)
		}
	}
	if show("#{window_bell_flag}") != "0" {
		t.Error("the bell has rung")
	}
	testtool.Eventually(t, "the terminal takes it", func() bool { return ring(tty, pid) }) // the system may be writing
	testtool.Eventually(t, "the bell rings", func() bool { return show("#{window_bell_flag}") == "1" })
	if text, _ := os.ReadFile(file); len(text) > 0 {
		t.Errorf("the file has %q", text)
	}
}

// TestUnknown: a screen that no rule matches, such as a menu of the agent's, is no news, and
// neither is the state that was known before it.
func TestUnknown(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	file := filepath.Join(t.TempDir(), "ran")
	s.watch(Options{Exec: `echo "$TMUX_MCP_STATE" >>` + file})
	s.prints("idle\n")
	s.draw("screen", "a menu\n")
	s.prints("unknown\n")
	s.draw("screen", "")
	testtool.Eventually(t, "it is idle again", func() bool { return strings.Count(s.out.String(), "idle\n") == 2 })
	s.draw("screen", dialog)
	testtool.Eventually(t, "the command has run", func() bool { got, _ := os.ReadFile(file); return string(got) == "asks\n" })
}
