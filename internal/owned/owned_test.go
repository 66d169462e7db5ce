package owned

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// stranger is another user.
const stranger = 65534

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Open opens what nobody else can have written or put there, and says what is wrong with the
// rest.
func TestOpen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		asRoot bool
		change func(t *testing.T, dir string) // which has d/file and away/file
		want   string                         // "" if d/file can be opened
	}{
		"a file":                  {false, func(*testing.T, string) {}, ""},
		"a link":                  {false, func(t *testing.T, dir string) { link(t, "../away/file", dir+"/d/file") }, ""},
		"an absolute link":        {false, func(t *testing.T, dir string) { link(t, dir+"/away/file", dir+"/d/file") }, ""},
		"a link to its directory": {false, func(t *testing.T, dir string) { link(t, "away", dir+"/d") }, ""},
		"a link to itself":        {false, func(t *testing.T, dir string) { link(t, "file", dir+"/d/file") }, "too many levels"},
		"a link to nothing":       {false, func(t *testing.T, dir string) { link(t, "none", dir+"/d/file") }, "no such file"},
		"in a public directory":   {false, func(t *testing.T, dir string) { ok(t, os.Chmod(dir+"/d", 0o777|os.ModeSticky)) }, ""},
		"writable":                {false, func(t *testing.T, dir string) { ok(t, os.Chmod(dir+"/d/file", 0o620)) }, "others may write to it (mode 0620)"},
		"a directory":             {false, func(t *testing.T, dir string) { ok(t, os.Remove(dir+"/d/file")); ok(t, os.Mkdir(dir+"/d/file", 0o700)) }, "not a regular file"},
		"a pipe": {false, func(t *testing.T, dir string) {
			ok(t, os.Remove(dir+"/d/file"))
			ok(t, syscall.Mkfifo(dir+"/d/file", 0o600))
		}, "not a regular file"},
		"below a file":               {false, func(t *testing.T, dir string) { link(t, "away/file", dir+"/d") }, "file is not a directory"},
		"in a writable directory":    {false, func(t *testing.T, dir string) { ok(t, os.Chmod(dir+"/d", 0o777)) }, "/d can be changed by other users (mode 0777"},
		"in one that a group writes": {false, func(t *testing.T, dir string) { ok(t, os.Chmod(dir+"/d", 0o720)) }, "/d can be changed"},
		"below a writable directory": {false, func(t *testing.T, dir string) { ok(t, os.Chmod(dir, 0o777)) }, "can be changed"},
		"a link to a writable directory": {false, func(t *testing.T, dir string) {
			link(t, "../away/file", dir+"/d/file")
			ok(t, os.Chmod(dir+"/away", 0o777))
		}, "/away can be changed"},
		"a link through one": {false, func(t *testing.T, dir string) {
			ok(t, os.Mkdir(dir+"/open", 0o777))
			ok(t, os.Chmod(dir+"/open", 0o777))
			ok(t, os.Symlink("../away/file", dir+"/open/link"))
			link(t, "../open/link", dir+"/d/file")
		}, "/open can be changed"},
		"another user's":              {true, func(t *testing.T, dir string) { ok(t, os.Chown(dir+"/d/file", stranger, -1)) }, "belongs to another user"},
		"in another user's directory": {true, func(t *testing.T, dir string) { ok(t, os.Chown(dir+"/d", stranger, -1)) }, "/d belongs to another user (uid 65534)"},
		"another user's link": {true, func(t *testing.T, dir string) {
			public(t, dir)
			link(t, "../away/file", dir+"/d/file")
			ok(t, os.Lchown(dir+"/d/file", stranger, -1))
		}, "/d/file belongs to another user"},
		"another user's public folder": {true, func(t *testing.T, dir string) { public(t, dir); ok(t, os.Chown(dir+"/d", stranger, -1)) }, "belongs to another user"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.asRoot && os.Geteuid() != 0 {
				t.Skip("only root can give a file to another user")
			}
			dir, err := filepath.EvalSymlinks(t.TempDir())
			ok(t, err)
			for _, d := range []string{"d", "away"} {
				ok(t, os.Mkdir(filepath.Join(dir, d), 0o700))
				ok(t, os.WriteFile(filepath.Join(dir, d, "file"), []byte(d), 0o600))
			}
			c.change(t, dir)
			f, err := Open(dir + "/d//./file")
			switch {
			case err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%v, want %q", err, c.want)
			case err == nil && c.want != "":
				t.Errorf("it is opened; want %q", c.want)
			case err == nil:
				want, err := os.Stat(dir + "/d/file")
				ok(t, err)
				if got, err := f.Stat(); err != nil || !os.SameFile(got, want) {
					t.Errorf("%v is opened (%v)", got, err)
				}
			}
			f.Close()
		})
	}
}

func public(t *testing.T, dir string) { ok(t, os.Chmod(dir+"/d", 0o777|os.ModeSticky)) }

// link puts a link in the place of a file.
func link(t *testing.T, to, at string) {
	ok(t, os.RemoveAll(at))
	ok(t, os.Symlink(to, at))
}

func TestDirectory(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	ok(t, err)
	for _, d := range []string{"d", "file"} {
		ok(t, os.Mkdir(filepath.Join(dir, d), 0o700))
	}
	link(t, "d", dir+"/link")
	if got, err := Directory(dir + "/link/"); err != nil || got != dir+"/d" {
		t.Errorf("%s (%v)", got, err)
	}
	ok(t, os.Chmod(dir+"/d", 0o777))
	if got, err := Directory(dir + "/link"); err == nil || !strings.Contains(err.Error(), "/d can be changed by other users") {
		t.Errorf("%s (%v)", got, err)
	}
	ok(t, os.Remove(dir+"/file"))
	ok(t, os.WriteFile(dir+"/file", nil, 0o600))
	if got, err := Directory(dir + "/file"); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("%s (%v)", got, err)
	}
}
