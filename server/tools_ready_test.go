package server_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
)

// A wait that follows ready is for what comes then, however the command draws: it neither
// matches again what was returned, nor misses what comes.
func TestWaitAfterReady(t *testing.T) {
	t.Parallel()
	many := strings.Repeat(`ready 0\n`, 20)
	for name, c := range map[string]struct {
		before, after string // what is printed
		ready         string
		want          string // the line that matches then
		shows         string // what the screen shows after that
	}{
		"lines":                {`first\nready 1\n`, `next 2\n`, "ready", "next 2", ""},
		"the same again":       {`first\nready 1\n`, `ready 1\n`, "ready", "ready 1", "ready 1\nready 1"},
		"blank lines":          {many + `\n\n ready 1\n\n\n`, `\nnext 2\n`, "ready 1", "next 2", ""},
		"an unfinished line":   {`first\nReady> `, `\nnext 2\n`, "ready>", "next 2", ""},
		"which goes on":        {`first\nmaking ready `, `next 2\n`, "ready", "making ready next 2", ""},
		"a progress bar":       {many + `ready 1\n10%%\r`, `20%%\rnext 2\n`, "ready 1", "next 2", ""},
		"a cleared screen":     {`old\n\033[2J\033[Hready 1\nlocal\n`, `next 2\n`, "ready", "next 2", ""},
		"and its history":      {`old\n\033[2J\033[3J\033[Hready 1\nlocal\n`, `next 2\n`, "ready", "next 2", ""},
		"cleared afterwards":   {`ready 1\n`, `\033[2J\033[3J\033[Hnext 2\n`, "ready", "next 2", ""},
		"more than a screen":   {strings.Repeat(`line\n`, 100) + `ready 1\n`, `next 2\n`, "ready", "next 2", ""},
		"the alternate screen": {`\033[?1049h\033[Hready 1`, `\033[2;1Hnext 2`, "ready", "next 2", ""},
	} {
		for _, late := range []bool{false, true} { // the wait begins after that was printed
			t.Run(fmt.Sprintf("%s late=%t", name, late), func(t *testing.T) {
				t.Parallel()
				srv, p := shellPane(t, "bash")
				p.command("%0", "seq 10")
				g := newGate(t)
				got := p.command("%0", fmt.Sprintf("printf '%s'; %s; printf '%s'; sleep 1000", c.before, g.wait(), c.after), fmt.Sprintf(`"ready":[%q]`, c.ready), `"timeout":60`)
				if got.State != "running" || got.Reached != "ready" || got.TimedOut {
					t.Fatalf("%+v", got)
				}
				args := `{"pane_id":"%0","patterns":["ready","next"],"timeout":60}`
				var w <-chan reply
				if !late {
					w, _ = p.wait("wait_for_text", args)
				}
				g.open(t)
				if late {
					testserver.WaitScreen(t, srv, "%0", cmp.Or(c.shows, c.want))
					w, _ = p.wait("wait_for_text", args)
				}
				waited := decode[struct {
					Outcome string
					Matched []string `json:"matched_lines"`
				}](p, "wait_for_text", p.await(w))
				if waited.Outcome != "matched" || fmt.Sprint(waited.Matched) != "["+c.want+"]" {
					t.Errorf("%+v; the screen:\n%s", waited, testserver.Run(t, srv, "capture-pane", "-p", "-t", "%0"))
				}
			})
		}
	}
}

// Any shell may run the command: what it prints is recorded.
func TestReadyInEachShell(t *testing.T) {
	t.Parallel()
	eachShell(t, 2, func(t *testing.T, shell string) {
		_, p := shellPane(t, shell)
		g := newGate(t)
		// After a silence, in which nothing else happens in the pane.
		got := p.command("%0", "echo loading; sleep 3; echo ready on 1; "+"sh -c '"+g.wait()+"'; exit 3", `"ready":["ready on"]`, `"stop":["error"]`, `"timeout":300`) // nor is it awaited for so long
		if got.State != "running" || got.Reached != "ready" || got.ReachedLine != "ready on 1" || fmt.Sprint(got.Output) != "[loading ready on 1]" || got.TimedOut || got.LinesMissed {
			t.Fatalf("%+v", got)
		}
		g.open(t)
		if got := p.job(got.JobID, `"timeout":60`, `"ready":["not this"]`); got.status() != "3" || got.Reached != "" || fmt.Sprint(got.Output) != "[loading ready on 1]" {
			t.Errorf("%+v", got)
		}
		if got := p.command("%0", "echo address in use; exit 1", `"ready":["ready on"]`); got.status() != "1" || got.Reached != "" || fmt.Sprint(got.Output) != "[address in use]" {
			t.Errorf("%+v", got)
		}
		if got := p.command("%0", "printf 'Error: no\\n'; sleep 1000", `"ready":["ready on"]`, `"stop":["error"]`); got.State != "running" || got.Reached != "stop" || got.JobID == "" {
			t.Errorf("%+v", got)
		}
	})
}

// Reading goes on, and ends, however much is printed and whatever is looked for.
func TestReadyInMuchOutput(t *testing.T) {
	t.Parallel()
	srv, p := shellPane(t, "bash")
	lines := testtool.Size(200_000, 1_000_000)
	got := p.command("%0", fmt.Sprintf("seq %d; echo ready on; seq 3; sleep 1000", lines), `"ready":["Ready on"]`, `"stop":["(a|b)+c$","x{20}y"]`, `"regex":true`, `"match":"^3$"`, `"timeout":300`)
	if got.Reached != "ready" || got.State != "running" || got.Lines != lines+4 || got.LinesMissed || got.Note != "" {
		t.Fatalf("%+v", got)
	}
	if again := p.job(got.JobID, `"ready":["ready on"]`, `"max_lines":1`, `"timeout":60`); again.Reached != "ready" || again.Lines != got.Lines {
		t.Errorf("%+v", again)
	}
	// While a program prints without end, what was printed is enough.
	testserver.Run(t, srv, "send-keys", "-t", "%0", "C-c")
	waitPrompt(t, srv, "%0")
	if got := p.command("%0", "echo ready on; exec yes", `"ready":["Ready on"]`, `"max_lines":1`, `"timeout":300`); got.Reached != "ready" || got.State != "running" {
		t.Errorf("%+v", got)
	}
	testserver.Run(t, srv, "kill-pane", "-t", "%0")
}

// A pane that is killed, and a call that is cancelled, end the wait.
func TestReadyEnds(t *testing.T) {
	t.Parallel()
	srv, p := shellPane(t, "bash")
	testserver.Run(t, srv, "split-window", "-d", "-t", "%0", shellStart(t, "bash"))
	waitPrompt(t, srv, "%1")
	args := func(pane string) string {
		return runArgs(pane, "echo begun; sleep 1000", `"ready":["ready on"]`, `"timeout":60`)
	}
	killed, _ := p.wait("run_command", args("%0"))
	testserver.WaitScreen(t, srv, "%0", "\nbegun")
	testserver.Run(t, srv, "kill-pane", "-t", "%0")
	if got := decode[ran](p, "run_command", p.await(killed)); got.State != "lost" || !got.PaneGone || got.Reached != "" {
		t.Errorf("%+v", got)
	}
	cancelled, id := p.wait("run_command", args("%1"))
	testserver.WaitScreen(t, srv, "%1", "\nbegun")
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id)
	job := ""
	testtool.Eventually(t, "a job", func() bool { job = p.jobOf("%1", "echo begun"); return job != "" })
	if got := p.job(job, `"ready":["begun"]`); got.State != "running" || got.Reached != "ready" {
		t.Errorf("%+v", got)
	}
	select {
	case r := <-cancelled:
		t.Errorf("a cancelled call is answered: %s", r.Result)
	default:
	}
}
