package server_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/server"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// agentRow is a row of agent_status.
type agentRow struct {
	PaneID   string  `json:"pane_id"`
	State    string  `json:"state"`
	Agent    string  `json:"agent"`
	Question *string `json:"question"`
	Input    *string `json:"input"`
	Choices  []struct {
		Keys  []string `json:"keys"`
		Label string   `json:"label"`
	} `json:"choices"`
}

type agentRows struct {
	Agents []agentRow `json:"agents"`
}

// fakeAgent runs a program that looks like an agent in %0, and a shell in %1. Show
// writes a file of it and has it draw again.
func fakeAgent(t *testing.T) (srv *tmux.Server, p *peer, dir string, show func(name, text string)) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("which program runs in a pane is found in /proc")
	}
	srv = tmuxtest.New(t)
	command, dir := server.FakeAgent(t)
	tmuxtest.Run(t, srv, "new-session", "-d", "-s", "a", "-x", "80", "-y", "24", command)
	tmuxtest.Run(t, srv, "set-option", "-g", "remain-on-exit", "on")
	tmuxtest.Run(t, srv, "new-window", "-d", "exec sh")
	tmuxtest.WaitScreen(t, srv, "%0", "shortcuts")
	s, p := promptly(t, srv)
	s.SetPromptStands(5 * time.Second)
	return srv, p, dir, func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		tmuxtest.Signal(t, srv, "%0", syscall.SIGUSR1)
	}
}

func awaitAgent(t *testing.T, p *peer, state string) agentRow {
	t.Helper()
	var rows agentRows
	testtool.Eventually(t, "the agent is "+state, func() bool {
		rows = ok[agentRows](p, "agent_status", `{}`)
		return len(rows.Agents) == 1 && rows.Agents[0].State == state
	})
	return rows.Agents[0]
}

const fakeQuestion = `────────────────────────
 Bash command

   rm -rf x

 Do you want to proceed?
 ❯ 1. Yes
   2. No

 Esc to cancel`

func TestAgentStatus(t *testing.T) {
	t.Parallel()
	srv, p, _, show := fakeAgent(t)
	if a := awaitAgent(t, p, "idle"); a.PaneID != "%0" || a.Agent != "claude" || a.Input != nil {
		t.Errorf("%+v", a)
	}
	show("footer", "esc to interrupt")
	awaitAgent(t, p, "working")
	show("box", "half a thought")
	testtool.Eventually(t, "its input is read", func() bool {
		a := awaitAgent(t, p, "working")
		return a.Input != nil && *a.Input == "half a thought"
	})
	show("screen", fakeQuestion)
	a := awaitAgent(t, p, "asks")
	if a.Question == nil || !strings.HasSuffix(*a.Question, "rm -rf x\nDo you want to proceed?") || len(a.Choices) != 2 || a.Choices[1].Keys[0] != "2" || a.Choices[1].Label != "No" {
		t.Errorf("%+v", a)
	}
	show("screen", "something else\n")
	awaitAgent(t, p, "unknown")
	p.fails("agent_status", `{"panes":["%9"]}`, "Pane not found: %9")
	p.fails("agent_status", `{"panes":["a"]}`, "must be panes' ids")
	if rows := ok[agentRows](p, "agent_status", `{"panes":["%1"]}`); len(rows.Agents) != 0 {
		t.Errorf("a shell is %+v", rows)
	}
	tmuxtest.Signal(t, srv, "%0", syscall.SIGKILL)
	tmuxtest.Reap(t, srv)
	awaitAgent(t, p, "ended")
}

func TestSendPrompt(t *testing.T) {
	t.Parallel()
	srv, p, dir, show := fakeAgent(t)
	res := p.tool("send_prompt", `{"pane_id":"%0","prompt":"do it, please"}`)
	if res.IsError || !strings.Contains(string(res.Structured), `"state":"idle"`) {
		t.Fatalf("%s", res.text())
	}
	show("footer", "esc to interrupt")
	awaitAgent(t, p, "working")
	if res := p.tool("send_prompt", `{"pane_id":"%0","prompt":"and\tthis: #{pane_id} \\ \"x\" é 日本"}`); res.IsError ||
		!strings.Contains(string(res.Structured), `"queued":true`) || !strings.Contains(string(res.Structured), "turns tabs into four blanks") {
		t.Errorf("%s %s", res.text(), res.Structured)
	}
	const want = "do it, please\nand\tthis: #{pane_id} \\ \"x\" é 日本\n"
	if got, _ := os.ReadFile(filepath.Join(dir, "got")); string(got) != want {
		t.Errorf("the program got %q", got)
	}

	// Whatever is refused leaves the program as it was.
	p.fails("send_prompt", `{"pane_id":"%1","prompt":"rm -rf /"}`, "nothing was typed", "no agent runs there")
	p.fails("send_prompt", `{"pane_id":"%0","prompt":"!rm -rf /"}`, "nothing was typed", "shell command", "command=true")
	p.fails("send_prompt", `{"pane_id":"%0","prompt":"/clear"}`, "nothing was typed", "command=true")
	p.fails("send_prompt", `{"pane_id":"%0","prompt":"see @fi"}`, "nothing was typed", "complete")
	p.fails("send_prompt", `{"pane_id":"%0","prompt":"a\u001b[201~b"}`, "control characters")
	p.fails("send_prompt", `{"pane_id":"%0","prompt":" \n"}`, "must not be empty")
	p.fails("send_prompt", `{"pane_id":"%7","prompt":"x"}`, "Pane not found: %7")
	show("box", "a draft")
	tmuxtest.WaitScreen(t, srv, "%0", "a draft")
	p.fails("send_prompt", `{"pane_id":"%0","prompt":"x"}`, "nothing was typed", "not empty", "a draft")
	os.Remove(filepath.Join(dir, "box"))
	show("screen", fakeQuestion)
	awaitAgent(t, p, "asks")
	p.fails("send_prompt", `{"pane_id":"%0","prompt":"1"}`, "nothing was typed", "asks: ", "Do you want to proceed?")
	show("screen", "no box\n")
	awaitAgent(t, p, "unknown")
	if res := p.fails("send_prompt", `{"pane_id":"%0","prompt":"x","timeout":0.5}`, "nothing was typed", "not found on the screen"); res.Meta["error_type"] != "Timeout" {
		t.Errorf("%v", res.Meta)
	}
	os.Remove(filepath.Join(dir, "screen"))
	show("footer", "idle")
	awaitAgent(t, p, "idle")
	if got, _ := os.ReadFile(filepath.Join(dir, "got")); string(got) != want {
		t.Errorf("the program got %q", got)
	}

	if res := p.tool("send_prompt", `{"pane_id":"%0","prompt":"/clear","command":true}`); res.IsError {
		t.Errorf("a command that is meant: %s", res.text())
	}
}

// A prompt that does not show, or does not go, is said to be there; it is not sent again.
func TestSendPromptIsNeverSentTwice(t *testing.T) {
	t.Parallel()
	srv, p, dir, show := fakeAgent(t)
	// It ends each line that is typed, and draws nothing: the box keeps its text.
	if err := os.WriteFile(filepath.Join(dir, "stuck"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	res := p.fails("send_prompt", `{"pane_id":"%0","prompt":"only once"}`, "pasted, and Enter pressed", "do not send it again")
	if res.Meta["error_type"] != "unproven" {
		t.Errorf("%v", res.Meta)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "got")); string(got) != "only once\n" {
		t.Errorf("the program got %q", got)
	}
	os.Remove(filepath.Join(dir, "stuck"))
	show("footer", "idle")
	awaitAgent(t, p, "idle")
	// What is typed does not show.
	tty := tmuxtest.Run(t, srv, "display-message", "-p", "-t", "%0", "#{pane_tty}")
	if out, err := exec.Command("stty", "-F", tty, "-echo").CombinedOutput(); err != nil {
		t.Fatalf("stty: %v %s", err, out)
	}
	p.fails("send_prompt", `{"pane_id":"%0","prompt":"unseen"}`, "pasted but not submitted", "the input box is empty")
	if buffers := tmuxtest.Run(t, srv, "list-buffers"); buffers != "" {
		t.Errorf("left: %s", buffers)
	}
}

func TestSendPromptLeavesAUserAlone(t *testing.T) {
	t.Parallel()
	srv, p, dir, _ := fakeAgent(t)
	tmuxtest.Attach(t, srv, "a", 80, 24)
	p.fails("send_prompt", `{"pane_id":"%0","prompt":"x"}`, "nothing was typed", "a user is looking", "even_if_watched")
	if res := p.tool("send_prompt", `{"pane_id":"%0","prompt":"hello","even_if_watched":true}`); res.IsError {
		t.Errorf("%s", res.text())
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "got")); string(got) != "hello\n" {
		t.Errorf("the program got %q", got)
	}
}

// TestWaitForTheStateOfAnAgent: a wait ends when the agent asks, and says what.
func TestWaitForTheStateOfAnAgent(t *testing.T) {
	t.Parallel()
	_, p, _, show := fakeAgent(t)
	if got := ok[awaited](p, "wait_for_text", `{"pane_id":"%0","state":["idle"],"timeout":20}`); got.Outcome != "state" {
		t.Errorf("it is idle: %+v", got)
	}
	call, _ := p.wait("wait_for_text", `{"panes":["%0","%1"],"state":["asks","ended"],"timeout":60}`)
	show("screen", fakeQuestion)
	if got := decode[awaited](p, "wait_for_text", p.await(call)); got.Outcome != "state" || got.PaneID != "%0" || !strings.Contains(strings.Join(got.Matched, "|"), "1: Yes") {
		t.Errorf("it asks: %+v", got)
	}
	if got := ok[awaited](p, "wait_for_text", `{"pane_id":"%0","state":["idle"],"timeout":0.5}`); got.Outcome != "timeout" {
		t.Errorf("it still asks: %+v", got)
	}
	p.fails("wait_for_text", `{"pane_id":"%1","state":["idle"],"timeout":5}`, "no coding agent runs")
	p.fails("wait_for_text", `{"pane_id":"%0","state":["happy"]}`, "working, asks, idle or ended")
}
