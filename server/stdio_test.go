package server_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"probe","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// frozen starts a second tmux server, named "frozen", that answers nothing once freeze was
// called.
func frozen(t testing.TB, srv *tmux.Server) (env string, freeze func()) {
	t.Helper()
	base := filepath.Dir(srv.SocketPath())
	dir := filepath.Join(base, "tmux-"+strconv.Itoa(os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	other, err := tmux.New(tmux.Config{Binary: srv.Binary(), SocketPath: filepath.Join(dir, "frozen"), ConfigFile: "/dev/null"})
	if err != nil {
		t.Fatal(err)
	}
	session(t, other, "ice")
	pid, err := strconv.Atoi(testserver.Run(t, other, "display-message", "-p", "#{pid}"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		syscall.Kill(pid, syscall.SIGCONT)
		if _, err := other.Do(context.Background(), tmux.Raw{Name: "kill-server"}); err != nil {
			t.Errorf("kill the second tmux server: %v", err)
		}
	})
	return "TMUX_TMPDIR=" + base, func() {
		t.Helper()
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}
}

// tmuxCalls counts a process's running work with tmux: children, and connections to
// sockets.
func tmuxCalls(t testing.TB, pid int) int {
	t.Helper()
	n := len(children(t, pid))
	fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		if link, _ := os.Readlink(fd); strings.HasPrefix(link, "socket:") {
			n++
		}
	}
	return n
}

// children returns the running processes that a process has started.
func children(t testing.TB, pid int) []string {
	t.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, task := range tasks {
		out, _ := os.ReadFile(task)
		all = append(all, strings.Fields(string(out))...)
	}
	return slices.DeleteFunc(all, ended)
}

// ended reports whether a process is gone, or a zombie.
func ended(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	_, after, _ := strings.Cut(string(stat), ") ")
	return err != nil || strings.HasPrefix(after, "Z")
}

// transports runs a test with each way to reach tmux.
func transports(t *testing.T, test func(t *testing.T, flag string)) {
	if _, err := os.Stat("/proc/self/task"); err != nil {
		t.Skip("looks into other processes in /proc, which this system does not have")
	}
	for _, way := range []tmux.Transport{tmux.TransportExec, tmux.TransportAuto} {
		t.Run(string(way), func(t *testing.T) { test(t, "--transport="+string(way)) })
	}
}

func TestWaitingCallsDelayNothingAndDieWhenCancelled(t *testing.T) {
	t.Parallel()
	transports(t, testWaitingCalls)
}

func testWaitingCalls(t *testing.T, transport string) {
	srv := testserver.New(t)
	session(t, srv, "a")
	env, freeze := frozen(t, srv)
	p := start(t, srv, []string{env}, transport)
	p.handshake("{}")
	ok[rows](p, "list_panes", `{}`)
	ok[rows](p, "list_panes", `{"socket_name":"frozen"}`)
	freeze()
	const waits = 64
	var ids []string
	for range waits {
		_, id := p.begin("tools/call", map[string]any{"name": "list_panes", "arguments": map[string]any{"socket_name": "frozen"}})
		ids = append(ids, id)
	}
	testtool.Eventually(t, "all calls run", func() bool { return tmuxCalls(t, p.process.Process.Pid) == waits })
	begin := time.Now()
	ok[rows](p, "list_panes", `{}`)
	t.Logf("a quick call took %v beside %d waiting ones", time.Since(begin), waits)
	if n := tmuxCalls(t, p.process.Process.Pid); n < waits/2 {
		t.Errorf("a quick call was answered when only %d of %d calls were still waiting", n, waits)
	}
	// Behind as many, these wait for their turn; they die as well.
	for range 40 {
		_, id := p.begin("tools/call", map[string]any{"name": "list_panes", "arguments": map[string]any{"socket_name": "frozen"}})
		ids = append(ids, id)
	}
	for _, id := range ids {
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id)
	}
	begin = time.Now()
	testtool.Eventually(t, "the cancelled calls' children and connections are gone", func() bool { return tmuxCalls(t, p.process.Process.Pid) == 0 })
	t.Logf("cancelled calls lived for %v", time.Since(begin))
	ok[rows](p, "list_panes", `{}`)
	p.in.Close()
	<-p.done // all that will be answered has been
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range ids {
		if p.waiting[id] == nil {
			t.Errorf("the cancelled request %s was answered", id)
		}
	}
}

func TestCancelledBeforeItRuns(t *testing.T) {
	t.Parallel()
	transports(t, testCancelledBeforeItRuns)
}

func testCancelledBeforeItRuns(t *testing.T, transport string) {
	srv := testserver.New(t)
	session(t, srv, "a")
	env, freeze := frozen(t, srv)
	freeze()
	p := start(t, srv, []string{env}, transport)
	p.handshake("{}")
	// In one write, so that the cancellation is read right behind the call.
	for i := range 50 {
		p.send(`{"jsonrpc":"2.0","id":"c%d","method":"tools/call","params":{"name":"list_panes","arguments":{"socket_name":"frozen"}}}`+"\n"+
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c%d"}}`, i, i)
	}
	ok[rows](p, "list_panes", `{}`)
	testtool.Eventually(t, "nothing is left", func() bool { return tmuxCalls(t, p.process.Process.Pid) == 0 })
}

func TestEndOfInputStillAnswersEverything(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	session(t, srv, "a")
	var input strings.Builder
	input.WriteString(hello)
	for i := 1; i <= 600; i++ {
		fmt.Fprintf(&input, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"capture_pane","arguments":{}}}`+"\n", i)
	}
	input.WriteString(`{"jsonrpc":"2.0","id":601,"method":"ping"}`) // without a newline
	cmd := exec.Command(program(), "-S", srv.SocketPath(), "--tmux", srv.Binary())
	cmd.Stdin = strings.NewReader(input.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(out, []byte("\n")); n != 602 || bytes.Contains(out, []byte(`"isError"`)) || bytes.Contains(out, []byte(`"error"`)) {
		_, bad, _ := bytes.Cut(out, []byte(`"_meta"`))
		t.Errorf("%d answers to 602 requests; the first error: %.500s", n, bad)
	}
}

func TestSignalEndsItAtOnce(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	session(t, srv, "a")
	env, freeze := frozen(t, srv)
	freeze()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		p := start(t, srv, []string{env}, "--transport=exec")
		p.handshake("{}")
		p.begin("tools/call", map[string]any{"name": "list_panes", "arguments": map[string]any{"socket_name": "frozen"}})
		var child string
		testtool.Eventually(t, "the call runs", func() bool {
			for _, pid := range children(t, p.process.Process.Pid) {
				// Not the short look at the program's version.
				if args, _ := os.ReadFile("/proc/" + pid + "/cmdline"); bytes.Contains(args, []byte("frozen\x00")) {
					child = pid
				}
			}
			return child != ""
		})
		begin := time.Now()
		p.process.Process.Signal(sig)
		select {
		case <-p.done:
		case <-time.After(time.Minute):
			t.Fatalf("%v: it still runs after a minute", sig)
		}
		if err := p.process.Wait(); err != nil {
			t.Errorf("%v: %v", sig, err)
		}
		t.Logf("%v: it took %v to end", sig, time.Since(begin))
		if _, err := os.Stat("/proc/" + child); err == nil {
			t.Errorf("%v: its child %s is left", sig, child)
		}
	}
}

// TestGarbage is passed over.
func TestGarbage(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	p := start(t, srv, nil)
	p.handshake("{}")
	for _, line := range []string{"garbage", "[]", "{", `"x"`, `{"jsonrpc":"2.0","id":1}`, "\x00\xff"} {
		p.send("%s", line)
	}
	if r := p.request("logging/setLevel", map[string]string{"level": "debug"}); r.Error != nil {
		t.Errorf("logging/setLevel: %+v", r.Error)
	}
	if r := p.request("ping", struct{}{}); r.Error != nil {
		t.Errorf("ping after garbage: %+v", r.Error)
	}
}

func TestAClientThatReadsNoMoreEndsIt(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	session(t, srv, "a")
	cmd := exec.Command(program(), "-S", srv.SocketPath(), "--tmux", srv.Binary())
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out.Close()
	if _, err := io.WriteString(in, hello); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(time.Minute):
		cmd.Process.Kill()
		t.Error("it still runs 10 s after its client closed the pipe")
	}
}
