package tmux_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
)

// A server whose socket is closed to this user is not taken for one that does not run, which
// would then be started.
func TestSocketClosedToTheUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to be another user")
	}
	theirs := testserver.Started(t)
	for _, way := range transports {
		srv := testserver.Handle(t, tmux.Config{Binary: theirs.Binary(), SocketPath: theirs.SocketPath(), Transport: way, ConfigFile: "/dev/null"})
		errs := map[string]error{}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			runtime.LockOSThread() // and never unlocked, so the thread ends with this
			if err := unix.Setfsuid(testserver.OtherUser); err != nil {
				errs["setfsuid"] = err
				return
			}
			ctx := testserver.Context(t)
			errs["list"] = do(ctx, srv, tmux.ListSessions{})
			errs["new"] = do(ctx, srv, tmux.NewSession{Detached: true})
		}()
		<-ended
		for name, err := range errs {
			check.Kind(t, string(way)+" "+name, err, tmux.ErrUntrusted)
			if !strings.Contains(fmt.Sprint(err), "may not connect to the socket: "+theirs.SocketPath()) {
				t.Errorf("%s %s does not say which: %v", way, name, err)
			}
		}
	}
}
