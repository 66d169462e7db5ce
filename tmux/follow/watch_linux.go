package follow

import (
	"context"
	"encoding/binary"
	"os"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"tmuxmcp/internal/procstat"
	"tmuxmcp/tmux"
)

// ttyWatch has the kernel report when programs write to the terminals of panes. The zero
// value watches none.
type ttyWatch struct {
	events *os.File
	conn   syscall.RawConn

	mu    sync.Mutex
	panes map[int32]tmux.PaneID // by inotify watch descriptor
}

// add sends to wakes from now on when a program has written to the pane's terminal. It
// reports whether that is possible, which requires the pane's processes to be visible from
// here.
func (t *ttyWatch) add(ctx context.Context, s PaneState, wakes chan<- wake) bool {
	// The terminal's name is the one that the pane's own program sees, perhaps in a
	// container.
	pid := s.pid()
	path := "/proc/" + strconv.Itoa(pid) + "/root" + s.TTY
	if pid == 0 || s.TTY == "" || !hasTerminal(pid, path) || !t.open(ctx, wakes) {
		return false
	}
	var wd int
	var err error
	controlled := t.conn.Control(func(fd uintptr) {
		// The exit of a program shows too, because it closes the terminal.
		wd, err = unix.InotifyAddWatch(int(fd), path, unix.IN_MODIFY|unix.IN_CLOSE_WRITE)
	})
	if controlled != nil || err != nil {
		return false
	}
	t.mu.Lock()
	t.panes[int32(wd)] = s.ID
	t.mu.Unlock()
	return true
}

func (t *ttyWatch) remove(pane tmux.PaneID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for wd, id := range t.panes {
		if id == pane {
			delete(t.panes, wd)
			_ = t.conn.Control(func(fd uintptr) { _, _ = unix.InotifyRmWatch(int(fd), uint32(wd)) })
		}
	}
}

// open starts to read events, until the context ends.
func (t *ttyWatch) open(ctx context.Context, wakes chan<- wake) bool {
	if t.events != nil {
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
	t.events, t.conn, t.panes = events, conn, map[int32]tmux.PaneID{}
	context.AfterFunc(ctx, func() { events.Close() })
	go t.read(ctx, wakes)
	return true
}

func (t *ttyWatch) read(ctx context.Context, wakes chan<- wake) {
	buf := make([]byte, 256*unix.SizeofInotifyEvent)
	for {
		n, err := t.events.Read(buf)
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
			t.send(ctx, wakes, wd, false)
		}
	}
	t.mu.Lock()
	all := make([]int32, 0, len(t.panes))
	for wd := range t.panes {
		all = append(all, wd)
	}
	t.mu.Unlock()
	for _, wd := range all {
		t.send(ctx, wakes, wd, true)
	}
}

func (t *ttyWatch) send(ctx context.Context, wakes chan<- wake, wd int32, over bool) {
	t.mu.Lock()
	pane, ok := t.panes[wd]
	t.mu.Unlock()
	if !ok {
		return
	}
	select {
	case wakes <- wake{pane: pane, over: over}:
	case <-ctx.Done():
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
