package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"
)

// A recorder that works in a directory keeps creating files in it while it is removed,
// whatever its name is by then.
func TestRemoveAsFilesAreMade(t *testing.T) {
	t.Parallel()
	for range 20 {
		home := t.TempDir()
		dir := newDir(home)
		ok(t, os.Mkdir(dir, 0o700))
		root, err := os.OpenRoot(dir)
		ok(t, err)
		begun, done := make(chan bool), make(chan bool)
		go func() {
			defer close(done)
			for i, start := 0, time.Now(); time.Since(start) < 40*time.Millisecond; i++ {
				f, err := root.Create(fmt.Sprint("s", i))
				if err != nil {
					return // it is gone
				}
				f.Close()
				if i == 0 {
					close(begun)
				}
			}
		}()
		<-begun
		remove(dir)
		<-done
		root.Close()
		if left, err := filepath.Glob(home + "/*"); err != nil || len(left) > 0 {
			t.Fatalf("left are %v, %v", left, err)
		}
	}
}

// TestUninstall: all that is kept of jobs goes, unless a server uses it, or a job.
func TestUninstall(t *testing.T) {
	_, user, home := ownHome(t, 0o700)
	var f Files
	ok(t, f.find())
	ok(t, os.WriteFile(filepath.Join(home, "turns"), nil, 0o600))
	uninstall := func(what string, wantUsed ...string) {
		t.Helper()
		if used, kept := Uninstall(); !slices.Equal(used, wantUsed) || len(kept) > 0 {
			t.Errorf("%s: in use are %q, kept %q", what, used, kept)
		}
	}
	uninstall("a server uses it", home)
	f.Close()
	job := newDir(home)
	ok(t, os.Mkdir(job, 0o700))
	uninstall("a command is about to begin", home)
	ok(t, os.Remove(job))
	uninstall("nothing uses it")
	if left, err := os.ReadDir(filepath.Join(user, ".local/state")); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
	uninstall("nothing is there")
}

// TestPublicHomesStayEmpty: earlier versions had the files in the temporary directory, where
// anybody could make a directory of that name once it is free.
func TestPublicHomesStayEmpty(t *testing.T) {
	above, _, _ := ownHome(t, os.ModeSticky|0o777)
	old := filepath.Join(above, "tmux-mcp-"+strconv.Itoa(os.Geteuid()))
	isEmpty := func(when string) {
		t.Helper()
		if left, err := os.ReadDir(old); err != nil || len(left) > 0 {
			t.Errorf("%s: left are %v, %v", when, left, err)
		}
	}
	Sweep()
	if _, err := os.Lstat(old); err == nil {
		t.Fatal("made by a version that does not use it")
	}
	ok(t, os.Mkdir(old, 0o700))
	older := lockDir(old) // as an older server does
	j := made(t, &Files{home: old, kept: older}, here(), "0", 0)
	ok(t, os.WriteFile(filepath.Join(old, "turns"), nil, 0o600))
	Sweep()
	if _, err := os.Lstat(j.dir); err == nil {
		t.Error("a job that has ended is left")
	}
	if used, kept := Uninstall(); !slices.Equal(used, []string{old}) || len(kept) > 0 {
		t.Errorf("an older server uses it: %q, %q", used, kept)
	}
	ok(t, older.Close())
	Sweep()
	isEmpty("after the older server")
	if used, kept := Uninstall(); len(used) > 0 || !slices.Equal(kept, []string{old}) {
		t.Errorf("it is empty: %q, %q", used, kept)
	}
	isEmpty("after the uninstall")

	// One that is not ours is left alone.
	ok(t, os.Chmod(old, 0o755))
	ok(t, os.WriteFile(filepath.Join(old, "turns"), nil, 0o600))
	if used, kept := Uninstall(); len(used)+len(kept) > 0 {
		t.Errorf("another's: %q, %q", used, kept)
	}
	if _, err := os.Lstat(filepath.Join(old, "turns")); err != nil {
		t.Error(err)
	}
}
