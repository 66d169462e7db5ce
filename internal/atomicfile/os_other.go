//go:build !unix

package atomicfile

import (
	"io/fs"
	"os"
	"syscall"
)

const (
	noWait   = 0
	noFollow = 0
)

func ownerOf(fs.FileInfo) *Owner { return nil }

// syncDir does nothing: Windows cannot sync a directory; its file system journals renames.
func syncDir(string) error { return nil }

// Links returns the number of names of a file, which this system does not report.
func Links(fs.FileInfo) int { return 1 }

// rmdir removes an empty directory.
func rmdir(path string) error {
	if info, err := os.Lstat(path); err == nil && !info.IsDir() {
		return &fs.PathError{Op: "rmdir", Path: path, Err: syscall.ENOTDIR}
	}
	return os.Remove(path)
}
