package server_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
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
	ctx := testserver.Context(b)
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

// BenchmarkLimit compares tools with the tmux program, with a client in control mode, which
// stays connected, and with tmux's own processor time, below which no client can be.
func BenchmarkLimit(b *testing.B) {
	hundred := populated(b, 100)
	limits(b, hundred, "list_sessions", `{}`, "list-sessions -F '#{session_id} #{session_name} #{session_windows} #{session_attached} #{session_group} #{pane_id}'")
	limits(b, hundred, "list_panes", `{}`, "list-panes -a -F '#{pane_id} #{session_name} #{window_index} #{pane_index} #{pane_width} #{pane_height} #{pane_left} #{pane_top} "+
		"#{pane_current_command} #{pane_current_path} #{pane_active} #{pane_dead} #{pane_in_mode}'")
	limits(b, hundred, "capture_pane", `{"pane_id":"%0"}`, "capture-pane -p -t %0")
	limits(b, hundred, "send_keys", `{"pane_id":"%0","keys":"x","enter":false}`, "send-keys -t %0 -l x")
	limits(b, hundred, "agent_status", `{}`, "list-panes -a -F '#{pane_id} #{pane_pid} #{pane_dead}'")
	var captures []string
	for i := range 500 {
		captures = append(captures, fmt.Sprintf("capture-pane -p -J -t %%%d", i))
	}
	limits(b, large(b, "log"), "search_panes", `{"pattern":"no such text"}`, captures...)
}

// limits compares a tool with the commands that such a call needs at least.
func limits(b *testing.B, srv *tmux.Server, tool, args string, commands ...string) {
	b.Run(tool, func(b *testing.B) {
		ours := launch(b, srv).calling("ours", tool, args, 1)
		program := bare(b, srv, "source-file", commandFile(b, commands))
		attached := control(b, srv, commands)
		pid := serverPID(b, srv)
		var tmux []time.Duration
		byTurns(b, turn{"ours", func() {
			before := spent(b, pid)
			ours.do()
			tmux = append(tmux, spent(b, pid)-before)
		}}, turn{"control", attached}, turn{"program", program.do})
		report(b, "tmux", tmux)
	})
}

// commandFile returns a file with commands.
func commandFile(b *testing.B, commands []string) string {
	file := filepath.Join(b.TempDir(), "commands")
	if err := os.WriteFile(file, []byte(strings.Join(commands, "\n")+"\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	return file
}

// control attaches a client in control mode and returns a function that has it run commands.
func control(b *testing.B, srv *tmux.Server, commands []string) func() {
	cmd := exec.Command(srv.Binary(), "-S", srv.SocketPath(), "-C", "attach", "-f", "no-output,ignore-size")
	in, err := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err, err2); err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	lines := bufio.NewReaderSize(out, 1<<20)
	ends := func(n int) {
		for n > 0 {
			line, err := lines.ReadString('\n')
			if err != nil || strings.HasPrefix(line, "%error ") {
				b.Fatal(line, err)
			}
			if strings.HasPrefix(line, "%end ") {
				n--
			}
		}
	}
	ends(1) // of attach
	text := strings.Join(commands, "\n") + "\n"
	return func() {
		if _, err := io.WriteString(in, text); err != nil {
			b.Fatal(err)
		}
		ends(len(commands))
	}
}
