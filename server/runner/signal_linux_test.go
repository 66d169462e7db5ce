package runner

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
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
// program, gets it again.
func TestSignalBetweenForkAndExec(t *testing.T) {
	f := ownFiles(t)
	j := made(t, f, here(), "", 0)
	job := exec.Command("bash", "-c", `trap : INT; read -r stat </proc/$$/stat; echo "$stat" >process
(trap go=1 INT; echo; until [ "$go" ]; do :; done; exec sleep 60)`)
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
	if err := job.Wait(); job.ProcessState.ExitCode() != 128+int(syscall.SIGINT) {
		t.Errorf("it ended with %v", err)
	}
}
