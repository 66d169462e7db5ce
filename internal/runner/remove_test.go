package runner

import (
	"fmt"
	"os"
	"path/filepath"
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
	temp, err := filepath.EvalSymlinks(t.TempDir())
	ok(t, err)
	t.Setenv("TMPDIR", temp)
	t.Setenv("XDG_RUNTIME_DIR", "")
	var f Files
	ok(t, f.find())
	home := f.Home()
	ok(t, os.WriteFile(filepath.Join(home, "turns"), nil, 0o600))
	if used := Uninstall(); len(used) != 1 || used[0] != home {
		t.Errorf("a server uses %s: %q", home, used)
	}
	f.Close()
	job := newDir(home)
	ok(t, os.Mkdir(job, 0o700)) // of a command that is about to begin
	if used := Uninstall(); len(used) != 1 {
		t.Errorf("%q", used)
	}
	ok(t, os.Remove(job))
	if used := Uninstall(); len(used) > 0 {
		t.Errorf("%q", used)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
	if used := Uninstall(); len(used) > 0 {
		t.Errorf("with nothing there: %q", used)
	}
}
