//go:build unix

package atomicfile

import (
	"io/fs"
	"os"
	"syscall"
)

// noWait prevents opening what became a FIFO from waiting for its writer.
const noWait = syscall.O_NONBLOCK

// noFollow makes opening what became a symbolic link fail.
const noFollow = syscall.O_NOFOLLOW

func ownerOf(info fs.FileInfo) *Owner {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return &Owner{UID: int(st.Uid), GID: int(st.Gid)}
	}
	return nil
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// Links returns the number of names of a file.
func Links(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Nlink)
	}
	return 1
}

// rmdir removes an empty directory; os.Remove would remove a file, too.
func rmdir(path string) error {
	if err := syscall.Rmdir(path); err != nil {
		return &fs.PathError{Op: "rmdir", Path: path, Err: err}
	}
	return nil
}

func linkError(from, to string, err error) error {
	if err == nil {
		return nil
	}
	return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
}
