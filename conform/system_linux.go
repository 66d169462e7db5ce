package conform

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"tmuxmcp/internal/proctree"
)

// endTree kills a child of this process and all that is below it.
func endTree(pid int) { proctree.EndTree(pid) }

// below is how many processes are below this one, and how much memory they use.
func below() (processes, memory int) {
	pids, _ := proctree.Descendants(os.Getpid(), func(pid int) {
		statm, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
		if f := strings.Fields(string(statm)); len(f) > 1 {
			pages, _ := strconv.Atoi(f[1])
			memory += pages * os.Getpagesize()
		}
	})
	return len(pids), memory
}

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
