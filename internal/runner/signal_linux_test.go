package runner

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/internal/test/testtool"
)

// A job can be signalled from the moment it counts as running, which is a little before
// its process is noted. Without a note nothing gets the signal.
func TestSignalBeforeTheNote(t *testing.T) {
	f := ownFiles(t)
	job := exec.Command("sh", "-c", "sleep 60; exit 3")
	job.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	ok(t, job.Start())
	defer syscall.Kill(-job.Process.Pid, syscall.SIGKILL)
	j := made(t, f, here(), "", 0)
	if err := j.signal(syscall.SIGTERM, 50*time.Millisecond); err == nil {
		t.Fatal("a job without a note is signalled")
	}
	noted := make(chan error, 1)
	time.AfterFunc(50*time.Millisecond, func() {
		stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(job.Process.Pid), "stat"))
		if err == nil {
			err = os.WriteFile(j.path("process"), stat, 0o600)
		}
		noted <- err
	})
	if err := j.signal(syscall.SIGTERM, time.Minute); err != nil {
		t.Fatalf("before the note: %v", err)
	}
	ok(t, <-noted)
	// The shell, which would report the end of the command, goes on.
	if err := job.Wait(); job.ProcessState.ExitCode() != 3 {
		t.Errorf("it ended with %v", err)
	}
}

// A process that gets the signal while it still is the shell's, and then becomes another
// program or starts one, gets it again, or that program does.
func TestSignalBetweenForkAndExec(t *testing.T) {
	f := ownFiles(t)
	for then, status := range map[string]int{"exec sleep 60": 128 + int(syscall.SIGINT), "sleep 20 && exit 4; exit 3": 3} {
		j := made(t, f, here(), "", 0)
		job := exec.Command("bash", "-c", `trap : INT; read -r stat </proc/$$/stat; echo "$stat" >process
(trap go=1 INT; echo; until [ "$go" ]; do :; done; `+then+`)`)
		job.Dir = filepath.Dir(j.path("process"))
		ready, err := job.StdoutPipe()
		ok(t, err)
		job.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		ok(t, job.Start())
		defer syscall.Kill(-job.Process.Pid, syscall.SIGKILL)
		if _, err := ready.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		ok(t, j.Signal(syscall.SIGINT))
		if err := job.Wait(); job.ProcessState.ExitCode() != status {
			t.Errorf("%s: it ended with %v", then, err)
		}
	}
}

// began starts a command as a job whose process leads a group, and returns when the command
// has printed something.
func began(t *testing.T, j *Job, attr syscall.SysProcAttr, command string) *exec.Cmd {
	t.Helper()
	job := exec.Command("sh", "-c", `trap : INT; read -r stat </proc/$$/stat; echo "$stat" >process; `+command)
	job.Dir, job.SysProcAttr = filepath.Dir(j.path("process")), &attr
	ready, err := job.StdoutPipe()
	ok(t, err)
	ok(t, job.Start())
	t.Cleanup(func() { syscall.Kill(-job.Process.Pid, syscall.SIGKILL) })
	if _, err := ready.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	return job
}

// A program whose parent has ended is the job's if it is in the job's group.
func TestSignalWithoutAParent(t *testing.T) {
	f := ownFiles(t)
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		j := made(t, f, here(), "", 0)
		job := began(t, j, syscall.SysProcAttr{Setsid: true}, `trap : INT; (sh -c "while :; do sleep 0.01; done" &); (sleep 0.1; echo; sleep 60; :); exit 3`)
		ok(t, j.Signal(sig))
		if err := job.Wait(); job.ProcessState.ExitCode() != 3 {
			t.Errorf("%v: it ended with %v", sig, err)
		}
		testtool.Eventually(t, "the group has ended", func() bool {
			return !slices.ContainsFunc(members(job.Process.Pid), exists)
		})
	}
}

// Another program that was put in the group gets no signal.
func TestSignalInASharedGroup(t *testing.T) {
	f := ownFiles(t)
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL} {
		j := made(t, f, here(), "", 0)
		job := began(t, j, syscall.SysProcAttr{Setpgid: true}, "(echo; sleep 60; :); exit 3")
		other := exec.Command("cat")
		other.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: job.Process.Pid}
		in, err := other.StdinPipe()
		ok(t, err)
		ok(t, other.Start())
		ok(t, j.Signal(sig))
		if err := job.Wait(); job.ProcessState.ExitCode() != 3 {
			t.Errorf("%v: it ended with %v", sig, err)
		}
		in.Close()
		if err := other.Wait(); err != nil {
			t.Errorf("%v: the other program ended with %v", sig, err)
		}
	}
}
