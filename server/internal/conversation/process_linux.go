package conversation

import (
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tmuxmcp/internal/procstat"
	"tmuxmcp/internal/reading"
)

const nonblock = unix.O_NONBLOCK

// process is a process of this user's.
type process struct {
	pid     int
	started int64     // in ticks since boot
	began   time.Time // to a hundredth of a second
	dir     string
	env     map[string]string
}

// processOf reads what is known of a process, if it is this user's.
func processOf(b *reading.Budget, pid int) (*process, error) {
	info, err := os.Stat("/proc/" + strconv.Itoa(pid))
	if err != nil {
		return nil, unreadable("process %d has ended", pid)
	}
	if !ownedByUs(info) {
		return nil, unreadable("process %d is another user's", pid)
	}
	stat, err := procstat.Of(pid)
	if err != nil {
		return nil, unreadable("process %d has ended", pid)
	}
	f, err := os.Open(procstat.File(pid, "environ"))
	if err != nil {
		return nil, unreadable("%v", err)
	}
	defer f.Close()
	environ, err := b.Small(f, mostRead)
	if err != nil {
		return nil, unreadable("%v", err)
	}
	dir, err := os.Readlink(procstat.File(pid, "cwd"))
	if err != nil {
		return nil, unreadable("%v", err)
	}
	p := &process{pid: pid, started: stat.Started, began: time.Now().Add(-stat.Age()), dir: dir, env: map[string]string{}}
	for kv := range strings.SplitSeq(string(environ), "\x00") {
		name, value, _ := strings.Cut(kv, "=")
		p.env[name] = value
	}
	return p, nil
}

func (p *process) openFiles(b *reading.Budget) (paths []string, err error) {
	dir := procstat.File(p.pid, "fd")
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := b.Dir(f)
	for _, e := range entries {
		if path, err := os.Readlink(dir + "/" + e.Name()); err == nil && strings.HasPrefix(path, "/") {
			paths = append(paths, path)
		}
	}
	return paths, err
}

func ownedByUs(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
