package server_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// BenchmarkWait measures how soon a wait notices output, and what it costs while nothing is
// printed, here and in the tmux server, in percent of a core. In a container only tmux
// announces output.
func BenchmarkWait(b *testing.B) {
	b.Run("here", func(b *testing.B) { benchmarkWait(b, populated(b, 1), `"pane_id":"%0"`, 40) })
	b.Run("panes=100", func(b *testing.B) { benchmarkWait(b, populated(b, 100), `"panes":["all"]`, 250) })
	b.Run("container", func(b *testing.B) { benchmarkWait(b, secluded(b), `"pane_id":"%0"`, 40) })
}

// benchmarkWait waits for output of pane %0, in the panes that on names, which have all
// been looked at after looked milliseconds.
func benchmarkWait(b *testing.B, srv *tmux.Server, on string, looked int) {
	a := launch(b, srv)
	ctx := tmuxtest.Context(b)
	var noticed []time.Duration
	for i := 0; b.Loop(); i++ {
		// The request before is answered in the moment that the wait begins.
		a.write(request(1, "wait_for_text", fmt.Sprintf(`{%s,"patterns":["go %d\\b"],"regex":true,"timeout":20}`, on, i)))
		time.Sleep(time.Duration(looked+i*13%47) * time.Millisecond)
		if _, err := srv.Do(ctx, tmux.SendKeys{Target: tmux.PaneID("%0"), Literal: true, Keys: []string{fmt.Sprintf("go %d\r", i)}}); err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		a.read()
		noticed = append(noticed, time.Since(start))
	}
	b.ReportMetric(0, "ns/op")
	report(b, "noticed", noticed)

	pid := serverPID(b, srv)
	a.write(request(1, "wait_for_text", `{`+on+`,"patterns":["never"],"timeout":12}`))
	time.Sleep(1200 * time.Millisecond) // what was printed last is long ago then
	ours, theirs, start := spent(b, a.pid), spent(b, pid), time.Now()
	time.Sleep(10 * time.Second)
	took := time.Since(start)
	b.ReportMetric(100*float64(spent(b, a.pid)-ours)/float64(took), "idle-%")
	b.ReportMetric(100*float64(spent(b, pid)-theirs)/float64(took), "idle-tmux-%")
	a.read()
}

// spent returns the processor time that a process has used.
func spent(b *testing.B, pid int) (sum time.Duration) {
	b.Helper()
	stats, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil {
		b.Fatal(err)
	}
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		ns, err2 := strconv.ParseInt(strings.Fields(string(text))[0], 10, 64)
		if err := errors.Join(err, err2); err != nil {
			b.Fatal(err)
		}
		sum += time.Duration(ns)
	}
	return sum
}

// serverPID returns the process of a tmux server as seen from here, not in the server's own
// namespace.
func serverPID(b *testing.B, srv *tmux.Server) int {
	b.Helper()
	conn, err := net.Dial("unix", srv.SocketPath())
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		b.Fatal(err)
	}
	var peer *unix.Ucred
	err2 := raw.Control(func(fd uintptr) { peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err := errors.Join(err, err2); err != nil {
		b.Fatal(err)
	}
	return int(peer.Pid)
}
