package runner

import (
	"context"
	"fmt"
	"hash/fnv"
	"time"

	"golang.org/x/sys/unix"
)

// Take waits, for at most limit, until no other server of this user runs a command in a
// pane; ok is false when one still does. waited is that one did. The lock is a byte of a
// file in the home, and ends with the process that holds it. Without a home there is none:
// then no server runs commands.
func (f *Files) Take(ctx context.Context, at Place, limit time.Duration) (release func(), waited, ok bool) {
	file, err := f.turns()
	if err != nil {
		return func() {}, false, true
	}
	h := fnv.New64a()
	fmt.Fprintln(h, at.Server, at.Started, at.Pane)
	lock := unix.Flock_t{Type: unix.F_WRLCK, Start: int64(h.Sum64() >> 1), Len: 1}
	end := time.Now().Add(limit)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		switch err := unix.FcntlFlock(file.Fd(), unix.F_OFD_SETLK, &lock); err {
		case nil:
			return func() { file.Close() }, waited, true
		case unix.EAGAIN, unix.EACCES:
		default: // a file system without locks
			file.Close()
			return func() {}, waited, true
		}
		waited = true
		timer := time.NewTimer(min(pause, time.Until(end)))
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
		if ctx.Err() != nil || !time.Now().Before(end) {
			file.Close()
			return nil, waited, false
		}
	}
}
