package conform

import (
	"fmt"
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

// adopt makes this process the parent of everything below it whose own parent
// has gone: of a tmux server, which puts itself into the background, and of what has made a
// session of its own to get away. So all that it ever started is below it.
func adopt() { unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// endChildren kills the descendants of this process, which must have called adopt,
// until none is left. It reports whether it could find out. No other goroutine may
// be waiting for a child meanwhile.
func endChildren() bool {
	for deadline := time.Now().Add(endTime); time.Now().Before(deadline); {
		pids, err := descendants(os.Getpid(), kill)
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

// endTree kills a child of this process and all that is below it. The child is
// stopped first, so that it stays the parent that adopts until it is the only one.
func endTree(pid int) {
	syscall.Kill(pid, syscall.SIGSTOP)
	deadline := time.Now().Add(endTime)
	// Twice nothing: one may get a new parent while the others are looked at.
	for quiet := 0; quiet < 2 && time.Now().Before(deadline); quiet++ {
		descendants(pid, func(p int) {
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

// descendants are the processes below one, its children first. It visits each
// as soon as it is found and its own children are known.
func descendants(pid int, visit func(pid int)) ([]int, error) {
	pids, err := children(pid)
	for i := 0; i < len(pids); i++ {
		more, _ := children(pids[i]) // it may have ended
		pids = append(pids, more...)
		visit(pids[i])
	}
	return pids, err
}

func children(pid int) ([]int, error) {
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

// dead reports whether a process has ended, and perhaps nobody waited for it yet.
func dead(pid int) bool {
	p, err := procstat.Of(pid)
	return err != nil || p.State == 'Z' || p.State == 'X'
}

// below is how many processes are below this one, and how much memory they use.
func below() (processes, memory int) {
	pids, _ := descendants(os.Getpid(), func(pid int) {
		statm, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
		if f := strings.Fields(string(statm)); len(f) > 1 {
			pages, _ := strconv.Atoi(f[1])
			memory += pages * os.Getpagesize()
		}
	})
	return len(pids), memory
}

// killBelow kills what is below this process, and waits for nothing.
func killBelow() { descendants(os.Getpid(), kill) }

// limitFiles bounds the size of each file that this process and those below it write.
func limitFiles(size uint64) {
	unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: size, Max: size})
}

// openTerminal opens a pseudo-terminal of the given size: master is the user's
// side, slave the one that a program runs on.
func openTerminal(cols, rows int) (master, slave *os.File, err error) {
	master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	fd := int(master.Fd())
	err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	var n uint32
	if err == nil {
		n, err = unix.IoctlGetUint32(fd, unix.TIOCGPTN)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(cols), Row: uint16(rows)})
	}
	if err == nil {
		slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		master.Close()
		return nil, nil, err
	}
	return master, slave, nil
}
