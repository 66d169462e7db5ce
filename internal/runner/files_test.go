package runner

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testtool"
)

// ownTemp creates a temporary directory for the test, and returns where the home in it
// should be.
func ownTemp(t *testing.T, mode os.FileMode) (tmp, home string) {
	t.Helper()
	// The home of last resort, for a test in which no other can be used.
	last := "/tmp/tmux-mcp-" + strconv.Itoa(os.Getuid())
	if _, err := os.Lstat(last); err != nil {
		t.Cleanup(func() { _ = os.Remove(last) }) // unless a server uses it
	}
	tmp, err := os.MkdirTemp("/tmp", "rf")
	ok(t, err)
	t.Cleanup(func() { os.RemoveAll(tmp) })
	ok(t, os.Chmod(tmp, mode))
	t.Setenv("TMPDIR", tmp)
	t.Setenv("XDG_RUNTIME_DIR", "")
	return tmp, filepath.Join(tmp, filepath.Base(homes()[0]))
}

// ownFiles returns Files in a separate temporary directory.
func ownFiles(t *testing.T) *Files {
	t.Helper()
	ownTemp(t, 0o700)
	f := &Files{}
	t.Cleanup(f.Close)
	return f
}

func TestRunFilesAreTheUsersAlone(t *testing.T) {
	tmp, home := ownTemp(t, os.ModeSticky|0o777)
	var f, other Files
	seen := map[string]bool{}
	for _, f := range []*Files{&f, &f, &other} {
		dir, err := f.command()
		ok(t, err)
		for d := dir; d != tmp; d = filepath.Dir(d) {
			if info, err := os.Lstat(d); err != nil || private(info) != nil {
				t.Errorf("%s: %v %v", d, err, private(info))
			}
		}
		s := script{dir: dir}
		ok(t, s.write(Foreground{shell: dialects["bash"], path: "bash"}, "echo secret", Way{}))
		for _, name := range []string{"command", "run", "body"} {
			if info, err := os.Stat(s.path(name)); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v %v", name, err, info.Mode())
			}
		}
		if seen[dir] || filepath.Dir(dir) != home {
			t.Errorf("a command has the directory %s, others %v", dir, seen)
		}
		seen[dir] = true
	}
	f.Close()
	if info, err := os.Stat(home); err != nil || !info.IsDir() {
		t.Error("the home was given back")
	}
	// A cleaner of the temporary directory may have taken all of it.
	os.RemoveAll(home)
	if dir, err := f.command(); err != nil || !strings.HasPrefix(dir, home+"/") {
		t.Errorf("after the home was removed: %q, %v", dir, err)
	}
	f.Close()
}

// TestRunFilesRefuseAForeignHome: whoever created the home first, or can rename it.
func TestRunFilesRefuseAForeignHome(t *testing.T) {
	const stranger = 65534
	public := os.ModeSticky | 0o777
	for _, c := range []struct {
		name string
		mode os.FileMode // of the temporary directory
		make func(t *testing.T, tmp, home string)
		says string
	}{
		{"another user's", public, func(t *testing.T, tmp, home string) { owned(t, home, stranger) }, "belongs to another user (uid 65534)"},
		{"a link to the user's own", public, func(t *testing.T, tmp, home string) { ok(t, os.Symlink(t.TempDir(), home)) }, "is a symbolic link"},
		{"a dangling link", public, func(t *testing.T, tmp, home string) { ok(t, os.Symlink(tmp+"/nowhere", home)) }, "is a symbolic link"},
		{"a file", public, func(t *testing.T, tmp, home string) { ok(t, os.WriteFile(home, nil, 0o600)) }, "is not a directory"},
		{"open to others", public, func(t *testing.T, tmp, home string) { ok(t, os.Mkdir(home, 0o755)) }, "has mode 0755, not 0700"},
		{"in a directory that is not sticky", 0o777, func(*testing.T, string, string) {}, "can be changed by other users (mode 0777, not sticky)"},
		{"in a directory of the group", 0o770, func(*testing.T, string, string) {}, "can be changed by other users (mode 0770, not sticky)"},
		{"in another user's directory", public, func(t *testing.T, tmp, home string) { chown(t, tmp, stranger) }, "belongs to another user (uid 65534)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tmp, home := ownTemp(t, c.mode)
			c.make(t, tmp, home)
			err := makeHome(home)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want that it says %q", err, c.says)
			}
			// Then the next one is used.
			var f Files
			dir, err := f.command()
			if err != nil || strings.HasPrefix(dir, tmp) {
				t.Errorf("the directory is %q, %v", dir, err)
			}
			f.Close()
			os.RemoveAll(dir)
		})
	}
	// One that was good and no longer is.
	_, home := ownTemp(t, public)
	var f Files
	if dir, err := f.command(); err != nil || !strings.HasPrefix(dir, home) {
		t.Fatal(dir, err)
	}
	ok(t, os.Chmod(home, 0o711))
	dir, err := f.command()
	if err != nil || strings.HasPrefix(dir, home) {
		t.Errorf("the directory is %q, %v", dir, err)
	}
	f.Close()
	os.RemoveAll(dir)
}

func owned(t *testing.T, dir string, uid int) {
	t.Helper()
	ok(t, os.Mkdir(dir, 0o700))
	chown(t, dir, uid)
}

func chown(t *testing.T, path string, uid int) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can make a directory another user's")
	}
	ok(t, os.Chown(path, uid, uid))
}

// TestHomes: which directories are tried, in which order.
func TestHomes(t *testing.T) {
	tmp, home := ownTemp(t, 0o700)
	name := filepath.Base(home)
	run := filepath.Join(tmp, "run")
	for _, c := range []struct {
		temp, runtime string
		mode          os.FileMode
		want          []string
	}{
		{tmp, run, 0o700, []string{run + "/tmux-mcp", home, "/tmp/" + name}},
		{tmp, run, 0o755, []string{home, "/tmp/" + name}},
		{tmp, "relative", 0o700, []string{home, "/tmp/" + name}},
		{tmp, tmp + "/nowhere", 0o700, []string{home, "/tmp/" + name}},
		{"/tmp", "", 0o700, []string{"/tmp/" + name}},
		{"", "", 0o700, []string{"/tmp/" + name}},
		{tmp + "/link", "", 0o700, []string{home, "/tmp/" + name}},
		{tmp + "/a b", "", 0o700, []string{"/tmp/" + name}},
		{tmp + "/a'b", "", 0o700, []string{"/tmp/" + name}},
		{tmp + "/a\nb", "", 0o700, []string{"/tmp/" + name}},
		{tmp + "/é", tmp + "/é", 0o700, []string{"/tmp/" + name}},
		{tmp + "/" + strings.Repeat("x", 120), "", 0o700, []string{"/tmp/" + name}},
		{tmp + "/-x", "", 0o700, []string{tmp + "/-x/" + name, "/tmp/" + name}},
	} {
		for _, dir := range []string{c.temp, c.runtime} {
			if strings.HasPrefix(dir, tmp) && !strings.HasSuffix(dir, "nowhere") && dir != tmp+"/link" {
				ok(t, os.MkdirAll(dir, 0o700))
			}
		}
		os.Symlink(tmp, tmp+"/link")
		if c.runtime == run {
			ok(t, os.Chmod(run, c.mode))
		}
		t.Setenv("TMPDIR", c.temp)
		t.Setenv("XDG_RUNTIME_DIR", c.runtime)
		if have := homes(); strings.Join(have, " ") != strings.Join(c.want, " ") {
			t.Errorf("TMPDIR=%q XDG_RUNTIME_DIR=%q: %q, want %q", c.temp, c.runtime, have, c.want)
		}
	}
}

// A shell that still writes to the files of a command while they are removed leaves
// nothing.
func TestRemoveWhileAShellWrites(t *testing.T) {
	_, home := ownTemp(t, 0o700)
	var f Files
	defer f.Close()
	for range testtool.Size(60, 300) {
		j := made(t, &f, here(), "0", 0)
		writing, gone := make(chan struct{}), make(chan error)
		go func() {
			defer close(gone)
			for i := 0; ; i++ {
				file, err := os.OpenFile(j.path("done"), os.O_RDWR|os.O_CREATE, 0o600)
				if err != nil {
					return
				}
				if file.Close(); i == 0 {
					close(writing)
				}
			}
		}()
		<-writing
		j.Remove()
		within(t, "the files are still there", gone)
	}
	testtool.Eventually(t, "no job is left", func() bool { return len(jobsIn(home)) == 0 })
}

// TestExitStatus: ksh93 adds 256 to the number of a signal.
func TestExitStatus(t *testing.T) {
	for digits, want := range map[string]int{"0": 0, "130": 130, "255": 255, "256": 256, "258": 130, "271": 143} {
		if got, err := exitStatus(digits); got != want || err != nil {
			t.Errorf("%s is %d %v, want %d", digits, got, err, want)
		}
	}
}
