package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func write(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func mustRead(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// only fails if the directory contains anything but the named files.
func only(t *testing.T, dir string, names ...string) {
	t.Helper()
	got, err := filepath.Glob(filepath.Join(dir, "*"))
	for i, name := range names {
		names[i] = filepath.Join(dir, name)
	}
	if err != nil || !slices.Equal(got, names) {
		t.Errorf("directory holds %q, want %q, %v", got, names, err)
	}
}

func TestReplaceKeepsTheMode(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "c")
	for _, mode := range []fs.FileMode{0o600, 0o644, 0o444, 0o660} {
		write(t, path, "old", mode)
		if err := (Disk{}).Replace(path, []byte("new"), []byte("old"), nil); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if runtime.GOOS != "windows" && info.Mode().Perm() != mode {
			t.Errorf("mode %o became %o", mode, info.Mode().Perm())
		}
		if got := mustRead(t, path); got != "new" {
			t.Errorf("got %q", got)
		}
		_ = os.Remove(path)
	}
	only(t, dir)
}

// before returns a disk that runs do before each step of this kind.
func before(op Op, do func() error) Disk {
	return Disk{Before: func(s Step) error {
		if s.Op == op {
			return do()
		}
		return nil
	}}
}

// A save by another program is not lost, even between the comparison and the rename.
func TestReplaceKeepsASave(t *testing.T) {
	for name, c := range map[string]struct {
		op   Op // that the save comes before
		save func(path string) error
	}{
		"before the comparison": {OpCreate, func(path string) error { return os.WriteFile(path, []byte("saved"), 0o600) }},
		"in place":              {OpExchange, func(path string) error { return os.WriteFile(path, []byte("saved"), 0o600) }},
		"by rename": {OpExchange, func(path string) error {
			return errors.Join(os.WriteFile(path+".client", []byte("saved"), 0o600), os.Rename(path+".client", path))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.op == OpExchange && runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
				t.Skip("this system cannot exchange two names in one step")
			}
			dir := t.TempDir()
			path := filepath.Join(dir, "c")
			write(t, path, "old", 0o600)
			err := before(c.op, func() error { return c.save(path) }).Replace(path, []byte("new"), []byte("old"), nil)
			if !errors.Is(err, ErrChanged) {
				t.Errorf("got %v", err)
			}
			if got := mustRead(t, path); got != "saved" {
				t.Errorf("the file holds %q", got)
			}
			only(t, dir, "c")
		})
	}
	gone := filepath.Join(t.TempDir(), "gone")
	if err := (Disk{}).Replace(gone, nil, []byte("old"), nil); !errors.Is(err, ErrChanged) {
		t.Errorf("a file that has gone: %v", err)
	}
}

func TestNothingButRegularFiles(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	write(t, target, "x", 0o600)
	link := filepath.Join(dir, "link")
	if err := os.Symlink(target, link); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	for path, want := range map[string]string{dir: "a directory", link: "a symbolic link"} {
		err := Disk{}.Replace(path, []byte("new"), nil, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Replace %s: %v", path, err)
		}
	}
	if _, _, err := (Disk{}).Read(dir); err == nil || !strings.Contains(err.Error(), "a directory") {
		t.Errorf("Read of a directory: %v", err)
	}
	if got := mustRead(t, target); got != "x" {
		t.Errorf("got %q", got)
	}
}

func TestCreateNeverReplaces(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "b")
	if err := (Disk{}).Create(path, []byte("one"), Meta{Mode: 0o400}); err != nil {
		t.Fatal(err)
	}
	if err := (Disk{}).Create(path, []byte("two"), Private); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v", err)
	}
	// Nor is a file created at the last moment.
	late := filepath.Join(dir, "late")
	d := before(OpLink, func() error { return os.WriteFile(late, []byte("mine"), 0o600) })
	if err := d.Create(late, []byte("two"), Private); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v", err)
	}
	if got := mustRead(t, path) + " " + mustRead(t, late); got != "one mine" {
		t.Errorf("got %q", got)
	}
	only(t, dir, "b", "late")
}

func TestSyncErrorOfTheDirectoryIsToldApart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c")
	write(t, path, "old", 0o600)
	fault := errors.New("no sync")
	err := before(OpSyncDir, func() error { return fault }).Replace(path, []byte("new"), []byte("old"), nil)
	if !errors.Is(err, ErrNotDurable) || !errors.Is(err, fault) {
		t.Errorf("got %v", err)
	}
	if got := mustRead(t, path); got != "new" {
		t.Errorf("got %q", got)
	}
}

// The created directories survive a power failure, as the file in them does.
func TestPrivateDirIsDurable(t *testing.T) {
	top := t.TempDir()
	var synced []string
	d := Disk{Before: func(s Step) error {
		if s.Op == OpSyncDir {
			synced = append(synced, s.Path)
		}
		return nil
	}}
	for range 2 {
		if err := d.PrivateDir(filepath.Join(top, "a", "b")); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{filepath.Join(top, "a"), top}; !slices.Equal(synced, want) {
		t.Errorf("synced %q, want %q", synced, want)
	}
	fault := errors.New("no sync")
	if err := before(OpSyncDir, func() error { return fault }).PrivateDir(filepath.Join(top, "c")); !errors.Is(err, fault) {
		t.Errorf("got %v", err)
	}
}

func TestSweepTakesWhatIsItsOwn(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "c.json")
	for _, name := range []string{"c.json", "c.json.bak.mcp-swap-1", "other.json.mine-1", "c.json.mine-1-2", "c.json.bak.mcp-swap-1.mine-3"} {
		write(t, filepath.Join(dir, name), "x", 0o600)
	}
	unknown := filepath.Join(dir, "c.json.mine-saved")
	write(t, unknown, "saved", 0o600)
	full := filepath.Join(dir, "c.json.mine-full")
	for _, name := range []string{filepath.Join(full, "in"), filepath.Join(dir, "c.json.mine-empty")} {
		if err := os.MkdirAll(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	disk := Disk{TempMark: ".mine-"}
	kept, err := disk.Sweep(disk.Leftovers(path, names), func(_ string, text []byte) bool { return string(text) == "x" })
	if err != nil || !slices.Equal(kept, []string{full, unknown}) {
		t.Errorf("kept %q, %v", kept, err)
	}
	only(t, dir, "c.json", "c.json.bak.mcp-swap-1", "c.json.mine-full", "c.json.mine-saved", "other.json.mine-1")
}

// A removal looks at what it took: a save just before it is put back, and one that comes
// while that is looked at is newer and stays.
func TestRemoveIfKeepsASave(t *testing.T) {
	for name, c := range map[string]struct {
		op   Op // that the save comes before
		save func(path string) error
	}{
		"in place": {OpRename, func(path string) error { return os.WriteFile(path, []byte("saved"), 0o600) }},
		"by rename": {OpRename, func(path string) error {
			return errors.Join(os.WriteFile(path+".client", []byte("saved"), 0o600), os.Rename(path+".client", path))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "c")
			write(t, path, "old", 0o600)
			err := before(c.op, func() error { return c.save(path) }).RemoveIf(path, []byte("old"))
			if !errors.Is(err, ErrChanged) {
				t.Errorf("got %v", err)
			}
			if got := mustRead(t, path); got != "saved" {
				t.Errorf("the file holds %q", got)
			}
			only(t, dir, "c")
		})
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "c")
	fault := errors.New("no removal")
	for _, newer := range []bool{false, true} {
		write(t, path, "old", 0o600)
		err := before(OpRemove, func() error {
			if newer {
				write(t, path, "newer", 0o600)
			}
			return fault
		}).RemoveIf(path, []byte("old"))
		if want := map[bool]string{false: "old", true: "newer"}[newer]; !errors.Is(err, fault) || mustRead(t, path) != want {
			t.Errorf("%v, and the file holds %q, want %q", err, mustRead(t, path), want)
		}
		only(t, dir, "c")
	}
}

// Only the directory that was meant is removed, and nothing but an empty one.
func TestRemoveDirIf(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lock")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	mine, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	is := func(info fs.FileInfo) bool { return os.SameFile(info, mine) }
	theirs := before(OpRemove, func() error { return errors.Join(os.Rename(path, path+".was"), os.Mkdir(path, 0o700)) })
	if err := theirs.RemoveDirIf(path, is); !errors.Is(err, ErrChanged) {
		t.Errorf("got %v", err)
	}
	only(t, dir, "lock", "lock.was")
	path += ".was"
	write(t, filepath.Join(path, "in"), "x", 0o600)
	if err := (Disk{}).RemoveDirIf(path, is); err == nil {
		t.Error("a directory that is not empty was removed")
	}
	only(t, dir, "lock", "lock.was")
	if err := errors.Join(os.Remove(filepath.Join(path, "in")), Disk{}.RemoveDirIf(path, is)); err != nil {
		t.Error(err)
	}
	only(t, dir, "lock")
	file := filepath.Join(dir, "lock")
	swapped := before(OpRemove, func() error { return errors.Join(os.Remove(file), os.WriteFile(file, []byte("x"), 0o600)) })
	if err := swapped.RemoveDir(file); err == nil || mustRead(t, file) != "x" {
		t.Errorf("a file was removed as a directory: %v", err)
	}
}
