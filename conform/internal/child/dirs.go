package child

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// MakeDirs makes the directories that [Environment] names.
func MakeDirs(dir string) error {
	for _, sub := range []string{"", "home", "tmp", "w", filepath.Dir(socket())} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil && !os.IsExist(err) {
			return err
		}
	}
	return nil
}

// socket returns the path of tmux's default socket, below TMUX_TMPDIR, for wrappers that cannot
// name a socket.
func socket() string { return filepath.Join("tmux-"+strconv.Itoa(os.Getuid()), "default") }

// Socket returns the path of the script's socket in its directory.
func Socket(dir string) string { return filepath.Join(dir, socket()) }

// Environment returns the environment of a script's processes. Of this process's own it has only
// PATH and what Go programs under test need.
func Environment(dir string) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + filepath.Join(dir, "home"),
		"TMPDIR=" + filepath.Join(dir, "tmp"),
		"TMUX_TMPDIR=" + dir,
		"SHELL=/bin/sh", "ENV=", "PS1=$ ",
		"TERM=screen", "LANG=C.UTF-8",
	}
	for _, name := range []string{"GOCOVERDIR", "GORACE"} {
		if v := os.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// maxSocketPath is the length that the path of a socket may have on every system, with some room.
const maxSocketPath = 100

// RunDir creates the directory of a run: in parent, or by default in that of temporary files,
// unless the path of a socket in it would be too long.
func RunDir(parent string) (string, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	if real, err := filepath.EvalSymlinks(parent); err == nil {
		parent = real
	}
	if len(parent)+len("/mcf1234567890/12345/"+socket()) > maxSocketPath {
		parent = "/tmp"
	}
	return os.MkdirTemp(parent, runPrefix)
}

const runPrefix = "mcf"

// IsRunDir reports whether a directory has the name of one that [RunDir] made.
func IsRunDir(dir string) bool { return strings.HasPrefix(filepath.Base(dir), runPrefix) }
