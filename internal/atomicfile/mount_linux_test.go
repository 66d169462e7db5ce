package atomicfile

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A file that is a mount point, as in a container, cannot be replaced: this is reported,
// and nothing changes.
func TestReplaceOfAMountedFile(t *testing.T) {
	dir := t.TempDir()
	from, path := filepath.Join(t.TempDir(), "from"), filepath.Join(dir, "config")
	write(t, from, "old", 0o600)
	write(t, path, "", 0o600)
	if err := unix.Mount(from, path, "", unix.MS_BIND, ""); err != nil {
		t.Skip("no file can be mounted here: ", err)
	}
	defer func() {
		if err := unix.Unmount(path, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	}()
	for _, old := range [][]byte{nil, []byte("old")} {
		err := Disk{}.Replace(path, []byte("new"), old, nil)
		if !errors.Is(err, syscall.EBUSY) || !strings.Contains(err.Error(), path+" is mounted") {
			t.Errorf("replaced %q: %v", old, err)
		}
	}
	if got := mustRead(t, from); got != "old" {
		t.Errorf("it is %q", got)
	}
	only(t, dir, "config")
}
