package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"tmuxmcp/internal/lazy"
	"tmuxmcp/internal/owned"
)

// plainPath matches a path that needs no quotes in any shell.
var plainPath = lazy.Regexp(`^/[A-Za-z0-9/._@+,=:-]*$`)

// candidates returns the directories that may be the home, in order of preference, and why there
// are no others.
func candidates() (homes, refusals []string) {
	add := func(variable, name string) {
		base := os.Getenv(variable)
		home, err := homeIn(base, name)
		switch {
		case base == "":
			refusals = append(refusals, variable+" is not set")
		case err != nil:
			refusals = append(refusals, fmt.Sprintf("%s=%s %v", variable, base, err))
		default:
			homes = append(homes, home)
		}
	}
	add("XDG_RUNTIME_DIR", "tmux-mcp")
	if os.Getenv("XDG_STATE_HOME") != "" {
		add("XDG_STATE_HOME", "tmux-mcp")
	}
	add("HOME", ".local/state/tmux-mcp")
	add("HOME", ".tmux-mcp") // where ~/.local is the group's, too
	return homes, slices.Compact(refusals)
}

// homeIn returns the path of the home in a directory of the user.
func homeIn(base, name string) (string, error) {
	// Resolve symbolic links, so that only the directories on the path matter.
	path, err := filepath.EvalSymlinks(base)
	if err != nil || !filepath.IsAbs(base) {
		return "", errors.New("is not a directory")
	}
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", errors.New("is not a directory")
	case owned.By(info) != os.Geteuid():
		return "", fmt.Errorf("belongs to another user (uid %d)", owned.By(info))
	case info.Mode().Perm()&0o022 != 0:
		return "", fmt.Errorf("can be changed by other users (mode %04o)", info.Mode().Perm())
	}
	home := filepath.Join(path, name)
	if above, err := filepath.EvalSymlinks(filepath.Dir(home)); err == nil {
		home = filepath.Join(above, filepath.Base(home))
	}
	// A path that is long or needs quotes is not suitable for typing.
	if len(home) > 120 || !plainPath().MatchString(home) {
		return "", errors.New("is too long to be typed, or contains more than letters, digits and any of :._-@+,=")
	}
	return home, nil
}

// makeHome creates the home if necessary, and checks it.
func makeHome(home string) error {
	if err := os.MkdirAll(filepath.Dir(home), 0o700); err != nil {
		return err
	}
	if err := owned.Above(home); err != nil {
		return err
	}
	if err := os.Mkdir(home, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return checkHome(home)
}

// checkHome returns an error if a directory cannot be the home: it does not belong to the
// user alone, or someone else could rename it and put another in its place.
func checkHome(home string) error {
	info, err := os.Lstat(home)
	if err != nil {
		return err
	}
	if err := private(info); err != nil {
		return fmt.Errorf("%s %w", home, err)
	}
	return owned.Above(home)
}

// PublicHome is a directory that earlier versions used as the home, in a directory that everybody
// can write to. Histories may still name files in it, so it is emptied but never removed: whoever
// then created it could have such a file run.
type PublicHome struct {
	Path  string `json:"path"`
	Empty bool   `json:"empty"`
}

// lastResort was used where nothing else could be.
var lastResort = "/tmp"

// PublicHomes returns the public homes of this user.
func PublicHomes() (homes []PublicHome) {
	for _, temp := range slices.Compact([]string{filepath.Clean(os.TempDir()), lastResort}) {
		path, err := filepath.EvalSymlinks(temp)
		home := filepath.Join(path, "tmux-mcp-"+strconv.Itoa(os.Geteuid()))
		if err == nil && checkHome(home) == nil {
			files, err := os.ReadDir(home)
			homes = append(homes, PublicHome{home, err == nil && len(files) == 0})
		}
	}
	return homes
}

// ifUnused returns what f returns, or false if a server uses the home.
func ifUnused(home string, f func() bool) bool {
	dir, err := os.Open(home)
	if err != nil {
		return false
	}
	defer dir.Close()
	return syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil && f()
}

// Uninstall removes all that is kept of jobs, where servers with this environment keep it. It
// returns the directories that it left: those that jobs that run, or servers, use, and those that
// are empty but must stay.
func Uninstall() (used, kept []string) {
	homes, _ := candidates()
	for _, home := range homes {
		if checkHome(home) == nil && !ifUnused(home, func() bool {
			sweep(home, time.Now(), 0)
			return len(jobsIn(home)) == 0 && os.RemoveAll(home) == nil
		}) {
			used = append(used, home)
		}
	}
	for _, home := range PublicHomes() {
		if empty(home.Path) {
			kept = append(kept, home.Path)
		} else {
			used = append(used, home.Path)
		}
	}
	return used, kept
}

// empty removes what jobs that are over left in a public home, and reports whether it is empty:
// no older server uses it, nor a job.
func empty(home string) bool {
	sweep(home, time.Now(), 0)
	return ifUnused(home, func() bool {
		if len(jobsIn(home)) == 0 {
			os.Remove(filepath.Join(home, "turns"))
		}
		left, err := os.ReadDir(home)
		return err == nil && len(left) == 0
	})
}
