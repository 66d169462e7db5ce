// Package ttywatch has the kernel report when programs write to terminals.
package ttywatch

import (
	"context"
	"encoding/binary"
	"os"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"tmuxmcp/internal/procstat"
)

// A Watch watches terminals. The zero value watches none. It misses what is written to
// /dev/tty, which is another file.
type Watch struct {
	events *os.File
	conn   syscall.RawConn

	mu      sync.Mutex
	reports map[int32]func(over bool) // by inotify watch descriptor
}

// Add calls report, from another goroutine, each time that a program has written to the terminal
// of a process or closed it, until ctx of the first call ends; over is set if no more reports
// follow. tty is the terminal's name as that process sees it, perhaps in a container. Add fails
// if the process is not visible from here.
func (w *Watch) Add(ctx context.Context, pid int, tty string, report func(over bool)) (remove func(), ok bool) {
	path := "/proc/" + strconv.Itoa(pid) + "/root" + tty
	if pid <= 0 || tty == "" || !hasTerminal(pid, path) || !w.open(ctx) {
		return nil, false
	}
	var wd int
	var err error
	controlled := w.conn.Control(func(fd uintptr) {
		// The exit of a program shows too, because it closes the terminal.
		wd, err = unix.InotifyAddWatch(int(fd), path, unix.IN_MODIFY|unix.IN_CLOSE_WRITE)
	})
	if controlled != nil || err != nil {
		return nil, false
	}
	w.mu.Lock()
	w.reports[int32(wd)] = report
	w.mu.Unlock()
	return func() { w.remove(int32(wd)) }, true
}

func (w *Watch) remove(wd int32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.reports, wd)
	_ = w.conn.Control(func(fd uintptr) { _, _ = unix.InotifyRmWatch(int(fd), uint32(wd)) })
}

// open starts to read events, until the context ends.
func (w *Watch) open(ctx context.Context) bool {
	if w.events != nil {
		return true
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return false
	}
	events := os.NewFile(uintptr(fd), "inotify")
	conn, err := events.SyscallConn()
	if err != nil {
		events.Close()
		return false
	}
	w.events, w.conn, w.reports = events, conn, map[int32]func(bool){}
	context.AfterFunc(ctx, func() { events.Close() })
	go w.read()
	return true
}

func (w *Watch) read() {
	buf := make([]byte, 256*unix.SizeofInotifyEvent)
	for {
		n, err := w.events.Read(buf)
		if n <= 0 || err != nil {
			break
		}
		printed := map[int32]bool{}
		for rest := buf[:n]; len(rest) >= unix.SizeofInotifyEvent; {
			printed[int32(binary.NativeEndian.Uint32(rest))] = true
			size := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(rest[12:]))
			rest = rest[min(size, len(rest)):]
		}
		for wd := range printed {
			w.report(wd, false)
		}
	}
	w.mu.Lock()
	all := make([]int32, 0, len(w.reports))
	for wd := range w.reports {
		all = append(all, wd)
	}
	w.mu.Unlock()
	for _, wd := range all {
		w.report(wd, true)
	}
}

func (w *Watch) report(wd int32, over bool) {
	w.mu.Lock()
	report := w.reports[wd]
	w.mu.Unlock()
	if report != nil {
		report(over)
	}
}

// hasTerminal reports whether a file is the terminal of a process.
func hasTerminal(pid int, path string) bool {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return false
	}
	p, err := procstat.Of(pid)
	return err == nil && p.Terminal == procstat.TTYNumber(uint64(st.Rdev))
}
