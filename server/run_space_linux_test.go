package server_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
)

// onSmallDisk plays a test again in a mount namespace, where it may mount a file system of
// a size, for the files of commands.
func onSmallDisk(t *testing.T, size string, play func(t *testing.T, dir string)) {
	if os.Getenv("TEST_SMALL_DISK") != "" {
		dir := t.TempDir()
		if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=700,size="+size); err != nil {
			t.Skip("mount a small file system: ", err)
		}
		t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
		t.Setenv("XDG_RUNTIME_DIR", dir)
		play(t, dir)
		return
	}
	t.Parallel()
	args := []string{"--mount", "--propagation", "private", os.Args[0], "-test.run=^" + t.Name() + "$", "-test.v"}
	if os.Geteuid() != 0 {
		args = append([]string{"--map-root-user"}, args...)
	}
	cmd := exec.Command("unshare", args...)
	cmd.Env = append(os.Environ(), "TEST_SMALL_DISK=1")
	out, err := cmd.CombinedOutput()
	switch text := string(out); {
	case strings.Contains(text, "unshare: ") || !strings.Contains(text, "=== RUN"):
		testtool.Missing(t, "no mount namespace: %v: %s", err, text)
	case strings.Contains(text, "--- SKIP"):
		testtool.Missing(t, "%s", text)
	case err != nil:
		t.Errorf("%v:\n%s", err, text)
	}
}

// TestNoisyJobsLeaveRoom: all recordings together take no more than a quarter of what is
// free.
func TestNoisyJobsLeaveRoom(t *testing.T) { onSmallDisk(t, "24m", noisyJobs) }

func noisyJobs(t *testing.T, dir string) {
	srv, p := shellPane(t, "bash")
	for range 5 {
		testserver.Run(t, srv, "new-window", "-d", shellStart(t, "bash"))
	}
	var jobs []string
	for i := range 6 {
		pane := fmt.Sprint("%", i)
		waitPrompt(t, srv, pane)
		// Twice what is kept of it: each gets half of what the others leave.
		noise := fmt.Sprintf("yes 'a line of a noisy job' | head -c %d; sleep 600", max(6<<20>>i, 512<<10))
		jobs = append(jobs, p.command(pane, noise, `"detach":true`).JobID)
	}
	home := filepath.Join(dir, "tmux-mcp")
	testtool.Eventually(t, "each job has printed more than is kept", func() bool {
		var st unix.Statfs_t
		if err := unix.Statfs(dir, &st); err != nil {
			t.Fatal(err)
		}
		if free := int64(st.Bavail) * st.Bsize; free < 18<<20 {
			t.Fatalf("%d bytes of 24 MB are free", free)
		}
		return !slices.ContainsFunc(jobs, func(id string) bool {
			parts, err := filepath.Glob(filepath.Join(home, id, "o[0-9]*"))
			return err != nil || len(parts) == 0 || filepath.Base(parts[0]) == "o0"
		})
	})
}

func TestAFullDisk(t *testing.T) { onSmallDisk(t, "1m", fullDisk) }

func fullDisk(t *testing.T, dir string) {
	srv := testserver.New(t)
	testserver.Run(t, srv, "new-session", "-d", "-x", "80", "-y", "24", shellStart(t, "bash"))
	waitPrompt(t, srv, "%0")
	p := serve(t, configFor(srv))
	home := filepath.Join(dir, "tmux-mcp")
	filler := filepath.Join(dir, "filler")
	fill := func() {
		t.Helper()
		f, err := os.OpenFile(filler, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for err == nil {
			_, err = f.Write(make([]byte, 4<<10))
		}
	}
	p.expect("%0", "echo a", "a")

	// The recorded amount depends on the free space.
	got := p.command("%0", "seq 1 300000")
	if n := len(got.Output); got.status() != "0" || n == 0 || got.Output[n-1] != "300000" {
		t.Errorf("more output than space: exit status %s, %d lines", got.status(), n)
	}
	job := p.command("%0", "seq 1 9999", `"match":"no such line"`)
	if job.JobID == "" {
		t.Fatalf("%+v", job)
	}

	// A job that has ended gives way.
	fill()
	p.expect("%0", "echo b", "b")
	p.fails("get_job", `{"job_id":"`+job.JobID+`"}`, "there is no job")

	// A full disk is reported once the resting recorder has freed its space.
	testserver.Wait(t, srv, "%0", "end of the recorder", func() bool {
		left, err := filepath.Glob(filepath.Join(home, "*", "*"))
		return err == nil && len(left) == 0
	})
	for range 2 {
		fill()
		p.fails("run_command", runArgs("%0", "echo not-here"), "the command has not run: no space left in "+home, "free some space there, or set XDG_RUNTIME_DIR")
	}
	if screen := testserver.Run(t, srv, "capture-pane", "-p"); strings.Contains(screen, "not-here") {
		t.Errorf("it ran:\n%s", screen)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	p.expect("%0", "echo c", "c")

	// The exit status needs no space.
	got = p.command("%0", "cat /dev/zero 2>/dev/null >"+filler+"; seq 1 9999; exit 5")
	if got.status() != "5" || got.State != "ended" {
		t.Errorf("a command that fills the disk: %+v", got)
	}
	if got.LinesMissed && !strings.Contains(got.Note, "its output could not be recorded: no space left in "+home) {
		t.Errorf("it says %q", got.Note)
	}
	if n := len(got.Output); !got.LinesMissed && n < 9999 {
		t.Errorf("%d lines, and none missed", n)
	}
}
