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

// countedTmux puts a relay before the tmux server of a configuration that counts the
// connections on which something is said: one per command list, over either transport. The
// exec transport checks who listens on a separate connection.
func countedTmux(t testing.TB, cfg *server.Config) func() int {
	t.Helper()
	var count atomic.Int64
	relayedTmux(t, cfg, func() { count.Add(1) })
	return func() int { return int(count.Load()) }
}

// relayedTmux puts a relay before the tmux server of a configuration. It calls connects
// when a client begins to speak.
func relayedTmux(t testing.TB, cfg *server.Config, connects func()) {
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
	var open sync.WaitGroup
	open.Go(func() {
		for {
			client, err := l.AcceptUnix()
			if err != nil {
				return
			}
			tmux, err := net.DialUnix("unix", nil, behind)
			if err != nil {
				client.Close()
				continue
			}
			open.Go(func() { relay(tmux, client, connects) })
			open.Go(func() { relay(client, tmux, func() {}) })
		}
	})
	t.Cleanup(func() { l.Close(); open.Wait() })
}

// relay copies one direction of a connection, with the file descriptors that the tmux
// program passes, and closes both at its end. It calls begins before the first bytes.
func relay(to, from *net.UnixConn, begins func()) {
	defer to.Close()
	defer from.Close()
	buf, oob := make([]byte, 64<<10), make([]byte, 1<<10)
	for first := true; ; first = false {
		n, m, _, _, err := from.ReadMsgUnix(buf, oob)
		if err != nil || n == 0 {
			return
		}
		if first {
			begins()
		}
		written, _, err := to.WriteMsgUnix(buf[:n], oob[:m], nil)
		closePassed(oob[:m])
		if err == nil {
			_, err = to.Write(buf[written:n]) // what there was no room for
		}
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
