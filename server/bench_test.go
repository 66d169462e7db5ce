package server_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

// The benchmarks talk to the real program over pipes. Things to be compared are done in
// turns of a few calls, so that all of them see the same machine, and the medians are
// reported; go run ./tools/docs bench makes a table of them.

// agent is a client that only writes lines and reads lines.
type agent struct {
	b     testing.TB
	in    io.Writer
	lines *bufio.Reader
	pid   int
}

// built is the path of the real program: this one is larger.
var built = sync.OnceValue(func() string {
	path := filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "real-tmux-mcp") // goes when the tests are over
	if out, err := exec.Command("go", "build", "-o", path, "../cmd/tmux-mcp").CombinedOutput(); err != nil {
		panic(fmt.Sprintf("go build: %v\n%s", err, out))
	}
	return path
})

// launch starts the real program and shakes hands.
func launch(b testing.TB, srv *tmux.Server, flags ...string) *agent {
	b.Helper()
	return launchOf(b, built(), srv, flags...)
}

// launchOf does it with a build of the program.
func launchOf(b testing.TB, program string, srv *tmux.Server, flags ...string) *agent {
	b.Helper()
	cmd := exec.Command(program, append([]string{"-S", srv.SocketPath(), "--tmux", srv.Binary(), "--safety", "destructive"}, flags...)...)
	cmd.Env = append(os.Environ(), "HOME="+b.TempDir(), "TMUX=", "TMUX_PANE=")
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	a := &agent{b: b, in: in, lines: bufio.NewReaderSize(out, 1<<20), pid: cmd.Process.Pid}
	a.write(hello)
	a.read()
	return a
}

func (a *agent) write(text string) {
	if _, err := io.WriteString(a.in, text); err != nil {
		a.b.Fatal(err)
	}
}

// read reads the next answer that is one.
func (a *agent) read() []byte {
	for {
		line, err := a.lines.ReadBytes('\n')
		if err != nil {
			a.b.Fatal(err)
		}
		if bytes.Contains(line, []byte(`"error":{`)) || bytes.Contains(line, []byte(`"isError":true`)) {
			a.b.Fatalf("%.300s", line)
		}
		if !bytes.Contains(line, []byte(`"method":`)) {
			return line
		}
	}
}

func request(id int, tool, args string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s","arguments":%s}}`+"\n", id, tool, args)
}

// calling returns a turn that calls a tool, times at once.
func (a *agent) calling(name, tool, args string, times int) turn {
	text := ""
	for id := range times {
		text += request(id, tool, args)
	}
	return turn{name, func() {
		a.write(text)
		for range times {
			a.read()
		}
	}}
}

// turn is one of several things to be compared.
type turn struct {
	name string
	do   func()
}

// byTurns reports the median of each in milliseconds.
func byTurns(b *testing.B, turns ...turn) {
	b.Helper()
	took := make([][]time.Duration, len(turns))
	for b.Loop() {
		for i, t := range turns {
			for n, began := 0, time.Now(); n == 0 || n < 10 && time.Since(began) < 10*time.Millisecond; n++ {
				start := time.Now()
				t.do()
				took[i] = append(took[i], time.Since(start))
			}
		}
	}
	b.ReportMetric(0, "ns/op")
	for i, t := range turns {
		report(b, t.name, took[i])
	}
}

func report(b *testing.B, name string, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e6, name+"-ms")
}

// bare returns a turn that runs the tmux program itself with a command.
func bare(b *testing.B, srv *tmux.Server, words ...string) turn {
	args := append([]string{"-S", srv.SocketPath()}, words...)
	return turn{"tmux", func() {
		cmd := exec.Command(srv.Binary(), args...)
		cmd.Stdout = io.Discard
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
	}}
}

// populated returns a server with so many panes, each in its own window.
func populated(b *testing.B, panes int) *tmux.Server {
	b.Helper()
	srv := testserver.New(b)
	testserver.Run(b, srv, "new-session", "-d", "-s", "bench", "-x", "80", "-y", "24", "exec cat")
	var cmds []tmux.Command
	for range panes - 1 {
		cmds = append(cmds, tmux.Raw{Name: "new-window", Args: []string{"-d", "exec sleep 10000"}})
	}
	if _, err := srv.Do(testserver.Context(b), cmds...); err != nil {
		b.Fatal(err)
	}
	return srv
}

func BenchmarkTools(b *testing.B) {
	for _, panes := range []int{1, 100} {
		srv := populated(b, panes)
		native, viaExec := launch(b, srv), launch(b, srv, "--transport", "exec")
		typed := launch(b, srv, "--results", "json")
		b.Run(fmt.Sprintf("panes=%d", panes), func(b *testing.B) {
			byTurns(b,
				bare(b, srv, "list-sessions"),
				native.calling("list_sessions", "list_sessions", `{}`, 1),
				native.calling("list_panes", "list_panes", `{}`, 1),
				typed.calling("list_panes-json", "list_panes", `{}`, 1),
				native.calling("list_panes-fields", "list_panes", `{"fields":["pane_id","window_index","pane_title","pane_active"]}`, 1),
				native.calling("capture_pane", "capture_pane", `{"pane_id":"%0"}`, 1),
				native.calling("send_keys", "send_keys", `{"pane_id":"%0","keys":"x","enter":false}`, 1),
				viaExec.calling("exec-list_sessions", "list_sessions", `{}`, 1),
			)
		})
		b.Run(fmt.Sprintf("parallel/panes=%d", panes), func(b *testing.B) {
			byTurns(b, bare(b, srv, "list-sessions"), native.calling("20-calls", "capture_pane", `{"pane_id":"%0"}`, 20))
		})
	}
}

func BenchmarkSearch(b *testing.B) {
	srv := populated(b, 500)
	a := launch(b, srv)
	byTurns(b,
		bare(b, srv, "list-sessions"),
		a.calling("fast", "search_panes", `{"pattern":"no such text"}`, 1),
		a.calling("slow", "search_panes", `{"pattern":"no such [t]ext","regex":true}`, 1),
		a.calling("list_panes", "list_panes", `{}`, 1),
	)
}

func BenchmarkRunCommand(b *testing.B) {
	for _, name := range []string{"sh", "bash", "zsh", "fish"} {
		b.Run(name, func(b *testing.B) {
			start := shellStart(b, name)
			srv := testserver.New(b)
			quietFish(b, srv)
			panes := []string{"%0", "%1", "%2"}
			for i := range panes {
				testserver.Run(b, srv, "new-session", "-d", "-s", fmt.Sprint("s", i), "-x", "80", "-y", "24", start)
				waitPrompt(b, srv, panes[i])
			}
			args := func(pane string) string { return `{"pane_id":"` + pane + `","command":"echo hello"}` }
			native, viaExec := launch(b, srv), launch(b, srv, "--transport", "exec")
			// The program twice, as a script does it that has no other server.
			send := bare(b, srv, "send-keys", "-t", panes[2], "echo hello; "+srv.Binary()+" -S "+srv.SocketPath()+" wait-for -S bench", "Enter")
			wait := bare(b, srv, "wait-for", "bench")
			byTurns(b, bare(b, srv, "display-message", "-p", "x"),
				native.calling("run_command", "run_command", args(panes[0]), 1),
				viaExec.calling("exec-run_command", "run_command", args(panes[1]), 1),
				turn{"send-keys-and-wait", func() { send.do(); wait.do() }})
		})
	}
}

// residentKB returns the memory of a process.
func residentKB(t testing.TB, pid int) (kb int) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skip("no /proc to read the size from: ", err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	if _, err := fmt.Sscan(rest, &kb); err != nil {
		t.Fatal(err)
	}
	return kb
}

// TestStartIsSmall takes the smallest of some starts, once what starting took is given back,
// since how much the garbage collector has left depends on the moment. BenchmarkStart also
// measures the time.
func TestStartIsSmall(t *testing.T) {
	if !testtool.Full {
		t.Skip("a measurement of the built program: TMUX_TEST_FULL=1 takes it")
	}
	srv := testserver.New(t)
	session(t, srv, "a")
	const small = 16_000
	least := math.MaxInt
	for n := 0; n < 10 && least > small; n++ {
		a := launch(t, srv)
		a.write(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n" + request(2, "list_panes", `{}`))
		a.read()
		a.read()
		for looks := 0; looks < 50 && least > small; looks++ {
			time.Sleep(100 * time.Millisecond)
			least = min(least, residentKB(t, a.pid))
		}
	}
	if t.Logf("%d kB resident", least); least > small {
		t.Errorf("the smallest of ten starts had %d kB resident, want at most %d", least, small)
	}
}

// BenchmarkStart measures from the start of the process to the reply to initialize.
func BenchmarkStart(b *testing.B) {
	srv := populated(b, 1)
	var started []time.Duration
	resident := 0
	for b.Loop() {
		start := time.Now()
		a := launch(b, srv)
		started = append(started, time.Since(start))
		a.calling("", "list_panes", `{}`, 1).do()
		resident = max(resident, residentKB(b, a.pid))
	}
	b.ReportMetric(0, "ns/op")
	report(b, "start", started)
	b.ReportMetric(float64(resident)/1000, "resident-MB")
}
