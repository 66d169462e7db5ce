package runner

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/internal/procstat"
	"tmuxmcp/internal/test/testtool"
)

// TestACommandBeginsOrIsRevoked: whichever comes first holds, however often the line is
// read, in each shell that reads the file itself.
func TestACommandBeginsOrIsRevoked(t *testing.T) {
	f := ownFiles(t)
	for _, name := range []string{"bash", "dash", "sh"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Errorf("%s is not installed: %v", name, err)
			continue
		}
		for _, revokeFirst := range []bool{true, false} {
			shell := Foreground{Name: name, shell: dialects[name], path: path}
			c, err := f.Command(Place{}, Way{}, true, false)
			ok(t, err)
			ok(t, c.Write(shell, "echo ran; exit 7"))
			if c.Begun() {
				t.Errorf("%s: it has begun before anybody read it", name)
			}
			if revokeFirst && !c.Revoke() {
				t.Errorf("%s: it cannot be revoked before it began", name)
			}
			line := strings.TrimSuffix(c.Line(shell), "\r")
			out, _ := exec.Command(path, "-c", line+"\n"+line).Output() // the second is refused
			ran := strings.Count(string(out), "ran\n")
			state := c.Look()
			status, ended := state.Status, state.Phase == Ended
			switch {
			case revokeFirst && (ran != 0 || ended || c.Begun()):
				t.Errorf("%s: revoked, it ran %d times, status %d %v, begun %v:\n%s", name, ran, status, ended, c.Begun(), out)
			case !revokeFirst && (ran != 1 || !ended || status != 7 || !c.Begun() || c.Revoke()):
				t.Errorf("%s: it ran %d times, status %d %v, begun %v:\n%s", name, ran, status, ended, c.Begun(), out)
			}
			lines, begun, marked := c.Between(strings.Split(string(out), "\n"))
			if !revokeFirst && (!begun || !marked || strings.Join(lines, "|") != "ran") {
				t.Errorf("%s: between the marks is %q, %v %v", name, lines, begun, marked)
			}
		}
	}
}

// fed runs the recorder of a command in a shell, as tmux does.
func fed(t *testing.T, c *Command, shell string) (in io.WriteCloser, done <-chan error) {
	t.Helper()
	return fedBy(t, c, shell, os.Getpid())
}

// fedBy is fed for another server.
func fedBy(t *testing.T, c *Command, shell string, server int) (in io.WriteCloser, done <-chan error) {
	t.Helper()
	feed := strings.Replace(c.Feed(), fmt.Sprintf("server=%d;", os.Getpid()), fmt.Sprintf("server=%d;", server), 1)
	args := []string{testtool.Path(t, shell), "-c", feed}
	if shell == "busybox" {
		args = append([]string{args[0], "sh"}, args[1:]...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	in, err := cmd.StdinPipe()
	ok(t, err)
	ok(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { in.Close() })
	return in, ended
}

// recording returns a command to be recorded.
func recording(t *testing.T, f *Files) (*Command, *keeper) {
	t.Helper()
	c, err := f.Command(Place{Columns: 80, Rows: 24}, Way{}, false, false)
	ok(t, err)
	t.Cleanup(c.Close)
	lines := &keeper{}
	ok(t, c.Record(lines))
	return c, lines
}

// awaitsInput waits until the recorder is waiting: ksh misses a signal that comes just
// before.
func awaitsInput(t *testing.T, c *Command) {
	t.Helper()
	testtool.Eventually(t, "the recorder waits for output", func() bool {
		pid, _ := c.recorderPID()
		p, err := procstat.Of(pid)
		return c.Recording() && err == nil && p.State == 'S'
	})
}

// TestTheRecorder: it is right in each shell that may be tmux's /bin/sh.
func TestTheRecorder(t *testing.T) {
	f := ownFiles(t)
	t.Run("bounded", func(t *testing.T) {
		t.Parallel()
		theRecorderIsBounded(t, f)
	})
	for _, shell := range []string{"sh", "bash", "dash", "ksh", "mksh", "busybox"} {
		for name, test := range map[string]func(t *testing.T, f *Files, shell string){
			"everything":          everythingIsRecorded,
			"stopped":             stopped,
			"after the command":   endsAfterTheCommand,
			"after the marks":     endsAfterTheMarks,
			"of one that is over": endsAfterOneThatIsOver,
			"without its files":   endsWithoutItsFiles,
			"without its server":  endsWithoutItsServer,
		} {
			t.Run(shell+"/"+name, func(t *testing.T) {
				t.Parallel()
				testtool.Path(t, shell)
				test(t, f, shell)
			})
		}
	}
}

// everythingIsRecorded, and the recorder ends with its input.
func everythingIsRecorded(t *testing.T, f *Files, shell string) {
	c, lines := recording(t, f)
	if c.Recording() {
		t.Error("it records before it was started")
	}
	in, done := fed(t, c, shell)
	io.WriteString(in, "prompt"+c.begin())
	const n = 3000 // more than one dd reads
	for i := range n {
		fmt.Fprintf(in, "%d\r\n", i)
	}
	io.WriteString(in, c.end()+"7"+c.endOfEnd()+"prompt")
	status := within(t, "the end was not recorded", c.Ended)
	if c.Close(); status != 7 || len(*lines) != n || (*lines)[n-1] != fmt.Sprint(n-1) || c.Missed("") {
		t.Errorf("status %d, %d lines", status, len(*lines))
	}
	testtool.Eventually(t, "the recorder has begun", c.Recording) // dd may have been faster than the shell that started it
	in.Close()
	within(t, "it does not end with its input", done)
	testtool.Eventually(t, "the recorder has ended", func() bool { return !c.Recording() })
}

func stopped(t *testing.T, f *Files, shell string) {
	c, _ := recording(t, f)
	_, done := fed(t, c, shell)
	awaitsInput(t, c)
	c.EndRecording(time.Minute) // ksh and mksh may overlook a signal
	within(t, "it does not end when it is stopped", done)
	within(t, "that it is over was not noticed", c.Over)
}

func endsAfterTheCommand(t *testing.T, f *Files, shell string) {
	c, _ := recording(t, f)
	_, done := fed(t, c, shell)
	awaitsInput(t, c)
	start := time.Now()
	c.signalRecorder(syscall.SIGUSR1)
	within(t, "it does not end after the command", done)
	if took := time.Since(start); took < time.Second {
		t.Errorf("it ended %v after the command: output may still come", took)
	}
}

// endsAfterTheMarks: what comes after the second mark is the user's.
func endsAfterTheMarks(t *testing.T, f *Files, shell string) {
	c, _ := recording(t, f)
	in, done := fed(t, c, shell)
	io.WriteString(in, c.begin()+c.end()+"0"+c.endOfEnd())
	within(t, "it did not record", c.Ended)
	awaitsInput(t, c)
	start := time.Now()
	c.signalRecorder(syscall.SIGUSR1)
	within(t, "it does not end after the second mark", done)
	t.Logf("with the second mark it took %v to end", time.Since(start))
}

// endsAfterOneThatIsOver: the command may have ended before there is a recorder to tell, and a
// server may wait for it.
func endsAfterOneThatIsOver(t *testing.T, f *Files, shell string) {
	c, _ := recording(t, f)
	ok(t, os.WriteFile(c.path("status"), []byte("0  \n"), 0o600))
	_, done := fed(t, c, shell)
	within(t, "it does not end when the command has ended", done)
	c, _ = recording(t, f)
	ok(t, os.WriteFile(c.path("status"), []byte("0  \n"), 0o600))
	ok(t, os.WriteFile(c.path("run"), nil, 0o600))
	in, done := fed(t, c, shell)
	awaitsInput(t, c)
	io.WriteString(in, c.begin()+c.end()+"7"+c.endOfEnd())
	within(t, "it did not record", c.Ended)
	in.Close()
	within(t, "it does not end with its input", done)
}

// endsWithoutItsFiles: they may be gone before it is.
func endsWithoutItsFiles(t *testing.T, f *Files, shell string) {
	c, _ := recording(t, f)
	in, done := fed(t, c, shell)
	testtool.Eventually(t, "the recorder is known", func() bool { _, began := c.recorderPID(); return began })
	dir := c.dir
	testtool.Eventually(t, "the directory can be removed", func() bool { return os.RemoveAll(dir) == nil }) // it may just make another file
	in.Close()
	within(t, "it does not end without its files", done)
	if runtime.GOOS == "linux" {
		testtool.Eventually(t, "nobody works in it", func() bool { return !workedIn(dir) })
	}
}

// endsWithoutItsServer: it ends if its server was killed, also one that nobody has waited for,
// and keeps no output of when it rested.
func endsWithoutItsServer(t *testing.T, f *Files, shell string) {
	server := exec.Command("sleep", "600")
	ok(t, server.Start())
	defer server.Wait()
	defer server.Process.Kill()
	c, _ := recording(t, f)
	in, done := fedBy(t, c, shell, server.Process.Pid)
	awaitsInput(t, c)
	os.Remove(c.path("status"))
	io.WriteString(in, "typed")
	testtool.Eventually(t, "output came", func() bool { return c.BytesRead() > 0 })
	ok(t, server.Process.Kill())
	within(t, "it does not end", done)
	if left := c.parts(); len(left) > 0 {
		t.Errorf("it keeps %v", left)
	}
}

// TestOneRecorderRestsInAPane: a resting recorder whose pipe somebody closed is gone when
// another one begins to rest, and none is left once the files are closed.
func TestOneRecorderRestsInAPane(t *testing.T) {
	f := ownFiles(t)
	for range 3 {
		c, _ := recording(t, f)
		fed(t, c, "sh")
		testtool.Eventually(t, "the recorder has begun", c.Recording)
		f.Rest(c)
		testtool.Eventually(t, "one rests", func() bool { return len(jobsIn(f.Home())) == 1 })
	}
	home := f.Home()
	f.Close()
	testtool.Eventually(t, "none rests", func() bool { return len(jobsIn(home)) == 0 })
}

// theRecorderIsBounded: of endless output the end is kept, and the reader knows.
func theRecorderIsBounded(t *testing.T, f *Files) {
	c, _ := recording(t, f)
	if free, ok := freeIn(c.dir); ok && free < 1<<30 {
		t.Skipf("only %d MB are free there, of which the recorder takes a part", free>>20)
	}
	c.Close() // nobody reads
	in, done := fed(t, c, "sh")
	io.WriteString(in, c.begin())
	line := strings.Repeat("x", 1022) + "\r\n"
	const megabytes = 150
	most := int64(0)
	for i := range megabytes {
		io.WriteString(in, strings.Repeat(line, 1024))
		if most = max(most, sizeOf(c.dir)); most > 64<<20 {
			t.Fatalf("after %d MB it keeps %d bytes", i, most)
		}
	}
	io.WriteString(in, "last\r\n"+c.end()+"0"+c.endOfEnd())
	in.Close()
	within(t, "it does not end", done)
	if left := sizeOf(c.dir); left < 22<<20 {
		t.Errorf("it kept %d bytes", left)
	}
	t.Logf("at most %d MB were kept of %d", most>>20, megabytes)
	var lines keeper
	again := c.Await(&lines)
	within(t, "the end was not found", again.Ended)
	if again.Close(); !again.Missed("") || lines[len(lines)-1] != "last" || len(lines) < 20_000 {
		t.Errorf("missed is %t; %d lines to %.20q", again.Missed(""), len(lines), lines[len(lines)-1])
	}
	var few keeper
	asked := 0
	if c.Scan(&few, func() bool { asked++; return asked < 10 }) || len(few) == 0 || len(few) > 2000 {
		t.Errorf("a scan that is stopped gives %d lines", len(few))
	}
}

// TestReadingLags: a reader notices that parts were removed before it got to them.
func TestReadingLags(t *testing.T) {
	f := ownFiles(t)
	j, err := f.Command(here(), Way{}, false, false)
	ok(t, err)
	var lines keeper
	r := newTranscriber(j.Job, &lines)
	for part, text := range []string{j.begin() + "one\r\n", "lost\r\n", "", "two\r\n" + j.end() + "3" + j.endOfEnd()} {
		if text != "" {
			ok(t, os.WriteFile(j.path(fmt.Sprint("o", part)), []byte(text), 0o600))
		}
		if part == 1 {
			os.Remove(j.path("o0"))
			os.Remove(j.path("o1"))
		}
		for r.more() {
		}
	}
	if r.close(); !r.ended || r.status != 3 || !r.lost.Load() || !slices.Equal(lines, keeper{"one", "two"}) {
		t.Errorf("ended is %t, status %d, lost is %t; lines %q", r.ended, r.status, r.lost.Load(), lines)
	}
}

// workedIn reports whether a removed directory is the working directory of a process.
func workedIn(dir string) bool {
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	return slices.ContainsFunc(links, func(link string) bool {
		at, _ := os.Readlink(link)
		return at == dir+" (deleted)"
	})
}

// TestLookingWakesNobody: a wait for a command checks whether it is recorded, and must not
// wake itself by that.
func TestLookingWakesNobody(t *testing.T) {
	f := ownFiles(t)
	c, _ := recording(t, f)
	in, done := fed(t, c, "sh")
	io.WriteString(in, "begun")
	testtool.Eventually(t, "output came", func() bool { return c.BytesRead() > 0 })
	awaitsInput(t, c) // the shell has written all that it writes of itself, and closed it
	testtool.Eventually(t, "dd waits, too", c.Drained)
	stop := make(chan struct{})
	defer close(stop)
	wakes, announced := watch(c.dir, stop)
	if !announced {
		t.Skip("changes of files are not announced")
	}
	for range 50 {
		c.Recording()
	}
	select {
	case <-wakes:
		t.Error("it was woken by its own looks")
	case <-time.After(300 * time.Millisecond):
	}
	io.WriteString(in, "printed")
	within(t, "it was not woken by output", wakes)
	in.Close()
	within(t, "it does not end", done)
}
