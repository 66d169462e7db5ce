package debian

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A slot is one suite's directory in the cache.
type slot struct{ suite, dir string }

// mark ends the names of slots.
const mark = "_" + runtime.GOARCH

// slot returns the slot of a suite, or of the one in the cache that has a version of tmux.
// If there is none, the error is [ErrNotFetched].
func (f *Fetcher) slot(suite string) (slot, error) {
	if versionName.MatchString(suite) {
		list, _ := f.List()
		i := slices.IndexFunc(list, func(got Installed) bool { return got.Version == suite })
		if i < 0 {
			return slot{}, ErrNotFetched
		}
		suite = list[i].Suite
	}
	if !suiteName.MatchString(suite) {
		return slot{}, fmt.Errorf("%w: a suite's name is like trixie or trixie-backports", errNoSuite)
	}
	dir, err := f.cacheDir()
	return slot{suite, filepath.Join(dir, suite+mark)}, err
}

func (f *Fetcher) cacheDir() (string, error) {
	dir := f.CacheDir
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("the cache directory cannot be used: %w", err)
		}
		dir = filepath.Join(user, "mcp-conform")
	}
	dir, err := filepath.Abs(dir)
	if strings.ContainsAny(dir, ":;$") {
		// The loader would not take these as part of a path.
		return "", fmt.Errorf("the cache directory cannot be used: %s has one of : ; $ in its path", dir)
	}
	return filepath.Join(dir, "debian"), err
}

func (s slot) record() string { return filepath.Join(s.dir, "installed.json") }

// installed reads the record. The record is invalid if its binary is gone, or if the cache
// was moved: the script that starts the binary contains absolute paths.
func (s slot) installed() (got Installed, ok bool) {
	data, err := os.ReadFile(s.record())
	if err != nil || json.Unmarshal(data, &got) != nil {
		return Installed{}, false
	}
	if got.Suite != s.suite || !strings.HasPrefix(got.Binary, s.dir+string(filepath.Separator)) {
		return Installed{}, false
	}
	info, err := os.Stat(got.Binary)
	return got, err == nil && info.Mode().IsRegular()
}

// install gives a script the path that it has after every fetch of the suite, and writes the
// record, which is what makes the slot valid.
func (s slot) install(script string, got *Installed) error {
	to, err := filepath.Rel(s.dir, script)
	if err != nil {
		return err
	}
	got.Binary = filepath.Join(s.dir, "tmux")
	if err := os.Symlink(to, got.Binary); err != nil {
		return err
	}
	data, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		return err
	}
	draft := filepath.Join(s.dir, "draft.json")
	if err := os.WriteFile(draft, append(data, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(draft, s.record())
}

// remove removes a locked slot, its record first: without that, the rest is invalid.
func (s slot) remove() error {
	if err := os.Remove(s.record()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.RemoveAll(s.dir)
}

// lock waits until no other fetch of the suite is in progress. The lock file is beside the
// slot and never removed, because a removed lock can be held twice.
func (s slot) lock(ctx context.Context) (unlock func() error, err error) {
	if err := os.MkdirAll(filepath.Dir(s.dir), 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(s.dir+".lock", os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return file.Close, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			file.Close()
			return nil, fmt.Errorf("the cache directory cannot be used: lock %s: %w", file.Name(), err)
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			file.Close()
			return nil, fmt.Errorf("wait for another fetch: %w", context.Cause(ctx))
		}
	}
}
