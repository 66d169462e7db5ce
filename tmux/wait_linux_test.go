package tmux_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

// A program that is just being started has a copy of every connection until it runs. For
// tmux, a wait that gives up meanwhile is over nevertheless, and gets no signal.
func TestAWaitThatGivesUpWhileAProgramStarts(t *testing.T) {
	srv, ctx := testserver.By(t, testserver.Started(t), tmux.TransportNative), testserver.Context(t)
	check.OK(t, do(ctx, srv, tmux.ListSessions{})) // so that the wait needs one connection only
	before := testserver.OpenSockets(t)
	wait, giveUp := context.WithCancel(ctx)
	defer giveUp()
	ended := make(chan error, 1)
	go func() { ended <- srv.Channel("c").Wait(wait) }()
	copied := -1
	testtool.Eventually(t, "the wait has a connection", func() bool {
		for socket, name := range testserver.OpenSockets(t) {
			if fd, err := strconv.Atoi(name); err == nil && before[socket] == "" {
				copied, _ = syscall.Dup(fd)
			}
		}
		return copied >= 0
	})
	defer syscall.Close(copied)
	giveUp()
	check.Kind(t, "nobody has signalled", <-ended, context.Canceled)
	check.OK(t, srv.Channel("c").Signal(ctx))
	check.OK(t, waitFor(t, srv, "c", time.Minute))
}

// Waits that give up leave nothing in tmux, which before 3.8 never frees a client that ends
// while it waits: some 5 kB each.
func TestWaitsThatGiveUpLeaveNothing(t *testing.T) {
	t.Parallel()
	waits := testtool.Size(100, 400)
	for _, way := range transports {
		srv := testserver.By(t, testserver.Started(t), way)
		pid := testserver.Run(t, srv, "display-message", "-p", "#{pid}")
		before := 0
		for i := range waits + 20 {
			if i == 20 {
				before = residentKB(t, pid)
			}
			check.Kind(t, "nobody signals", waitFor(t, srv, fmt.Sprint(i), time.Millisecond), context.DeadlineExceeded)
		}
		if grown := residentKB(t, pid) - before; grown > 3*waits {
			t.Errorf("%s: tmux grew by %d kB", way, grown)
		}
	}
}

func residentKB(t *testing.T, pid string) (kB int) {
	t.Helper()
	status := check.Must[[]byte](t)(os.ReadFile("/proc/" + pid + "/status"))
	_, rest, _ := bytes.Cut(status, []byte("VmRSS:"))
	if _, err := fmt.Sscan(string(rest), &kB); err != nil {
		t.Fatal(err)
	}
	return kB
}
