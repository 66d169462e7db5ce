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

	"tmuxmcp/internal/test/testagent"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

// fakeAgent runs a program that looks like an agent in %0. show writes one of its files and
// makes it redraw.
func fakeAgent(t *testing.T) (srv *tmux.Server, p *peer, dir string, show func(name, text string)) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("which program runs in a pane is found in /proc")
	}
	srv = testserver.New(t)
	command, dir := testagent.Claude(t)
	testserver.Run(t, srv, "new-session", "-d", "-s", "a", "-x", "80", "-y", "24", command)
	testserver.WaitScreen(t, srv, "%0", "shortcuts")
	s, p := promptly(t, srv)
	s.SetPromptStands(5 * time.Second)
	return srv, p, dir, func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		testserver.Signal(t, srv, "%0", syscall.SIGUSR1)
	}
}

func awaitAgent(t *testing.T, p *peer, state string) {
	t.Helper()
	testtool.Eventually(t, "the agent is "+state, func() bool {
		return strings.Contains(string(p.tool("agent_status", `{}`).Structured), `"state":"`+state+`"`)
	})
}

// A prompt that does not appear, or is not accepted, is reported to be there; it is not
// sent again.
func TestSendPromptIsNeverSentTwice(t *testing.T) {
	t.Parallel()
	srv, p, dir, show := fakeAgent(t)
	// It ends each line that is typed, and draws nothing: the box keeps its text.
	if err := os.WriteFile(filepath.Join(dir, "stuck"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	res := p.fails("send_prompt", `{"pane_id":"%0","prompt":"only once"}`, "pasted, and Enter pressed", "check with snapshot_pane")
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
	tty := testserver.Run(t, srv, "display-message", "-p", "-t", "%0", "#{pane_tty}")
	if out, err := exec.Command("stty", "-F", tty, "-echo").CombinedOutput(); err != nil {
		t.Fatalf("stty: %v %s", err, out)
	}
	p.fails("send_prompt", `{"pane_id":"%0","prompt":"unseen"}`, "pasted but not submitted", "the input box is empty")
	if buffers := testserver.Run(t, srv, "list-buffers"); buffers != "" {
		t.Errorf("left: %s", buffers)
	}
}

// Nothing is typed while a user looks at the pane, unless the caller allows it.
func TestSendPromptIsSeenByUsers(t *testing.T) {
	t.Parallel()
	srv, p, dir, _ := fakeAgent(t)
	testserver.Run(t, srv, "new-window", "-d", "exec sleep 1000")
	for range 2 {
		testserver.Attach(t, srv, "a", 80, 25)
	}
	var clients []string
	testtool.Eventually(t, "two clients", func() bool {
		clients = strings.Fields(testserver.Run(t, srv, "list-clients", "-F", "#{client_name}"))
		return len(clients) == 2
	})
	p.fails("send_prompt", `{"pane_id":"%0","prompt":"seen"}`, "nothing was typed into pane %0: a user is looking at it (client "+clients[1]+")", "even_if_watched=true")
	testserver.Run(t, srv, "select-window", "-t", "a:1")
	p.tool("send_prompt", `{"pane_id":"%0","prompt":"unseen"}`)
	testserver.Run(t, srv, "select-window", "-t", "a:0")
	p.tool("send_prompt", `{"pane_id":"%0","prompt":"allowed","even_if_watched":true}`)
	if got, _ := os.ReadFile(filepath.Join(dir, "got")); string(got) != "unseen\nallowed\n" {
		t.Errorf("the program got %q", got)
	}
}

// A pane that takes no more keys after the paste does not hide that there was one.
func TestSendPromptAfterItsPaste(t *testing.T) {
	t.Parallel()
	srv, p, dir, _ := fakeAgent(t)
	testserver.Run(t, srv, "set-hook", "-g", "after-paste-buffer", "copy-mode -t %0")
	res := p.fails("send_prompt", `{"pane_id":"%0","prompt":"half sent"}`, "pasted but not submitted", "copy-mode", "the input box has: half sent")
	if res.Meta["error_type"] != "unproven" {
		t.Errorf("%v", res.Meta)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "got")); len(got) > 0 {
		t.Errorf("the program got %q", got)
	}
}
