package runner

import (
	"context"
	"hash/fnv"
	"io"
	"time"

	"golang.org/x/sys/unix"

	"tmuxmcp/internal/pause"
)

// lock waits, for at most limit, until no other server of this user runs a command in a
// pane; ok is false if one still does, and waited is true if one did. It locks a byte of a
// file in the home, and the lock ends with its process. Without a home there is no lock,
// and no server runs commands.
func (f *Files) lock(ctx context.Context, pane string, limit time.Duration) (release func(), waited, ok bool) {
	file, err := f.locks()
	if err != nil {
		return func() {}, false, true
	}
	h := fnv.New64a()
	io.WriteString(h, pane)
	lock := unix.Flock_t{Type: unix.F_WRLCK, Start: int64(h.Sum64() >> 1), Len: 1}
	end := time.Now().Add(limit)
	for d := range pause.Growing(50 * time.Millisecond) {
		switch err := unix.FcntlFlock(file.Fd(), unix.F_OFD_SETLK, &lock); err {
		case nil:
			return func() { file.Close() }, waited, true
		case unix.EAGAIN, unix.EACCES:
		default: // a file system without locks
			file.Close()
			return func() {}, waited, true
		}
		waited = true
		if pause.For(ctx, min(d, time.Until(end))) != nil || !time.Now().Before(end) {
			break
		}
	}
	file.Close()
	return nil, waited, false
}
