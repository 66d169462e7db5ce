//go:build !unix

package atomicfile

import (
	"io/fs"
	"os"
)

const noWait = 0

func sameOwner(*os.File, fs.FileInfo) error { return nil }

// syncDir does nothing: Windows cannot sync a directory, and its renames are
// journaled by the file system.
func syncDir(string) error { return nil }

// Links says how many names a file has, as far as this system tells.
func Links(fs.FileInfo) int { return 1 }
