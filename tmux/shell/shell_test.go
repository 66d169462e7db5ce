package shell_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtmux"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/shell"
)

func TestMain(m *testing.M) {
	testtool.Parallel(8)
	if os.Getenv("TEST_SHELL_SOCKET") != "" { // a program started by a test
		os.Exit(m.Run())
	}
	// The files of commands are in a directory of these tests.
	dir, err := os.MkdirTemp("", "ts")
	if err == nil {
		err = os.Setenv("XDG_RUNTIME_DIR", dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if _, err := testtmux.Find(); err != nil { // examples cannot be skipped one by one
		fmt.Fprintln(os.Stderr, "the examples are not run:", err)
		flag.Set("test.skip", "^Example")
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// inShell returns a pane that runs a shell, without start-up files.
func inShell(t *testing.T, command string) tmux.PaneRef {
	t.Helper()
	srv := testserver.New(t)
	testserver.Run(t, srv, "new-session", "-d", "-x", "80", "-y", "24", command)
	return srv.Pane("%0")
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// writer is an io.Writer.
type writer func(text string)

func (w writer) Write(p []byte) (int, error) {
	w(string(p))
	return len(p), nil
}

func TestRun(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"sh", "bash --norc --noprofile", "zsh -f", "fish --no-config", "dash", "ksh", "mksh", "busybox sh"} {
		name, _, _ := strings.Cut(command, " ")
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			testtool.Path(t, name)
			pane := inShell(t, "exec "+command)
			ctx := testserver.Context(t)
			res, err := shell.Run(ctx, pane, "printf 'one\\ntwo  \\n'; echo three >&2")
			if err != nil || res.Output != "one\ntwo  \nthree\n" || res.State != shell.Ended || res.Missed || res.Job != nil || res.Pane != pane.ID {
				t.Fatalf("%+v, %v", res, err)
			}
			res, err = shell.Run(ctx, pane, "echo before\nsh -c 'exit 7'")
			var exit *shell.ExitError
			if !errors.As(err, &exit) || exit.Status != 7 || res.Status != 7 || res.Output != "before\n" {
				t.Errorf("%+v, %v", res, err)
			}
			if err == nil || err.Error() != `"echo before …" in pane %0: exit status 7` {
				t.Error(err)
			}
		})
	}
}

// A command that is no command is refused before anything is typed.
func TestNoCommand(t *testing.T) {
	t.Parallel()
	pane := inShell(t, "exec sh")
	for _, command := range []string{"", " \n\t", "echo a\x00b"} {
		if res, err := shell.Run(testserver.Context(t), pane, command); !errors.Is(err, tmux.ErrArgument) || res != nil {
			t.Errorf("%q: %+v, %v", command, res, err)
		}
	}
	if res, err := new(shell.Runner).Run(testserver.Context(t), pane, "true", shell.Options{Dir: "/a\x00b"}); !errors.Is(err, tmux.ErrArgument) || res != nil {
		t.Errorf("a directory with NUL: %+v, %v", res, err)
	}
	if _, err := shell.Run(testserver.Context(t), tmux.PaneRef{}, "true"); !errors.Is(err, tmux.ErrArgument) {
		t.Errorf("a zero pane: %v", err)
	}
	if _, err := shell.Run(testserver.Context(t), pane.Server().Pane("%9"), "true"); !errors.Is(err, tmux.ErrNotFound) {
		t.Errorf("no pane: %v", err)
	}
}

// What takes no command says why, and nothing is typed.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		program string
		prepare []string
		want    error
		text    string
	}{
		"another program": {"exec sleep 1000", nil, shell.ErrNoShell, "pane %1 runs sleep"},
		"a question":      {"exec sh -c 'stty -echo; printf \"a line that is no prompt\"; exec bash --norc --noprofile -c \"read -e x\"'", nil, shell.ErrNoShell, "pane %1 runs"},
		"copy mode":       {"exec sh", []string{"copy-mode", "-t", "%1"}, shell.ErrInMode, "pane %1 is in copy-mode"},
		"no input":        {"exec sh", []string{"select-pane", "-d", "-t", "%1"}, shell.ErrInputOff, "the input of pane %1 is off"},
		"a dead pane":     {"exec true", nil, shell.ErrPaneEnded, "the program in pane %1 has ended"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := testserver.New(t)
			testserver.Run(t, srv, "new-session", "-d", "exec sleep 1000")
			testserver.Run(t, srv, "set-option", "-g", "remain-on-exit", "on")
			testserver.Run(t, srv, "new-window", "-d", c.program)
			if c.prepare != nil {
				testserver.Run(t, srv, c.prepare[0], c.prepare[1:]...)
			}
			if c.want == shell.ErrPaneEnded {
				testserver.Wait(t, srv, "%1", "end", func() bool {
					testserver.Reap(t, srv)
					return testserver.Run(t, srv, "display-message", "-p", "-t", "%1", "#{pane_dead}") == "1"
				})
			}
			before := testserver.Run(t, srv, "capture-pane", "-p", "-t", "%1")
			var e *shell.Error
			res, err := shell.Run(testserver.Context(t), srv.Pane("%1"), "echo typed")
			if !errors.Is(err, c.want) || res != nil || !strings.Contains(err.Error(), c.text) || !errors.As(err, &e) || e.Pane != "%1" {
				t.Errorf("%+v, %v", res, err)
			}
			if after := testserver.Run(t, srv, "capture-pane", "-p", "-t", "%1"); strings.Contains(after, "typed") {
				t.Errorf("typed:\n%s\nbefore:\n%s", after, before)
			}
		})
	}
}

// A context that ends leaves the command running, as a job that can be read, signalled and
// waited for.
func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	pane := inShell(t, "exec sh")
	ctx, cancel := context.WithCancelCause(testserver.Context(t))
	enough := errors.New("enough")
	res, err := new(shell.Runner).Run(ctx, pane, "echo begun; exec sleep 1000", shell.Options{Stdout: writer(func(string) { cancel(enough) })})
	if !errors.Is(err, enough) || res == nil || res.State != shell.Running || res.Job == nil {
		t.Fatalf("%+v, %v", res, err)
	}
	job, err := shell.Find(testserver.Context(t), pane.Server(), res.Job.ID())
	ok(t, err)
	if state, _ := job.State(); state != shell.Running || job.Command() != "echo begun; exec sleep 1000" || job.Pane().ID != pane.ID || !job.InPane() {
		t.Errorf("%s, %q in %s", state, job.Command(), job.Pane().ID)
	}
	ok(t, job.Signal(syscall.SIGTERM))
	res, err = job.Wait(testserver.Context(t), shell.Options{})
	var exit *shell.ExitError
	if !errors.As(err, &exit) || exit.Status != 128+15 || !strings.HasPrefix(res.Output, "begun\n") { // a shell may say that it was terminated
		t.Errorf("%+v, %v", res, err)
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	pane := inShell(t, "exec sh")
	ctx := testserver.Context(t)
	res, err := new(shell.Runner).Run(ctx, pane, "echo begun; exec sleep 1000", shell.Options{Limit: 3 * time.Second})
	if !errors.Is(err, shell.ErrRunning) || res.Output != "begun\n" || !strings.Contains(err.Error(), res.Job.ID()) {
		t.Fatalf("%+v, %v", res, err)
	}
	// Now the shell is not at its prompt.
	if res, err := shell.Run(ctx, pane, "echo more"); !errors.Is(err, shell.ErrNoShell) || res != nil {
		t.Errorf("%+v, %v", res, err)
	}
	ok(t, pane.SendKeys(ctx, "C-c"))
	if res, err := shell.Run(ctx, pane, "echo more"); err != nil || res.Output != "more\n" {
		t.Errorf("%+v, %v", res, err)
	}
}

// Start returns when the command has begun. Its output can be read as it comes, and it is
// found by name.
func TestStart(t *testing.T) {
	t.Parallel()
	pane := inShell(t, "exec sh")
	ctx := testserver.Context(t)
	fifo := filepath.Join(t.TempDir(), "fifo")
	ok(t, syscall.Mkfifo(fifo, 0o600))
	job, err := shell.Start(ctx, pane, "echo one; read x < "+fifo+"; echo $x; exit 3")
	ok(t, err)
	if res, err := job.Result(ctx, shell.Options{}); err != nil || res.State != shell.Running || res.Job == nil {
		t.Errorf("%+v, %v", res, err)
	}
	out := job.Output(ctx)
	buf := make([]byte, 5)
	if _, err := io.ReadFull(out, buf); err != nil || string(buf) != "one\r\n" {
		t.Fatalf("%q, %v", buf, err)
	}
	jobs, err := shell.Jobs(ctx, pane.Server())
	ok(t, err)
	if len(jobs) != 1 || jobs[0].ID() != job.ID() {
		t.Errorf("%v", jobs)
	}
	ok(t, os.WriteFile(fifo, []byte("two\n"), 0o600))
	rest, err := io.ReadAll(out)
	if err != nil || string(rest) != "two\r\n" {
		t.Errorf("%q, %v", rest, err)
	}
	ok(t, out.Close())
	res, err := job.Wait(ctx, shell.Options{})
	var exit *shell.ExitError
	if !errors.As(err, &exit) || exit.Status != 3 || res.Output != "one\ntwo\n" {
		t.Errorf("%+v, %v", res, err)
	}
	if state, status := job.State(); state != shell.Ended || status != 3 {
		t.Errorf("%s %d", state, status)
	}
	var lines []string
	if !job.Scan(ctx, func(line string) { lines = append(lines, line) }) || !slices.Equal(lines, []string{"one", "two"}) {
		t.Errorf("%q", lines)
	}
}

// Reading the output ends with its context, and with Close, also while nobody reads.
func TestOutputEnds(t *testing.T) {
	t.Parallel()
	pane := inShell(t, "exec sh")
	ctx := testserver.Context(t)
	job, err := shell.Start(ctx, pane, "seq 10000; exec sleep 1000")
	ok(t, err)
	stopped, stop := context.WithCancel(ctx)
	out := job.Output(stopped)
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Error(err)
	}
	stop()
	if _, err := io.ReadAll(out); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	out = job.Output(ctx)
	ok(t, out.Close())
	if _, err := out.Read(make([]byte, 1)); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
	ok(t, job.Signal(syscall.SIGKILL))
	// Killed, it has a status all the same: its shell reports it.
	if res, err := job.Wait(ctx, shell.Options{}); err == nil || res == nil || res.Status != 128+9 {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestStopped(t *testing.T) {
	t.Parallel()
	testtool.Path(t, "bash")
	pane := inShell(t, "exec bash --norc --noprofile")
	ctx := testserver.Context(t)
	runner := new(shell.Runner)
	res, err := runner.Run(ctx, pane, "echo begun; sleep 1000", shell.Options{Stdout: writer(func(string) {
		if err := pane.SendKeys(ctx, "C-z"); err != nil {
			t.Error(err)
		}
	})})
	if !errors.Is(err, shell.ErrStopped) || res.State != shell.Stopped {
		t.Errorf("%+v, %v", res, err)
	}
	ok(t, res.Job.Signal(syscall.SIGKILL))
}

// The end of the pane is the end of the command.
func TestPaneEnds(t *testing.T) {
	t.Parallel()
	pane := inShell(t, "exec sh")
	testserver.Run(t, pane.Server(), "new-window", "-d", "exec sleep 1000")
	ctx := testserver.Context(t)
	var once sync.Once
	res, err := new(shell.Runner).Run(ctx, pane, "echo begun; sleep 1000", shell.Options{Stdout: writer(func(string) {
		once.Do(func() { testserver.Run(t, pane.Server(), "kill-pane", "-t", "%0") })
	})})
	if !errors.Is(err, shell.ErrLost) || res == nil || res.State != shell.Lost || !res.PaneEnded || res.Job != nil {
		t.Errorf("%+v, %v", res, err)
	}
	if _, err := shell.Find(ctx, pane.Server(), "jaaaaaaaaaaaa"); !errors.Is(err, shell.ErrNoJob) {
		t.Error(err)
	}
}

// Commands of several callers in one pane run one after the other, each with its own output.
func TestOneAtATime(t *testing.T) {
	t.Parallel()
	pane := inShell(t, "exec sh")
	ctx := testserver.Context(t)
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			want := fmt.Sprintf("begin %d\nend %[1]d\n", i)
			if res, err := shell.Run(ctx, pane, fmt.Sprintf("echo begin %d; sleep 0.05; echo end %[1]d", i)); err != nil || res.Output != want {
				t.Errorf("%d: %+v, %v", i, res, err)
			}
		})
	}
	wait.Wait()
}

// A shell that is locked runs commands with nothing of others between.
func TestLock(t *testing.T) {
	t.Parallel()
	pane := inShell(t, "exec sh")
	ctx := testserver.Context(t)
	file := filepath.Join(t.TempDir(), "order")
	sh, err := new(shell.Runner).At(ctx, pane.Server(), pane)
	ok(t, err)
	ok(t, sh.Lock(ctx))
	other := make(chan error)
	go func() {
		_, err := new(shell.Runner).Run(ctx, pane, "echo other >>"+file, shell.Options{})
		other <- err
	}()
	for range 3 {
		_, err := sh.Run(ctx, "echo mine >>"+file, shell.Options{})
		ok(t, err)
	}
	ok(t, sh.Lock(ctx)) // does nothing
	if res, err := new(shell.Runner).Run(ctx, pane, "echo never >>"+file, shell.Options{Limit: 200 * time.Millisecond}); !errors.Is(err, shell.ErrNotBegun) || res != nil {
		t.Errorf("%+v, %v", res, err)
	}
	late, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := new(shell.Runner).Run(late, pane, "echo never >>"+file, shell.Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	sh.Close()
	ok(t, <-other)
	text, err := os.ReadFile(file)
	if err != nil || string(text) != "mine\nmine\nmine\nother\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// Who types instead of this package gets the lines that appear, and may refuse.
func TestTypist(t *testing.T) {
	t.Parallel()
	pane := inShell(t, "exec sh")
	ctx := testserver.Context(t)
	var shows [][]string
	refuse := errors.New("no")
	res, err := new(shell.Runner).Run(ctx, pane, "echo hello", shell.Options{Type: func(_ context.Context, at tmux.PaneID, lines []string, _ []tmux.Command) (int, bool, error) {
		shows = append(shows, lines)
		return 0, false, refuse
	}})
	if !errors.Is(err, refuse) || res != nil || len(shows) != 1 || !slices.Contains(shows[0], "+ echo hello") {
		t.Errorf("%+v, %v, %q", res, err, shows)
	}
	if jobs, err := shell.Jobs(ctx, pane.Server()); err != nil || len(jobs) != 0 {
		t.Errorf("%v, %v", jobs, err)
	}
}

// Long output comes in whole; what scrolled away is in it.
func TestLongOutput(t *testing.T) {
	t.Parallel()
	pane := inShell(t, "exec sh")
	n := 0
	res, err := new(shell.Runner).Run(testserver.Context(t), pane, "seq 100000", shell.Options{Lines: func(line string) {
		if n++; line != fmt.Sprint(n) {
			t.Errorf("line %d is %q", n, line)
		}
	}})
	if err != nil || n != 100000 || res.Missed || res.Output != "" {
		t.Errorf("%d lines, %+v, %v", n, res, err)
	}
}

// Keep keeps the job of a command that has ended.
func TestKeep(t *testing.T) {
	t.Parallel()
	pane := inShell(t, "exec sh")
	ctx := testserver.Context(t)
	res, err := new(shell.Runner).Run(ctx, pane, "echo kept", shell.Options{Keep: func(r *shell.Result) bool { return r.Output == "kept\n" }})
	if err != nil || res.Job == nil {
		t.Fatalf("%+v, %v", res, err)
	}
	job, err := shell.Find(ctx, pane.Server(), res.Job.ID())
	ok(t, err)
	if res, err := job.Wait(ctx, shell.Options{}); err != nil || res.Output != "kept\n" {
		t.Errorf("%+v, %v", res, err)
	}
	other := testserver.New(t)
	testserver.Run(t, other, "new-session", "-d", "exec sleep 1000")
	if _, err := shell.Find(ctx, other, res.Job.ID()); !errors.Is(err, shell.ErrOtherServer) {
		t.Error(err)
	}
	testserver.End(t, pane.Server())
	// Another test may have swept it up.
	if _, err := shell.Find(ctx, pane.Server(), res.Job.ID()); !errors.Is(err, shell.ErrServerEnded) && !errors.Is(err, shell.ErrNoJob) {
		t.Error(err)
	}
	if jobs, err := shell.Jobs(ctx, pane.Server()); !errors.Is(err, tmux.ErrNoServer) || len(jobs) != 0 {
		t.Errorf("jobs of a server that has ended: %v, %v", jobs, err)
	}
}

// A job goes on when the program that started it has ended, and another one finds it.
func TestJobOutlivesItsProgram(t *testing.T) {
	if id := os.Getenv("TEST_SHELL_SOCKET"); id != "" {
		srv, err := tmux.New(tmux.Config{Binary: testserver.Binary(t), SocketPath: id})
		ok(t, err)
		job, err := shell.Start(testserver.Context(t), srv.Pane("%0"), "read x < "+os.Getenv("TEST_SHELL_FIFO")+"; echo $x")
		ok(t, err)
		fmt.Printf("job %s\n", job.ID())
		os.Exit(0)
	}
	t.Parallel()
	pane := inShell(t, "exec sh")
	fifo := filepath.Join(t.TempDir(), "fifo")
	ok(t, syscall.Mkfifo(fifo, 0o600))
	self, err := os.Executable()
	ok(t, err)
	cmd := exec.Command(self, "-test.run=^TestJobOutlivesItsProgram$")
	cmd.Env = append(os.Environ(), "TEST_SHELL_SOCKET="+pane.Server().SocketPath(), "TEST_SHELL_FIFO="+fifo)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var id string
	for line := range strings.Lines(string(out)) {
		fmt.Sscanf(line, "job %s", &id)
	}
	ctx := testserver.Context(t)
	job, err := shell.Find(ctx, pane.Server(), id)
	ok(t, err)
	ok(t, os.WriteFile(fifo, []byte("hello\n"), 0o600))
	if res, err := job.Wait(ctx, shell.Options{}); err != nil || res.Output != "hello\n" {
		t.Errorf("%+v, %v", res, err)
	}
}

// A command that began while the context ended has a job, or never runs.
func TestStartEndsWithItsContext(t *testing.T) {
	t.Parallel()
	pane := inShell(t, "exec sh")
	ctx := testserver.Context(t)
	dir := t.TempDir()
	jobs, never := 0, 0
	for us := range testtool.Size(60, 600) {
		file := filepath.Join(dir, fmt.Sprint(us))
		within, cancel := context.WithTimeout(ctx, time.Duration(us%60)*time.Millisecond)
		job, err := shell.Start(within, pane, "echo x >"+file)
		cancel()
		if job == nil {
			if never++; err == nil {
				t.Error("neither a job nor an error")
			}
			continue
		}
		jobs++
		if _, err := job.Wait(ctx, shell.Options{}); err != nil {
			t.Error(err)
		}
		ok(t, os.Remove(file))
	}
	// What has not begun by now never will.
	_, err := shell.Run(ctx, pane, "true")
	ok(t, err)
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%d commands without a job ran", len(left))
	}
	t.Logf("%d jobs, %d never begun", jobs, never)
}

// Interrupt ends a command with the context.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	pane := inShell(t, "exec sh")
	ctx, cancel := context.WithCancel(testserver.Context(t))
	res, err := new(shell.Runner).Run(ctx, pane, "echo begun; sleep 1000", shell.Options{Interrupt: true, Stdout: writer(func(string) { cancel() })})
	if !errors.Is(err, context.Canceled) || res == nil || res.State != shell.Ended || res.Status != 128+2 || res.Output != "begun\n" {
		t.Errorf("%+v, %v", res, err)
	}
	if res, err := shell.Run(testserver.Context(t), pane, "echo next"); err != nil || res.Output != "next\n" {
		t.Errorf("%+v, %v", res, err)
	}
}

// What is no signal, or would stop a job in part, is refused.
func TestSignals(t *testing.T) {
	t.Parallel()
	pane := inShell(t, "exec sh")
	ctx := testserver.Context(t)
	job, err := shell.Start(ctx, pane, "sleep 1000")
	ok(t, err)
	for _, sig := range []syscall.Signal{0, -1, 65, 1000, syscall.SIGSTOP, syscall.SIGTSTP} {
		if err := job.Signal(sig); !errors.Is(err, tmux.ErrArgument) {
			t.Errorf("%d: %v", sig, err)
		}
	}
	if state, _ := job.State(); state != shell.Running {
		t.Error(state)
	}
	late, cancel := context.WithCancel(ctx)
	cancel()
	if res, err := job.Wait(late, shell.Options{}); !errors.Is(err, context.Canceled) || res == nil || res.State != shell.Running {
		t.Errorf("%+v, %v", res, err)
	}
	ok(t, job.Signal(syscall.SIGKILL))
	if _, err := job.Wait(ctx, shell.Options{}); err == nil {
		t.Error("killed, without an error")
	}
	if err := job.Signal(syscall.SIGINT); !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
}

// Where another program has the pane's pipe, the output is read off the screen.
func TestOnScreen(t *testing.T) {
	t.Parallel()
	pane := inShell(t, "exec sh")
	ctx := testserver.Context(t)
	testserver.Run(t, pane.Server(), "pipe-pane", "-t", "%0", "cat >/dev/null")
	var raw strings.Builder
	res, err := new(shell.Runner).Run(ctx, pane, "seq 3", shell.Options{Stdout: &raw})
	if err != nil || res.Output != "1\n2\n3\n" || raw.String() != "1\r\n2\r\n3\r\n" {
		t.Errorf("%+v, %v, %q", res, err, raw.String())
	}
	job, err := shell.Start(ctx, pane, "seq 3")
	ok(t, err)
	if job.Scan(ctx, func(string) {}) || !job.OnScreen() {
		t.Error("nothing is missing of output that is not recorded")
	}
}

type short struct{}

func (short) Write(p []byte) (int, error) { return len(p) / 2, nil }

// A writer that fails is an error of a command that succeeds.
func TestStdoutFails(t *testing.T) {
	t.Parallel()
	pane := inShell(t, "exec sh")
	res, err := new(shell.Runner).Run(testserver.Context(t), pane, "seq 3", shell.Options{Stdout: short{}})
	if !errors.Is(err, io.ErrShortWrite) || res == nil || res.Output != "1\n2\n3\n" {
		t.Errorf("%+v, %v", res, err)
	}
}

// A command whose files somebody removes is lost, and not waited for.
func TestFilesRemoved(t *testing.T) {
	t.Parallel()
	pane := inShell(t, "exec sh")
	ctx := testserver.Context(t)
	// The recorder may be making a file there.
	remove := func(id string) {
		testtool.Eventually(t, "the files are removed", func() bool {
			return os.RemoveAll(filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "tmux-mcp", id)) == nil
		})
	}
	job, err := shell.Start(ctx, pane, "echo begun; sleep 1000")
	ok(t, err)
	remove(job.ID())
	if res, err := job.Wait(ctx, shell.Options{}); !errors.Is(err, shell.ErrLost) && !errors.Is(err, shell.ErrNotBegun) {
		t.Errorf("%+v, %v", res, err)
	}
	pane = inShell(t, "exec sh")
	res, err := new(shell.Runner).Run(ctx, pane, "echo begun; sleep 1000", shell.Options{Stdout: writer(func(string) {
		jobs, err := shell.Jobs(ctx, pane.Server())
		if err != nil || len(jobs) != 1 {
			t.Error(jobs, err)
			return
		}
		remove(jobs[0].ID())
	})})
	if !errors.Is(err, shell.ErrLost) || res == nil || !res.Missed {
		t.Errorf("%+v, %v", res, err)
	}

	// What is being read is read to the end.
	pane = inShell(t, "exec sh")
	job, err = shell.Start(ctx, pane, "seq 1 100; exit 7")
	ok(t, err)
	testtool.Eventually(t, "the job has ended", func() bool { state, _ := job.State(); return state == shell.Ended })
	lines := 0
	res, err = job.Wait(ctx, shell.Options{Lines: func(string) {
		if lines++; lines == 1 {
			remove(job.ID())
			time.Sleep(300 * time.Millisecond) // so that the wait notices
		}
	}})
	if exit := (*shell.ExitError)(nil); !errors.As(err, &exit) || exit.Status != 7 || res.Missed || lines != 100 {
		t.Errorf("after %d lines, %+v, %v", lines, res, err)
	}
}

// Output that was dropped is not passed off as all of it.
func TestOutputDropped(t *testing.T) {
	t.Parallel()
	pane := inShell(t, "exec sh")
	ctx := testserver.Context(t)
	job, err := shell.Start(ctx, pane, "head -c 70000000 /dev/zero | tr '\\0' x") // at most 64 MB are kept
	ok(t, err)
	testtool.Eventually(t, "the job has ended", func() bool { state, _ := job.State(); return state == shell.Ended })
	if n, err := io.Copy(io.Discard, job.Output(ctx)); n >= 70000000 || !errors.Is(err, shell.ErrDropped) {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// A lasting command changes its shell, and one that is interrupted has its status all the same.
func TestLasting(t *testing.T) {
	t.Parallel()
	pane := inShell(t, "exec bash --norc --noprofile")
	ctx, runner, lasting := testserver.Context(t), new(shell.Runner), shell.Options{Lasting: true}
	_, err := runner.Run(ctx, pane, "cd /usr; kept() { echo kept; }", lasting)
	ok(t, err)
	res, err := shell.Run(ctx, pane, "kept; pwd")
	if err != nil || res.Output != "kept\n/usr\n" {
		t.Errorf("%+v, %v", res, err)
	}
	var exit *shell.ExitError
	if res, err := runner.Run(ctx, pane, "exit 3", lasting); !errors.As(err, &exit) || res.Status != 3 || res.ShellEnded {
		t.Errorf("an exit: %+v, %v", res, err)
	}
	within, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		res, err = runner.Run(within, pane, "/bin/sleep 1000; echo unreached", shell.Options{Lasting: true, Interrupt: true})
	}()
	testserver.Wait(t, pane.Server(), string(pane.ID), "sleep", func() bool { // before, an interrupt may be lost
		return testserver.Run(t, pane.Server(), "display-message", "-p", "-t", string(pane.ID), "#{pane_current_command}") == "sleep"
	})
	cancel()
	<-done
	if !errors.Is(err, context.Canceled) || res == nil || res.State != shell.Ended || res.Status != 128+2 {
		t.Errorf("an interrupt: %+v, %v", res, err)
	}
	if res, err := runner.Run(ctx, pane, "set -e; false", lasting); !errors.Is(err, tmux.ErrArgument) || res != nil {
		t.Errorf("errexit: %+v, %v", res, err)
	}
	if res, err := shell.Run(ctx, pane, "pwd"); err != nil || res.Output != "/usr\n" {
		t.Errorf("%+v, %v", res, err)
	}
}

// Dir is for one command, and what is no directory is an error before anything is typed.
func TestDir(t *testing.T) {
	t.Parallel()
	pane := inShell(t, "cd /usr; exec sh")
	ctx, runner := testserver.Context(t), new(shell.Runner)
	for dir, want := range map[string]string{"/": "/\n", "lib": "/usr/lib\n", "": "/usr\n"} {
		if res, err := runner.Run(ctx, pane, "pwd", shell.Options{Dir: dir}); err != nil || res.Output != want {
			t.Errorf("%q: %+v, %v", dir, res, err)
		}
	}
	for _, dir := range []string{"/nowhere", "nowhere", "/etc/passwd"} {
		if res, err := runner.Run(ctx, pane, "pwd", shell.Options{Dir: dir}); !errors.Is(err, shell.ErrNoDir) || res != nil {
			t.Errorf("%q: %+v, %v", dir, res, err)
		}
	}
	for _, o := range []shell.Options{{Dir: "/", Lasting: true}, {Dir: "a\x00b"}} {
		if res, err := runner.Run(ctx, pane, "pwd", o); !errors.Is(err, tmux.ErrArgument) || res != nil {
			t.Errorf("%+v: %+v, %v", o, res, err)
		}
	}
}
