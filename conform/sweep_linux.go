package conform

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// adopt makes this process the parent of everything below it whose own parent
// has gone: of a tmux server, which puts itself into the background.
func adopt() { unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// endChildren kills the children of this process and, as they come to it, those
// that these leave behind, until there are none. It reports whether it could
// tell. No other goroutine may be waiting for a child then.
func endChildren() bool {
	for {
		pids, err := children()
		if err != nil {
			return false
		}
		if len(pids) == 0 {
			return true
		}
		for _, pid := range pids {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		for _, pid := range pids {
			syscall.Wait4(pid, nil, 0, nil)
		}
	}
}

func children() ([]int, error) {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, t := range tasks {
		data, err := os.ReadFile("/proc/self/task/" + t.Name() + "/children")
		if os.IsNotExist(err) && t.Name() != strconv.Itoa(os.Getpid()) {
			continue // a thread that has ended
		}
		if err != nil {
			return nil, err
		}
		for _, f := range strings.Fields(string(data)) {
			if pid, err := strconv.Atoi(f); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids, nil
}

// sweep kills whatever still runs with its TMUX_TMPDIR at or below dir: what a
// child that was itself killed has left.
func sweep(dir string) {
	deadline := time.Now().Add(graceTime)
	for pids := users(dir); len(pids) > 0 && time.Now().Before(deadline); pids = users(dir) {
		for _, pid := range pids {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func users(dir string) []int {
	procs, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	mark := []byte("\x00TMUX_TMPDIR=" + dir)
	for _, p := range procs {
		pid, err := strconv.Atoi(p.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil {
			continue
		}
		_, after, found := bytes.Cut(append([]byte{0}, env...), mark)
		if found && len(after) > 0 && (after[0] == 0 || after[0] == '/') {
			pids = append(pids, pid)
		}
	}
	return pids
}
