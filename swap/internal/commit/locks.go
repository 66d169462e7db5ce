package commit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/swap/clients"
)

// Claude's lock is a directory created beside its config (npm's proper-lockfile): the
// process that creates it holds the lock, touches it every few seconds, and loses it when
// it is older than staleLock. Copilot's is a lock on a file that it has created.
const (
	staleLock = 10 * time.Second
	lockWait  = 15 * time.Second
)

// clientLock takes the lock that a client uses for its config, if it has one.
func (c *Commit) clientLock(ctx context.Context, client *clients.Client, config string) (release func() error, err error) {
	var lock, advice string
	var take func() (release func() error, err error) // fs.ErrExist: another process has it
	switch {
	case client.Lock != "":
		lock, advice = config+client.Lock, "quit it, or remove that directory if it is not running"
		take = func() (func() error, error) { return makeLock(c.Disk, client, lock) }
	case client.Locked != "":
		lock, advice = filepath.Join(filepath.Dir(config), client.Locked), "quit it"
		take = func() (func() error, error) { return lockFile(lock) }
	default:
		return func() error { return nil }, nil
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for start := time.Now(); ; {
		release, err := take()
		if err == nil {
			return release, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("take the lock of %s: %w", client.Name, err)
		}
		if time.Since(start) > lockWait {
			return nil, fmt.Errorf("%s holds its lock %s: %s", client.Name, lock, advice)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for the lock %s of %s: %w", lock, client.Name, ctx.Err())
		}
	}
}

// makeLock creates the directory of a lock, or takes over an old one.
func makeLock(disk atomicfile.Disk, client *clients.Client, dir string) (release func() error, err error) {
	stale := func(info fs.FileInfo) bool { return time.Since(info.ModTime()) > staleLock }
	err = disk.Mkdir(dir, 0o700)
	if info, lerr := os.Lstat(dir); errors.Is(err, fs.ErrExist) && lerr == nil && stale(info) {
		switch terr := disk.RemoveDirIf(dir, stale); {
		case errors.Is(terr, atomicfile.ErrChanged): // another process was quicker
			return nil, err
		case terr != nil && !errors.Is(terr, fs.ErrNotExist):
			return nil, fmt.Errorf("take over %s: %v", dir, terr)
		}
		err = disk.Mkdir(dir, 0o700)
	}
	if err != nil {
		return nil, err
	}
	made, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	ours := func(info fs.FileInfo) bool { return os.SameFile(info, made) }
	return func() error {
		err := disk.RemoveDirIf(dir, ours)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, atomicfile.ErrChanged) { // lost, or taken over
			return fmt.Errorf("release the lock of %s: %w", client.Name, err)
		}
		return nil
	}, nil
}
