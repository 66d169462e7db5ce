package proctree

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tmuxmcp/internal/procstat"
)

// endTime is how long processes that are killed may take to be gone. Only one that
// hangs in the kernel, or forks faster than it can be killed, takes longer.
const endTime = 5 * time.Second

// Adopt makes this process the parent of each descendant whose own parent exits, such as a tmux
// server, which puts itself into the background. So everything that this process ever started
// stays below it.
func Adopt() { unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// EndChildren kills the descendants of this process, which must have called Adopt,
// until none is left. It reports whether it could find them. No other goroutine may wait for a
// child at the same time.
func EndChildren() bool {
	for deadline := time.Now().Add(endTime); time.Now().Before(deadline); {
		pids, err := Descendants(os.Getpid(), kill)
		if err != nil {
			return false
		}
		if len(pids) == 0 {
			return true
		}
		for _, pid := range pids {
			syscall.Wait4(pid, nil, 0, nil) // fails at once for those that are not ours to wait for
		}
	}
	return true
}

// EndTree kills a child of this process and all that is below it. The child is
// stopped first, so that it stays the parent that adopts until it is the only one.
func EndTree(pid int) {
	syscall.Kill(pid, syscall.SIGSTOP)
	deadline := time.Now().Add(endTime)
	// Twice nothing: one may get a new parent while the others are looked at.
	for quiet := 0; quiet < 2 && time.Now().Before(deadline); quiet++ {
		Descendants(pid, func(p int) {
			if !dead(p) {
				kill(p)
				quiet = -1
			}
		})
		if quiet < 0 {
			time.Sleep(time.Millisecond)
		}
	}
	syscall.Kill(-pid, syscall.SIGKILL)
	kill(pid)
}

func kill(pid int) { syscall.Kill(pid, syscall.SIGKILL) }

// Descendants returns the processes below one, its children first. It visits each
// as soon as it is found and its own children are known.
func Descendants(pid int, visit func(pid int)) ([]int, error) {
	pids, err := Children(pid)
	for i := 0; i < len(pids); i++ {
		more, _ := Children(pids[i]) // it may have ended
		pids = append(pids, more...)
		visit(pids[i])
	}
	return pids, err
}

// Children returns the processes that a process has started or adopted.
func Children(pid int) ([]int, error) {
	dir := "/proc/" + strconv.Itoa(pid) + "/task/"
	tasks, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, t := range tasks {
		data, err := os.ReadFile(dir + t.Name() + "/children")
		if os.IsNotExist(err) && t.Name() != strconv.Itoa(pid) {
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

// dead reports whether a process has ended; it may still be a zombie.
func dead(pid int) bool {
	p, err := procstat.Of(pid)
	return err != nil || p.State == 'Z' || p.State == 'X'
}

// KillBelow kills the descendants of this process without waiting for them.
func KillBelow() { Descendants(os.Getpid(), kill) }
