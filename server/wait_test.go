package server_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

// A wait does not poll: output is announced to it, so it notices output soon even
// with a long interval between looks.
func TestWaitNoticesOutputBetweenLooks(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	s := newScreen(t, srv, "a", 40, 10)
	events := testserver.Run(t, srv, "display-message", "-p", "-t", s.pane, "#{pane_output_generation}") != ""
	if !events && runtime.GOOS != "linux" {
		t.Skip("neither tmux nor the system announces output here")
	}
	p := serve(t, configFor(srv))
	noticed := false
	for i := 0; i < 5 && !noticed; i++ { // on a busy machine both looks that follow may be too early
		end := waitText(p, s, fmt.Sprintf(`"patterns":["go %d"],"interval":60,"timeout":300`, i))
		// Not at the beginning of the wait, and in two writes.
		time.Sleep(100 * time.Millisecond)
		s.print("something\n")
		s.print(fmt.Sprintf("go %d\n", i))
		got := end()
		if got.Outcome != "matched" {
			t.Errorf("%+v", got)
		}
		noticed = got.Elapsed < 40
	}
	if !noticed {
		t.Error("output is noticed when the interval is over")
	}
}

// Only tmux announces the output of a pane whose processes cannot be seen from here.
func TestWaitOnAServerInAContainer(t *testing.T) {
	t.Parallel()
	srv := secluded(t)
	p := serve(t, configFor(srv))
	for i := range 8 {
		call, _ := p.wait("wait_for_text", fmt.Sprintf(`{"pane_id":"%%0","patterns":["go %d\\b"],"regex":true,"timeout":60}`, i))
		time.Sleep(time.Duration(50+7*i) * time.Millisecond) // not at the beginning of the wait
		testserver.Run(t, srv, "send-keys", "-l", "-t", "%0", fmt.Sprintf("go %d\n", i))
		if got := decode[awaited](p, "wait_for_text", p.await(call)); got.Outcome != "matched" {
			t.Fatalf("%+v", got)
		}
	}
}

// secluded is a tmux server in a PID namespace of its own, as in a container, with
// a pane that shows what is typed.
func secluded(t testing.TB) *tmux.Server {
	t.Helper()
	srv := testserver.New(t)
	// The namespace lives as long as its first process.
	cmd := exec.Command("unshare", "--map-root-user", "--pid", "--fork", "--kill-child", "sh", "-c", `"$0" -S "$1" -f /dev/null new-session -d -x 80 -y 24 cat && exec sleep 600`, srv.Binary(), srv.SocketPath())
	if err := cmd.Start(); err != nil {
		testtool.Missing(t, "unshare is not installed: %v", err)
	}
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-ended
	})
	for {
		select {
		case <-ended:
			t.Skip("namespaces cannot be made here")
		case <-time.After(10 * time.Millisecond):
		}
		if _, err := srv.Do(testserver.Context(t), tmux.DisplayMessage{Print: true, Target: tmux.PaneID("%0"), Message: "#{pane_id}"}); err == nil {
			return srv
		}
	}
}

// A silent pane costs next to nothing, and one that never stops printing not much.
func TestWaitsLookSeldom(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	session(t, srv, "keep")
	for _, c := range []struct {
		program, interval string
		most, rate        float64 // looks, and looks a second
	}{
		{"exec cat", "", 10, 25},
		{"exec yes noise", `"interval":60,`, 60, 20}, // which are ever further apart
	} {
		pane := testserver.Run(t, srv, "new-session", "-d", "-s", "b", "-P", "-F", "#{pane_id}", c.program)
		cfg := configFor(srv)
		counted := countedTmux(t, &cfg)
		p := serve(t, cfg)
		ok[rows](p, "list_panes", `{}`)
		before := counted()
		got := ok[awaited](p, "wait_for_text", `{"pane_id":"`+pane+`",`+c.interval+`"patterns":["never"],"timeout":0.5}`)
		if n, most := counted()-before, c.most+c.rate*got.Elapsed; float64(n) > most {
			t.Errorf("%s: a wait of %v s asked tmux %d times, want at most %v", c.program, got.Elapsed, n, most)
		}
		testserver.Run(t, srv, "kill-session", "-t", "=b")
	}
}

// A wait leaves nothing behind, whatever ended it: no waiter, client or connection
// in the tmux server, and nothing open here.
func TestWaitLeavesNothingBehind(t *testing.T) {
	srv, s, p := onScreen(t)
	ok[rows](p, "list_panes", `{}`)
	server := testserver.Run(t, srv, "display-message", "-p", "#{pid}")
	// The tmux server counts what it has open, this process its own.
	state := func() string {
		left := ""
		if runtime.GOOS == "linux" {
			left = fmt.Sprintf("tmux has %s open, this process %s", openFiles(t, server, "socket:"), openFiles(t, "self", "inotify"))
		}
		if testserver.Run(t, srv, "display-message", "-p", "-t", s.pane, "#{pane_output_generation}") != "" {
			left += "; waiters " + testserver.Run(t, srv, "wait-for", "-E", "-l", "pane-activity")
		}
		return left + "; clients " + testserver.Run(t, srv, "list-clients")
	}
	before := state()
	testtool.Eventually(t, "what came before is over", func() bool {
		last := before
		time.Sleep(100 * time.Millisecond)
		before = state()
		return last == before
	})
	for range 10 {
		end := waitText(p, s, `"patterns":["ready"],"timeout":30`)
		s.print("ready\n")
		end()
		waitText(p, s, `"patterns":["never"],"timeout":0.1`)()
		_, id := p.wait("wait_for_text", `{"pane_id":"`+s.pane+`","patterns":["never"],"timeout":30}`)
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":"enough"}}`, id)
	}
	testtool.Eventually(t, "nothing is left but "+before, func() bool { return state() == before })
}

// openFiles counts the open files of a process whose name has a word in it.
func openFiles(t *testing.T, pid, word string) string {
	t.Helper()
	names, err := filepath.Glob("/proc/" + pid + "/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, name := range names {
		if to, err := os.Readlink(name); err == nil && strings.Contains(to, word) {
			n++
		}
	}
	return fmt.Sprintf("%d %s", n, word)
}
