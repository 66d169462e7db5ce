package atomicfile

import (
	"errors"

	"golang.org/x/sys/unix"
)

// exchange swaps the files behind two names in one step. The error is errors.ErrUnsupported
// if the file system cannot (HFS+, network shares).
func exchange(a, b string) error {
	err := unix.RenamexNp(a, b, unix.RENAME_SWAP)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return errors.ErrUnsupported
	}
	return err
}
