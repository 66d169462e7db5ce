package journal

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"tmuxmcp/swap/internal/machine"
)

// The lock is a file in the state directory. It names the directories that were made for it, one
// in each line, outermost first, so that they can be removed when nothing is recorded any more.
// If another process comes at that moment, those above the state directory may stay, empty.

// Lock makes the caller the only process that swaps. It waits for another process until ctx is done; waiting is
// called once, after one second. If nothing is recorded when the caller unlocks, the state
// directory is removed again, and those above it that were made for it.
func (j Journal) Lock(ctx context.Context, waiting func(path string)) (unlock func(), err error) {
	path := filepath.Join(j.Dir, "lock")
	var lock *lockedfile.File
	var lockErr error
	taken := make(chan struct{})
	go func() {
		lock, lockErr = j.take(path)
		close(taken)
	}()
	slow := time.NewTimer(cmp.Or(j.patience, time.Second))
	defer slow.Stop()
	for {
		select {
		case <-taken:
			if lockErr != nil {
				return nil, lockErr
			}
			return func() { j.release(lock) }, nil
		case <-slow.C:
			waiting(path)
		case <-ctx.Done():
			// The goroutine may still get the lock, and then releases it.
			go func() {
				if <-taken; lockErr == nil {
					j.release(lock)
				}
			}()
			return nil, fmt.Errorf("wait for the lock %s: %w", path, ctx.Err())
		}
	}
}

// take takes the lock, and creates its file if necessary. The process that held it may have removed
// it; then it is created again.
func (j Journal) take(path string) (*lockedfile.File, error) {
	for tries := 1; ; tries++ {
		made := missingAbove(path)
		var lock *lockedfile.File
		err := j.Disk.PrivateDir(j.Dir)
		if err != nil {
			err = fmt.Errorf("make state directory: %w", err)
		} else if lock, err = lockedfile.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
			err = fmt.Errorf("take the lock %s: %w", path, err)
		}
		if (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist)) && tries < 1000 {
			continue // another process is removing the directory
		}
		if err != nil {
			return nil, err
		}
		locked, err := lock.Stat()
		if err != nil {
			lock.Close()
			return nil, fmt.Errorf("take the lock %s: %w", path, err)
		}
		if there, err := os.Stat(path); err != nil || !os.SameFile(there, locked) {
			lock.Close()
			continue
		}
		if len(made) > 0 {
			_, _ = lock.WriteAt([]byte(strings.Join(made, "\n")+"\n"), locked.Size()) // else they stay
		}
		return lock, nil
	}
}

// missingAbove returns the directories above a file that do not exist, outermost first.
func missingAbove(path string) (dirs []string) {
	for dir := filepath.Dir(path); machine.Missing(dir) && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
	}
	slices.Reverse(dirs)
	return dirs
}

// release releases the lock. If there is no state, it first removes the lock and the directories that
// were made for it, if they are empty.
func (j Journal) release(lock *lockedfile.File) {
	defer lock.Close()
	if !machine.Missing(j.Path()) {
		return
	}
	text, _ := io.ReadAll(io.NewSectionReader(lock, 0, 1<<16))
	if j.Disk.Remove(lock.Name()) != nil { // as on Windows, where it is open
		return
	}
	dirs := slices.Collect(bytes.Lines(text))
	for _, dir := range slices.Backward(append(slices.Clip(dirs), []byte(j.Dir))) {
		if dir := string(bytes.TrimSuffix(dir, []byte("\n"))); filepath.IsAbs(dir) && local(dir, j.Dir) {
			_ = os.Remove(dir) // unless something else is in it
		}
	}
}
