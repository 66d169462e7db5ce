package runner

import (
	"os"

	"golang.org/x/sys/unix"
)

// watch sends to the channel when a file in a directory has changed, until stop is closed.
// ok is false if the system does not announce that.
func watch(dir string, stop <-chan struct{}) (changes <-chan struct{}, ok bool) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, false
	}
	events := os.NewFile(uintptr(fd), "inotify")
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_MODIFY|unix.IN_CREATE|unix.IN_CLOSE_WRITE); err != nil {
		events.Close()
		return nil, false
	}
	wakes := make(chan struct{}, 1)
	go func() {
		buf := make([]byte, 4<<10)
		for {
			n, err := events.Read(buf)
			if n <= 0 || err != nil {
				return
			}
			select {
			case wakes <- struct{}{}:
			default: // a value is already waiting
			}
		}
	}()
	go func() {
		<-stop
		events.Close()
	}()
	return wakes, true
}
