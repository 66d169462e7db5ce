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

// installed reads the record. It does not count if its binary is gone, or if
// the cache was moved: the script that it is holds absolute paths.
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

// link gives a binary the path that it has after every fetch of the suite. Until the
// record is written, it counts as little as the rest.
func (s slot) link(binary string) (string, error) {
	to, err := filepath.Rel(s.dir, binary)
	if err != nil {
		return "", err
	}
	stable := filepath.Join(s.dir, "tmux")
	return stable, os.Symlink(to, stable)
}

// write makes the record, which is what installs a suite.
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

// clean empties the slot. Only for a locked slot that has no valid record.
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

// lock waits until no other fetch of the suite is under way, and makes the
// slot's directory. The lock file lies beside it and stays: a lock that is
// removed is held by two.
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
		// Under the lock, as Remove takes the directory away.
		if err := os.MkdirAll(s.dir, 0o755); err != nil {
			h.unlock()
			return nil, cacheError(s.suite, err)
		}
		return h.unlock, nil
	case <-ctx.Done():
		// The wait for a lock cannot be called off; let go as soon as it is there.
		go func() {
			if h := <-done; h.err == nil {
				h.unlock()
			}
		}()
		return nil, fmt.Errorf("wait for another fetch: %w", context.Cause(ctx))
	}
}
