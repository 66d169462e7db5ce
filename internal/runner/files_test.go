package runner

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testtool"
)

// ownHome gives the test a home directory of its own, in a directory with a mode, and returns both
// and where the home of jobs should be.
func ownHome(t *testing.T, mode os.FileMode) (above, user, home string) {
	t.Helper()
	above, err := os.MkdirTemp("/tmp", "rf")
	ok(t, err)
	t.Cleanup(func() { os.RemoveAll(above) })
	ok(t, os.Chmod(above, mode))
	user = filepath.Join(above, "user")
	ok(t, os.Mkdir(user, 0o700))
	t.Setenv("HOME", user)
	t.Setenv("TMPDIR", above)
	before := lastResort
	lastResort = above
	t.Cleanup(func() { lastResort = before })
	t.Setenv("XDG_RUNTIME_DIR", "")
	t.Setenv("XDG_STATE_HOME", "")
	return above, user, filepath.Join(user, ".local/state/tmux-mcp")
}

// ownFiles returns Files in a separate temporary directory.
func ownFiles(t *testing.T) *Files {
	t.Helper()
	ownHome(t, 0o700)
	f := &Files{}
	t.Cleanup(f.Close)
	return f
}

func TestRunFilesAreTheUsersAlone(t *testing.T) {
	above, _, home := ownHome(t, os.ModeSticky|0o777)
	var f, other Files
	seen := map[string]bool{}
	for _, f := range []*Files{&f, &f, &other} {
		dir, err := f.command()
		ok(t, err)
		for d := dir; d != above; d = filepath.Dir(d) {
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
	// A cleaner may have taken all of it.
	os.RemoveAll(home)
	if dir, err := f.command(); err != nil || !strings.HasPrefix(dir, home+"/") {
		t.Errorf("after the home was removed: %q, %v", dir, err)
	}
	f.Close()
}

// TestRunFilesRefuseAForeignHome: whoever created the home first, or can rename it.
func TestRunFilesRefuseAForeignHome(t *testing.T) {
	const stranger = 65534
	for name, c := range map[string]struct {
		make func(t *testing.T, home string)
		says string
	}{
		"another user's":           {func(t *testing.T, home string) { makeOf(t, home, stranger) }, "belongs to another user (uid 65534)"},
		"a link to the user's own": {func(t *testing.T, home string) { ok(t, os.Symlink(t.TempDir(), home)) }, "is a symbolic link"},
		"a dangling link":          {func(t *testing.T, home string) { ok(t, os.Symlink("nowhere", home)) }, "is a symbolic link"},
		"a file":                   {func(t *testing.T, home string) { ok(t, os.WriteFile(home, nil, 0o600)) }, "is not a directory"},
		"open to others":           {func(t *testing.T, home string) { ok(t, os.Mkdir(home, 0o755)) }, "has mode 0755, not 0700"},
		"the group's state":        {func(t *testing.T, home string) { ok(t, os.Chmod(filepath.Dir(home), 0o770)) }, "can be changed by other users (mode 0770, not sticky)"},
		"another user's state":     {func(t *testing.T, home string) { chown(t, filepath.Dir(home), stranger) }, "belongs to another user (uid 65534)"},
	} {
		t.Run(name, func(t *testing.T) {
			_, user, home := ownHome(t, os.ModeSticky|0o777)
			ok(t, os.MkdirAll(filepath.Dir(home), 0o700))
			c.make(t, home)
			if err := makeHome(home); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want that it says %q", err, c.says)
			}
			// Then the next one is used.
			var f Files
			defer f.Close()
			if dir, err := f.command(); err != nil || filepath.Dir(dir) != filepath.Join(user, ".tmux-mcp") {
				t.Errorf("the directory is %q, %v", dir, err)
			}
		})
	}
	// One that was good and no longer is.
	_, user, home := ownHome(t, 0o700)
	var f Files
	defer f.Close()
	if dir, err := f.command(); err != nil || filepath.Dir(dir) != home {
		t.Fatal(dir, err)
	}
	ok(t, os.Chmod(home, 0o711))
	if dir, err := f.command(); err != nil || filepath.Dir(dir) != filepath.Join(user, ".tmux-mcp") {
		t.Errorf("the directory is %q, %v", dir, err)
	}
}

// TestNoHomeInAPublicDirectory: where others can write, now or once a reboot has emptied it, no
// directory is made, and the error names what is wrong.
func TestNoHomeInAPublicDirectory(t *testing.T) {
	const stranger = 65534
	for name, c := range map[string]struct {
		make func(t *testing.T, above, user string)
		says string
	}{
		"the home directory is public":              {func(t *testing.T, _, user string) { ok(t, os.Chmod(user, os.ModeSticky|0o777)) }, "HOME=USER can be changed by other users (mode 0777)"},
		"the home directory is the group's":         {func(t *testing.T, _, user string) { ok(t, os.Chmod(user, 0o770)) }, "HOME=USER can be changed by other users (mode 0770)"},
		"the home directory is another user's":      {func(t *testing.T, _, user string) { chown(t, user, stranger) }, "HOME=USER belongs to another user (uid 65534)"},
		"the directory above is not sticky":         {func(t *testing.T, above, _ string) { ok(t, os.Chmod(above, 0o777)) }, "ABOVE can be changed by other users (mode 0777, not sticky)"},
		"the directory above is another user's":     {func(t *testing.T, above, _ string) { chown(t, above, stranger) }, "ABOVE belongs to another user (uid 65534)"},
		"there is no home directory":                {func(t *testing.T, _, user string) { ok(t, os.Remove(user)) }, "HOME=USER is not a directory"},
		"HOME is not set":                           {func(t *testing.T, _, _ string) { t.Setenv("HOME", "") }, "HOME is not set"},
		"the runtime directory is a public one":     {func(t *testing.T, above, _ string) { t.Setenv("HOME", ""); t.Setenv("XDG_RUNTIME_DIR", above) }, "XDG_RUNTIME_DIR=ABOVE can be changed by other users (mode 0777)"},
		"the directory of states is a public one":   {func(t *testing.T, above, _ string) { t.Setenv("HOME", ""); t.Setenv("XDG_STATE_HOME", above) }, "XDG_STATE_HOME=ABOVE can be changed by other users (mode 0777)"},
		"the name of the home directory has blanks": {func(t *testing.T, _, user string) { ok(t, os.Mkdir(user+"/a b", 0o700)); t.Setenv("HOME", user+"/a b") }, "HOME=USER/a b is too long to be typed"},
	} {
		t.Run(name, func(t *testing.T) {
			above, user, _ := ownHome(t, os.ModeSticky|0o777)
			c.make(t, above, user)
			var f Files
			defer f.Close()
			dir, err := f.command()
			says := strings.NewReplacer("USER", user, "ABOVE", above).Replace(c.says)
			if !errors.Is(err, ErrNoHome) || !strings.Contains(err.Error(), says) {
				t.Errorf("the directory is %q, %v; want that it says %q", dir, err, says)
			}
			if left, err := filepath.Glob(above + "/tmux-mcp*"); err != nil || len(left) > 0 {
				t.Errorf("made are %v, %v", left, err)
			}
		})
	}
}

func makeOf(t *testing.T, dir string, uid int) {
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
	_, user, _ := ownHome(t, 0o700)
	for _, name := range []string{"run", "state", "é", strings.Repeat("x", 120), "-x", "me@corp.example", ".local/real"} {
		ok(t, os.MkdirAll(filepath.Join(user, name), 0o700))
	}
	ok(t, os.Symlink("run", user+"/link"))
	const local = "U/.local/state/tmux-mcp U/.tmux-mcp"
	for _, c := range []struct{ runtime, state, want string }{
		{"", "", local},
		{"U/run", "", "U/run/tmux-mcp " + local},
		{"U/run", "U/state", "U/run/tmux-mcp U/state/tmux-mcp " + local},
		{"U/link", "", "U/run/tmux-mcp " + local},
		{"U/-x", "", "U/-x/tmux-mcp " + local},
		{"U/me@corp.example", "", "U/me@corp.example/tmux-mcp " + local},
		{"relative", "relative", local},
		{"U/nowhere", "U/nowhere", local},
		{"U/é", "U/" + strings.Repeat("x", 120), local},
	} {
		t.Setenv("XDG_RUNTIME_DIR", strings.Replace(c.runtime, "U", user, 1))
		t.Setenv("XDG_STATE_HOME", strings.Replace(c.state, "U", user, 1))
		have, _ := candidates()
		if want := strings.ReplaceAll(c.want, "U", user); strings.Join(have, " ") != want {
			t.Errorf("%+v: %q, want %q", c, have, want)
		}
	}
	ok(t, os.Symlink("real", user+"/.local/state"))
	if have, _ := candidates(); have[0] != user+"/.local/real/tmux-mcp" {
		t.Errorf("~/.local/state is a link: %q", have)
	}
}

// A shell that still writes to the files of a command while they are removed leaves
// nothing.
func TestRemoveWhileAShellWrites(t *testing.T) {
	_, _, home := ownHome(t, 0o700)
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
