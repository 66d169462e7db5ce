package debian

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// A slot is one suite's directory in the cache.
type slot struct{ suite, dir string }

func (s slot) record() string { return filepath.Join(s.dir, "installed.json") }

// installed reads the record. The record is invalid if its binary is gone, or if the cache
// was moved: the script that starts the binary contains absolute paths.
func (s slot) installed() (Installed, bool) {
	var got Installed
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

// link gives a binary the path that it has after every fetch of the suite. Until the record
// is written, it is as invalid as the rest.
func (s slot) link(binary string) (string, error) {
	to, err := filepath.Rel(s.dir, binary)
	if err != nil {
		return "", err
	}
	stable := filepath.Join(s.dir, "tmux")
	return stable, os.Symlink(to, stable)
}

// write writes the record, which is what installs a suite.
func (s slot) write(got Installed) error {
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

// clean empties the slot. Call it only for a locked slot that has no valid record.
func (s slot) clean() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := os.RemoveAll(filepath.Join(s.dir, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}

// lock waits until no other fetch of the suite is in progress, and creates the slot's
// directory. The lock file is beside it and never removed, because a removed lock can be
// held twice.
func (s slot) lock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(s.dir), 0o755); err != nil {
		return nil, cacheError(s.suite, err)
	}
	type held struct {
		unlock func()
		err    error
	}
	done := make(chan held, 1)
	go func() {
		unlock, err := lockedfile.MutexAt(s.dir + ".lock").Lock()
		done <- held{unlock, err}
	}()
	select {
	case h := <-done:
		if h.err != nil {
			return nil, cacheError(s.suite, h.err)
		}
		// With the lock held, since Remove removes the directory.
		if err := os.MkdirAll(s.dir, 0o755); err != nil {
			h.unlock()
			return nil, cacheError(s.suite, err)
		}
		return h.unlock, nil
	case <-ctx.Done():
		// Waiting for a lock cannot be cancelled; release it as soon as it is acquired.
		go func() {
			if h := <-done; h.err == nil {
				h.unlock()
			}
		}()
		return nil, fmt.Errorf("wait for another fetch: %w", context.Cause(ctx))
	}
}
