package child

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"tmuxmcp/internal/proctree"
)

// endTree kills a child of this process and all that is below it.
func endTree(pid int) { proctree.EndTree(pid) }

// below counts the processes below this one and adds up the memory that they use.
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

// LimitFiles bounds the size of each file that this process and those below it write.
func LimitFiles() {
	unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: maxFile, Max: maxFile})
}
