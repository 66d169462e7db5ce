package procstat

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Process is the content of /proc/PID/stat.
type Process struct {
	PID        int
	Name       string
	State      byte
	Parent     int
	Group      int // its process group
	Session    int // its session: the process that began it, even if that has ended
	Terminal   int // the device number of its terminal
	Foreground int // the foreground process group of the terminal
	Forked     bool
	Dying      bool  // it was killed, or is exiting
	Started    int64 // in ticks since boot; together with PID it identifies a process
	Age        time.Duration
}

const (
	exiting        = 0x4    // PF_EXITING
	forkNoExec     = 0x40   // PF_FORKNOEXEC: it runs its parent's program, as a subshell does
	killed         = 1 << 8 // SIGKILL, in the set of pending signals
	ticksPerSecond = 100    // USER_HZ, the same on every architecture
)

// File returns the path of a file of a process, such as its environ.
func File(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/" + name }

// Program returns the executable of a process; its old path if that was replaced, "" if it
// cannot be read.
func Program(pid int) string {
	exe, _ := os.Readlink(File(pid, "exe"))
	return strings.TrimSuffix(exe, " (deleted)")
}

// Of reads the state of a process.
func Of(pid int) (p Process, err error) {
	stat, err := os.ReadFile(File(pid, "stat"))
	if err != nil {
		return p, err
	}
	return Parse(stat)
}

// All reads the states of all processes that can be seen.
func All() (all []Process) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			if p, err := Of(pid); err == nil {
				all = append(all, p)
			}
		}
	}
	return all
}

// Parse parses what a process has read from its own /proc/self/stat.
func Parse(stat []byte) (p Process, err error) {
	// The name is in parentheses and may contain any byte.
	open, shut := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	pid := 0
	if open > 0 {
		pid, err = strconv.Atoi(strings.TrimSpace(string(stat[:open])))
	}
	if pid <= 0 || err != nil || shut < open {
		return p, fmt.Errorf("%.20q is not the state of a process", stat)
	}
	f := strings.Fields(string(stat[shut+1:]))
	if len(f) < 29 {
		return p, fmt.Errorf("the state of process %d is not readable", pid)
	}
	number := func(i int) int { n, _ := strconv.Atoi(f[i]); return n }
	p = Process{
		PID: pid, Name: string(stat[open+1 : shut]), State: f[0][0], Parent: number(1), Group: number(2), Session: number(3), Terminal: number(4), Foreground: number(5),
		Forked: number(6)&forkNoExec != 0, Dying: number(6)&exiting != 0 || number(28)&killed != 0, Started: int64(number(19)),
	}
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) == nil {
		started := time.Duration(p.Started) * (time.Second / ticksPerSecond)
		p.Age = max(0, time.Duration(now.Nano())-started)
	}
	return p, nil
}

// TTYNumber returns a device number as in /proc/PID/stat.
func TTYNumber(dev uint64) int {
	return int(unix.Minor(dev)&0xff | unix.Major(dev)<<8 | unix.Minor(dev)&^0xff<<12)
}
