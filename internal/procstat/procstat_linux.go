package procstat

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Age returns how long ago the process was started.
func (p Process) Age() time.Duration {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return 0
	}
	return max(0, time.Duration(now.Nano())-time.Duration(p.Started)*(time.Second/ticksPerSecond))
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
	var room [4096]byte
	n, _ := unix.Readlink(File(pid, "exe"), room[:])
	return strings.TrimSuffix(string(room[:max(n, 0)]), " (deleted)")
}

// Of reads the state of a process.
func Of(pid int) (p Process, err error) {
	var room [2048]byte // for some 50 numbers and a name
	stat, err := Begins(pid, "stat", room[:])
	if err != nil {
		return p, err
	}
	return Parse(stat)
}

// Begins reads the beginning of a file of a process, as much of it as there is room for, in
// one piece. An [os.File] would take twice as long.
func Begins(pid int, name string, room []byte) ([]byte, error) {
	fd, err := unix.Open(File(pid, name), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	n, err := unix.Read(fd, room)
	return room[:max(n, 0)], err
}

// All reads the states of all visible processes.
func All() (all []Process) {
	for _, pid := range pids() {
		if p, err := Of(pid); err == nil {
			all = append(all, p)
		}
	}
	return all
}

// Sessions returns the processes of each of these sessions in ascending order.
func Sessions(sessions []int) map[int][]int {
	of := make(map[int][]int, len(sessions))
	for _, session := range sessions {
		of[session] = nil
	}
	for _, pid := range pids() {
		session, err := unix.Getsid(pid)
		if err != nil { // a security module may forbid to ask
			p, _ := Of(pid)
			session = p.Session
		}
		if all, ok := of[session]; ok {
			of[session] = append(all, pid)
		}
	}
	return of
}

// pids returns the numbers of all visible processes in ascending order.
func pids() (all []int) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			all = append(all, pid)
		}
	}
	slices.Sort(all)
	return all
}

// ForEach calls a function that reads from /proc with each number below n, several at once:
// the kernel takes about ten microseconds to say what a process does.
func ForEach(n int, do func(i int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0), 4) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	all.Wait()
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
		return p, fmt.Errorf("%.20q is not the state of a process", string(stat))
	}
	p = Process{PID: pid, Name: string(stat[open+1 : shut])}
	n := 0
	for field := range bytes.FieldsSeq(stat[shut+1:]) {
		number := func() int { n, _ := strconv.Atoi(string(field)); return n }
		switch n {
		case 0:
			p.State = field[0]
		case 1:
			p.Parent = number()
		case 2:
			p.Group = number()
		case 3:
			p.Session = number()
		case 4:
			p.Terminal = number()
		case 5:
			p.Foreground = number()
		case 6:
			flags := number()
			p.Forked, p.Dying = flags&forkNoExec != 0, flags&exiting != 0
		case 19:
			p.Started = int64(number())
		case 28:
			p.Dying = p.Dying || number()&killed != 0
			return p, nil
		}
		n++
	}
	return Process{}, fmt.Errorf("the state of process %d is not readable", pid)
}

// TTYNumber returns a device number as in /proc/PID/stat.
func TTYNumber(dev uint64) int {
	return int(unix.Minor(dev)&0xff | unix.Major(dev)<<8 | unix.Minor(dev)&^0xff<<12)
}

// SharesFiles reports whether a process is known to see the same files as this one, as the
// same user.
func SharesFiles(pid int) bool {
	for _, link := range []string{"ns/mnt", "ns/user", "root"} {
		its, err := os.Readlink(File(pid, link))
		own, err2 := os.Readlink(File(os.Getpid(), link))
		if err != nil || err2 != nil || its != own {
			return false
		}
	}
	info, err := os.Stat(File(pid, ""))
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
