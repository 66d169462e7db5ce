package atomicfile

import (
	"errors"

	"golang.org/x/sys/unix"
)

// exchange swaps the files behind two names in one step. The error is errors.ErrUnsupported
// if the file system cannot (NFS, some FUSE).
func exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) {
		return errors.ErrUnsupported
	}
	return err
}
