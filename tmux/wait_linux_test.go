package tmux_test

import (
	"context"
	"strconv"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// A program that is just being started has a copy of every connection until it runs. For
// tmux, a wait that gives up meanwhile is over nevertheless, and gets no signal.
func TestAWaitThatGivesUpWhileAProgramStarts(t *testing.T) {
	srv, ctx := by(t, started(t), tmux.TransportNative), tmuxtest.Context(t)
	ok(t, do(ctx, srv, tmux.ListSessions{})) // so that the wait needs one connection only
	before := openSockets(t)
	wait, giveUp := context.WithCancel(ctx)
	defer giveUp()
	ended := make(chan error, 1)
	go func() { ended <- srv.Channel("c").Wait(wait) }()
	copied := -1
	testtool.Eventually(t, "the wait has a connection", func() bool {
		for socket, name := range openSockets(t) {
			if fd, err := strconv.Atoi(name); err == nil && before[socket] == "" {
				copied, _ = syscall.Dup(fd)
			}
		}
		return copied >= 0
	})
	defer syscall.Close(copied)
	giveUp()
	isKind(t, "nobody has signalled", <-ended, context.Canceled)
	ok(t, srv.Channel("c").Signal(ctx))
	ok(t, waitFor(t, srv, "c", time.Minute))
}
