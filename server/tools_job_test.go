package server_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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

func TestJobsOutliveTheirServer(t *testing.T) {
	t.Parallel()
	srv, _ := shellPane(t, "bash")
	testserver.Run(t, srv, "split-window", "-d", "-t", "%0", shellStart(t, "dash"))
	waitPrompt(t, srv, "%0")
	waitPrompt(t, srv, "%1")
	g := newGate(t)
	first := start(t, srv, nil)
	first.handshake("{}")
	detached := first.command("%0", "seq 1 3000; "+g.wait()+"; seq 3001 4000; exit 6", `"detach":true`)
	// Nobody has the id of this one.
	first.running("%1", "echo begun; "+g.wait()+"; echo ended")
	testserver.WaitScreen(t, srv, "%1", "\nbegun")
	if err := first.process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-first.done
	g.open(t)
	second := start(t, srv, nil)
	second.handshake("{}")
	got := second.job(detached.JobID, `"timeout":20`)
	if diff := cmp.Diff(numbers(1, 4000), got.Output); diff != "" || got.status() != "6" || got.LinesMissed {
		t.Errorf("exit status %s, missed is %t; output (-want +have):\n%s", got.status(), got.LinesMissed, diff)
	}
	got = second.job(second.jobOf("%1", "echo begun; until"), `"timeout":20`)
	if fmt.Sprint(got.Output) != "[begun ended]" || got.status() != "0" || got.LinesMissed {
		t.Errorf("%+v", got)
	}
	second.expect("%0", "echo usable", "usable")
	second.expect("%1", "echo usable", "usable")
}

// jobOf returns the id of a pane's job by the beginning of its command, or "".
func (p *peer) jobOf(pane, command string) string {
	p.t.Helper()
	for _, j := range ok[struct {
		Result []struct {
			JobID   string `json:"job_id"`
			PaneID  string `json:"pane_id"`
			Command string `json:"command"`
		} `json:"result"`
	}](p, "list_jobs", `{}`).Result {
		if j.PaneID == pane && strings.HasPrefix(j.Command, command) {
			return j.JobID
		}
	}
	return ""
}

// TestJobsOutliveTheirClient: a command whose client goes away, as when a connection breaks,
// is kept as a job, even if it ends while the server still finishes its calls.
func TestJobsOutliveTheirClient(t *testing.T) {
	t.Parallel()
	srv, _ := shellPane(t, "bash")
	g := newGate(t)
	first := start(t, srv, nil)
	first.handshake("{}")
	first.running("%0", "echo begun; "+g.wait()+"; sleep 1; echo ended; exit 3")
	testserver.WaitScreen(t, srv, "%0", "\nbegun")
	first.in.Close()
	g.open(t) // the server has read the end of its input before the second is over
	<-first.done
	second := start(t, srv, nil)
	second.handshake("{}")
	got := second.job(second.jobOf("%0", "echo begun; until"), `"timeout":20`)
	if fmt.Sprint(got.Output) != "[begun ended]" || got.status() != "3" || got.LinesMissed {
		t.Errorf("%+v", got)
	}
	if more := second.command("%0", "echo next"); more.JobID != "" {
		t.Errorf("a command whose client is there is kept: %+v", more)
	}
}

// runs waits until a program runs in a pane, however deep below its shell.
func runs(t testing.TB, srv *tmux.Server, pane, program string) {
	t.Helper()
	root, err := strconv.Atoi(testserver.Run(t, srv, "display-message", "-p", "-t", pane, "#{pane_pid}"))
	if err != nil {
		t.Fatal(err)
	}
	var below func(pid int) bool
	below = func(pid int) bool {
		if name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); string(name) == program+"\n" {
			return true
		}
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
		return slices.ContainsFunc(strings.Fields(string(children)), func(child string) bool {
			n, err := strconv.Atoi(child)
			return err == nil && below(n)
		})
	}
	testtool.Eventually(t, program+" runs in "+pane, func() bool { return below(root) })
}

// TestARecorderOfAKilledServer: a server killed while it hands on a recorder leaves the
// recorder of a command that has not begun. The next server takes the pane's pipe from it.
func TestARecorderOfAKilledServer(t *testing.T) {
	t.Parallel()
	srv, _ := shellPane(t, "bash")
	waitPrompt(t, srv, "%0")
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	env := []string{"XDG_RUNTIME_DIR=" + dir}
	first := start(t, srv, env)
	first.handshake("{}")
	first.expect("%0", "echo first", "first")
	if err := first.process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-first.done
	jobs, err := filepath.Glob(filepath.Join(dir, "*", "*", "job"))
	if err != nil || len(jobs) != 1 {
		t.Fatal(jobs, err)
	}
	text, err := os.ReadFile(jobs[0])
	if err != nil || !strings.Contains(string(text), `"Resting":true`) {
		t.Fatalf("%s %v", text, err)
	}
	if err := os.WriteFile(jobs[0], []byte(strings.Replace(string(text), `"Resting":true`, `"Resting":false`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	second := start(t, srv, env)
	second.handshake("{}")
	second.expect("%0", "echo second", "second")
	if screen := testserver.Run(t, srv, "capture-pane", "-p", "-t", "%0"); regexp.MustCompile(`\[[0-9a-f]{16}`).MatchString(screen) {
		t.Errorf("the output was not recorded but read off the screen:\n%s", screen)
	}
}

// TestRunCommandWaitsForWhatEnds: a copy of the shell that runs no program, as at the end of a
// job, may be about to end, however long it has run.
func TestRunCommandWaitsForWhatEnds(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "fish", "zsh", "dash", "mksh"}[:testtool.Size(2, 5)] {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			srv, p := shellPane(t, shell)
			p.expect("%0", "echo first", "first")
			g := newGate(t)
			run := fmt.Sprintf("(sleep 2.1; echo wai''ts; until [ -e %s ]; do :; done)", g)
			if shell == "fish" {
				run = "sh -c \"" + strings.Trim(run, "()") + "\""
			}
			typeCommand(t, srv, "%0", run)
			testserver.WaitScreen(t, srv, "%0", "\nwaits")
			answer, _ := p.running("%0", "echo second")
			select {
			case r := <-answer:
				t.Fatalf("answered before the end: %s", r.Result)
			case <-time.After(300 * time.Millisecond):
			}
			g.open(t)
			if r := <-answer; !strings.Contains(string(r.Result), "second") {
				t.Errorf("%s", r.Result)
			}
		})
	}
}

// TestAStoppedCommand is reported at once and everywhere. The next command is recorded, and
// fg goes on with the stopped one.
func TestAStoppedCommand(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "dash", "ksh", "mksh", "fish", "busybox"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			srv, p := shellPane(t, shell)
			p.expect("%0", "echo first", "first")
			answer, _ := p.running("%0", "sh -c 'echo begun; exec sleep 300'")
			testserver.WaitScreen(t, srv, "%0", "\nbegun")
			runs(t, srv, "%0", "sleep")
			testserver.Run(t, srv, "send-keys", "-t", "%0", "C-z")
			var res result
			var got ran
			if err := json.Unmarshal((<-answer).Result, &res); err != nil || json.Unmarshal(res.Structured, &got) != nil {
				t.Fatal(err, res.text())
			}
			if got.State != "stopped" || got.TimedOut || !strings.Contains(got.Note, "fg") || !slices.Equal(got.Output[:min(1, len(got.Output))], []string{"begun"}) {
				t.Errorf("%+v", got)
			}
			p.expect("%0", "echo second", "second")
			if screen := testserver.Run(t, srv, "capture-pane", "-p", "-t", "%0"); regexp.MustCompile(`\[[0-9a-f]{16}`).MatchString(screen) {
				t.Errorf("marks on the screen:\n%s", screen)
			}
			if job := p.job(got.JobID); job.State != "stopped" || !strings.Contains(job.Note, "fg") {
				t.Errorf("%+v", job)
			}
			if list := p.tool("list_jobs", "{}").text(); !strings.Contains(list, "stopped") {
				t.Errorf("%s", list)
			}
			typeLine(t, srv, "%0", "fg")
			testtool.Eventually(t, "the job runs", func() bool { return p.job(got.JobID).State == "running" })
			if got := ok[ran](p, "cancel_job", `{"job_id":"`+got.JobID+`","signal":"KILL"}`); got.State != "ended" || got.status() == "0" {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestAStoppedCommandAmongOutput: what goes on printing beside a stopped command does not
// keep its answer.
func TestAStoppedCommandAmongOutput(t *testing.T) {
	t.Parallel()
	srv, p := shellPane(t, "bash")
	p.expect("%0", "echo first", "first")
	answer, _ := p.running("%0", "yes & sh -c 'exec sleep 300'")
	runs(t, srv, "%0", "sleep")
	testserver.Run(t, srv, "send-keys", "-t", "%0", "C-z")
	var res result
	var got ran
	if err := json.Unmarshal((<-answer).Result, &res); err != nil || json.Unmarshal(res.Structured, &got) != nil {
		t.Fatal(err, res.text())
	}
	if got.State != "stopped" {
		t.Errorf("it is %s", got.State)
	}
}

// TestCancelHitsNobodyElse: the user has stopped the job with Ctrl-Z and is running
// something else in the pane.
func TestCancelHitsNobodyElse(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "dash", "mksh", "fish", "busybox"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			srv, p := shellPane(t, shell)
			p.expect("%0", "echo first", "first")
			job := p.command("%0", "sh -c 'echo begun; exec sleep 300'", `"detach":true`)
			testserver.WaitScreen(t, srv, "%0", "\nbegun")
			testserver.Run(t, srv, "send-keys", "-t", "%0", "C-z")
			waitPrompt(t, srv, "%0")
			typeLine(t, srv, "%0", "clear; echo; echo theirs; cat")
			testserver.WaitScreen(t, srv, "%0", "\ntheirs")
			typed := func() string {
				return testserver.Run(t, srv, "display-message", "-p", "-t", "%0", "#{pane_current_command}")
			}
			testtool.Eventually(t, "the user's program runs", func() bool { return typed() == "cat" || shell == "busybox" })
			got := ok[ran](p, "cancel_job", `{"job_id":"`+job.JobID+`"}`)
			if got.State == "running" {
				got = ok[ran](p, "cancel_job", `{"job_id":"`+job.JobID+`","signal":"KILL"}`)
			}
			t.Logf("%+v", got)
			typeLine(t, srv, "%0", "still-here")
			testserver.Wait(t, srv, "%0", "two lines", func() bool {
				return strings.Count(testserver.Run(t, srv, "capture-pane", "-p", "-t", "%0"), "still-here") == 2
			})
			if now := typed(); now != "cat" && shell != "busybox" {
				t.Errorf("the user's program was ended: %s runs", now)
			}
		})
	}
}

// TestOnlyWaitsNeedNoSlot: of the calls that may wait, those that do not are bounded in
// number as all others are.
func TestOnlyWaitsNeedNoSlot(t *testing.T) {
	t.Parallel()
	srv, _ := shellPane(t, "bash")
	s := newServer(t, configFor(srv))
	p := connectTo(t, s)
	p.handshake("{}")
	job := p.command("%0", "sleep 600", `"detach":true`)
	release, err := s.HoldSlots(testserver.Context(t))
	if err != nil {
		t.Fatal(err)
	}
	begin := func(tool string, args map[string]any) <-chan reply {
		c, _ := p.begin("tools/call", map[string]any{"name": tool, "arguments": args})
		return c
	}
	bounded := []<-chan reply{
		begin("get_job", map[string]any{"job_id": job.JobID}),
		begin("run_command", map[string]any{"pane_id": "%0", "command": "true", "detach": true}),
	}
	p.await(begin("get_job", map[string]any{"job_id": job.JobID, "timeout": 0.1}))
	p.await(begin("wait_for_text", map[string]any{"pane_id": "%0", "patterns": []string{"nothing"}, "timeout": 0.1}))
	for i, c := range bounded {
		select {
		case r := <-c:
			t.Errorf("call %d needed no slot: %s", i, r.Result)
		default:
		}
	}
	release()
	for _, c := range bounded {
		p.await(c)
	}
}

// TestCancelWithoutJobControl: the job, the shell and what the user runs in the background
// are one process group. Whatever the signal, only the job ends, also one that the shell
// runs itself.
func TestCancelWithoutJobControl(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"dash", "fish", "bash", "zsh", "ksh", "mksh", "busybox"}[:testtool.Size(2, 7)] {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			srv, p := shellPane(t, shell)
			p.expect("%0", "echo first", "first")
			own, loop := "set +m", "while :; do sleep 1; done"
			if shell == "fish" {
				own, loop = "status job-control none", "while true; sleep 1; end"
			}
			typeLine(t, srv, "%0", own+"; env sleep 4321 &")
			pid, err := strconv.Atoi(format(t, srv, "%0", "#{pane_pid}"))
			if err != nil {
				t.Fatal(err)
			}
			theirs := func() bool {
				return slices.ContainsFunc(children(t, pid), func(pid string) bool {
					line, _ := os.ReadFile("/proc/" + pid + "/cmdline")
					return strings.HasPrefix(string(line), "sleep\x004321")
				})
			}
			testtool.Eventually(t, "the user's program runs", theirs)
			for _, command := range []string{"echo begun; env sleep 1234", "echo begun; " + loop} {
				for _, sig := range []string{"INT", "TERM", "HUP", "QUIT", "KILL"} {
					if sig == "QUIT" && (shell == "bash" || shell == "fish") {
						continue // they ignore that
					}
					job := p.command("%0", command, `"detach":true`)
					testtool.Eventually(t, "it has begun", func() bool { return len(p.job(job.JobID).Output) > 0 })
					got := ok[ran](p, "cancel_job", `{"job_id":"`+job.JobID+`","signal":"`+sig+`"}`)
					if got = p.job(job.JobID, `"timeout":30`); got.State != "ended" || got.status() == "0" {
						t.Errorf("%s, %s: %+v", command, sig, got)
					}
					p.expect("%0", "echo usable", "usable")
					if !theirs() {
						t.Fatalf("%s, %s: the user's program has ended", command, sig)
					}
				}
			}
		})
	}
}
