package runner

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/internal/test/testtool"
)

// here returns a place whose tmux server and shell are this process.
func here() Place {
	return Place{Socket: "/s", Server: os.Getpid(), Started: 1, Pane: "%0", Pid: os.Getpid(), Shell: os.Getpid()}
}

// made creates a job with a status written that long ago.
func made(t *testing.T, f *Files, at Place, status string, ago time.Duration) *Job {
	t.Helper()
	c, err := f.Command(at, Way{}, false, false)
	ok(t, err)
	j := c.Job
	if status == "none" {
		return j
	}
	begun := ""
	if status == revoked {
		begun, status = revoked, noStatus
	}
	when := time.Now().Add(-ago)
	for name, text := range map[string]string{"begun": begun, "status": status} {
		ok(t, errors.Join(os.WriteFile(j.path(name), []byte(text), 0o600), os.Chtimes(j.path(name), when, when)))
	}
	return j
}

func TestSweepRemovesWhatIsOver(t *testing.T) {
	_, _, home := ownHome(t, 0o700)
	var f Files
	defer f.Close()
	gone := here()
	gone.Server = 1 << 22 // more than a process id can be
	dead := here()
	dead.Shell = 1 << 22
	kept := []*Job{
		made(t, &f, here(), "0", 0), made(t, &f, here(), "3", 59*time.Minute), made(t, &f, here(), "", 48*time.Hour),
		made(t, &f, here(), "none", 0), made(t, &f, dead, "", time.Minute), made(t, &f, here(), revoked, 0),
	}
	// Its server still answers the call, also when the tmux server is gone.
	attended := made(t, &f, gone, "", 0)
	ok(t, os.WriteFile(attended.path("run"), nil, 0o600))
	kept = append(kept, attended)
	// The description of this one was just being replaced.
	renamed := made(t, &f, here(), "0", 0)
	ok(t, os.Rename(renamed.path("job"), renamed.path("job.new")))
	kept = append(kept, renamed)
	removed := []*Job{
		made(t, &f, here(), "0", 61*time.Minute), made(t, &f, gone, "0", 0), made(t, &f, gone, "", 0),
		made(t, &f, dead, "", 2*time.Hour), made(t, &f, here(), revoked, time.Hour), made(t, &f, gone, "none", 0),
	}
	// What is not a job of ours stays: a stranger in the home, a link, an open directory.
	ok(t, os.Mkdir(filepath.Join(home, "notes"), 0o700))
	linked := filepath.Join(home, "jaaaaaaaaaaaa")
	precious := filepath.Join(t.TempDir(), "precious")
	ok(t, os.WriteFile(precious, nil, 0o600))
	ok(t, os.Symlink(filepath.Dir(precious), linked))
	// A job that another server is just making has no description yet.
	half, err := f.command()
	ok(t, err)
	// This one was just being removed.
	cut := made(t, &f, here(), "0", 0)
	os.Remove(cut.path("job"))
	removed = append(removed, cut)
	// And here a server was killed between making the description and writing it.
	empty := made(t, &f, here(), "0", 0)
	ok(t, os.Truncate(empty.path("job"), 0))
	Sweep()
	if _, err := os.Stat(empty.dir); err != nil {
		t.Error("a job that is just described was removed")
	}
	sweep(home, time.Now().Add(writtenIn+time.Second), mostBytes)
	if _, err := os.Stat(empty.dir); err == nil {
		t.Error("a job that was never described is there")
	}
	for i, j := range kept {
		if _, err := os.Stat(j.dir); err != nil {
			t.Errorf("kept %d was removed: %v", i, j.Look())
		}
	}
	for i, j := range removed {
		if _, err := os.Stat(j.dir); err == nil {
			t.Errorf("removed %d is there: %v", i, j.Look())
		}
	}
	os.Remove(attended.path("run"))
	Sweep()
	if _, err := os.Stat(attended.dir); err == nil {
		t.Error("a job is there that nobody waits for, and whose tmux server is gone")
	}
	for _, path := range []string{half, precious, linked, filepath.Join(home, "notes")} {
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("%s was removed", path)
		}
	}
	if have := len(Jobs(here())); have != 5 {
		t.Errorf("%d jobs have begun, want 5", have)
	}
	// A recorder rests: its files are just being removed.
	rests := made(t, &f, here(), "0", 0)
	rests.Resting = true
	ok(t, rests.describe())
	if len(Jobs(here())) != 5 {
		t.Error("a recorder that rests is a job")
	}
	Evict()
	if _, err := os.Stat(rests.dir); err != nil {
		t.Error("a recorder that rests was removed")
	}
	sweep(home, time.Now().Add(beginsIn+time.Second), mostBytes)
	if _, err := os.Stat(half); err == nil {
		t.Error("what was never described is there")
	}
}

// TestEndMarkIsTheEnd: a job has ended once its output says so, although its shell lives and has
// not written the status yet.
func TestEndMarkIsTheEnd(t *testing.T) {
	ownHome(t, 0o700)
	var f Files
	defer f.Close()
	j := made(t, &f, here(), "", 0)
	for text, want := range map[string]State{"more": {Phase: Running}, j.end() + "7" + j.endOfEnd() + "$ ": {Phase: Ended, Status: 7}} {
		ok(t, os.WriteFile(j.path("o0"), []byte("output\r\n"+text), 0o600))
		if got := j.Look(); got.Phase != want.Phase || got.Status != want.Status {
			t.Errorf("after %q it is %+v, want %+v", text, got, want)
		}
	}
}

// TestOneMark: a command that was interrupted as it began has printed only the second mark,
// which may come in pieces.
func TestOneMark(t *testing.T) {
	c, err := ownFiles(t).Command(Place{Columns: 80, Rows: 24}, Way{}, false, false)
	ok(t, err)
	text := []byte("prompt\r\n" + c.end() + "130" + c.endOfEnd() + "prompt")
	for at := range text {
		lines := &keeper{}
		r := newTranscriber(c.Job, lines)
		for _, piece := range [][]byte{text[:at], text[at:]} {
			if !r.ended {
				r.take(piece)
			}
		}
		if r.close(); !r.ended || r.status != 130 || len(*lines) > 0 {
			t.Errorf("in pieces of %d and %d bytes: ended %t, status %d, lines %q", at, len(text)-at, r.ended, r.status, *lines)
		}
	}
}

// TestFoundOrForgotten: a job has been found or is forgotten, and never both.
func TestFoundOrForgotten(t *testing.T) {
	f := ownFiles(t)
	for range 200 {
		c, err := f.Command(Place{}, Way{}, true, false)
		ok(t, err)
		var found [2]bool
		var all sync.WaitGroup
		for i := range found {
			all.Go(func() {
				j, err := Find(c.ID())
				found[i] = err == nil && j.Keep()
			})
		}
		forgotten := c.Forget()
		if forgotten {
			c.Remove()
		}
		all.Wait()
		if found[0] && forgotten || found[1] && forgotten || !forgotten && !found[0] && !found[1] {
			t.Errorf("found %v, forgotten %t", found, forgotten)
		}
		if j, err := Find(c.ID()); (err == nil && j.Keep()) == forgotten {
			t.Errorf("later, found %v, forgotten %t", err, forgotten)
		}
	}
}

func TestFewJobsAreKept(t *testing.T) {
	f := ownFiles(t)
	var jobs []*Job
	for i := range mostEnded + 5 {
		jobs = append(jobs, made(t, f, here(), "0", time.Duration(i)*time.Second))
	}
	Sweep()
	for i, j := range jobs {
		if _, err := os.Stat(j.dir); err == nil != (i < mostEnded) {
			t.Errorf("job %d: %v", i, err)
		}
	}
	jobs = append(jobs, made(t, f, here(), "0", time.Minute))
	big := jobs[len(jobs)-1] // a sparse file counts by what it seems to hold
	ok(t, os.WriteFile(big.path("o0"), nil, 0o600))
	ok(t, os.Truncate(big.path("o0"), mostBytes))
	Sweep()
	if _, err := os.Stat(big.dir); err == nil {
		t.Error("more bytes are kept than may be")
	}
	if _, err := os.Stat(jobs[3].dir); err != nil {
		t.Error("a newer one was removed for it")
	}
}

// TestAJobIsOnlyOurs: a job that differs from how we made it is refused.
func TestAJobIsOnlyOurs(t *testing.T) {
	_, _, home := ownHome(t, 0o700)
	var f Files
	defer f.Close()
	for _, id := range []string{"", ".", "..", "j", "../x", "jAAAAAAAAAAAA", "jaaaaaaaaaaaa", "jaaaaaaaaaaaa/", "jaaaaaaaaaaaa\x00"} {
		if _, err := Find(id); !errors.Is(err, ErrNoJob) {
			t.Errorf("%q: %v", id, err)
		}
	}
	for name, c := range map[string]struct {
		spoil func(j *Job) error
		says  string
	}{
		"an open directory": {func(j *Job) error { return os.Chmod(j.dir, 0o755) }, "has mode 0755"},
		"another user's": {func(j *Job) error {
			if os.Geteuid() != 0 {
				return os.Chmod(j.dir, 0o755)
			}
			return os.Chown(j.dir, 65534, 65534)
		}, " "},
		"a linked directory": {func(j *Job) error {
			away := filepath.Join(t.TempDir(), "away")
			return errors.Join(os.Rename(j.dir, away), os.Symlink(away, j.dir))
		}, "is a symbolic link"},
		"a linked description": {func(j *Job) error {
			return errors.Join(os.Rename(j.path("job"), j.path("away")), os.Symlink("away", j.path("job")))
		}, "too many levels of symbolic links"},
		"a pipe":            {func(j *Job) error { os.Remove(j.path("job")); return syscall.Mkfifo(j.path("job"), 0o600) }, "is not a file of this user"},
		"no JSON":           {func(j *Job) error { return os.WriteFile(j.path("job"), []byte("x"), 0o600) }, "does not describe a job"},
		"a home for others": {func(j *Job) error { return os.Chmod(home, 0o711) }, "has mode 0711"},
	} {
		t.Run(name, func(t *testing.T) {
			defer os.Chmod(home, 0o700)
			j := made(t, &f, here(), "0", 0)
			if _, err := Find(j.ID()); err != nil {
				t.Fatal(err)
			}
			ok(t, c.spoil(j))
			if _, err := Find(j.ID()); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want that it says %q", err, c.says)
			}
			for _, listed := range Jobs(here()) {
				if listed.ID() == j.ID() {
					t.Error("it is listed")
				}
			}
		})
	}
	os.Chmod(home, 0o700)
	// A recording that is a link, or a pipe that nobody writes, is not read.
	j := made(t, &f, here(), "0", 0)
	secret := filepath.Join(t.TempDir(), "secret")
	ok(t, os.WriteFile(secret, []byte(j.begin()+"secret\n"+j.end()+"0"+j.endOfEnd()), 0o600))
	ok(t, errors.Join(os.Symlink(secret, j.path("o0")), syscall.Mkfifo(j.path("o1"), 0o600)))
	var lines keeper
	if j.Scan(&lines, func() bool { return true }); len(lines) > 0 {
		t.Errorf("it reads %q", lines)
	}
}

// TestSweepKnowsReboots: process ids of before a reboot are of other processes now.
func TestSweepKnowsReboots(t *testing.T) {
	if bootID() == "" {
		testtool.Missing(t, "this system does not tell when it was started")
	}
	ownHome(t, 0o700)
	var f Files
	defer f.Close()
	before, elsewhere, older := made(t, &f, here(), "", 0), made(t, &f, here(), "", 0), made(t, &f, here(), "", 0)
	host, quiet, gone := made(t, &f, here(), "", 0), made(t, &f, here(), "", 0), made(t, &f, here(), "", 0)
	before.Boot, elsewhere.Boot, elsewhere.Space, older.Boot, older.Machine = "another", "another", "another", "", ""
	for _, j := range []*Job{host, quiet, gone} { // machines that share the home directory
		j.Boot, j.Machine = "another", "another"
	}
	for _, j := range []*Job{before, elsewhere, older, host, quiet, gone} {
		ok(t, j.describe())
	}
	for _, j := range []*Job{quiet, gone} {
		dayAgo := time.Now().Add(-25 * time.Hour)
		files, err := filepath.Glob(j.path("*"))
		ok(t, err)
		if j == quiet {
			ok(t, os.WriteFile(j.path("recording"), nil, 0o600)) // as the recorder does every hour
		}
		for _, name := range append(files, j.dir) {
			ok(t, os.Chtimes(name, dayAgo, dayAgo))
		}
	}
	if _, err := Find(before.ID()); !errors.Is(err, ErrNoJob) {
		t.Errorf("a job of before the reboot: %v", err)
	}
	id := "jaaaaaaaaaaaa" // of a job that somebody has removed
	dangling := script{dir: filepath.Join(f.Home(), id)}.alias()
	users := filepath.Join(f.Home(), "archive")
	ok(t, errors.Join(os.Symlink(id, dangling), os.Symlink(id, users)))
	Sweep()
	for name, want := range map[string]bool{dangling: false, users: true, before.dir: false, before.alias(): false, elsewhere.dir: true, host.dir: true, quiet.dir: true, gone.dir: false, older.dir: true, older.alias(): true} {
		if _, err := os.Lstat(name); want != (err == nil) {
			t.Errorf("%s is there: %t, want %t", name, err == nil, want)
		}
	}
}

// TestSweepLeavesOthers: what is in a directory that is not the user's alone is not ours.
func TestSweepLeavesOthers(t *testing.T) {
	_, _, home := ownHome(t, 0o700)
	var f Files
	defer f.Close()
	over := made(t, &f, here(), "0", 2*time.Hour)
	id := "jaaaaaaaaaaaa" // of a job that somebody has removed
	dangling := script{dir: filepath.Join(home, id)}.alias()
	ok(t, errors.Join(os.Symlink(id, dangling), os.Chmod(home, 0o755)))
	Sweep()
	Evict()
	for _, name := range []string{over.dir, over.alias(), dangling} {
		if _, err := os.Lstat(name); err != nil {
			t.Error(err)
		}
	}
	ok(t, os.Chmod(home, 0o700))
	Sweep()
	if _, err := os.Lstat(over.dir); err == nil {
		t.Error("the check removes nothing at all")
	}
}

// TestManyCommandsAtOnce: servers make jobs while others sweep.
func TestManyCommandsAtOnce(t *testing.T) {
	_, _, home := ownHome(t, 0o700)
	done := make(chan error)
	for range 8 {
		go func() {
			for range testtool.Size(25, 100) {
				var f Files
				j, err := f.Command(here(), Way{}, false, false)
				if err == nil {
					err = j.write(Foreground{shell: dialects["sh"], path: "sh"}, "true", Way{})
				}
				Sweep()
				if err == nil {
					if found, e := Find(j.ID()); e != nil || found.Token != j.Token {
						err = fmt.Errorf("the job is %v, %v", found, e)
					}
				}
				f.Close()
				if err != nil {
					done <- err
					return
				}
				remove(j.dir)
			}
			done <- nil
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if left, _ := os.ReadDir(home); len(left) > 0 {
		t.Errorf("left is %v", left)
	}
}
