package testserver

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// OpenSockets returns this process's sockets and their descriptors. The runtime may open
// other descriptors at any time.
func OpenSockets(t testing.TB) map[string]string {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc/self/fd to count open descriptors in")
	}
	sockets := map[string]string{}
	for _, fd := range fds {
		if to, _ := os.Readlink("/proc/self/fd/" + fd.Name()); strings.HasPrefix(to, "socket:") {
			sockets[to] = fd.Name()
		}
	}
	return sockets
}

// InFlight returns what a call of this process may leave behind: open sockets and child
// processes.
func InFlight(t testing.TB) map[string]string {
	t.Helper()
	found := OpenSockets(t)
	threads, _ := filepath.Glob("/proc/self/task/*/children")
	if len(threads) == 0 {
		t.Skip("no /proc/self/task/*/children to find child processes in")
	}
	for _, thread := range threads {
		children, _ := os.ReadFile(thread) // the thread may be gone
		for _, pid := range strings.Fields(string(children)) {
			found[pid] = "process " + pid
		}
	}
	return found
}

// PeakMemory returns the peak memory of a process in kB; 0 if the system does not count it.
func PeakMemory(t testing.TB, pid string) (kB int) {
	text, err := os.ReadFile("/proc/" + pid + "/status")
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	if _, scan := fmt.Sscan(after, &kB); err == nil && scan != nil {
		t.Fatal(scan)
	}
	return kB
}
