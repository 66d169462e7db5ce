package server_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"tmuxmcp/server"
)

// countedTmux puts a relay before the tmux server of a configuration that counts
// the connections: each command list is one, over either transport.
func countedTmux(t testing.TB, cfg *server.Config) func() int {
	t.Helper()
	dir, err := os.MkdirTemp("", "tc") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	behind := &net.UnixAddr{Name: cfg.SocketPath, Net: "unix"}
	cfg.SocketPath = filepath.Join(dir, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: cfg.SocketPath, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	var count atomic.Int64
	var open sync.WaitGroup
	open.Go(func() {
		for {
			client, err := l.AcceptUnix()
			if err != nil {
				return
			}
			count.Add(1)
			tmux, err := net.DialUnix("unix", nil, behind)
			if err != nil {
				client.Close()
				continue
			}
			open.Go(func() { relay(tmux, client) })
			open.Go(func() { relay(client, tmux) })
		}
	})
	t.Cleanup(func() { l.Close(); open.Wait() })
	return func() int { return int(count.Load()) }
}

// relay copies one direction of a connection, with the file descriptors that the
// tmux program passes, and ends both at its end.
func relay(to, from *net.UnixConn) {
	defer to.Close()
	defer from.Close()
	buf, oob := make([]byte, 64<<10), make([]byte, 1<<10)
	for {
		n, m, _, _, err := from.ReadMsgUnix(buf, oob)
		if err != nil || n == 0 {
			return
		}
		_, _, err = to.WriteMsgUnix(buf[:n], oob[:m], nil)
		closePassed(oob[:m])
		if err != nil {
			return
		}
	}
}

func closePassed(oob []byte) {
	messages, err := syscall.ParseSocketControlMessage(oob)
	for _, m := range messages {
		fds, rightsErr := syscall.ParseUnixRights(&m)
		err = errors.Join(err, rightsErr)
		for _, fd := range fds {
			syscall.Close(fd)
		}
	}
	if err != nil {
		panic(err)
	}
}
