// Package script is the process that runs one script, or asks a target something else. It is
// started by package child, takes over whatever it starts, and ends with all of it.
package script

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"

	"tmuxmcp/conform/internal/child"
	"tmuxmcp/internal/proctree"
)

// Main runs one script in a process that was started with [child.Arg]. It reads
// the request from stdin, writes the outcome to stdout and returns the exit code.
// It changes process-wide state, so the process must not do anything else.
func Main(stdin io.Reader, stdout io.Writer) int {
	in := bufio.NewReader(stdin)
	line, err := in.ReadBytes('\n')
	var req child.Request
	if err == nil {
		err = json.Unmarshal(line, &req)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "this command is for the runner's own use: no script to run:", err)
		return 2
	}
	// Once the run has been killed nobody reads stdout. That must not end this process
	// before it has cleaned up. Ignoring the signal would do too, but tmux would inherit it.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	proctree.Adopt()
	child.LimitFiles()
	if err := wrap(&req); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if req.Keep {
		// Reports say how to attach to the server in words that hold for every user.
		os.Symlink(child.Socket(req.Dir), filepath.Join(req.Dir, "s"))
	}
	s := newScript(req, stdout)
	var ended sync.Mutex // taken by whoever ends the process
	go func() {
		rest, _ := io.ReadAll(in)
		ended.Lock()
		s.cleanUp()
		if string(rest) != child.StopLine {
			// Nobody is left to remove what the run has made.
			os.RemoveAll(req.Dir)
			if run := filepath.Dir(req.Dir); child.IsRunDir(run) {
				os.Remove(run)
			}
		} else if !req.Keep {
			os.RemoveAll(req.Dir)
		}
		os.Exit(3)
	}()
	go child.Watch(func(why string) {
		s.tooMuch.Store(&why)
		s.cancel()
	})
	answer := s.answer()
	ended.Lock()
	s.cleanUp()
	answer.Done = true
	s.send(answer)
	return 0
}
