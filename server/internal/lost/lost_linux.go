package lost

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tmuxmcp/internal/lazy"
	"tmuxmcp/internal/procstat"
)

// listening matches a socket of /proc/net/unix that accepts connections. Its groups are its
// inode and its path.
var listening = lazy.Regexp(`(?m)^\S+ \S+ \S+ 00010000 0001 01 +(\d+) (.+)$`)

// serverOf returns the process that listens on a socket whose file was removed, or 0. If the
// file exists, it looks no further.
func serverOf(path string) int {
	if _, err := os.Lstat(path); err == nil || !filepath.IsAbs(path) {
		return 0
	}
	paths := []string{path}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		paths = append(paths, filepath.Join(dir, filepath.Base(path)))
	}
	table, _ := os.ReadFile("/proc/net/unix")
	var links []string
	for _, m := range listening().FindAllStringSubmatch(string(table), -1) {
		if slices.Contains(paths, m[2]) {
			links = append(links, "socket:["+m[1]+"]")
		}
	}
	if links == nil {
		return 0
	}
	for _, p := range procstat.All() {
		if !strings.HasPrefix(p.Name, "tmux: server") {
			continue
		}
		open, _ := os.ReadDir(procstat.File(p.PID, "fd"))
		for _, fd := range open {
			if to, _ := os.Readlink(procstat.File(p.PID, "fd/"+fd.Name())); slices.Contains(links, to) {
				return p.PID
			}
		}
	}
	return 0
}
