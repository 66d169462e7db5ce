// Package machine says where this machine's user keeps things: the home directory, the
// environment, and the directories that follow from them.
package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// A System describes the machine: the home directory, the environment, and
// which operating system's paths to use.
type System struct {
	GOOS   string
	Home   string
	Getenv func(string) string
}

// ThisSystem reads the environment. It fails if the home directory is not set or is not a directory:
// a guess might write to another user's files.
func ThisSystem() (System, error) {
	sys, err := SystemFor(runtime.GOOS, os.Getenv)
	if err != nil {
		return sys, err
	}
	if info, err := os.Stat(sys.Home); err != nil {
		return sys, fmt.Errorf("the home directory cannot be read: %w", err)
	} else if !info.IsDir() {
		return sys, fmt.Errorf("the home directory %s is not a directory", sys.Home)
	}
	return sys, nil
}

// SystemFor returns a machine with an operating system and environment.
func SystemFor(goos string, getenv func(string) string) (System, error) {
	name := "HOME"
	if goos == "windows" {
		name = "USERPROFILE"
	}
	home := getenv(name)
	if home == "" {
		return System{}, fmt.Errorf("%s is not set: set it to your home directory", name)
	}
	if !filepath.IsAbs(home) {
		return System{}, fmt.Errorf("%s is %q, which is not an absolute path", name, home)
	}
	return System{GOOS: goos, Home: filepath.Clean(home), Getenv: getenv}, nil
}

// StateDir returns where the record of swaps and its lock are: $XDG_STATE_HOME/mcp-swap if
// that is absolute, otherwise ~/.local/state/mcp-swap.
func (s System) StateDir() string {
	if dir := s.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "mcp-swap")
	}
	return filepath.Join(s.Home, ".local", "state", "mcp-swap")
}

// Missing reports whether there is nothing at path, not even a link.
func Missing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// BuildDir returns where --mode build puts programs.
func (s System) BuildDir() string {
	dir := filepath.Join(s.Home, ".cache")
	switch s.GOOS {
	case "darwin":
		dir = filepath.Join(s.Home, "Library", "Caches")
	case "windows":
		dir = filepath.Join(s.Home, "AppData", "Local")
		if v := s.Getenv("LOCALAPPDATA"); filepath.IsAbs(v) {
			dir = v
		}
	default:
		if v := s.Getenv("XDG_CACHE_HOME"); filepath.IsAbs(v) {
			dir = v
		}
	}
	return filepath.Join(dir, "mcp-swap", "build")
}
