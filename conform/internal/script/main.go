// Package script is the process that runs scripts, or finds out something else about a target.
// Package child starts it; it adopts whatever it starts, and leaves nothing of that when it ends.
package script

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"tmuxmcp/conform/internal/child"
	"tmuxmcp/internal/proctree"
)

// Main runs scripts, one after the other, in a process that was started with [child.Arg]. It reads
// the requests from stdin, writes the outcomes to stdout and returns the exit code.
// It changes process-wide state, so the process must not do anything else.
func Main(stdin io.Reader, stdout io.Writer) int {
	// When the run has been killed, nobody reads stdout, and SIGPIPE must not end this process
	// before it has cleaned up. Ignoring the signal would do too, but tmux would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	proctree.Adopt()
	child.LimitFiles()
	r := runner{stdout: stdout}
	requests := make(chan child.Request)
	go r.read(bufio.NewReader(stdin), requests)
	go child.Watch(r.excess)
	for req := range requests {
		if err := r.run(req); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
	}
	return 0
}

// runner runs the scripts of this process.
type runner struct {
	stdout io.Writer
	mu     sync.Mutex     // held to begin or end a script, or the process
	last   *child.Request // the last one read
	now    *script        // the running script, or nil
	spent  bool           // [child.Watch] found that something took too much
}

// read passes on the requests. At the end of the input it ends the running script, and the process.
func (r *runner) read(in *bufio.Reader, requests chan<- child.Request) {
	for {
		line, err := in.ReadBytes('\n')
		stop := string(line) == child.StopLine
		var req child.Request
		r.mu.Lock()
		if err == nil && !stop && json.Unmarshal(line, &req) == nil {
			r.last = &req
			r.mu.Unlock()
			requests <- req
			continue
		}
		if r.now != nil {
			r.now.cleanUp()
		}
		switch {
		case r.last == nil:
			fmt.Fprintln(os.Stderr, "this command is for the runner's own use: no script to run")
			os.Exit(2)
		case !stop:
			// Nobody is left to remove what the run has made.
			os.RemoveAll(r.last.Dir)
			if run := filepath.Dir(r.last.Dir); child.IsRunDir(run) {
				os.Remove(run)
			}
		case !r.last.Keep:
			os.RemoveAll(r.last.Dir)
		}
		os.Exit(3)
	}
}

// run runs one script, and sends its outcome once nothing of it is left.
func (r *runner) run(req child.Request) error {
	r.mu.Lock()
	if err := enter(&req); err != nil {
		return err // the process ends
	}
	s := newScript(req, r.stdout)
	r.now = s
	r.mu.Unlock()
	answer := s.answer()
	r.mu.Lock()
	defer r.mu.Unlock()
	s.cleanUp()
	r.now = nil
	answer.Done = true
	s.send(answer)
	if r.spent {
		os.Exit(3)
	}
	return nil
}

// enter changes to the script's directory, and prepares it.
func enter(req *child.Request) error {
	if err := os.Chdir(req.Dir); err != nil {
		return err
	}
	for _, variable := range child.Environment(req.Dir) {
		name, value, _ := strings.Cut(variable, "=")
		os.Setenv(name, value)
	}
	if req.Keep {
		// Reports say how to attach to the server in words that are the same for every user.
		os.Symlink(child.Socket(req.Dir), filepath.Join(req.Dir, "s"))
	}
	return wrap(req)
}

// excess ends the script because it takes too much of the machine.
func (r *runner) excess(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.spent = true; r.now == nil {
		os.Exit(3)
	}
	r.now.tooMuch.Store(&why)
	r.now.cancel()
}
