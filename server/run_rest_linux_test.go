package server_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/internal/procstat"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

// TestRunCommandAfterABusyRecorder: a resting recorder that has not read everything that
// the pane printed is ended, and its pipe, which tmux closes a little later, is not taken
// for the user's. Otherwise the output would be read off the screen, which does not have
// all of it.
func TestRunCommandAfterABusyRecorder(t *testing.T) {
	t.Parallel()
	srv, p := shellPane(t, "bash")
	for range 3 {
		dd, shell := recorderOf(t, srv, func() { p.expect("%0", "echo a", "a") })
		if err := syscall.Kill(dd, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		go func() { // it holds the pipe until the recorder was ended
			defer syscall.Kill(dd, syscall.SIGCONT)
			for end := time.Now().Add(time.Minute); syscall.Kill(shell, 0) == nil && time.Now().Before(end); {
				time.Sleep(time.Millisecond)
			}
		}()
		got := p.command("%0", "seq 1 5000", `"max_lines":null`)
		if len(got.Output) != 5000 || got.LinesMissed {
			t.Fatalf("%d lines of output, lines missed is %t", len(got.Output), got.LinesMissed)
		}
	}
}

// recorderOf returns the process that reads the output of a tmux server's only pane, and
// the shell that started it. record makes one, which may be gone before a slow machine finds it.
func recorderOf(t *testing.T, srv *tmux.Server, record func()) (dd, sh int) {
	t.Helper()
	server := testserver.Run(t, srv, "display-message", "-p", "#{pid}")
	testserver.Wait(t, srv, "%0", "recorder", func() bool {
		record()
		for _, p := range procstat.All() {
			if p.Name != "dd" {
				continue
			}
			if shell, err := procstat.Of(p.Parent); err == nil && fmt.Sprint(shell.Parent) == server {
				dd, sh = p.PID, shell.PID
			}
		}
		return dd != 0
	})
	return dd, sh
}

// TestAKilledServerLeavesNoRecorder: a recorder ends though its server is killed while it
// rests, while the job runs or before it began, and keeps nothing that the user types
// afterwards. What a job prints is recorded to its end.
func TestAKilledServerLeavesNoRecorder(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "dash"}[:testtool.Size(1, 2)] {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			srv, later := shellPane(t, shell)
			waitPrompt(t, srv, "%0")
			recorded := func(text string) bool {
				names, _ := filepath.Glob(filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "tmux-mcp", "j*", "o*"))
				return slices.ContainsFunc(names, func(name string) bool {
					b, _ := os.ReadFile(name)
					return strings.Contains(string(b), text)
				})
			}
			ended := func(what string) {
				t.Helper()
				testtool.Eventually(t, "the pipe is closed "+what, func() bool { return format(t, srv, "%0", "#{pane_pipe}") == "0" })
				word := fmt.Sprint(shell, "-typed-", srv.SocketPath())
				typeCommand(t, srv, "%0", "echo "+word) // before the prompt it would be echoed elsewhere
				testserver.WaitScreen(t, srv, "%0", "\n"+word)
				if recorded(word) {
					t.Errorf("what the user typed %s is kept", what)
				}
				typeLine(t, srv, "%0", "clear")
			}
			serving := func() *peer {
				p := start(t, srv, nil)
				p.handshake("{}")
				return p
			}
			kill := func(p *peer) {
				p.process.Process.Kill()
				<-p.done
			}
			p := serving()
			p.expect("%0", "echo a", "a")
			typeLine(t, srv, "%0", "echo at-rest"+"-"+shell)
			testserver.WaitScreen(t, srv, "%0", "\nat-rest-"+shell)
			kill(p)
			ended("while it rested")
			if recorded("at-rest-" + shell) {
				t.Error("what the user typed while it rested is kept")
			}

			p = serving()
			g := newGate(t)
			job := p.command("%0", g.wait()+"; echo all of it", `"detach":true`)
			kill(p)
			looks := map[int]bool{} // the pauses between looks of the recorder
			dir := filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "tmux-mcp", job.JobID)
			testtool.Eventually(t, "the recorder has looked twice", func() bool {
				for _, process := range procstat.All() {
					if at, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", process.PID)); process.Name == "sleep" && at == dir {
						looks[process.PID] = true
					}
				}
				return len(looks) > 2
			})
			g.open(t)
			if got := later.job(job.JobID, `"timeout":60`); got.status() != "0" || fmt.Sprint(got.Output) != "[all of it]" || got.LinesMissed {
				t.Errorf("%+v", got)
			}
			ended("after the job")

			p = serving()
			job = p.command("%0", "sh -c 'echo begun; exec sleep 4321'", `"detach":true`)
			kill(p)
			var noted procstat.Process
			testtool.Eventually(t, "the job has noted its process", func() bool {
				text, err := os.ReadFile(filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "tmux-mcp", job.JobID, "process"))
				if err == nil {
					noted, err = procstat.Parse(text)
				}
				return err == nil
			})
			if syscall.Kill(-noted.PID, syscall.SIGKILL) != nil {
				t.Fatal("the job cannot be killed")
			}
			ended("after the job was killed")
		})
	}
}
