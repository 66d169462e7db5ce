//go:build unix

package peer

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain makes the test binary a program that leaves its process group, and holds the pipes that
// it was given for as long as the file that its first argument names exists.
func TestMain(m *testing.M) {
	if os.Getenv("PEER_TEST_AWAY") == "" {
		os.Exit(m.Run())
	}
	if _, err := syscall.Setsid(); err != nil {
		panic(err)
	}
	os.WriteFile(os.Args[1], []byte(strconv.Itoa(os.Getpid())), 0o600)
	for range 6000 {
		if _, err := os.Stat(os.Args[1]); err != nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	os.Exit(0)
}

// hang is what tests allow for what takes no time.
const hang = 30 * time.Second

// open starts a shell command, and ends it with the test.
func open(t *testing.T, orphans Orphans, command string) *Peer {
	t.Helper()
	p, err := Open(exec.Command("/bin/sh", "-c", command), orphans)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.End(0, 0)
		p.Stdout.Close()
	})
	return p
}

// says reads a line of the output.
func says(t *testing.T, p *Peer, want string) {
	t.Helper()
	p.Stdout.SetReadDeadline(time.Now().Add(hang))
	got := make([]byte, len(want)+1)
	if n, err := io.ReadFull(p.Stdout, got); err != nil || string(got) != want+"\n" {
		t.Fatalf("it says %q, %v; want %q", got[:n], err, want)
	}
}

// atEnd reports whether no process has the output open any more, or soon will not.
func atEnd(t *testing.T, p *Peer, within time.Duration) bool {
	t.Helper()
	p.Stdout.SetReadDeadline(time.Now().Add(within))
	_, err := io.Copy(io.Discard, p.Stdout)
	if err != nil && !os.IsTimeout(err) {
		t.Fatal(err)
	}
	return err == nil
}

func exited(t *testing.T, p *Peer) {
	t.Helper()
	if !p.exits(hang) {
		t.Fatal("it has not exited")
	}
}

func TestTalk(t *testing.T) {
	t.Parallel()
	p := open(t, KillOrphans, "while read line; do echo got $line; done; exit 3")
	for _, line := range []string{"one", "two"} {
		io.WriteString(p.Stdin, line+"\n")
		says(t, p, "got "+line)
	}
	if !p.End(hang, 0) {
		t.Error("it did not leave")
	}
	if p.Err == nil || p.Err.Error() != "exit status 3" || p.Cmd.ProcessState.ExitCode() != 3 {
		t.Error(p.Err)
	}
}

// What a program wrote before it exited can still be read.
func TestOutputOutlivesTheProgram(t *testing.T) {
	t.Parallel()
	p := open(t, KillOrphans, "echo last words")
	exited(t, p)
	says(t, p, "last words")
	if !atEnd(t, p, hang) {
		t.Error("no end")
	}
}

// A process that a program leaves behind in its group holds the output open, until it is killed.
func TestOrphans(t *testing.T) {
	t.Parallel()
	const leaves = "sleep 100 & echo $!"
	t.Run("kill", func(t *testing.T) {
		t.Parallel()
		p := open(t, KillOrphans, leaves)
		exited(t, p)
		if !atEnd(t, p, hang) {
			t.Error("the output has no end")
		}
	})
	for how, end := range map[string]func(*Peer){"kill later": (*Peer).Kill, "end": func(p *Peer) { p.End(hang, 0) }} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			p := open(t, KeepOrphans, leaves)
			exited(t, p)
			if atEnd(t, p, 50*time.Millisecond) {
				t.Fatal("it left nothing")
			}
			end(p)
			if !atEnd(t, p, hang) {
				t.Error("the output has no end")
			}
		})
	}
}

// A process that has left the group holds only the pipes: nobody waits for it.
func TestAnotherGroupHoldsThePipes(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := t.TempDir() + "/pid"
	cmd := exec.Command("/bin/sh", "-c", `"$0" "$1" & while [ ! -s "$1" ]; do sleep 0.01; done`, exe, file)
	cmd.Env = append(os.Environ(), "PEER_TEST_AWAY=1")
	p, err := Open(cmd, KillOrphans)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stdout.Close()
	exited(t, p)
	p.End(hang, hang)
	if atEnd(t, p, 50*time.Millisecond) {
		t.Error("it has not left the group")
	}
	os.Remove(file) // ends it
	if !atEnd(t, p, hang) {
		t.Error("it is still there")
	}
}

func TestClosesItsOutput(t *testing.T) {
	t.Parallel()
	p := open(t, KillOrphans, "exec >&-; exec sleep 100")
	if !atEnd(t, p, hang) {
		t.Fatal("no end")
	}
	select {
	case <-p.Exited:
		t.Fatal(p.Err)
	default:
	}
	if p.End(time.Millisecond, 0) {
		t.Error("it left")
	}
	exited(t, p)
}

func TestEnd(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]struct {
		leave, term time.Duration
		left        bool
		err         string
	}{
		"echo ready; cat":                                            {hang, 0, true, "<nil>"},
		"echo ready; cat; exit 4":                                    {hang, hang, true, "exit status 4"},
		"echo ready; exec sleep 100":                                 {time.Millisecond, hang, false, "signal: terminated"},
		"echo ready; exec sleep 101":                                 {time.Millisecond, 0, false, "signal: killed"},
		"trap '' TERM; echo ready; cat; while :; do sleep 100; done": {time.Millisecond, 10 * time.Millisecond, false, "signal: killed"},
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			p := open(t, KillOrphans, command)
			says(t, p, "ready")
			if left := p.End(want.leave, want.term); left != want.left {
				t.Errorf("left: %v", left)
			}
			exited(t, p)
			if got := "<nil>"; p.Err != nil && p.Err.Error() != want.err || p.Err == nil && want.err != got {
				t.Errorf("got %v, want %s", p.Err, want.err)
			}
			if !atEnd(t, p, hang) {
				t.Error("something is left of its group")
			}
		})
	}
}

// A blocked write ends with the program.
func TestWriteToWhatDoesNotRead(t *testing.T) {
	t.Parallel()
	p := open(t, KillOrphans, "exec sleep 100")
	wrote := make(chan error)
	go func() {
		_, err := p.Stdin.Write(make([]byte, 1<<20))
		wrote <- err
	}()
	p.Kill()
	select {
	case err := <-wrote:
		if err == nil {
			t.Error("it was written")
		}
	case <-time.After(hang):
		t.Error("the write goes on")
	}
}

// The context of a command kills the group.
func TestContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	p, err := Open(exec.CommandContext(ctx, "/bin/sh", "-c", "sleep 100 & echo ready; wait"), KeepOrphans)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stdout.Close()
	says(t, p, "ready")
	cancel()
	exited(t, p)
	if !atEnd(t, p, hang) {
		t.Error("something is left of its group")
	}
}

func TestNoStart(t *testing.T) {
	t.Parallel()
	if p, err := Open(exec.Command("/nonesuch"), KillOrphans); p != nil || !os.IsNotExist(err) {
		t.Errorf("%v, %v", p, err)
	}
}

// A log is readable at both ends while the program writes without end, and after.
func TestLog(t *testing.T) {
	t.Parallel()
	log, err := NewLog(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command("/bin/sh", "-c", "echo begin >&2; echo ready; while :; do echo an endless log >&2; done")
	cmd.Stderr = log.File
	p, err := Open(cmd, KillOrphans)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stdout.Close()
	says(t, p, "ready")
	for len(log.Tail(1000)) < 1000 {
		time.Sleep(time.Millisecond)
	}
	p.End(time.Millisecond, 0)
	exited(t, p)
	if head, tail := log.Head(7), log.Tail(1000); head != "begin\na" || len(tail) != 1000 || !strings.Contains(tail, "endless") {
		t.Errorf("%q … %q", head, tail)
	}
}

func TestLogTail(t *testing.T) {
	t.Parallel()
	log, err := NewLog(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if head, tail := log.Head(4), log.Tail(4); head != "" || tail != "" {
		t.Errorf("%q … %q", head, tail)
	}
	io.WriteString(log, "xäöü")
	for n, want := range map[int64]string{0: "", 1: "", 2: "ü", 3: "ü", 4: "öü", 6: "äöü", 7: "xäöü", 100: "xäöü"} {
		if got := log.Tail(n); got != want {
			t.Errorf("the last %d bytes: %q, want %q", n, got, want)
		}
	}
	log.Close()
	if got := log.Tail(9); got != "" {
		t.Errorf("once closed: %q", got)
	}
}
