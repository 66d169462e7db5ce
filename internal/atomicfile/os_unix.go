//go:build unix

package atomicfile

import (
	"io/fs"
	"os"
	"syscall"
)

// noWait keeps an open of what became a FIFO from waiting for its writer.
const noWait = syscall.O_NONBLOCK

func sameOwner(f *os.File, like fs.FileInfo) error {
	if like == nil {
		return nil
	}
	have, err := f.Stat()
	if err != nil {
		return err
	}
	want, ok := like.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	if is, ok := have.Sys().(*syscall.Stat_t); ok && is.Uid == want.Uid && is.Gid == want.Gid {
		return nil
	}
	return f.Chown(int(want.Uid), int(want.Gid))
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// Links says how many names a file has.
func Links(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Nlink)
	}
	return 1
}
