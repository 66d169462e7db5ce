package tmux_test

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/tmux/tmuxtest"
)

// A program that is just being started has a copy of every connection until it runs. A wait
// that gives up meanwhile is over for tmux all the same, and gets no signal.
func TestAWaitThatGivesUpWhileAProgramStarts(t *testing.T) {
	srv, ctx := started(t), tmuxtest.Context(t)
	copied := make(chan []int, 1)
	time.AfterFunc(100*time.Millisecond, func() {
		var copies []int
		open, _ := os.ReadDir("/proc/self/fd")
		for _, e := range open {
			link, _ := os.Readlink("/proc/self/fd/" + e.Name())
			if fd, err := strconv.Atoi(e.Name()); err == nil && strings.HasPrefix(link, "socket:") {
				if fd, err = syscall.Dup(fd); err == nil {
					copies = append(copies, fd)
				}
			}
		}
		copied <- copies
	})
	if err := waitFor(t, srv, "c", 300*time.Millisecond); err == nil {
		t.Error("nobody has signalled")
	}
	defer func(copies []int) {
		for _, fd := range copies {
			syscall.Close(fd)
		}
	}(<-copied)
	ok(t, srv.Channel("c").Signal(ctx))
	ok(t, waitFor(t, srv, "c", time.Minute))
}
