//go:build linux || darwin

package commit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/machine"
)

// Of a stale lock, only that one is taken over, and only our own is released.
func TestLockOfAnotherStays(t *testing.T) {
	lock := filepath.Join(t.TempDir(), ".claude.json.lock")
	stale := time.Now().Add(-2 * staleLock)
	if err := errors.Join(os.Mkdir(lock, 0o700), os.Chtimes(lock, stale, stale)); err != nil {
		t.Fatal(err)
	}
	taken := 0
	theirs := func() {
		if err := errors.Join(os.Rename(lock, lock+".was"), os.Mkdir(lock, 0o700), os.Remove(lock+".was")); err != nil {
			t.Error(err)
		}
	}
	disk := atomicfile.Disk{TempMark: ".mcp-swap-tmp-", Before: func(st atomicfile.Step) error {
		if st.Path == lock && st.Op == atomicfile.OpRemove {
			theirs()
			taken++
		}
		return nil
	}}
	c := clients.Lookup("claude")
	if _, err := makeLock(disk, c, lock); !errors.Is(err, fs.ErrExist) || machine.Missing(lock) {
		t.Errorf("taken over: %v", err)
	}
	if err := os.Chtimes(lock, stale, stale); err != nil {
		t.Fatal(err)
	}
	release, err := makeLock(atomicfile.Disk{}, c, lock)
	if err != nil {
		t.Fatal(err)
	}
	theirs()
	if err := release(); err != nil || machine.Missing(lock) || taken != 1 {
		t.Errorf("released: %v, taken %d times", err, taken)
	}
}
