package tmuxtest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/internal/test/testtmux"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

var _ = flag.Bool("update", false, "write the golden files")

// childEnv is set in processes of this test binary that other tests start.
const childEnv = "TMUXTEST_CHILD"

// child returns a command that runs one test of this binary in a directory.
func child(t *testing.T, dir, test string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, append([]string{"-test.run=^" + test + "$", "-test.v"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), childEnv+"=1", "TMUX_TEST_UPDATE=")
	return cmd
}

// inChild skips a test that others run.
func inChild(t *testing.T) {
	if os.Getenv(childEnv) == "" {
		t.Skip("for other tests")
	}
}

func TestChildGolden(t *testing.T) {
	inChild(t)
	if os.Getenv(childEnv) == "without flag" {
		flag.CommandLine = flag.NewFlagSet("", flag.ContinueOnError)
	}
	p := tmuxtest.Terminal{Height: 5, Timeout: 2 * time.Second}.Start(t, "sh", "-c", `echo one; sleep 0.2; printf '\033[31mtwo'; cat`)
	t.Chdir(t.TempDir()) // the files do not depend on it
	p.Golden("sub/screen")
	p.GoldenStyled("sub/screen")
}

// TestUpdate: golden files are written on demand, once the screen is quiet, and compared
// otherwise.
func TestUpdate(t *testing.T) {
	t.Parallel()
	testtmux.Binary(t)
	source, err := os.ReadFile("process_test.go")
	if err != nil {
		t.Fatal(err)
	}
	run := func(t *testing.T, dir, way, wantLine, want string) {
		t.Helper()
		cmd := child(t, dir, "TestChildGolden")
		if strings.HasPrefix(way, "-") {
			cmd.Args = append(cmd.Args, way)
		} else {
			cmd.Env = append(cmd.Env, way)
		}
		out, err := cmd.CombinedOutput()
		if wantLine != "" { // of the call that fails
			before, _, _ := strings.Cut(string(source), wantLine)
			want = fmt.Sprintf("process_test.go:%d: %s", 1+strings.Count(before, "\n"), want)
		}
		if (err != nil) != (wantLine != "") || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v, and the output has not %q:\n%s", way, err, want, out)
		}
	}
	const text, styled = "testdata/golden/sub/screen.txt", "testdata/golden/sub/screen.ansi"
	content := func(t *testing.T, dir, name, want string) {
		t.Helper()
		file := filepath.Join(dir, name)
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("%s has %q, %v; want %q", file, got, err, want)
		}
	}
	t.Run("missing", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		run(t, dir, "TMUX_TEST_UPDATE=0", `p.Golden("sub`, text+" does not exist; to write it, run the test with -update\n")
	})
	t.Run("missing, without a flag", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		run(t, dir, childEnv+"=without flag", `p.Golden("sub`, text+" does not exist; to write it, run the test with TMUX_TEST_UPDATE=1\n")
	})
	t.Run("written", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		run(t, dir, "TMUX_TEST_UPDATE=1", "", "wrote "+text)
		content(t, dir, text, "one\ntwo\n")
		content(t, dir, styled, "one\n\x1b[31mtwo\x1b[0m\n")
		run(t, dir, "TMUX_TEST_UPDATE=", "", "PASS")
	})
	t.Run("other", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(text)), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{text, styled} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte("one\ntwo\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		run(t, dir, "-update=false", `p.GoldenStyled("sub`, "2s have passed, and the screen is not as "+styled+" says")
		note := ""
		if v, err := tmuxtest.Server(t).Version(t.Context()); err != nil {
			t.Fatal(err)
		} else if strings.HasPrefix(v.String(), "3.3") {
			note = "; this tmux hides the background of erased cells"
		}
		run(t, dir, "-update", "", "wrote "+styled+note)
		content(t, dir, styled, "one\n\x1b[31mtwo\x1b[0m\n")
		run(t, dir, "-update=false", "", "PASS")
	})
}

func TestChildStubborn(t *testing.T) {
	inChild(t)
	script := `trap '' HUP TERM INT; sleep 1000 & pids="$$ $!"; `
	if runtime.GOOS == "linux" {
		script += `set -m; sleep 1000 & pids="$pids $!"; ` // in a process group of its own
	}
	p := tmuxtest.Start(t, "sh", "-c", script+`echo $pids ready; while :; do sleep 1; done`)
	p.WaitFor("ready")
	srv := tmuxtest.Server(t)
	if _, err := srv.NewSession(context.Background(), tmux.NewSession{}); err != nil {
		t.Fatal(err)
	}
	process, err := srv.Process(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("started %s %d %s %s\n", strings.TrimSuffix(p.Screen(), " ready"), process.PID, p.Pane().Server().SocketPath(), srv.SocketPath())
	switch os.Getenv(childEnv) {
	case "end":
	case "fail":
		t.FailNow()
	case "panic":
		panic("on purpose")
	case "exit":
		os.Exit(1)
	default:
		select {}
	}
}

// TestNothingIsLeft: however a test ends, so do its program, even one that ignores signals,
// and its servers.
func TestNothingIsLeft(t *testing.T) {
	testtmux.Binary(t)
	for _, end := range []string{"end", "fail", "panic", "exit", "kill", "interrupt", "timeout"} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			started := stubborn(t, end, time.Second)
			for _, word := range started {
				gone := func() bool {
					_, err := os.Stat(filepath.Dir(word))
					return errors.Is(err, os.ErrNotExist)
				}
				if pid, err := strconv.Atoi(word); err == nil {
					gone = func() bool { return !alive(pid) }
				}
				testtool.Eventually(t, "end of "+word, gone)
			}
		})
	}
}

// TestKilledAtAnyTime: nothing is left of a test that is killed while it starts a program.
func TestKilledAtAnyTime(t *testing.T) {
	t.Parallel()
	testtmux.Binary(t)
	if runtime.GOOS != "linux" {
		t.Skip("looks into other processes in /proc")
	}
	dir, err := os.MkdirTemp("", "tk") // short, for the paths of sockets
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for n := range testtool.Size(8, 150) {
		cmd := child(t, t.TempDir(), "TestChildStubborn")
		cmd.Env = append(cmd.Env, "TMPDIR="+dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var made []string
		testtool.Eventually(t, "a directory", func() bool {
			made, _ = filepath.Glob(dir + "/tt*")
			return len(made) > 0
		})
		time.Sleep(time.Duration(n%15) * 3 * time.Millisecond) // any moment will do
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		var left string
		for range 400 {
			if left = mentioning(dir + "/"); left == "" {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if left != "" {
			t.Fatalf("left in run %d: %s", n, left)
		}
		if made, _ = filepath.Glob(dir + "/tt*"); len(made) > 0 {
			// Without the guard, there is no server yet.
			if sockets, _ := filepath.Glob(dir + "/tt*/s"); len(sockets) > 0 {
				t.Fatalf("left in run %d: %q", n, made)
			}
			os.RemoveAll(made[0])
		}
	}
}

// mentioning returns the command lines of processes that have a text in them.
func mentioning(text string) string {
	var found []string
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		if line, err := os.ReadFile(file); err == nil && strings.Contains(string(line), text) {
			found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return strings.Join(found, "\n")
}

// stubborn runs TestChildStubborn to its end, and returns what it has started. If its
// timeout is too short for that, it is run with another one.
func stubborn(t *testing.T, end string, timeout time.Duration) []string {
	t.Helper()
	cmd := child(t, t.TempDir(), "TestChildStubborn")
	if end == "timeout" {
		cmd.Args = append(cmd.Args, "-test.timeout="+timeout.String())
	}
	dir, err := os.MkdirTemp("", "tk") // for what a killed test leaves; short, for the paths of sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	cmd.Env = append(cmd.Env, childEnv+"="+end, "TMPDIR="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out := &output{started: make(chan []string, 1)}
	cmd.Stdout = out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		defer close(out.started)
		_ = cmd.Wait()
	}()
	started := <-out.started
	switch end {
	case "kill":
		_ = cmd.Process.Kill()
	case "interrupt":
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) // as Ctrl-C does, to the group
	}
	<-exited
	if started == nil && end == "timeout" && timeout < time.Minute {
		return stubborn(t, end, 2*timeout)
	}
	if started == nil {
		t.Fatalf("the child has failed:\n%s", out.all)
	}
	return started
}

// alive reports whether a process runs; a zombie does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return !strings.Contains(string(stat), ") Z ")
}

// output collects what a child prints, and finds the line about what it has started.
type output struct {
	all     []byte
	started chan []string
	found   bool
}

func (o *output) Write(p []byte) (int, error) {
	o.all = append(o.all, p...)
	if _, line, ok := strings.Cut(string(o.all), "started "); ok && !o.found {
		if line, _, whole := strings.Cut(line, "\n"); whole {
			o.found = true
			o.started <- strings.Fields(line)
		}
	}
	return len(p), nil
}

// TestServer: servers are private, and gone when the test ends, those in the directory of
// named sockets too.
func TestServer(t *testing.T) {
	t.Parallel()
	var sockets []string
	t.Run("", func(t *testing.T) {
		for range 2 {
			sockets = append(sockets, twoSockets(t)...)
		}
	})
	for _, socket := range sockets {
		if _, err := os.Stat(filepath.Dir(socket)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", socket, err)
		}
	}
}

// twoSockets starts a server of the test, and one with a name below it, and returns their sockets.
func twoSockets(t *testing.T) (sockets []string) {
	t.Helper()
	srv := tmuxtest.Server(t)
	named, err := tmux.New(tmux.Config{Binary: srv.Binary(), SocketName: "default", Env: []string{"PATH=" + os.Getenv("PATH"), "TMUX_TMPDIR=" + filepath.Dir(srv.SocketPath())}})
	if err != nil {
		t.Fatal(err)
	}
	for _, srv := range []*tmux.Server{srv, named} {
		if _, err := srv.NewSession(t.Context(), tmux.NewSession{Name: "work"}); err != nil {
			t.Fatal(err)
		}
		sockets = append(sockets, srv.SocketPath())
	}
	return sockets
}

// TestLongTemp: servers have short sockets, also where temporary files have long paths.
func TestLongTemp(t *testing.T) {
	testtmux.Binary(t)
	top, err := os.MkdirTemp("/tmp", "t")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(top) })
	for _, bytes := range []int{70, 80, 110, 250} {
		t.Run(fmt.Sprint(bytes), func(t *testing.T) {
			dir := filepath.Join(top, strings.Repeat("x", bytes-len(top)-1))
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			t.Setenv("TMPDIR", dir)
			for _, socket := range twoSockets(t) {
				if len(socket) >= 104 {
					t.Errorf("macOS takes no socket with a path of %d bytes: %s", len(socket), socket)
				}
			}
		})
	}
}

// The screen of a program that has ended stays, though what it left running prints.
func TestScreenStays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := tmuxtest.Terminal{Dir: dir}.Start(t, "sh", "-c", `(while [ ! -e go ]; do sleep 0.01; done; echo late; printf '\033]7;file:///x\007'; : >printed) & echo now`)
	p.WaitExit()
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	testtool.Eventually(t, "the rest has printed", func() bool {
		_, err := os.Stat(filepath.Join(dir, "printed"))
		return err == nil
	})
	if status := p.WaitExit(); status != 0 || p.Screen() != "now" {
		t.Errorf("status %d, screen %q", status, p.Screen())
	}
}
