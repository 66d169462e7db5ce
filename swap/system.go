package swap

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
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

// ThisSystem reads the environment. It fails if the home directory is not set:
// a guess might write to somebody else's.
func ThisSystem() (System, error) {
	return systemFor(runtime.GOOS, os.Getenv)
}

func systemFor(goos string, getenv func(string) string) (System, error) {
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

// StateDir is where the record of swaps and its lock are:
// $XDG_STATE_HOME/mcp-swap if that is absolute, else ~/.local/state/mcp-swap.
func (s System) StateDir() string {
	if dir := s.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "mcp-swap")
	}
	return filepath.Join(s.Home, ".local", "state", "mcp-swap")
}

// buildDir is where --mode build puts programs.
func (s System) buildDir() string {
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

// binary is the path of the client's program on PATH, or "".
func (c *Client) binary() string {
	for _, name := range c.Binaries {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// configPath is the client's config file: the strongest that exists, else the one
// that would be read first.
func (c *Client) configPath(sys System) string {
	files := c.Config.resolve(sys)
	for _, f := range files {
		if _, err := os.Lstat(f); err == nil {
			return f
		}
	}
	if len(files) == 0 {
		return ""
	}
	return files[0]
}

// targetOf resolves all symbolic links of path.
func targetOf(path string) (string, error) {
	target, err := filepath.EvalSymlinks(path)
	if err == nil {
		return target, nil
	}
	if _, lerr := os.Lstat(path); lerr == nil && errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s is a symbolic link to a file that does not exist", path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s does not exist", path)
	}
	return "", fmt.Errorf("%s: %w", path, err)
}
