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

// Process is what /proc/PID/stat says.
type Process struct {
	PID        int
	Name       string
	State      byte
	Parent     int
	Group      int // its process group
	Terminal   int // the number of its terminal's device
	Foreground int // the process group that the terminal listens to
	Forked     bool
	Dying      bool  // it was killed, or is exiting
	Started    int64 // in ticks since the system's start: with PID it belongs to no other process
	Age        time.Duration
}

const (
	exiting        = 0x4    // PF_EXITING
	forkNoExec     = 0x40   // PF_FORKNOEXEC: it runs its parent's program, as a subshell does
	killed         = 1 << 8 // SIGKILL, of the signals that are pending
	ticksPerSecond = 100    // USER_HZ, the same on every architecture
)

// Of reads the state of a process.
func Of(pid int) (p Process, err error) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return p, err
	}
	return Parse(stat)
}

// Parse reads what a process read of itself in /proc/self/stat.
func Parse(stat []byte) (p Process, err error) {
	// The name stands in parentheses and may hold any byte.
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
		PID: pid, Name: string(stat[open+1 : shut]), State: f[0][0], Parent: number(1), Group: number(2), Terminal: number(4), Foreground: number(5),
		Forked: number(6)&forkNoExec != 0, Dying: number(6)&exiting != 0 || number(28)&killed != 0, Started: int64(number(19)),
	}
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) == nil {
		started := time.Duration(p.Started) * (time.Second / ticksPerSecond)
		p.Age = max(0, time.Duration(now.Nano())-started)
	}
	return p, nil
}

// TTYNumber is a device's number as /proc/PID/stat has it.
func TTYNumber(dev uint64) int {
	return int(unix.Minor(dev)&0xff | unix.Major(dev)<<8 | unix.Minor(dev)&^0xff<<12)
}
