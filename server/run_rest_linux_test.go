package server_test

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/internal/procstat"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// TestRunCommandAfterABusyRecorder: a resting recorder that has not read everything that
// the pane printed is ended, and its pipe, which tmux closes a little later, is not taken
// for the user's. Otherwise the output would be read off the screen, which does not have
// all of it.
func TestRunCommandAfterABusyRecorder(t *testing.T) {
	t.Parallel()
	srv, p := shellPane(t, "bash")
	for range 3 {
		p.expect("%0", "echo a", "a")
		dd, shell := recorderOf(t, srv)
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
// the shell that started it.
func recorderOf(t *testing.T, srv *tmux.Server) (dd, sh int) {
	t.Helper()
	server := tmuxtest.Run(t, srv, "display-message", "-p", "#{pid}")
	tmuxtest.Wait(t, srv, "%0", "recorder", func() bool {
		stats, _ := filepath.Glob("/proc/[0-9]*/stat")
		for _, path := range stats {
			pid, _ := strconv.Atoi(strings.Split(path, "/")[2])
			if p, err := procstat.Of(pid); err == nil && p.Name == "dd" {
				if shell, err := procstat.Of(p.Parent); err == nil && fmt.Sprint(shell.Parent) == server {
					dd, sh = pid, p.Parent
				}
			}
		}
		return dd != 0
	})
	return dd, sh
}
