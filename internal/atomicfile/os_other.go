//go:build !unix

package atomicfile

import "io/fs"

const (
	noWait   = 0
	noFollow = 0
)

func ownerOf(fs.FileInfo) *Owner { return nil }

// syncDir does nothing: Windows cannot sync a directory, and its renames are
// journaled by the file system.
func syncDir(string) error { return nil }

// Links is the number of names of a file; this system does not report it.
func Links(fs.FileInfo) int { return 1 }
